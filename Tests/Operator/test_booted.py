#!/usr/bin/env python3
"""The units of docs/SUPERVISORS.md, as they are, under a system manager that is process 1. Long."""
import json
import os
import pathlib
import shutil
import signal
import sys

import booted
import operator_case
from operator_case import OperatorCase, run

CRASH, HALTED = 10, 20
WITNESS = "witness"  # the evidence
PATTERN = pathlib.Path("/proc/sys/kernel/core_pattern")
COREDUMP = "/usr/lib/systemd/systemd-coredump"
SHOW = "systemctl show -p ActiveState -p Result -p NRestarts -p ExecMainStatus"
# All that a unit may forbid and a program in C can do without.
SANDBOX = """DynamicUser=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateNetwork=yes
PrivateUsers=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
ProcSubset=pid
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
CapabilityBoundingSet=
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
UMask=0077"""


class Booted(OperatorCase):
    def setUp(self):
        super().setUp()
        if why := booted.obstacle():
            self.skipTest(why)

    def boot(self, machine, script):
        output = machine.run(script)
        self.assertNotIn("in vain", output)
        self.assertEqual([path for path in self.mounts() if str(self.directory) in path], [])
        return output

    @staticmethod
    def mounts():
        return pathlib.Path("/proc/self/mounts").read_text().splitlines()

    def runs(self, state):
        return [json.loads(line) for line in self.tool("list", "--reverse", "--json", "--no-symbols", state).output.splitlines()]

    def ends(self, state):
        """For each run: its end, its signal, and whether a witness says so."""
        verdicts = [run["verdict"] for run in self.runs(state)]
        return [(verdict["end"], verdict.get("signal", {}).get("name"), verdict["evidenceKind"] == WITNESS) for verdict in verdicts]


class Notes(Booted):
    """The units of a program with LaunchGuard in it."""

    def test_crash_loop_until_halted(self):
        machine = booted.Machine(self.directory / "machine", "launch-crash")
        output = self.boot(machine, f"""
            cat /proc/1/comm
            systemctl start notes
            until_it 'journalctl -o cat -t root | grep "^notes is halted"'
            until_it 'systemctl is-active notes | grep -qx inactive'
            ls /var/lib/notes/runs | wc -l
            systemctl start notes; ls /var/lib/notes/runs | wc -l; {SHOW} notes
            """)
        self.assertTrue(output.startswith("systemd\n"), output)
        before, after = output.split()[1:3]
        self.assertEqual(before, after, "a halted program was started again")
        self.assertIn("ActiveState=inactive", output)
        self.assertEqual(self.ends(machine.state), [("crash", "SIGABRT", True)] * int(before), output)
        self.assertEqual(os.stat(machine.state / "ledger.lg").st_uid, booted.NOTES_USER)
        self.assertEqual(self.tool("verdict", machine.state).status, HALTED)

    def test_killed_and_stopped(self):
        machine = booted.Machine(self.directory / "machine", "pause")
        self.boot(machine, """
            systemctl start notes
            until_it 'ls /var/lib/notes/runs/00000001-*'
            systemctl kill -s KILL notes
            until_it 'ls /var/lib/notes/runs/00000002-* && systemctl is-active notes'
            systemctl stop notes
            """)
        self.assertEqual(self.ends(machine.state), [("killed", "SIGKILL", True), ("terminated", "SIGTERM", True)])

    def test_watchdog(self):
        machine = booted.Machine(self.directory / "machine", "hang")
        machine.add("notes-watchdog", "WatchdogSec=1")
        self.boot(machine, """
            systemctl start notes-watchdog
            until_it 'ls /var/lib/notes/runs/00000002-*'
            systemctl stop notes-watchdog
            """)
        self.assertEqual(self.ends(machine.state)[0], ("crash", "SIGABRT", True))
        self.assertIn("become_ready", self.tool("inspect", "--run", 1, machine.state).output)

    def test_sandbox(self):
        """Also of a user that exists only as long as the service, with a state directory that is a
        link of root; the doctor has warnings of nothing."""
        machine = booted.Machine(self.directory / "machine", "pause")
        # a checkout in /tmp or in a home is hidden
        machine.add("notes", "User=", SANDBOX, "StateDirectory=", "StateDirectory=dynamic", "ExecStartPre=/usr/bin/launchguard doctor",
                    *(f'BindReadOnlyPaths="{folder}"' for folder in machine.programs))
        output = self.boot(machine, f"""
            systemctl start notes
            until_it 'ls /var/lib/dynamic/runs/00000001-*'
            systemctl kill -s SEGV notes
            until_it 'ls /var/lib/dynamic/runs/00000002-* && systemctl is-active notes'
            systemctl kill -s KILL notes
            until_it 'ls /var/lib/dynamic/runs/00000003-* && systemctl is-active notes'
            systemctl stop notes
            journalctl -u notes -o cat | cat
            """)
        state = self.directory / "machine/var/private/dynamic"
        self.assertEqual(self.ends(state), [("crash", "SIGSEGV", True), ("killed", "SIGKILL", True), ("terminated", "SIGTERM", True)], output)
        self.assertIn("[system.seccomp]", output)
        self.assertIn(" in main ", self.tool("inspect", "--run", 1, state).output)


