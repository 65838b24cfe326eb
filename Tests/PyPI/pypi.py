"""Packages from PyPI that tests read with: each of a known version, in a folder of the build."""
import fcntl
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
VERSIONS = dict(line.split("==") for line in (HERE / "requirements.txt").read_text().split())
LIMIT_S = 300


def install(folder, *names):
    """The Python that has these packages, in an environment of their own in the folder, and None;
    or None, and why there is none. Where several callers ask at once, one installs."""
    folder = pathlib.Path(folder)
    python, mark = folder / "bin/python", folder / "installed"
    wanted = [f"{name}=={VERSIONS[name]}" for name in names]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--retries", "1", "--timeout", "20", *wanted]

    def is_installed():
        return mark.exists() and mark.read_text().split() == wanted and os.access(python, os.X_OK)

    if is_installed():
        return python, None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for step in [] if is_installed() else [[sys.executable, "-m", "venv", folder], pip]:
                result = subprocess.run(step, capture_output=True, text=True, timeout=LIMIT_S, check=False)
                if result.returncode != 0:
                    return None, (result.stderr.strip().splitlines() or result.stdout.strip().splitlines() or ["pip fails"])[-1]
            mark.write_text("\n".join(wanted))
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    return python, None


def run_again(folder, *names):
    """Become the Python that has these packages, with the same program. Where this is that Python,
    return None; where there is none, return why."""
    python, reason = install(folder, *names)
    if python and os.path.realpath(sys.prefix) != os.path.realpath(folder):
        os.execv(python, [str(python), "-B", os.path.abspath(sys.argv[0])] + sys.argv[1:])
    return reason
