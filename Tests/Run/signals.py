"""Signals, terminal and job control: the program gets each signal once, whoever sends it."""
import fcntl
import os
import signal
import struct
import termios

from programs import Run, Terminal, children, field, line, listener, state, wait_until
from under_run import UnderRun

LAST = signal.SIGRTMAX  # ends the probe; the tool passes it on after all others that wait
STOPS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
UNCAUGHT = (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD)


class Sent(UnderRun):
    """Signals that are sent to the tool, to its group, or to the program."""

    def probe(self, *without):
        run = Run([*self.under("--quiet"), self.options.probe, "signals", *(str(int(number)) for number in without)])
        self.assertEqual(line(run.process.stdout), b"ready\n")
        listener(run.pid)
        self.addCleanup(run.kill)
        return run

    def comes(self, run, *numbers):
        """Just these come, in this order."""
        os.kill(run.pid, LAST)
        status, output, errors = run.end()
        self.assertEqual((status, errors), (0, b""))
        self.assertEqual([int(line.split()[1]) for line in output.splitlines()], [*map(int, numbers), int(LAST)])

    def one_by_one(self, run, send):
        """Each signal, the next one when the program has shown the last."""
        numbers = sorted(signal.valid_signals() - {*UNCAUGHT, LAST})
        for number in numbers:
            send(number)
            self.assertEqual(line(run.process.stdout), b"signal %d\n" % number)
        self.comes(run)

    def test_each_to_the_tool(self):
        run = self.probe()
        self.one_by_one(run, lambda number: os.kill(run.pid, number))

    def test_each_to_the_group(self):
        run = self.probe()
        self.one_by_one(run, lambda number: os.killpg(run.pid, number))

    def test_each_to_the_program(self):
        run = self.probe()
        program = run.program()
        self.one_by_one(run, lambda number: os.kill(program, number))

    def test_many_at_once(self):
        run = self.probe()
        numbers = [signal.SIGHUP, signal.SIGUSR1, signal.SIGTERM, signal.SIGWINCH]
        for number in numbers:
            os.killpg(run.pid, number)
        for number in numbers:
            self.assertEqual(line(run.process.stdout), b"signal %d\n" % number)
        self.comes(run)

    def test_stop_behind_a_continue(self):
        """Sent to the tool alone: the kernel may drop the SIGCONT, and the stop comes."""
        run = self.probe()
        for _ in range(20):
            os.kill(run.pid, signal.SIGCONT)
            os.kill(run.pid, signal.SIGTSTP)
            shown = line(run.process.stdout)
            self.assertIn(shown, (b"signal 18\n", b"signal 20\n"))
            if shown == b"signal 18\n":
                self.assertEqual(line(run.process.stdout), b"signal 20\n")
        self.comes(run)

    def test_real_time_signals_keep_their_number(self):
        """As many as were sent come."""
        run = self.probe()
        for _ in range(5):
            os.kill(run.pid, signal.SIGRTMIN)
        self.comes(run, *[signal.SIGRTMIN] * 5)

    def test_listener_is_no_need(self):
        """Where it was ended, the program gets a signal twice rather than never."""
        run = self.probe()
        process = listener(run.pid)
        os.kill(process, signal.SIGKILL)
        wait_until(lambda: state(process) is None, "the listener is waited for")
        os.kill(run.pid, signal.SIGTERM)
        self.comes(run, signal.SIGTERM)

    def test_stop_without_terminal(self):
        """The program alone stops and goes on: there is no shell to make the tool go on."""
        run = self.probe()
        program = run.program()
        os.kill(program, signal.SIGSTOP)
        wait_until(lambda: state(program) == "T", "the program stops")
        os.kill(program, signal.SIGCONT)
        self.assertEqual(line(run.process.stdout), b"signal 18\n")
        self.comes(run)

    def test_sender_in_its_own_group(self):
        """A script without job control ends what it started by its number."""
        script = '"$@" & read line; kill -TERM $!; wait $!; echo $?'
        run = Run(["bash", "-c", script, "bash", *self.under("--quiet"), "sleep", "3600"], stdin=-1)
        tool = wait_until(lambda: children(run.pid), "the tool starts")[0]
        wait_until(lambda: children(tool), "the program starts")
        self.assertEqual(run.end(b"\n")[1], b"143\n")

    def test_group_that_ends_itself(self):
        """`trap "kill 0" EXIT`, as in scripts: the program gets it once, not from the tool too."""
        script = 'trap "echo once" TERM; trap "kill 0" EXIT; "$@" & read line'
        run = Run(["bash", "-c", script, "bash", *self.under("--quiet"), self.options.probe, "signals"], stdin=-1)
        self.assertEqual(line(run.process.stdout), b"ready\n")
        tool = wait_until(lambda: children(run.pid), "the tool starts")[0]
        listener(tool)
        run.process.stdin.close()
        lines = {line(run.process.stdout), line(run.process.stdout)}
        self.assertEqual(lines, {b"once\n", b"signal 15\n"})
        os.kill(tool, LAST)
        self.assertEqual(line(run.process.stdout), b"signal 64\n")
        run.process.stdin = None
        self.assertEqual(run.end()[1], b"")


