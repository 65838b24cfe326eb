"""A program that is started again when it fails: back-off, repairs, safe mode, launch check, giving
up, and the end that somebody asks for."""
import json
import os
import pathlib
import re
import signal
import subprocess

from programs import line, wait_until
from under_run import UnderRun

LIMIT = 120  # seconds that mean "hung"


class Restart(UnderRun):
    is_recorded = True

    def again(self, program, *options, shell="dash"):
        """The command line; the program is a script of a shell."""
        return self.under("--restart", "--restart-delay", "0.05", *options, "--", shell, "-c", program, "zero")

    def read(self, *what):
        done = subprocess.run([self.options.tool, "inspect", "--json", "--no-symbols", *what], stdout=subprocess.PIPE, timeout=LIMIT)
        return json.loads(done.stdout.split(b"\n")[0])

    def runs(self, program="dash"):
        return [self.read(path) for path in sorted((self.records / program / "runs").iterdir())]

    def ledger(self, program="dash"):
        return next(context for context in self.read(self.records / program / "ledger.lg")["contexts"] if context["name"] == "main")

    def wait_for(self, path):
        wait_until(path.exists, "%s appears" % path)

    # ---- the ladder ----

    def test_nothing_helps(self):
        report = 'printf "report %s %s\\n" "$LAUNCHGUARD_STREAK" "$#"'
        output, words = self.ends(78, self.again('echo "run safe=$LAUNCHGUARD_SAFE_MODE $*"; kill -SEGV $$', "--report", report, "--repair", "small=echo repair $1",
                                                 "--repair", "large=exit 3", "--safe-argument=--plain", "--safe-argument", "x"))
        self.assertEqual(output.decode().split("\n"), ["run safe= "] * 2 + ["run safe= "] + ["run safe=1 --plain x"] * 2 + [""])
        said = words.decode().split("\n")
        own = [text for text in said if text and not text.startswith("launchguard: ")]
        self.assertEqual([text for text in own if text.startswith("report")], ["report %d 1" % streak for streak in (1, 2, 1, 2, 3)])
        self.assertEqual([text for text in own if not text.startswith("report")], ["repair small"])
        told = [text.removeprefix("launchguard: ") for text in said if re.match("launchguard: (repair|safe mode)", text)]
        small, large, safe = (["repair small: it runs", "repair small: it succeeded"], ["repair large: it runs", "repair large: it ended with status 3"],
                              ["safe mode: repairs did not help, and the program starts as LAUNCHGUARD_SAFE_MODE=1 asks it to"])
        self.assertEqual(told, small + large * 2 + safe * 2)
        self.assertIn("it is given up", said[-2])
        self.assertEqual((self.ledger()["isHalted"], self.ledger()["safeCrashes"]), (True, 2))
        # The start that gave up left no run: the program did not run in it.
        self.assertEqual([run["verdict"]["end"] for run in self.runs()], ["crash"] * 5)
        self.assertEqual(self.read("--last", self.records / "dash")["verdict"]["end"], "crash")
        done = subprocess.run([self.options.tool, "verdict", self.records / "dash"], stdout=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual(done.returncode, 20)
        self.assertRegex(done.stdout.decode(), "^crash: SIGSEGV .*; run 5, .* halted")
        # A start by a person makes one try, in safe mode.
        output, _ = self.ends(0, self.again("echo safe=$LAUNCHGUARD_SAFE_MODE"))
        self.assertEqual(output, b"safe=1\n")

    def test_a_repair_helps(self):
        broken = self.directory / "broken"
        broken.touch()
        output, _ = self.ends(0, self.again('echo run; [ ! -e "%s" ] || kill -SEGV $$' % broken, "--repair", "mend=rm '%s'" % broken))
        self.assertEqual(output, b"run\n" * 3)
        self.assertEqual(self.ledger()["repairs"], 1)

    def test_the_ladder_shows_what_became_of_each_repair(self):
        self.ends(78, self.again("kill -SEGV $$", "--repair", "cannot=exit 3", "--repair", "does=true"))
        self.assertEqual([(rung["name"], rung.get("fate")) for rung in self.ledger()["ladder"]],
                         [("leave out the suspect task", None), ("cannot", "failed"), ("does", "did-not-help")])

    def test_a_repair_that_hangs(self):
        _, words = self.ends(78, self.again("exit 3", "--repair-time", "0.3", "--repair", "slow=sleep 1000 & sleep 1000"))
        self.assertIn(b"launchguard: repair slow: it did not end within 300 ms and was killed\n", words)
        self.assertNotIn(b"slow", b"".join(pathlib.Path(path, "cmdline").read_bytes() for path in self.processes()))

    def test_it_waits_longer_after_each_short_life(self):
        """Also where each launch is finished before the program dies."""
        broken = self.directory / "broken"
        broken.touch()
        _, words = self.ends(0, self.again('[ -e "%s" ] || exit 0; sleep 0.5; kill -SEGV $$' % broken, "--launch-window", "0.05", "--restart-delay", "0.5",
                                           "--repair", "mend=rm '%s'" % broken))
        pauses = [float(word) for word in re.findall(rb"started again in ([0-9.]+) s", words)]
        self.assertEqual(len(pauses), 2, words)
        self.assertGreater(pauses[1], 1.5 * pauses[0])  # twice, but for the tenth that is random

    def processes(self):
        return [path for path in pathlib.Path("/proc").iterdir() if path.name.isdigit() and self.is_ours(path)]

    def is_ours(self, path):
        try:
            return str(self.directory).encode() in (path / "environ").read_bytes()
        except OSError:
            return False

    def test_commands_are_not_preloaded(self):
        output, words = self.ends(78, self.again("exit 3", "--repair", "look=env | grep -c LD_PRELOAD >&2; true"))
        self.assertIn(b"\n0\n", b"\n" + words)
        self.assertEqual([path.name for path in self.records.iterdir()], ["dash"])

    # ---- the launch check ----

    def checked(self, check, opens):
        """A program that works after a while, and dies then: no launch crash."""
        died = self.directory / "died"
        script = ('[ -e "{0}" ] && exit 0; sleep 0.3; {1}; while [ -d "{3}" ] && [ ! -e "{2}" ]; do sleep 0.05; done;'
                  ' touch "{0}"; kill -SEGV $$')
        go = self.directory / "go"
        child = subprocess.Popen([str(part) for part in self.again(script.format(died, opens, go, self.directory), "--launch-check", check)],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            wait_until(lambda: self.is_marked() or child.poll() is not None, "the check passes")
            self.assertIsNone(child.poll())
            go.touch()
            self.assertEqual(child.wait(LIMIT), 0, child.stderr.read())
        finally:
            child.kill()
            child.communicate()
        self.assertEqual(self.ledger()["streak"], 0)
        self.assertEqual(self.runs()[0]["contexts"][0]["phase"], "finished")
        self.assertEqual(len(self.runs()), 2)

    def is_marked(self):
        try:
            return self.runs()[-1]["contexts"][0]["phase"] == "finished"
        except (OSError, IndexError, KeyError, ValueError):
            return False

    def test_a_file(self):
        ready = self.directory / "ready"
        ready.touch()
        os.utime(ready, (1, 1))  # of an earlier start
        self.checked("file:%s" % ready, 'touch "%s"' % ready)

    def test_a_command(self):
        self.checked("command:test -e '%s/ready'" % self.directory, 'touch "%s/ready"' % self.directory)

    def test_a_port(self):
        program = self.directory / "server.py"
        program.write_text("import signal, socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen(5)\n"
                           "print(s.getsockname()[1], flush=True)\nsignal.pause()\n")
        server = subprocess.Popen(["/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3", program], stdout=subprocess.PIPE, bufsize=0)
        try:
            self.checked("tcp:%d" % int(line(server.stdout)), ":")
        finally:
            server.kill()
            server.communicate()

    def test_a_launch_that_is_finished_on_probation(self):
        """The service lives on and calls nothing: its ledger says at once that it works."""
        ready, broken = self.directory / "ready", self.directory / "broken"
        script = '[ ! -e "%s" ] || kill -SEGV $$; touch "%s"; while [ -d "%s" ]; do sleep 0.05; done' % (broken, ready, self.directory)
        for options in ["--launch-check", "file:%s" % ready], ["--launch-window", "0.2"]:
            with self.subTest(options):
                broken.touch()
                child = subprocess.Popen([str(part) for part in self.again(script, *options, "--repair", "mend=rm '%s'" % broken)],
                                         stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    wait_until(lambda: ready.exists() and self.is_marked(), "the launch is finished")
                    context = self.read(self.records / "dash")["contexts"][0]
                    self.assertEqual((context["status"], context["mode"], context["streak"]), ("normal", "normal", 0))
                finally:
                    child.terminate()
                    child.wait(LIMIT)
                ready.unlink()

    def test_a_check_that_never_passes(self):
        _, words = self.ends(78, self.again("exec sleep 1000", "--launch-window", "0.4", "--launch-check", "file:/does/not/exist"))
        self.assertEqual(words.count(b"the launch check did not pass within 0.4 s"), 4)
        run = self.runs("sleep")[0]
        self.assertEqual((run["verdict"]["end"], run["crash"]["signal"]["name"]), ("crash", "SIGABRT"))

    # ---- ends that are no failure ----

    def test_asked_to_end(self):
        for number in signal.SIGTERM, signal.SIGINT:
            with self.subTest(number):
                ready = self.directory / ("ready%d" % number)
                child = subprocess.Popen([str(part) for part in self.again('trap "exit 3" TERM INT; touch "%s"; while :; do sleep 0.05; done' % ready)],
                                         stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    self.wait_for(ready)
                    child.send_signal(number)
                    self.assertEqual(child.wait(LIMIT), 3)
                finally:
                    child.kill()
                    child.wait()

    def test_asked_for_something_else(self):
        """A SIGHUP to read the configuration again, and a SIGQUIT, as a Java VM lists its threads
        for: the program lives on, crashes later, and is started again."""
        for number in signal.SIGHUP, signal.SIGQUIT:
            with self.subTest(number):
                ready, heard, died = (self.directory / ("%s%d" % (name, number)) for name in ("ready", "heard", "died"))
                program = '''test ! -e "%s" || exit 0; trap "touch '%s'" HUP QUIT; touch "%s"; while [ ! -e "%s" ]; do sleep 0.05; done; touch "%s"; kill -SEGV $$'''
                child = subprocess.Popen([str(part) for part in self.again(program % (died, heard, ready, heard, died))], stdin=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
                try:
                    self.wait_for(ready)
                    child.send_signal(number)
                    self.assertEqual(child.wait(LIMIT), 0)
                    self.assertTrue(died.exists())
                finally:
                    child.kill()
                    child.wait()

    def test_a_quit_that_ends_the_program(self):
        ready = self.directory / "ready"
        child = subprocess.Popen([str(part) for part in self.again('touch "%s"; while :; do sleep 0.05; done' % ready)], stdin=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            self.wait_for(ready)
            child.send_signal(signal.SIGQUIT)
            self.assertEqual(child.wait(LIMIT), -signal.SIGQUIT)
        finally:
            child.kill()
            child.wait()

    def test_asked_to_end_in_a_pause(self):
        child = subprocess.Popen([str(part) for part in self.under("--restart", "--restart-delay", "1000", "--", "dash", "-c", "exit 3")],
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0)
        try:
            self.assertIn(b"it is started again in", line(child.stderr))
            child.send_signal(signal.SIGHUP)  # for the program, which is not there
            child.send_signal(signal.SIGTERM)
            self.assertEqual(child.wait(LIMIT), -signal.SIGTERM)
        finally:
            child.kill()
            child.communicate()

    def test_good_ends(self):
        self.ends(0, self.again("exit 0"), errors=b"")
        self.ends(-signal.SIGTERM, self.again("kill -TERM $$"), errors=b"")

    def test_another_program_in_the_process(self):
        """The launch is that of the program that the process has become."""
        self.ends(78, self.again("exec dash -c 'exit 3'", shell="sh" if not os.path.samefile("/bin/sh", "/bin/dash") else "bash"))
        self.assertEqual(self.ledger()["streak"], 4)

    # ---- bad input ----

    def test_bad_input(self):
        rows = [
            (["--repair", "x"], "--repair"), (["--repair", "=x"], "--repair"), (["--repair", "a=1", "--repair", "a=2"], "two repairs have one name"),
            (["--launch-check", "tcp:"], "--launch-check"), (["--launch-check", "udp:5"], "--launch-check"), (["--launch-check", "tcp:99999"], "--launch-check"),
            (["--launch-window", "0"], "--launch-window"), (["--repair-after", "0"], "--repair-after"), (["--witness-only"], "--restart needs the records"),
        ]
        for options, words in rows:
            with self.subTest(options):
                _, said = self.ends(125, [self.options.tool, "run", "--restart", *options, "--", "true"])
                self.assertIn(words, said.decode())
        _, said = self.ends(125, [self.options.tool, "run", "--repair", "a=b", "--", "true"])
        self.assertIn("need --restart", said.decode())
