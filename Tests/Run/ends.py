"""The start of a program under `launchguard run`, and its end."""
import concurrent.futures
import fcntl
import os
import pathlib
import resource
import signal
import socket
import subprocess
import tempfile

from case import status_name
from programs import Run, children, field, has, is_root, line, state, wait_until
from under_run import UnderRun

SAFE = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}  # end nothing
STOPS = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}


class Given(UnderRun):
    """Both ways the program sees the same."""

    def facts(self, prefix, arguments=(), **how):
        path = self.directory / "facts"
        path.unlink(missing_ok=True)
        environment = {**how.pop("env", os.environb), b"PROBE_LOG": os.fsencode(path)}
        with open(self.directory / "output", "w+b") as output:
            run = Run([*prefix, self.options.probe, "facts", *arguments], env=environment, stdout=output, stderr=output, **how)
            self.assertEqual((run.end()[0], output.tell()), (0, 0))
        return path.read_text().splitlines()

    def same(self, *arguments, **how):
        without, under = self.facts([], *arguments, **how), self.facts(self.under("--no-keep-stderr"), *arguments, **how)
        self.assertEqual(without, under)
        # standard error is a pipe otherwise, and standard output too where both lead to one place
        def others(facts):
            return [fact for fact in facts if not fact.startswith(("file 1 ", "file 2 "))]
        self.assertEqual(others(without), others(self.facts(self.under(), *arguments, **how)))
        return under

    def test_plain(self):
        facts = self.same()
        self.assertTrue(any(line.startswith("file 0 ") for line in facts))

    def test_bytes_that_are_no_text(self):
        strange = bytes(range(1, 256))
        facts = self.same((strange, b"", b"--", b"--quiet"), env={b"STRANGE\xff": strange, b"PATH": os.environb[b"PATH"]})
        self.assertIn("argument " + strange.hex(), facts)
        self.assertIn("variable " + (b"STRANGE\xff=" + strange).hex(), facts)

    def test_descriptors(self):
        """All that are open, also without close-on-exec, at the same numbers, and none more."""
        with socket.socket() as one, tempfile.TemporaryFile() as two:
            facts = self.same(pass_fds=(one.fileno(), two.fileno()))
            self.assertTrue(any(line.startswith("file %d socket" % one.fileno()) for line in facts))

    def test_closed_streams(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            def close():
                for stream in closed:
                    os.close(stream)
            facts = self.same(before=close)
            for stream in closed:
                self.assertFalse(any(line.startswith("file %d " % stream) for line in facts))

    def test_mask_limits_and_the_rest(self):
        def change():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM, signal.SIGRTMIN})
            for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            os.umask(0o137)
            os.nice(3)
            os.chdir("/usr")
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
        facts = self.same(before=change)
        self.assertIn("folder " + b"/usr".hex(), facts)
        self.assertIn("nice %d" % min(os.nice(0) + 3, 19), facts)

    def test_numbers_of_a_supervisor(self):
        """A program that systemd starts finds its own number, where that of the tool stood."""
        code = "import os; print(os.getpid(), *[os.environ.get(n) for n in ('LISTEN_PID', 'WATCHDOG_PID', 'SYSTEMD_EXEC_PID', 'LISTEN_PIDFDID', 'LISTEN_FDS', 'NOTIFY_SOCKET')])"
        shell = "export LISTEN_FDS=1 NOTIFY_SOCKET=@x LISTEN_PIDFDID=5 LISTEN_PID=$$ WATCHDOG_PID=$$ SYSTEMD_EXEC_PID=$$; exec \"$@\""
        own, *others = self.ends(0, ["sh", "-c", shell, "sh", *self.under(), "python3", "-c", code])[0].split()
        self.assertEqual(others, [own, own, own, b"None", b"1", b"@x"])
        _, *others = self.ends(0, ["sh", "-c", shell.replace("$$", "1"), "sh", *self.under(), "python3", "-c", code])[0].split()
        self.assertEqual(others, [b"1", b"1", b"1", b"5", b"1", b"@x"])

    def test_group_and_session(self):
        """The program leads a group where the tool does, in the session of the tool."""
        code = "import os, sys; print(os.getpgrp() == os.getpid(), os.getpgrp() == os.getpgid(os.getppid()), os.getsid(0) == os.getsid(os.getppid()))"
        program = [*self.under(), "python3", "-c", code]
        self.assertEqual(self.ends(0, program)[0], b"True False True\n")
        self.assertEqual(self.ends(0, ["sh", "-c", '"$@"; exit $?', "sh", *program])[0], b"False True True\n")

    def test_streams(self):
        data = bytes(range(256)) * 4096
        output, errors = self.ends(0, [*self.under(), "sh", "-c", "tee /dev/stderr"], data=data)
        self.assertTrue(output == data and errors == data)

    def test_stream_that_the_program_closes(self):
        """Its reader sees the end while the program lives."""
        run = Run([*self.under("--quiet"), "sh", "-c", "exec >&- 2>&-; exec sleep 3600"])
        self.assertEqual((run.process.stdout.read(), run.process.stderr.read()), (b"", b""))
        self.assertIsNone(run.process.poll())
        run.kill()

    def test_broken_pipe(self):
        output, _ = self.ends(0, ["sh", "-c", '"$@" | head -n 1', "sh", *self.under(), "yes"])
        self.assertEqual(output, b"y\n")

    def test_lock(self):
        """A lock that the program gives back is free."""
        def lock():
            os.dup2(os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC), 9)
            fcntl.flock(9, fcntl.LOCK_EX)
        self.ends(0, [*self.under(), "sh", "-c", "exec 9>&-; flock -w 60 lock true"], before=lock, cwd=self.directory, close_fds=False)