class GroupOfItsOwn(UnderRun):
    """What the group of the tool gets, the group of a program that leads one gets, too."""

    def family(self):
        """The tool, and a shell and its child, which ignores SIGTERM."""
        script = "trap '' TERM; sleep 3600 & echo $!; wait"
        run = Run([*self.under("--quiet"), "sh", "-c", script])
        self.addCleanup(run.kill)
        child = int(line(run.process.stdout))
        self.addCleanup(self.end, child)
        listener(run.pid)
        return run, run.program(), child

    def end(self, process):
        if field(process, "Name") == "sleep":
            os.kill(process, signal.SIGKILL)

    def test_stop_and_continue(self):
        """SIGSTOP, which the tool cannot pass on: it stops as well."""
        run, program, child = self.family()
        self.assertEqual(os.getpgid(child), program)
        for _ in range(3):
            os.killpg(run.pid, signal.SIGSTOP)
            wait_until(lambda: {state(process) for process in (run.pid, program, child)} == {"T"}, "all stop")
            os.killpg(run.pid, signal.SIGCONT)
            wait_until(lambda: {state(process) for process in (run.pid, program, child)} == {"S"}, "all go on")

    def test_end_of_the_group(self):
        """SIGKILL to the group leaves nobody, as `kill -9 %1` without the tool."""
        run, program, child = self.family()
        os.killpg(run.pid, signal.SIGKILL)
        self.assertEqual(run.process.wait(60), -signal.SIGKILL)
        wait_until(lambda: state(program) is None and state(child) is None, "the group ends")

    def test_end_of_the_tool_alone(self):
        """SIGKILL to the tool ends the program, and no child of it."""
        run, program, child = self.family()
        guards = [number for number in map(int, filter(str.isdigit, os.listdir("/proc"))) if field(number, "Name") == "lg-guard"
                  and field(number, "PPid") == str(run.pid)]
        self.assertEqual(len(guards), 1)
        run.process.kill()
        self.assertEqual(run.process.wait(60), -signal.SIGKILL)
        wait_until(lambda: state(program) is None and state(guards[0]) is None, "the program and the guard end")
        self.assertEqual(state(child), "S")

    def test_signal_to_the_group(self):
        """A child of the program gets it, once."""
        script = '"$0" signals & "$0" signals; wait'
        run = Run([*self.under("--quiet"), "sh", "-c", "trap '' HUP RTMAX;" + script, self.options.probe])
        self.addCleanup(run.kill)
        self.assertEqual([line(run.process.stdout), line(run.process.stdout)], [b"ready\n"] * 2)
        listener(run.pid)
        os.killpg(run.pid, signal.SIGHUP)
        self.assertEqual([line(run.process.stdout), line(run.process.stdout)], [b"signal 1\n"] * 2)
        os.killpg(run.pid, LAST)
        self.assertEqual(run.end()[1], b"signal 64\n" * 2)


