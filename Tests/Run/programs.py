"""Programs under `launchguard run`: started, talked to and ended, in any case."""
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests/Faults"), str(ROOT / "Tests/Support"), str(ROOT / "Tests/Preload")]
import blanks
from children import prepare
from waiting import wait_until

LIMIT_S = 60  # a process that takes longer hangs


def line(stream):
    """The next line of a stream that has no buffer; at its end what is left."""
    text, until = b"", time.monotonic() + LIMIT_S
    while not text.endswith(b"\n"):
        if not select.select([stream], [], [], max(0, until - time.monotonic()))[0]:
            raise AssertionError("no line came in %d s, but %r" % (LIMIT_S, text))
        part = os.read(stream.fileno(), 1)
        if not part:
            break
        text += part
    return text


def field(process, name):
    """A line of /proc/PID/status; None: the process is gone."""
    try:
        text = pathlib.Path("/proc/%d/status" % process).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith(name + ":")), None)


TOOLS = {"launchguard", "launchguard-run"}


def children(process):
    """The children of a process, without those of the tool for itself. Each name is read once: a
    child of the tool that has the name of the tool may become any of them."""
    try:
        numbers = pathlib.Path("/proc/%d/task/%d/children" % (process, process)).read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return []
    others = {None, "lg-guard", "lg-listener", "lg-stderr"} | (TOOLS if field(process, "Name") in TOOLS else set())
    return [int(number) for number in numbers if field(int(number), "Name") not in others]


def listener(tool):
    """The listener of a tool, once it hears the group: a child of the tool or of its guard."""
    def named():
        numbers = [int(number) for number in os.listdir("/proc") if number.isdigit()]
        parents = {str(tool)} | {str(number) for number in numbers if field(number, "PPid") == str(tool) and field(number, "Name") == "lg-guard"}
        return next((number for number in numbers if field(number, "Name") == "lg-listener" and field(number, "PPid") in parents), None)
    return wait_until(named, "the listener has its name")


def state(process):
    """The letter of /proc/PID/status; None: gone."""
    text = field(process, "State")
    return text and text[0]


def session(process):
    """None: the process is gone."""
    try:
        return os.getsid(process)
    except ProcessLookupError:
        return None


class Run:
    """`launchguard run …` in a process group and a session of its own, with all that it started."""

    def __init__(self, command, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        how.setdefault("bufsize", 0)  # what is read ahead would be lost
        before = how.pop("before", None)
        self.session = how.pop("start_new_session", True)
        self.process = subprocess.Popen(command, start_new_session=self.session, preexec_fn=lambda: (prepare(), before and before()), **how)
        self.pid = self.process.pid

    def program(self):
        """The process of the program, once it is there."""
        return wait_until(lambda: children(self.pid), "the program starts")[0]

    def end(self, data=None):
        """The status as of Popen, standard output and standard error."""
        try:
            output, errors = self.process.communicate(data, timeout=LIMIT_S)
        finally:
            self.kill()
        return self.process.returncode, output, errors

    def kill(self):
        if self.process.poll() is None:
            if self.session:
                os.killpg(self.pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()


class Terminal:
    """A command on a pseudo-terminal of its own, whose session it leads."""

    def __init__(self, command, environment=None):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            try:
                prepare()
                os.execvpe(command[0], command, dict(os.environ, TERM="dumb", **(environment or {})))
            finally:
                os._exit(127)
        self.seen = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.members():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.close(self.file)
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass

    def members(self):
        """The processes of the session."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.getsid(int(entry.name)) == self.pid:
                    found.append(int(entry.name))
            except (ProcessLookupError, PermissionError):
                pass
        return found

    def write(self, text):
        os.write(self.file, text.encode())

    def expect(self, text):
        """Read until a text comes; what was read counts once."""
        wanted, until = text.encode(), time.monotonic() + LIMIT_S
        while wanted not in self.seen:
            if not select.select([self.file], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError("%r did not come in %d s, but %r" % (text, LIMIT_S, self.seen))
            try:
                self.seen += os.read(self.file, 4096)
            except OSError:
                raise AssertionError("%r did not come before the end, but %r" % (text, self.seen)) from None
        before, self.seen = self.seen.split(wanted, 1)
        return before.decode(errors="replace")

    def end(self):
        """The exit status of the command, as of waitstatus_to_exitcode()."""
        def ended():
            result = os.waitpid(self.pid, os.WNOHANG)
            return result[0] and result
        return os.waitstatus_to_exitcode(wait_until(ended, "the command on the terminal ends")[1])


def is_root():
    return os.geteuid() == 0


def has(program):
    return shutil.which(program) is not None