class Unchanged(Booted):
    """A program under `launchguard run`; here it is a shell."""

    def machine(self, program, *settings, tool=""):
        machine = booted.Machine(self.directory / "machine")
        machine.add("unchanged", "ExecStart=", f"ExecStart=/usr/bin/launchguard run {tool} --directory /var/lib/notes -- /usr/bin/notes -c '{program}'", *settings)
        return machine

    def test_one_signal(self):
        machine = self.machine('trap "echo reload" HUP; trap "echo asked; exit 0" TERM; touch /var/lib/notes/ready; while :; do sleep 0.1; done',
                               "ExecReload=/bin/kill -HUP $MAINPID")
        output = self.boot(machine, f"""
            systemctl start unchanged
            until_it 'test -e /var/lib/notes/ready'
            systemctl reload unchanged
            until_it 'journalctl -o cat -u unchanged | grep -x reload'
            systemctl stop unchanged
            {SHOW} unchanged
            journalctl -o cat -u unchanged | cat
            """)
        self.assertEqual((output.count("reload\n"), output.count("asked\n")), (1, 1), output)
        self.assertIn("Result=success", output)
        self.assertEqual(self.ends(machine.state / "notes"), [("clean", None, True)])

    def test_killed_with_its_witness(self):
        machine = self.machine('trap : TERM; touch /var/lib/notes/ready; while :; do sleep 0.1; done', "TimeoutStopSec=1")
        output = self.boot(machine, f"""
            systemctl start unchanged
            until_it 'test -e /var/lib/notes/ready'
            for who in all main; do
                rm /var/lib/notes/ready
                systemctl kill --kill-who=$who -s KILL unchanged
                until_it 'test -e /var/lib/notes/ready && systemctl is-active unchanged'
            done
            systemctl stop unchanged
            {SHOW} unchanged
            """)
        self.assertIn("Result=timeout", output)
        self.assertEqual(self.ends(machine.state / "notes"), [("killed", "SIGKILL", True)] * 3, output)

    def test_given_up(self):
        machine = self.machine("kill -SEGV $$$$", "RestartPreventExitStatus=78", tool="--restart --restart-delay 0.05")
        output = self.boot(machine, f"""
            systemctl start unchanged
            until_it 'systemctl is-failed unchanged'
            {SHOW} unchanged
            """)
        self.assertTrue({"NRestarts=0", "ExecMainStatus=78"} <= set(output.split()), output)
        self.assertEqual(self.ends(machine.state / "notes")[:3], [("crash", "SIGSEGV", True)] * 3)
        self.assertEqual(self.tool("verdict", machine.state / "notes").status, HALTED)

    def test_ready_and_watchdog(self):
        """The messages come from a child of the process that systemd started."""
        machine = self.machine("systemd-notify --ready; sleep 1000; :", "Type=notify", "NotifyAccess=all", "WatchdogSec=1", "Restart=no")
        output = self.boot(machine, f"""
            systemctl start unchanged
            until_it 'systemctl is-failed unchanged'
            {SHOW} unchanged
            """)
        self.assertIn("Result=watchdog", output)
        self.assertEqual(self.ends(machine.state / "notes"), [("crash", "SIGABRT", True)], output)


class Core(Booted):
    """systemd-coredump in the machine; the kernel starts its programs in this one."""

    def unpack(self, package, folder):
        """Into the machine alone: installed here, it would take the cores of this one."""
        for command in ["apt-get", "download", package], ["sh", "-c", "dpkg-deb -x *.deb unpacked"]:
            done = run(command, cwd=self.directory)
            if done.status != 0:
                self.skipTest(f"needs Debian's package {package}: {done.errors}")
        unpacked = self.directory / "unpacked"
        for part in unpacked / "usr", unpacked:
            for name in ("bin", "lib"):
                if (part / name).is_dir():
                    shutil.copytree(part / name, folder / name, dirs_exist_ok=True)

    def test_record_and_core(self):
        if not shutil.which("nsenter"):
            self.skipTest("needs nsenter")
        machine = booted.Machine(self.directory / "machine", "raise", "11")
        self.unpack("systemd-coredump", machine.folder / "usr")
        machine.add("notes", "LimitCORE=0", "Restart=no")
        machine.add("unchanged", "ExecStart=", "ExecStart=/usr/bin/launchguard run --directory /var/lib/run -- /usr/bin/dash -c 'kill -SEGV $$$$'",
                    "StateDirectory=", "StateDirectory=run", "LimitCORE=infinity", "Restart=no")
        before = PATTERN.read_text()
        self.addCleanup(PATTERN.write_text, before)
        # As systemd sets it, but in the namespaces of the process, and with its number there.
        PATTERN.write_text(f"|{shutil.which('nsenter')} -t%P -m -p -u -i -C {COREDUMP} %p %u %g %s %t 9223372036854775808 %h")
        output = self.boot(machine, f"""
            systemctl start systemd-coredump.socket
            for unit in notes unchanged; do systemctl start $unit; until_it "systemctl is-failed $unit"; {SHOW} $unit; done
            until_it 'test $(coredumpctl list --no-legend | wc -l) -ge 2'
            coredumpctl list --no-legend --no-pager
            """)
        PATTERN.write_text(before)
        cores = {line.split()[4]: line for line in output.splitlines() if " present " in line}
        for state in (machine.state, self.directory / "machine/var/run/dash"):
            self.assertEqual(self.ends(state), [("crash", "SIGSEGV", True)], output)
            run = json.loads(self.tool("inspect", "--json", "--no-symbols", "--run", 1, state).output.splitlines()[0])
            core = cores.get(str(run["identity"]["processID"]), "")
            self.assertIn("SIGSEGV", core, output)
        # The tool ends as the program, without a core of its own.
        self.assertEqual(output.split().count("Result=core-dump"), 1, output)
        self.assertEqual(len(cores), 2, output)


if __name__ == "__main__":
    # Asked to end, the test still takes back what it set.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    operator_case.main()