class OnTerminal(UnderRun):
    SHELL = ["bash", "--norc", "--noprofile", "-i"]
    PLAIN = {"PS1": "$ ", "HISTFILE": "/dev/null", "INPUTRC": "/dev/null"}

    def shell(self):
        terminal = Terminal(self.SHELL, self.PLAIN)
        terminal.expect("$ ")
        return terminal

    def line(self, *arguments):
        return " ".join("'%s'" % part for part in [*self.under("--quiet"), *arguments])

    def begin(self, terminal, *without):
        """The probe in the foreground. The result is the tool and the program."""
        terminal.write(self.line(self.options.probe, "signals", *(str(int(number)) for number in without)) + "\n")
        terminal.expect("ready")
        tool = wait_until(lambda: children(terminal.pid), "the tool starts")[-1]
        listener(tool)
        return tool, children(tool)[0]

    def end(self, terminal, tool):
        """The signals that the program showed before the last one."""
        os.kill(tool, LAST)
        shown = terminal.expect("signal 64")
        return [int(line.split()[1]) for line in shown.splitlines() if line.startswith("signal")]

    def test_keys(self):
        with self.shell() as terminal:
            tool, _ = self.begin(terminal)
            for key, number in (("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT), ("\x1a", signal.SIGTSTP)):
                terminal.write(key)
                terminal.expect("signal %d\r\n" % number)
            self.assertEqual(self.end(terminal, tool), [])

    def test_interrupt_ends_both(self):
        with self.shell() as terminal:
            terminal.write(self.line("sh", "-c", "echo rea''dy; exec sleep 3600") + "\n")
            terminal.expect("ready\r\n")
            terminal.write("\x03")
            terminal.expect("$ ")
            terminal.write("echo status $?\n")
            terminal.expect("status 130")

    def test_window(self):
        with self.shell() as terminal:
            tool, _ = self.begin(terminal)
            fcntl.ioctl(terminal.file, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))
            terminal.expect("signal 28\r\n")
            self.assertEqual(self.end(terminal, tool), [])
            terminal.write("stty size\n")
            terminal.expect("33 99")

    def test_stop_and_go_on(self):
        with self.shell() as terminal:
            tool, program = self.begin(terminal, *STOPS)
            for turn in range(3):
                terminal.write("\x1a")
                terminal.expect("Stopped")
                wait_until(lambda: state(tool) == state(program) == "T", "both stop")
                terminal.expect("$ ")
                terminal.write("fg\n")
                terminal.expect("signal 18\r\n")
                wait_until(lambda: state(tool) == "S" and state(program) == "S", "both go on")
                terminal.write("\x03")
                terminal.expect("signal 2\r\n")
            self.assertEqual(self.end(terminal, tool), [])

    def test_background(self):
        with self.shell() as terminal:
            tool, program = self.begin(terminal, *STOPS)
            terminal.write("\x1a")
            terminal.expect("Stopped")
            terminal.write("bg\n")
            terminal.expect("signal 18\r\n")
            wait_until(lambda: state(tool) == "S" and state(program) == "S", "both go on")
            terminal.write("kill %1\n")
            terminal.expect("signal 15\r\n")
            self.assertEqual(self.end(terminal, tool), [])

    def test_program_that_reads_in_the_background(self):
        with self.shell() as terminal:
            terminal.write(self.line("cat") + " &\n")
            tool = wait_until(lambda: children(terminal.pid), "the tool starts")[-1]
            program = wait_until(lambda: children(tool), "the program starts")[0]
            wait_until(lambda: state(tool) == state(program) == "T", "both stop for input")
            terminal.write("fg\n")
            wait_until(lambda: state(tool) == state(program) == "S", "both go on")
            terminal.write("some wo''rds\n\x04")
            terminal.expect("some wo''rds\r\nsome wo''rds\r\n")
            wait_until(lambda: state(tool) is None, "the end of the input ends both")

    def test_program_that_stops_itself(self):
        with self.shell() as terminal:
            terminal.write(self.line("sh", "-c", "kill -STOP $$; echo went on") + "\n")
            terminal.expect("Stopped")
            terminal.write("fg\n")
            terminal.expect("\r\nwent on")

    def test_program_that_leaves_the_group(self):
        """timeout makes a group of its own, unless it leads one; the terminal is that group's."""
        with self.shell() as terminal:
            terminal.write(self.line("timeout", "600", "sh", "-c", "read x; echo got $x; exec sleep 3600") + "\n")
            terminal.write("some words\n")
            terminal.expect("got some words")
            terminal.write("\x03")
            terminal.expect("$ ")
            terminal.write("echo status $?\n")
            terminal.expect("status 130")

    def test_group_of_the_terminal(self):
        """The shell has its terminal back after a stop and after the end."""
        with self.shell() as terminal:
            tool, program = self.begin(terminal, *STOPS)
            self.assertEqual(os.tcgetpgrp(terminal.file), program)
            terminal.write("\x1a")
            terminal.expect("Stopped")
            wait_until(lambda: os.tcgetpgrp(terminal.file) == terminal.pid, "the shell has the terminal")
            terminal.write("fg\n")
            terminal.expect("signal 18\r\n")
            wait_until(lambda: os.tcgetpgrp(terminal.file) == program, "the program has the terminal")
            self.assertEqual(self.end(terminal, tool), [])
            wait_until(lambda: os.tcgetpgrp(terminal.file) == terminal.pid, "the shell has the terminal")

    def test_stop_that_no_shell_sees(self):
        """Where the tool leads the session, Ctrl-Z stops nothing for ever."""
        with Terminal([*self.under("--quiet"), self.options.probe, "signals", *(str(int(number)) for number in STOPS)]) as terminal:
            terminal.expect("ready")
            for _ in range(3):
                terminal.write("\x1a")
                terminal.expect("signal 18\r\n")
            terminal.write("\x03")
            terminal.expect("signal 2\r\n")
            os.kill(terminal.pid, LAST)
            self.assertEqual(terminal.end(), 0)

    def test_pager(self):
        """In a pipe of commands all are in one group, and the last one reads the terminal."""
        with self.shell() as terminal:
            terminal.write(self.line("sh", "-c", "echo words") + " | sh -c 'cat; read x </dev/tty; echo got $x'\n")
            terminal.expect("words\r\n")
            terminal.write("an answer\n")
            terminal.expect("got an answer")

    def test_pipe_of_commands(self):
        """One group, and one Ctrl-C ends it all."""
        with self.shell() as terminal:
            terminal.write(self.line("sh", "-c", "echo rea''dy >&2; exec sleep 3600") + " | " + self.line("cat") + "\n")
            terminal.expect("ready\r\n")
            terminal.write("\x03")
            terminal.expect("$ ")
            terminal.write("echo status ${PIPESTATUS[*]}\n")
            terminal.expect("status 130 130")

    def test_shell_as_program(self):
        """A shell under the tool, with jobs of its own."""
        terminal = Terminal([*self.under("--quiet"), *self.SHELL], self.PLAIN)
        with terminal:
            terminal.expect("$ ")
            terminal.write("sleep 3600\n")
            shell = children(terminal.pid)[0]
            job = wait_until(lambda: children(shell), "the job starts")[0]
            wait_until(lambda: os.tcgetpgrp(terminal.file) == job and field(job, "Name") == "sleep", "the job has the terminal")
            terminal.write("\x1a")
            terminal.expect("Stopped")
            wait_until(lambda: (state(terminal.pid), state(shell)) == ("S", "S"), "the job alone stops")
            terminal.write("kill -KILL %1; exit 5\n")
            terminal.write("exit 5\n")
            self.assertEqual(terminal.end(), 5)

    def test_lost_terminal(self):
        """Where the tool leads the session, it alone learns that the terminal is gone."""
        log = self.directory / "log"
        with Terminal([*self.under("--quiet"), self.options.probe, "signals"], {"PROBE_LOG": str(log)}) as terminal:
            wait_until(lambda: log.exists() and b"ready\n" in log.read_bytes(), "the program starts")
            wait_until(lambda: any(field(number, "Name") == "lg-listener" for number in terminal.members()), "the listener starts")
            os.close(terminal.file)
            terminal.file = os.open("/dev/null", os.O_RDONLY)
            # The kernel makes a session that it hangs up go on, too.
            wait_until(lambda: b"signal 1\n" in log.read_bytes(), "SIGHUP comes")
            os.kill(terminal.pid, LAST)
            terminal.end()
            shown = log.read_text().splitlines()
            self.assertEqual([shown.count("signal 1"), shown.count("signal 18")], [1, 1])
