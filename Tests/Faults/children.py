"""Processes that end in any case."""
import ctypes
import os
import resource
import select
import signal
import subprocess
import time

from expected import Modifiers

LIMIT_S = 60  # a process that takes longer hangs

PLAIN = Modifiers()
PR_SET_PDEATHSIG = 1
# looked up here: a child of a program with threads must not wait for the loader's lock
prctl = ctypes.CDLL(None).prctl

# Signals that a background job, nohup or a service manager may have made the runner ignore.
# (SIGPIPE and SIGXFSZ: Popen resets them.)
IGNORED = [number for number in sorted(signal.valid_signals()) if signal.getsignal(number) == signal.SIG_IGN]
STACK_BYTES = 8 << 20  # an overflow has to reach the end of the stack


def prepare():
    """In the child: the meaning of a way to die does not depend on the runner's parent, and no
    child outlives the runner."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in IGNORED:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    most = resource.getrlimit(resource.RLIMIT_STACK)[1]
    if most == resource.RLIM_INFINITY or most > STACK_BYTES:
        resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, most))


class Child:
    """A process in a session of its own. Its whole group is gone when `end` returns."""

    def __init__(self, command, directory, modifiers=PLAIN, name="child", stdin=subprocess.DEVNULL, stdout=None):
        environment = dict(os.environ, TMPDIR=str(directory), HOME=str(directory))
        environment.update(modifiers.environment())
        for variable in ("STATE_DIRECTORY", "XDG_STATE_HOME"):
            environment.pop(variable, None)
        self.output = directory / (name + ".out")
        with open(self.output, "wb") as output:
            self.begun = time.monotonic()
            self.process = subprocess.Popen([str(part) for part in command], stdin=stdin, stdout=stdout or output, stderr=output,
                                            env=environment, start_new_session=True, preexec_fn=prepare)

    def end(self, limit=LIMIT_S):
        """Wait. Returns the status as of Popen (None when the child had to be killed at the limit)
        and the time in milliseconds."""
        file = os.pidfd_open(self.process.pid)
        try:
            waiting = select.poll()
            waiting.register(file, select.POLLIN)
            ready = waiting.poll(max(0, limit - (time.monotonic() - self.begun)) * 1000)
            ms = (time.monotonic() - self.begun) * 1000
        finally:
            os.close(file)
            self.kill_group()
        status = self.process.wait()
        return (status if ready else None), ms

    def kill_group(self):
        """The leader is not reaped yet, so that the number still belongs to it."""
        if self.process.returncode is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def text(self):
        return self.output.read_text(errors="replace")


class Living:
    """A healthy process of the same program with a session in the same state directory."""

    def __init__(self, program, state, directory, name):
        # A pipe of this class: a pipe of Popen would be inherited by processes that other threads
        # start meanwhile.
        self.child = Child([program, "live", "--state", state, "--phase", "finished"], directory, name=name, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
        ready = select.select([self.child.process.stdout], [], [], LIMIT_S)[0]
        if not ready or self.child.process.stdout.readline() != b"live\n":
            self.kill()
            raise AssertionError("a healthy process does not start: " + self.child.text())

    def finish(self):
        self.child.process.stdin.close()
        status, _ = self.child.end(LIMIT_S + time.monotonic() - self.child.begun)
        self.child.process.stdout.close()
        return status

    def kill(self):
        self.child.kill_group()
        self.child.process.wait()