class Ends(UnderRun):
    def test_stop_of_a_traced_program(self):
        """A program that asks to be traced stops by each signal: that is no end."""
        code = "import ctypes, os, signal; ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), signal.SIGUSR1)"
        run = Run([*self.under(), "python3", "-c", code])
        self.addCleanup(run.kill)
        program = run.program()
        wait_until(lambda: state(program) == "t", "the program stops")
        wait_until(lambda: state(run.pid) == "S", "the tool waits")
        os.kill(program, signal.SIGKILL)
        self.assertEqual(run.end()[0], -signal.SIGKILL)

    def test_each_status(self):
        """Each bit, and the statuses that the tool has as well."""
        def end(status):
            return Run([*self.under(), self.options.probe, "exit", str(status)]).end()
        statuses = sorted({0, 255, 77, 78, *range(124, 131), *(1 << bit for bit in range(8))})
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for status, result in zip(statuses, pool.map(end, statuses)):
                self.assertEqual(result, (status, b"", b""))

    def test_each_signal(self):
        def end(number):
            return Run([*self.under("--quiet"), self.options.probe, "die", str(number)]).end()
        numbers = sorted(signal.valid_signals() - SAFE - STOPS)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for number, result in zip(numbers, pool.map(end, numbers)):
                self.assertEqual(result, (-number, b"", b""), status_name(-number))

    def test_ignored_signal(self):
        """The death of the program by a signal that is ignored since the start of the tool."""
        ignore = lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.ends(-signal.SIGTERM, [*self.under("--quiet"), self.options.probe, "die", "15"], before=ignore)

    def test_no_wait_status_kept(self):
        """SIGCHLD is ignored, and the kernel would forget how the program ended."""
        self.ends(7, [*self.under(), self.options.probe, "exit", "7"], before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))

    def test_words_about_a_death(self):
        _, errors = self.ends(-signal.SIGSEGV, [*self.under(), self.options.probe, "fault"])
        self.assertEqual(errors.decode(), "launchguard: %s: it died of SIGSEGV\n" % self.options.probe)
        log = self.directory / "log"
        self.ends(-signal.SIGSEGV, [*self.under("--log", log), self.options.probe, "fault"], errors=b"")
        self.assertEqual(log.read_text(), "launchguard: %s: it died of SIGSEGV\n" % self.options.probe)

    def test_alarm(self):
        """A timer that was set before exec is the program's."""
        self.ends(-signal.SIGALRM, ["perl", "-e", "alarm 1; exec @ARGV", *self.under("--quiet"), self.options.probe, "sleep"])

    def test_kill(self):
        """SIGKILL for the number that the outside knows ends the program, and the listener."""
        run = Run([*self.under(), self.options.probe, "sleep"])
        program = run.program()
        others = [int(number) for number in pathlib.Path("/proc/%d/task/%d/children" % (run.pid, run.pid)).read_text().split()]
        os.kill(run.pid, signal.SIGKILL)
        self.assertEqual(run.end()[0], -signal.SIGKILL)
        for process in {program, *others}:
            wait_until(lambda: state(process) in (None, "Z"), "the program ends with the tool")

    def test_orphans(self):
        output, _ = self.ends(0, [*self.under(), self.options.probe, "orphan"])
        self.assertTrue(output.startswith(b"gone "))

    def test_descendants_live_on(self):
        """The tool ends with the program, and leaves what the program left."""
        output, _ = self.ends(0, [*self.under(), "sh", "-c", "sleep 3600 >/dev/null 2>&1 & echo $!"])
        self.assertNotIn(state(int(output)), (None, "Z"))
        self.assertEqual(children(int(output)), [])
        os.kill(int(output), signal.SIGKILL)

    def test_process_1(self):
        if not is_root():
            self.skipTest("a pid namespace needs root")
        def in_namespace(*arguments):
            return ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *self.under("--quiet"), *arguments]
        self.ends(7, in_namespace(self.options.probe, "exit", "7"))
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            self.ends(128 + number, in_namespace(self.options.probe, "die", str(int(number))))
        self.assertTrue(self.ends(0, in_namespace(self.options.probe, "orphan"))[0].startswith(b"gone "))
        # A remaining process ends with process 1.
        output, _ = self.ends(0, in_namespace("sh", "-c", "sleep 3600 & readlink /proc/$!/ns/pid"))
        spaces = [os.readlink(path) for path in pathlib.Path("/proc").glob("[0-9]*/ns/pid") if field(int(path.parts[2]), "State")]
        self.assertNotIn(output.decode().strip(), spaces)
        run = Run(in_namespace(self.options.probe, "signals"))
        self.assertEqual(line(run.process.stdout), b"ready\n")
        first = children(run.pid)[0]
        for number in (signal.SIGTERM, signal.SIGRTMAX):
            os.kill(first, number)
        self.assertEqual(run.end()[:2], (0, b"signal 15\nsignal 64\n"))


