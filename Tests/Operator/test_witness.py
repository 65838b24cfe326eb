#!/usr/bin/env python3
"""`launchguard witness`, `verdict` and `reset`, as shells and service managers call them."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

import operator_case
from operator_case import LIMIT_S, OperatorCase

CRASH, KILLED, EXIT, UNKNOWN, RUNNING, HALTED = 10, 13, 14, 15, 17, 20
NOT_FOUND, USAGE, DAMAGED, REFUSED = 1, 2, 3, 6
INVOCATION = "0123456789abcdef0123456789abcdef"

LOSE = '"$1" "$2" %s & pid=$!; wait "$pid"; "$0" witness "$2" "$pid" %s; echo "witness $?"; "$0" verdict "$2"'


class Shell(OperatorCase):
    def lose(self, action, status='"$?"', shell="/bin/sh"):
        result = self.shell(LOSE % (action, status), shell=shell)
        self.assertIn("witness 0\n", result.output, result)
        return result

    def test_without_a_witness(self):
        self.assertEqual(self.victim("_exit", 3), 3)
        self.assertEqual(self.verdict().status, UNKNOWN)

    def test_status_of_a_shell(self):
        for shell in filter(None, ["/bin/sh", shutil.which("bash")]):
            for action, status, words in [
                ("_exit 3", EXIT, "exit with status 3"), ("_exit 0", 0, "clean"), ("_exit 128", EXIT, "exit with status 128"),
                ("_exit 200", EXIT, "exit with status 200"), ("raise 9", KILLED, "killed SIGKILL"), ("raise 11", CRASH, "crash: SIGSEGV sent by the program itself in "),
                ("raise 64", 0, "terminated SIGRTMIN+30"), ("raise 15", 0, "terminated SIGTERM"),
                # Its own mark says that it was exit(), and no signal.
                ("exit 139", EXIT, "exit with status 139"), ("exit 7", EXIT, "exit with status 7"),
                # The same status as SIGSEGV.
                ("_exit 139", CRASH, "crash SIGSEGV"),
            ]:
                with self.subTest(shell=shell, action=action):
                    result = self.lose(action, shell=shell)
                    self.assertEqual(result.status, status, result)
                    self.assertIn(f"\n{words}", result.output)
                    shutil.rmtree(self.state)

    def test_exact_forms(self):
        for text, end in [("exit:139", "exit with status 139"), ("signal:KILL", "killed SIGKILL"), ("signal:SIGKILL", "killed SIGKILL"),
                          ("signal:9", "killed SIGKILL"), ("wait:9", "killed SIGKILL"), ("wait:768", "exit with status 3"),
                          ("wait:139", "crash SIGSEGV"), ("signal:RTMIN+2", "terminated SIGRTMIN+2")]:
            with self.subTest(text=text):
                self.assertIn("\n" + end, self.lose("_exit 3", text).output)
                shutil.rmtree(self.state)

    def test_wrong_words(self):
        self.victim("_exit", 3)
        for text in ["", "x", "256", "exit:256", "exit:", "signal:", "signal:0", "signal:65", "signal:NONE", "wait:127", "wait:1407", "wait:65536", "kill:9",
                     "99999999999999999999"]:
            with self.subTest(text=text):
                result = self.tool("witness", self.state, 1, text)
                self.assertEqual(result.status, USAGE, result)
        for arguments in [[], [self.state], [self.state, 1], [self.state, 0, 0], [self.state, "x", 0], ["--systemd", self.state, 1, 0]]:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.tool("witness", *arguments).status, USAGE)

    def test_refusals(self):
        self.assertEqual(self.tool("witness", self.state, 1, 0).status, NOT_FOUND)
        self.lose("raise 9")
        result = self.shell('"$0" witness "$2" "$(ls "$2/runs" | wc -l)" 0')
        self.assertEqual(result.status, NOT_FOUND, result)
        self.assertIn("no run of process 1 is recorded here", result.errors)
        pid = json.loads(self.tool("inspect", "--json", "--run", 1, self.state).output)["identity"]["processID"]
        twice = self.tool("witness", self.state, pid, 0)
        self.assertEqual(twice.status, REFUSED, twice)
        self.assertIn("has a witness already", twice.errors)
        self.assertEqual(self.verdict().status, KILLED)

    def living(self):
        process = subprocess.Popen([operator_case.options.victim, self.state, "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, LIMIT_S)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), b"live\n")
        return process

    def test_a_living_process(self):
        process = self.living()
        result = self.tool("witness", self.state, process.pid, 0)
        self.assertEqual(result.status, REFUSED, result)
        self.assertIn("is alive", result.errors)
        self.assertEqual(self.verdict().status, RUNNING)
        refused = self.tool("reset", self.state)
        self.assertEqual(refused.status, REFUSED, refused)
        self.assertIn("end it first", refused.errors)


class Systemd(OperatorCase):
    """The environment of ExecStopPost=. The victim sees the cgroup of a service: a file that is
    mounted over the one of /proc, in a mount namespace of its own."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or run_fails(["unshare", "-m", "true"]):
            self.skipTest("needs root and a mount namespace, to show the victim the cgroup of a service")

    def service(self, *action, invocation=INVOCATION):
        cgroup = self.directory / "cgroup"
        cgroup.write_text("0::/system.slice/victim.service\n")
        script = 'mount --bind "$0" "/proc/$$/cgroup" && exec "$@"'
        command = ["unshare", "-m", "/bin/sh", "-c", script, cgroup, operator_case.options.victim, self.state, *action]
        return operator_case.run(command, {"INVOCATION_ID": invocation}).status

    def witness(self, code, status, invocation=INVOCATION):
        return self.tool("witness", "--systemd", STATE_DIRECTORY=str(self.state), EXIT_CODE=code, EXIT_STATUS=status, INVOCATION_ID=invocation,
                         SERVICE_RESULT="signal")

    def test_ends(self):
        for action, code, text, status in [(("raise", 9), "killed", "KILL", KILLED), (("_exit", 3), "exited", "3", EXIT), (("_exit", 0), "exited", "0", 0),
                                           (("raise", 6), "dumped", "ABRT", CRASH), (("raise", 40), "killed", "RTMIN+6", 0)]:
            with self.subTest(action=action):
                self.service(*action)
                result = self.witness(code, text)
                self.assertEqual(result.status, 0, result)
                self.assertEqual(self.verdict().status, status)
                shutil.rmtree(self.state)

    def test_only_the_run_of_this_invocation(self):
        self.service("raise", 9, invocation="f" * 32)
        result = self.witness("killed", "KILL")
        self.assertEqual(result.status, NOT_FOUND, result)
        self.assertIn(f"no run of invocation {INVOCATION} has ended without a witness", result.errors)
        self.assertEqual(self.verdict().status, UNKNOWN)

    def test_a_run_that_left_by_exit_is_not_the_one_that_was_killed(self):
        self.service("exit", 0)  # as ExecStartPre=; the main process did not come to lg_start()
        self.assertEqual(self.witness("killed", "SEGV").status, NOT_FOUND)
        self.assertEqual(self.verdict().status, 0)
        self.assertEqual(self.witness("exited", "0").status, 0)

    def test_an_older_run_is_not_that_of_a_witnessed_one(self):
        self.service("raise", 9)  # as ExecStartPre=
        self.service("_exit", 3)
        self.assertEqual(self.tool("witness", self.state, self.newest()["identity"]["processID"], "exit:3").status, 0)
        self.assertEqual(self.witness("exited", "3").status, NOT_FOUND)
        self.assertNotIn("witness", self.newest(run=1)["identity"])

    def newest(self, run=2):
        return json.loads(self.tool("inspect", "--json", "--no-symbols", "--run", run, self.state).output.splitlines()[0])

    def test_twice(self):
        self.service("raise", 9)
        self.assertEqual(self.witness("killed", "KILL").status, 0)
        self.assertEqual(self.witness("killed", "KILL").status, NOT_FOUND)

    def test_no_words_of_systemd(self):
        self.service("raise", 9)
        for variables, words in [({}, "use --systemd in ExecStopPost="), ({"SERVICE_RESULT": "exec-condition"}, "had no main process"),
                                 ({"EXIT_CODE": "x", "EXIT_STATUS": "1"}, "are not the end of a process"),
                                 ({"EXIT_CODE": "exited", "EXIT_STATUS": "KILL"}, "are not the end of a process"),
                                 ({"EXIT_CODE": "killed", "EXIT_STATUS": "KILL"}, "INVOCATION_ID is not set")]:
            with self.subTest(variables=variables):
                result = self.tool("witness", "--systemd", self.state, **variables)
                self.assertEqual(result.status, NOT_FOUND, result)
                self.assertIn(words, result.errors)


