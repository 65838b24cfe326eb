"""Programs of systemd: those of this machine, or else out of Debian's packages, unpacked into a
folder. Nothing is installed: the package systemd-coredump would change where core files go.
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess

PACKAGES = {"coredumpctl": "systemd-coredump", "systemd-journal-remote": "systemd-journal-remote"}
LIMIT_S = 300


def run(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if result.returncode != 0:
        raise OSError(f"{command[0]}: {(result.stderr.strip().splitlines() or ['it fails'])[-1]}")
    return result.stdout


def unpack(package, folder):
    """The package, and what it needs beside systemd's own library."""
    for old in folder.glob("*.deb"):
        old.unlink()
    run(["apt-get", "download", "-qq", package], folder)
    file = next(folder.glob("*.deb"))
    for library in re.findall(r"libmicrohttpd[\w.+-]*", run(["dpkg-deb", "-f", file, "Depends"], folder)):
        run(["apt-get", "download", "-qq", library], folder)
    for file in folder.glob("*.deb"):
        run(["dpkg-deb", "-x", file, "."], folder)


@functools.cache
def find(name, folder):
    """The command that runs a program, and None; or None, and why not."""
    folder = pathlib.Path(folder) / "systemd"
    places = [shutil.which(name), f"/lib/systemd/{name}", f"/usr/lib/systemd/{name}"]
    if found := next((path for path in places if path and os.access(path, os.X_OK)), None):
        return [found], None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not list(folder.glob(f"**/bin/{name}")) + list(folder.glob(f"**/systemd/{name}")):
            unpack(PACKAGES[name], folder)
        program = (list(folder.glob(f"**/bin/{name}")) + list(folder.glob(f"**/systemd/{name}")))[0]
        libraries = sorted({str(file.parent) for file in folder.glob("**/*.so.*")})
        command = ["env", "LD_LIBRARY_PATH=" + ":".join(libraries), str(program)]
        run([*command, "--version"], folder)
    except (OSError, IndexError, StopIteration, subprocess.TimeoutExpired) as error:
        return None, f"{error} (Debian: {PACKAGES[name]})"
    return command, None