class Mistakes(UnderRun):
    def fails(self, status, words, arguments, prefix=None, **how):
        output, errors = self.ends(status, [*(prefix or self.under()), *arguments], **how)
        self.assertEqual(output, b"")
        self.assertRegex(errors.decode(), "^launchguard: [^\n]*%s[^\n]*\n$" % words)

    def file(self, name, text, mode=0o755):
        path = self.directory / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def test_programs(self):
        self.fails(127, "there is no such program in the folders of PATH", ["no-such-program"])
        self.fails(127, "there is no such program", [self.directory / "nothing"])
        self.fails(127, "there is no such program", [self.file("plain", "") / "below"])
        self.fails(127, "empty", [""])
        self.fails(126, "directory", [self.directory])
        self.fails(126, "chmod", [self.file("unset", "#!/bin/sh\n", 0o644)])
        self.fails(126, "may not be run", ["unset"], env={"PATH": str(self.directory)})
        self.fails(127, "interpreter /no/shell is not there", [self.file("gone", "#!/no/shell -x\n")])

    def test_as_env(self):
        """The statuses are those of env(1)."""
        files = [self.file("broken", "\x7fELF broken"), self.file("empty", ""), self.file("loop", "#!%s/loop\n" % self.directory),
                 self.file("blank", "#! \n"), self.file("folder", "#!%s\n" % self.directory), "/dev/null", self.directory / ("x" * 300)]
        for path in files:
            with self.subTest(path=str(path)[:100]):
                expected = Run(["env", path]).end()[0]
                self.assertEqual(Run([*self.under(), path]).end()[0], expected)

    def test_script_without_interpreter(self):
        self.ends(5, [*self.under(), self.file("bare", 'exit "$1"\n'), "5"])

    def test_path(self):
        """A folder of PATH that is not searched, one that has a file which may not be run, the
        working directory, and none."""
        (self.directory / "x").mkdir()
        self.file("x/tool", "#!/bin/sh\nexit 1", 0o644)
        self.file("tool", "#!/bin/sh\nexit 6")
        for path in ("/nothing:%s/x:%s" % (self.directory, self.directory), "", ":/nothing"):
            self.ends(6, [*self.under(), "tool"], env={"PATH": path}, cwd=self.directory)
        self.ends(0, ["env", "-u", "PATH", *self.under(), "true"])

    def test_command_lines(self):
        for arguments in ([], ["--"], ["--no-such-option", "true"], ["--directory"]):
            with self.subTest(arguments):
                status, output, errors = Run([*self.under(), *arguments]).end()
                self.assertEqual((status, output), (125, b""))
                self.assertTrue(errors)
        self.assertIn(b"EXIT STATUS", self.ends(0, [self.options.tool, "run", "--help"])[0])
        self.ends(0, [*self.under(), "true"])  # without --
        self.assertEqual(self.ends(0, [*self.under(), "--", "echo", "--", "--help"])[0], b"-- --help\n")

    def test_itself(self):
        self.ends(0, [*self.under(), "--", self.options.tool, "--version"])
        self.ends(9, [*self.under(), "--", *self.under(), "--", self.options.probe, "exit", "9"])
        self.ends(-signal.SIGSEGV, [*self.under("--quiet"), "--", *self.under("--quiet"), "--", self.options.probe, "fault"])

    def test_library(self):
        recorded = [self.options.tool, "run"]
        self.fails(125, "LAUNCHGUARD_PRELOAD", ["true"], recorded, env=dict(os.environ, LAUNCHGUARD_PRELOAD="/no/library.so"))
        spaced = self.directory / "a folder"
        spaced.mkdir()
        (spaced / "preload.so").write_bytes(b"")
        self.fails(125, "space or a colon", ["true"], recorded, env=dict(os.environ, LAUNCHGUARD_PRELOAD=str(spaced / "preload.so")))
