#!/usr/bin/env python3
"""The files of Examples/supervisors do what docs/SUPERVISORS.md says of them."""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import unittest

import manager
import operator_case
from operator_case import LIMIT_S, ROOT, OperatorCase, run
from waiting import wait_until

EXAMPLES = ROOT / "Examples/supervisors"
CRASH, KILLED, HALTED = 10, 13, 20
WITNESS = "witness"  # the evidence


class Supervised(OperatorCase):
    def runs(self, state):
        return [json.loads(line)["verdict"] for line in self.tool("list", "--reverse", "--json", "--no-symbols", state).output.splitlines()]


class Units(Supervised):
    def setUp(self):
        super().setUp()
        if not shutil.which("systemd-analyze"):
            self.skipTest("needs systemd-analyze, of Debian's package systemd")

    def test_verify(self):
        units = sorted(EXAMPLES.glob("*.service"))
        self.assertTrue(units)
        for unit in units:
            text = manager.unit_text(unit.name, "pause", self.directory).replace("[Service]\n", "[Service]\nUser=root\n", 1)
            (self.directory / unit.name).write_text(text)
        for unit in units:
            with self.subTest(unit=unit.name):
                result = run(["systemd-analyze", "verify", self.directory / unit.name])
                self.assertEqual((result.status, result.errors), (0, ""), result)

    def test_exposure(self):
        """As systemd measures it; 10 is a unit without any sandbox."""
        for name, most in ("notes", 4), ("notes-watchdog", 4), ("unchanged", 4), ("notes-agent", 2):
            with self.subTest(unit=name):
                result = run(["systemd-analyze", "security", "--offline=yes", f"--threshold={10 * most}", EXAMPLES / f"{name}.service"])
                self.assertEqual(result.status, 0, result)

    def test_verify_sees_mistakes(self):
        text = manager.unit_text("notes.service", "pause", self.directory).replace("Restart=on-failure", "Restart=on-faliure")
        (self.directory / "wrong.service").write_text(text)
        self.assertNotEqual(run(["systemd-analyze", "verify", self.directory / "wrong.service"]).errors, "")


class Systemd(Supervised):
    """With a living systemd."""

    def setUp(self):
        super().setUp()
        if why := manager.obstacle():
            self.skipTest(why)

    def manage(self, action, script):
        made = manager.Manager(self.directory, action)
        output = made.run(script)
        self.assertNotIn("in vain", output)
        self.assertEqual([folder for folder in manager.HIERARCHIES if list(folder.glob(f"launchguard-operator-{os.getpid()}"))], [])
        return made.state, output

    def test_crash_loop_until_halted(self):
        state, output = self.manage("launch-crash", """
            systemctl --user start notes
            until_it 'test -e "$0/notified"'
            until_it 'systemctl --user is-active notes | grep -qx inactive'
            systemctl --user show -p ActiveState notes
            ls "$0/home/notes/runs" | wc -l
            systemctl --user start notes; ls "$0/home/notes/runs" | wc -l
            """)
        self.assertIn("ActiveState=inactive\n", output)
        before, after = output.split()[-2:]
        self.assertEqual(before, after, "a halted program was started again")
        runs = self.runs(state)
        self.assertGreaterEqual(len(runs), 4, runs)
        for verdict in runs:
            self.assertEqual((verdict["end"], verdict["signal"]["name"]), ("crash", "SIGABRT"))
        self.assertEqual(self.tool("verdict", state).status, HALTED)
        self.assertEqual(self.tool("reset", state).status, 0)
        self.assertEqual(self.tool("verdict", state).status, CRASH)

    def test_killed_is_known_and_stopped_is_terminated(self):
        state, output = self.manage("pause", """
            systemctl --user start notes
            until_it 'ls "$0"/home/notes/runs/00000001-*'
            systemctl --user kill -s KILL notes
            until_it 'ls "$0"/home/notes/runs/00000002-* && systemctl --user is-active notes'
            systemctl --user show -p NRestarts notes
            systemctl --user stop notes
            """)
        self.assertIn("NRestarts=1\n", output)
        first, second = self.runs(state)
        self.assertEqual((first["end"], first["evidenceKind"]), ("killed", WITNESS), first)
        self.assertEqual((second["end"], second["signal"]["name"]), ("terminated", "SIGTERM"), second)

    def test_watchdog(self):
        state, output = self.manage("hang", """
            systemctl --user start notes-watchdog
            until_it 'ls "$0"/home/notes/runs/00000002-*'
            systemctl --user stop notes-watchdog
            """)
        verdict = self.runs(state)[0]
        self.assertEqual((verdict["end"], verdict["signal"]["name"], verdict["kind"]), ("crash", "SIGABRT", "signal.external"), output)
        self.assertIn("stack", self.tool("inspect", "--no-symbols", "--run", 1, state).output)


    def test_a_program_as_it_is(self):
        preload = operator_case.options.preload
        if not preload or not preload.exists():
            self.skipTest("needs --preload, the library of launchguard run")
        state, _ = self.manage("/bin/sh -c 'kill -SEGV $$$$'", """
            systemctl --user start unchanged
            until_it 'ls "$0"/home/notes/sh/runs/00000003-*'
            systemctl --user stop unchanged
            """)
        for verdict in self.runs(state / "sh")[:2]:
            self.assertEqual((verdict["end"], verdict["signal"]["name"]), ("crash", "SIGSEGV"), verdict)


