"""A service manager of its own for a test: systemd as a user's manager, in namespaces in which
nothing else lives. Its files are those of Examples/supervisors, with other programs in them."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess

from operator_case import LIMIT_S, ROOT, options
from waiting import wait_until

PROGRAM = next((path for path in ("/lib/systemd/systemd", "/usr/lib/systemd/systemd") if os.access(path, os.X_OK)), None)
HIERARCHIES = [pathlib.Path("/sys/fs/cgroup") / part for part in ("systemd", "unified", "")]

# A shell function that repeats a command until it succeeds, for two minutes.
UNTIL = r"""
until_it() { n=0; until eval "$1" >/dev/null 2>&1; do n=$((n + 1)); [ $n -lt 1200 ] || { echo "in vain: $1"; return 1; }; sleep 0.1; done; }
"""
# A program that makes two orphans, of which one ends while the program runs. The program waits
# until neither is left: an orphan that process 1 does not wait for stays.
ORPHANS = "for orphan in $(true >/dev/null & echo $!; sleep 0.2 >/dev/null & echo $!); do while [ -e /proc/$orphan ]; do sleep 0.01; done; done; "
# The first lines of the shell in the namespace. $0 is the folder of the test.
BEGIN = UNTIL + r"""
mount -t tmpfs none /run && mkdir -p /run/systemd/system /run/u/systemd/user && chmod 700 /run/u && cp "$0"/units/* /run/u/systemd/user || exit 99
export XDG_RUNTIME_DIR=/run/u XDG_CONFIG_HOME="$0/home" XDG_STATE_HOME="$0/home" HOME="$0/home"
""" + f"{PROGRAM} --user --unit=default.target" + r""" >"$0/manager.log" 2>&1 &
manager=$!
until_it 'systemctl --user is-active default.target' || exit 98
"""
END = """
systemctl --user exit >/dev/null 2>&1
wait $manager
"""


def obstacle():
    """Why no manager can run here; None: one can."""
    if os.geteuid() != 0:
        return "needs root, for namespaces"
    if not PROGRAM or not shutil.which("systemctl") or not shutil.which("unshare"):
        return "needs Debian's package systemd, and unshare"
    if not any(os.access(folder / "cgroup.procs", os.W_OK) for folder in HIERARCHIES):
        return "needs a cgroup file system that may be written"
    return None


def make_groups():
    """Control groups for a manager; its processes move there by themselves."""
    groups = []
    for folder in HIERARCHIES:
        if os.access(folder / "cgroup.procs", os.W_OK):
            group = folder / f"launchguard-operator-{os.getpid()}"
            group.mkdir()
            groups.append(group)
    return groups


def enter(groups):
    for group in groups:
        (group / "cgroup.procs").write_text("0")


def remove_groups(groups):
    """A group goes when its last process has: one that was killed may take a while."""
    def are_gone():
        for folder in [folder for group in groups for folder, _, _ in os.walk(group, topdown=False)]:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        return not any(group.exists() for group in groups)
    wait_until(are_gone, f"the last process of {groups} ends")


def alone(command):
    """The output of a command in namespaces and control groups of its own, which end with it."""
    groups = make_groups()
    process = subprocess.Popen(["unshare", "-mpf", "--kill-child", "--mount-proc", *map(str, command)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, preexec_fn=lambda: enter(groups))
    try:
        output, _ = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0] + "\nin vain: the end of the command"
    finally:
        remove_groups(groups)
    return output


# A manager of a user has no such rights, and the programs of a test lie in /tmp.
SANDBOX = r"(?m)^(CapabilityBoundingSet|LockPersonality|NoNewPrivileges|Private\w+|Protect\w+|Restrict(?!art)\w+|SystemCall\w+)=.*\n"


def unit_text(name, action, folder):
    """The unit with programs of the test in it, and with the times of a test."""
    text = re.sub(SANDBOX, "", (ROOT / "Examples/supervisors" / name).read_text())
    for old, new in [("--directory /var/lib/notes -- /usr/bin/notes", f"--directory {folder}/home/notes -- {action}"),
                     ("[Service]\n", f"[Service]\nEnvironment=\"LAUNCHGUARD_PRELOAD={options.preload}\"\n" if "launchguard run" in text else "[Service]\n"),
                     ("/usr/libexec/launchguard/launchguard-agent", "/bin/true"), ("ExecStart=/usr/bin/notes", f"ExecStart=\"{options.victim}\" - {action}"), ("/usr/bin/launchguard", f'"{options.tool}"'),
                     ("systemctl --no-block", "systemctl --user --no-block"), ("User=notes\n", ""), ("RestartSec=1\n", "RestartSec=50ms\n"),
                     ("WatchdogSec=30", "WatchdogSec=1")]:
        text = text.replace(old, new)
    return re.sub(r"ExecStart=/usr/bin/logger.*", f"ExecStart=/usr/bin/touch {folder}/notified", text)


class Manager:
    def __init__(self, folder, action):
        self.folder = folder
        (folder / "units").mkdir()
        (folder / "home").mkdir()
        for path in (ROOT / "Examples/supervisors").glob("*.service"):
            (folder / "units" / path.name).write_text(unit_text(path.name, action, folder))
        (folder / "units/default.target").write_text("[Unit]\nDescription=The manager of a test\n")

    @property
    def state(self):
        return self.folder / "home/notes"

    def run(self, script):
        """The output of the script, which runs beside the manager; both end together."""
        return alone(["/bin/sh", "-c", BEGIN + script + END, self.folder])
