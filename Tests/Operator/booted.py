"""A machine of its own for a test: systemd-nspawn boots a system whose process 1 is systemd. Its
/usr is this machine's, with the tool in it, and its units are those of Examples/supervisors."""
import os
import re
import shutil
import subprocess

import manager
from operator_case import ROOT, options

NOTES_USER = 990
USERS = f"root:x:0:0::/root:/bin/sh\nnotes:x:{NOTES_USER}:{NOTES_USER}::/nonexistent:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
# The machine ends with the script.
SCRIPT_UNIT = """[Unit]
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
StandardOutput=append:/test/output
StandardError=append:/test/output
TimeoutStartSec=100
ExecStart=/bin/sh /test/script
"""
# Nothing of the machine may be left on this one: not its sockets, nor what nspawn keeps in /run.
BEGIN = "mount -t tmpfs none /run && mkdir -p /run/systemd && exec "


def obstacle():
    """Why no machine can be booted; None: one can."""
    if why := manager.obstacle():
        return why
    if not shutil.which("systemd-nspawn"):
        return "needs Debian's package systemd-container"
    return None


def library_folders(*programs):
    """Where the loader finds libraries of programs, beside the places of the system."""
    found = set()
    for program in programs:
        listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, timeout=60).stdout
        found |= {os.path.dirname(path) for path in re.findall(r"=> (/\S+)", listed)}
    return sorted(folder for folder in found if not re.match(r"/(usr/)?lib(64)?(/|$)", folder))


class Machine:
    def __init__(self, folder, *action):
        """`action` is what the victim does as /usr/bin/notes; none: that is a copy of dash."""
        self.folder = folder
        self.state = folder / "var/notes"
        self.programs = sorted({str(options.victim.parent), *library_folders(options.tool, options.victim)})
        for name in ("usr/bin", "usr/lib/launchguard", "etc/systemd/system", "var"):
            (folder / name).mkdir(parents=True)
        shutil.copy(options.tool, folder / "usr/bin/launchguard")
        shutil.copy(options.preload, folder / "usr/lib/launchguard/launchguard-preload.so")
        notes = folder / "usr/bin/notes"
        if action:
            notes.write_text(f"#!/bin/sh\nexec {options.victim} - {' '.join(action)}\n")
        else:
            shutil.copy("/bin/dash", notes)
        notes.chmod(0o755)
        (folder / "etc/passwd").write_text(USERS)
        (folder / "etc/group").write_text(f"root:x:0:\nnotes:x:{NOTES_USER}:\nnogroup:x:65534:\n")
        (folder / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
        self.units = folder / "etc/systemd/system"
        for path in (ROOT / "Examples/supervisors").glob("*.service"):
            shutil.copy(path, self.units)
        for name in ("notes", "notes-watchdog", "unchanged"):
            self.add(name, "RestartSec=50ms")
        (self.units / "script.service").write_text(SCRIPT_UNIT)
        (self.units / "script.target").write_text("[Unit]\nWants=script.service\nAfter=script.service\n")

    def add(self, unit, *lines):
        """Settings after those of the example."""
        folder = self.units / f"{unit}.service.d"
        folder.mkdir(exist_ok=True)
        (folder / f"{len(os.listdir(folder))}.conf").write_text("[Service]\n" + "\n".join(lines) + "\n")

    def run(self, script):
        """The output of the script, which runs as a unit of the machine; both end together."""
        (self.folder / "script").write_text(manager.UNTIL + script)
        binds = [f"--bind-ro={folder}" for folder in self.programs]
        command = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--link-journal=no", "--directory=/", "--volatile=yes", *binds,
                   f"--overlay=/usr:{self.folder}/usr:/usr", f"--bind={self.folder}/etc:/etc", f"--bind={self.folder}/var:/var/lib", f"--bind={self.folder}:/test",
                   "--boot", "--", "systemd.unit=script.target", "systemd.firstboot=no", "systemd.log_target=console"]
        console = manager.alone(["/bin/sh", "-c", BEGIN + '"$@"', "sh", *command])
        output = self.folder / "output"
        return output.read_text() if output.exists() else console