class Script(Supervised):
    """supervise.sh, as it is."""

    def setUp(self):
        super().setUp()
        folder = self.directory / "bin"
        folder.mkdir()
        (folder / "launchguard").symlink_to(operator_case.options.tool)
        self.variables = {"PATH": f"{folder}:{os.environ['PATH']}", "PAUSE": "0"}

    def command(self, *action):
        return ["/bin/sh", EXAMPLES / "supervise.sh", self.state, operator_case.options.victim, self.state, *action]

    def supervise(self, *action, **variables):
        return run(self.command(*action), {**self.variables, **variables})

    def test_crash_loop_until_halted(self):
        result = self.supervise("launch-crash")
        self.assertEqual(result.status, HALTED, result)
        self.assertGreaterEqual(len(self.runs(self.state)), 4)
        self.assertIn(", halted, streak", result.errors.splitlines()[-1])

    def test_a_good_end_is_the_end(self):
        for action, status in [(("exit", "0"), 0), (("_exit", "0"), 0), (("launch",), 0), (("raise", "15"), 128 + 15)]:
            with self.subTest(action=action):
                self.assertEqual(self.supervise(*action).status, status)
                self.assertEqual(len(self.runs(self.state)), 1)
                shutil.rmtree(self.state)

    def test_every_other_end_is_followed_by_a_start(self):
        once = self.directory / "once"
        script = f'[ -e "{once}" ] && exec "$1" "$2" exit 0; touch "{once}"; exec "$@"'
        for action, end in [(("_exit", "3"), "exit"), (("raise", "9"), "killed"), (("exit", "4"), "exit"), (("raise", "11"), "crash")]:
            with self.subTest(action=action):
                command = self.command()[:3] + ["/bin/sh", "-c", script, "sh"] + self.command(*action)[3:]
                self.assertEqual(run(command, self.variables).status, 0)
                self.assertEqual([verdict["end"] for verdict in self.runs(self.state)], [end, "clean"])
                once.unlink()
                shutil.rmtree(self.state)

    def is_started(self):
        result = self.tool("inspect", "--json", "--no-symbols", "--run", 1, self.state)
        return result.status == 0 and json.loads(result.output)["identity"]["isStartComplete"]

    def asked(self, wrap, find):
        """The script is asked to end while the program runs: the program ends, and is not started
        again."""
        process = subprocess.Popen([str(part) for part in [*wrap, *self.command("pause")]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=dict(os.environ, **self.variables), start_new_session=True)
        try:
            # From outside a pid namespace nobody sees whether the process lives.
            wait_until(self.is_started, "the program starts")
            os.kill(find(process.pid), signal.SIGTERM)
            errors = process.communicate(timeout=LIMIT_S)[1]
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, errors)
        (verdict,) = self.runs(self.state)
        self.assertEqual((verdict["end"], verdict["signal"]["name"]), ("terminated", "SIGTERM"))

    def test_asked_to_end(self):
        self.asked([], lambda pid: pid)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and a pid namespace")
    def test_process_one(self):
        def child(pid):
            return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        self.asked(["unshare", "-mpf", "--kill-child", "--mount-proc"], child)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and a pid namespace")
    def test_process_one_waits_for_what_it_inherits(self):
        program = manager.ORPHANS + "exit 0"
        result = run(["unshare", "-mpf", "--kill-child", "--mount-proc", *self.command()[:3], "/bin/sh", "-c", program], self.variables)
        self.assertEqual((result.status, result.output), (0, ""), result)

    def test_standard_input_is_the_programs(self):
        command = self.command()[:3] + ["/bin/sh", "-c", "read line; echo \"got $line\""]
        done = subprocess.run([str(part) for part in command], input="words\n", capture_output=True, text=True, timeout=LIMIT_S,
                              env=dict(os.environ, **self.variables))
        self.assertEqual((done.returncode, done.stdout), (0, "got words\n"))


class Core(Supervised):
    def test_record_and_core(self):
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
        if pattern[0] in "|/":
            self.skipTest(f"core files of this machine go to {pattern}")
        folder = self.directory / "cores"
        folder.mkdir()
        limit = resource.getrlimit(resource.RLIMIT_CORE)[1]
        process = subprocess.Popen([operator_case.options.victim, self.state, "launch-crash"], cwd=folder,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (limit, limit)))
        _, status = os.waitpid(process.pid, 0)
        process.returncode = 0
        if limit == 0:
            self.skipTest("the hard limit of core files is 0")
        self.assertEqual((os.WTERMSIG(status), os.WCOREDUMP(status)), (signal.SIGABRT, True))
        self.assertEqual(len(list(folder.iterdir())), 1)
        self.assertEqual(self.tool("witness", self.state, process.pid, f"wait:{status}").status, 0)
        verdict = self.tool("verdict", self.state)
        self.assertTrue(verdict.status == CRASH and verdict.output.startswith("crash: abort() in "), verdict)


class Page(unittest.TestCase):
    def test_the_page_quotes_the_files(self):
        page = (ROOT / "docs/SUPERVISORS.md").read_text()
        for path in EXAMPLES.iterdir():
            self.assertIn(f"../Examples/supervisors/{path.name}", page)
        lines = {line for path in EXAMPLES.iterdir() for line in path.read_text().splitlines()}
        quoted = [line for block in re.findall(r"```ini\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
        self.assertGreater(len(quoted), 5)
        self.assertEqual([line for line in quoted if line not in lines], [])


if __name__ == "__main__":
    operator_case.main()