class Verdicts(OperatorCase):
    def test_ends(self):
        for action, status, words in [(("exit", 0), 0, "clean; run 1"), (("exit", 3), EXIT, "exit with status 3; run 1"),
                                      (("raise", 11), CRASH, "crash: SIGSEGV sent by the program itself in "), (("raise", 9), UNKNOWN, "unknown; run 1"),
                                      (("raise", 15), 0, "terminated SIGTERM; run 1")]:
            with self.subTest(action=action):
                self.victim(*action)
                verdict = self.verdict()
                self.assertEqual((verdict.status, verdict.output.startswith(words), verdict.output.count("\n")), (status, True, 1), verdict)
                answer = json.loads(self.tool("verdict", "--json", self.state).output)
                self.assertEqual((answer["type"], answer["exitStatus"], answer["ordinal"]), ("last-end", status, 1))
                shutil.rmtree(self.state)

    def test_the_newest_run(self):
        self.victim("raise", 11)
        self.victim("exit", 0)
        self.assertTrue(self.verdict().output.startswith("clean; run 2"))
        self.victim("exit", 4)
        self.assertTrue(self.verdict().output.startswith("exit with status 4; run 3"))

    def test_nothing(self):
        self.assertEqual(self.verdict().status, NOT_FOUND)
        (self.state / "runs").mkdir(parents=True)
        self.assertIn("no run has been recorded here", self.verdict().errors)
        (self.state / "ledger.lg").write_bytes(b"x" * 4096)
        self.assertEqual(self.verdict().status, DAMAGED)
        self.assertEqual(self.tool("reset", self.state).status, DAMAGED)

    def test_halted_and_reset(self):
        for start in range(10):
            self.assertEqual(self.victim("launch-crash"), -signal.SIGABRT)
            verdict = self.verdict()
            if verdict.status == HALTED:
                break
            self.assertEqual(verdict.status, CRASH, verdict)
        self.assertEqual(verdict.status, HALTED, "the launch was never halted")
        self.assertIn(", halted, streak", verdict.output)
        self.assertTrue(json.loads(self.tool("verdict", "--json", self.state).output)["contexts"][0]["isHalted"])

        unknown = self.tool("reset", self.state, "other")
        self.assertEqual(unknown.status, NOT_FOUND)
        self.assertIn('no context "other"', unknown.errors)
        self.assertEqual(self.verdict().status, HALTED)
        self.assertEqual(self.tool("reset", self.state, "main").status, 0)
        after = self.verdict()
        self.assertEqual(after.status, CRASH, after)
        self.assertIn("main: normal, streak 0", after.output)
        self.assertEqual(self.victim("launch"), 0)
        self.assertEqual(self.verdict().status, 0)

    def test_undo(self):
        """A repair wiped a file, and it did not help."""
        file = self.directory / "notes.db"
        for _ in range(3):
            file.write_text("notes")
            self.assertEqual(self.victim("launch-crash", file), -signal.SIGABRT)
        self.assertFalse(file.exists())
        line = f"{file} (main, 5 bytes)\n"
        self.assertEqual(self.tool("undo", "--list", self.state).output, line)
        self.assertFalse(file.exists())
        self.assertIn(line, self.tool("inspect", self.state).output)
        kept = json.loads(self.tool("inspect", "--json", self.state).output)["kept"]
        self.assertEqual([(row["context"], row["path"], row["kind"], row["bytes"]) for row in kept], [("main", str(file), "file", 5)])
        self.assertEqual(self.tool("undo", self.state, "other").status, NOT_FOUND)
        result = self.tool("undo", self.state)
        self.assertEqual((result.status, result.output), (0, "back: " + line), result)
        self.assertEqual(file.read_text(), "notes")
        self.assertEqual(self.tool("reset", self.state).status, 0)
        for _ in range(2):
            self.assertEqual(self.victim("launch"), 0)  # good; the next launch deletes the copies
        self.assertEqual(self.tool("undo", self.state).status, NOT_FOUND)
        self.assertNotIn("kept", json.loads(self.tool("inspect", "--json", self.state).output))
        if os.geteuid() == 0:
            self.other_user(file)
        else:
            print("test_undo: the copies of another user are left out: only root can make them", file=sys.stderr)

    def other_user(self, file):
        """The paths are that user's word: root does not follow them."""
        for _ in range(3):
            file.write_text("notes")
            self.victim("launch-crash", file)
        for path in [self.state, *self.state.rglob("*")]:
            os.chown(path, 12345, 12345)
        result = self.tool("undo", self.state)
        self.assertEqual(result.status, NOT_FOUND, result)
        self.assertFalse(file.exists())

    def test_numbers_are_those_of_the_man_page(self):
        page = (operator_case.ROOT / "docs/man/launchguard.1").read_text()
        for number, name in [(CRASH, "crash"), (11, "hang"), (12, "oom"), (KILLED, "killed"), (EXIT, "exit"), (UNKNOWN, "unknown"), (16, "reboot"),
                             (RUNNING, "the program runs"), (HALTED, "halted")]:
            self.assertTrue(re.search(rf"\n\\fB{number}\\fP\n{name}\b", page), f"{number} {name}")


def run_fails(command):
    return shutil.which(command[0]) is None or operator_case.run(command).status != 0


if __name__ == "__main__":
    operator_case.main()
