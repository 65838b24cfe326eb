"""The rows of run_causes.py: how a process really ended, which words for it are right, and which
are said."""
import os
import pathlib
import signal
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Format"))
from page import STRUCTURES, crc32c  # noqa: E402

# Ends that are right, each with its evidence; None: any.
CRASH = {"crash": None}
CLEAN = {"clean": None}
EXIT = {"exit": None}
NO_RUN = {"no run": None}
KILLED = {"killed": "witness"}
ASKED = {"terminated": None}

# The verdict of the next start, of the next start after a witness, and whether the end counts for a
# launch under way, for both starts where they differ.
RECORDED = ("crash, crash record", "crash, witness", "yes")
UNSEEN = ("unknown, no mark", "killed, witness", "yes")
LEFT = ("clean, exit mark", "clean, witness", "no")
UNSEEN_CRASH = ("unknown, no mark", "crash, witness", "yes")
FORKED = ("unknown, fork", "killed, witness", "no / yes")
NOT_THERE = ("no run", "no run", "no")
RECORDED_UNCOUNTED = ("crash, crash record", "crash, witness", "no")
UNSEEN_REQUEST = ("unknown, no mark", "terminated, witness", "yes / no")
REQUESTED = ("terminated, terminate mark", "terminated, witness", "no")
UNSEEN_EXIT = ("unknown, no mark", "exit, witness", "yes / no")
UNSEEN_CLEAN = ("unknown, no mark", "clean, witness", "yes / no")
EXITED = ("exit, exit mark", "exit, witness", "no")

IDENTITY_AT = 512  # of a run file, docs/FORMAT.md
IDENTITY = STRUCTURES["identity"]


def unchanged(run_file):
    pass


def send(number):
    return lambda pid: os.kill(pid, number)


def send_by_another(number):
    """Another process than the one that waits."""
    return lambda pid: subprocess.run(["kill", "-%d" % number, str(pid)], check=True)


def change_identity(run_file, kind, name, value):
    content = bytearray(run_file.read_bytes())
    struct.pack_into(kind, content, IDENTITY_AT + IDENTITY.at(name), value)
    end = IDENTITY_AT + IDENTITY.at("crc")
    struct.pack_into("<I", content, end, crc32c(bytes(content[IDENTITY_AT:end])))
    run_file.write_bytes(content)


def boot_again(run_file):
    """The files of a machine that was booted since."""
    change_identity(run_file, "<16s", "boot_id", bytes(range(16)))


def set_clock_back(run_file):
    """The run seems to have begun in a year from now."""
    with open(run_file, "rb") as file:
        file.seek(IDENTITY_AT + IDENTITY.at("wall_ns"))
        wall = struct.unpack("<Q", file.read(8))[0]
    change_identity(run_file, "<Q", "wall_ns", wall + 365 * 86400 * 10**9)


def cut(run_file):
    os.truncate(run_file, 0)


def delete(run_file):
    run_file.unlink()


class Row:
    def __init__(self, cause, truth, said, entry="live", phase="launching", codes=(0,), outside=None, before=":", arguments=(), change=unchanged,
                 next=(), varies=False):
        self.cause, self.truth, self.said, self.entry, self.phase, self.codes = cause, truth, said, entry, phase, codes
        self.outside, self.before, self.arguments, self.change = outside, before, arguments, change
        # `before`: what the shell does before it executes the program
        self.next = next      # further arguments of the next start
        self.varies = varies  # where it is unknown: maybe with the evidence of a fork


def sent(cause, truth, said, number, **more):
    return Row(cause, truth, said, codes=(-number,), outside=send(number), **more)


ROWS = [
    # killed
    sent("SIGKILL from the parent", KILLED, UNSEEN, signal.SIGKILL),
    Row("SIGKILL from another process", KILLED, UNSEEN, codes=(-9,), outside=send_by_another(9)),
    sent("SIGKILL during a launch task", KILLED, UNSEEN, signal.SIGKILL, phase="task"),
    sent("SIGKILL during a repair", KILLED, UNSEEN, signal.SIGKILL, phase="repairing"),
    sent("SIGKILL while the launch is held", KILLED, UNSEEN, signal.SIGKILL, phase="held"),
    sent("SIGKILL after the launch", KILLED, ("unknown, no mark", "killed, witness", "no"), signal.SIGKILL, phase="finished"),
    Row("SIGKILL from itself", KILLED, UNSEEN, "sigkill", codes=(-9,)),
    Row("SIGKILL because its parent ended (PR_SET_PDEATHSIG)", {"killed": None, "clean": "witness"}, UNSEEN_CLEAN, "parent-dies"),
    Row("SIGKILL while it was stopped", KILLED, FORKED, "stopped-then-killed", codes=(-9,), varies=True),
    Row("SIGKILL from its debugger", KILLED | {"debugger": None}, FORKED, "debugger-kills", codes=(-9,), varies=True),
    Row("SIGKILL in a deadlock without heartbeats", KILLED | {"hang": None}, UNSEEN, "deadlock", codes=(-9,)),
    Row("SIGKILL in an endless loop without heartbeats", KILLED | {"hang": None}, UNSEEN, "livelock", codes=(-9,)),
    Row("SIGKILL in a function that exit() calls", KILLED | {"hang": None}, UNSEEN, "exit-hangs", codes=(-9,)),
    Row("a fault before lg_start()", NO_RUN, NOT_THERE, "fault-before-start", codes=(-11,)),
    # asked to end
    sent("SIGTERM without a handler", ASKED, REQUESTED, signal.SIGTERM),
    sent("SIGTERM without a handler, during a repair", ASKED, ("terminated, terminate mark", "terminated, witness", "yes"), signal.SIGTERM, phase="repairing"),
    Row("SIGTERM, whose handler calls exit(0)", CLEAN | ASKED, LEFT, "sigterm-handled"),
    Row("SIGTERM that is handled, and SIGKILL for its slowness", ASKED, ("terminated, terminate mark", "terminated, stop timeout", "no"), "stop-timeout", codes=(-9,)),
    Row("SIGTERM that is ignored, and SIGKILL", KILLED | ASKED, FORKED, "sigterm-ignored", codes=(-9,), varies=True),
    Row("SIGTERM that its parent made it ignore, and SIGKILL", KILLED | ASKED, UNSEEN, codes=(-9,), before="trap '' TERM",
        outside=lambda pid: (os.kill(pid, 15), os.kill(pid, 9))),
    sent("SIGINT without a handler", ASKED, REQUESTED, signal.SIGINT),
    Row("SIGINT that is ignored, and SIGKILL", KILLED, UNSEEN, codes=(-9,), before="trap '' INT", outside=lambda pid: (os.kill(pid, 2), os.kill(pid, 9))),
    sent("SIGHUP without a handler", ASKED, REQUESTED, signal.SIGHUP),
    Row("SIGHUP that is ignored (nohup), and SIGKILL", KILLED, UNSEEN, codes=(-9,), before="trap '' HUP", outside=lambda pid: (os.kill(pid, 1), os.kill(pid, 9))),
    Row("SIGHUP as reload, and SIGKILL", KILLED, FORKED, "sighup-reload", codes=(-9,), varies=True),
    sent("SIGQUIT from outside", ASKED, ("terminated, dump record", "terminated, witness", "no"), signal.SIGQUIT),
    # deadly signals from outside
    sent("SIGSEGV from outside", CRASH, RECORDED, signal.SIGSEGV),
    sent("SIGBUS from outside", CRASH, RECORDED, signal.SIGBUS),
    sent("SIGABRT from outside", CRASH, RECORDED, signal.SIGABRT),
    sent("SIGSYS from outside", CRASH, RECORDED, signal.SIGSYS),
    sent("SIGTRAP from outside", CRASH, RECORDED, signal.SIGTRAP),
    sent("SIGXCPU from outside", CRASH, RECORDED, signal.SIGXCPU),
    sent("SIGXFSZ from outside", CRASH, RECORDED, signal.SIGXFSZ),
    sent("SIGPIPE from outside", CRASH, RECORDED_UNCOUNTED, signal.SIGPIPE),
    sent("SIGALRM from outside", CRASH, UNSEEN_CRASH, signal.SIGALRM),
    sent("SIGUSR1 from outside", ASKED, UNSEEN_REQUEST, signal.SIGUSR1),
    sent("SIGVTALRM from outside", CRASH, UNSEEN_CRASH, signal.SIGVTALRM),
    sent("a real-time signal from outside", ASKED, UNSEEN_REQUEST, signal.SIGRTMIN + 5),
    Row("SIGSTOP and SIGCONT, then exit(0)", CLEAN, LEFT, "stopped-and-continued"),
    # limits
    Row("CPU time: the soft limit", CRASH, RECORDED, "limit-cpu", codes=(-signal.SIGXCPU,)),
    Row("CPU time: the hard limit, set before the start", {"killed": "cpu limit"}, ("unknown, cpu limit", "killed, cpu limit", "yes"), "limit-cpu-hard", codes=(-9,), before="ulimit -t 2"),
    Row("CPU time: the hard limit, set later", {"killed": None}, UNSEEN, "limit-cpu-hard", codes=(-9,)),
    Row("size of a file: RLIMIT_FSIZE", CRASH, RECORDED, "limit-file-size", codes=(-signal.SIGXFSZ,)),
    Row("memory: RLIMIT_AS, and a write through NULL", CRASH, RECORDED, "malloc-null-write", codes=(-11,)),
    Row("memory: std::bad_alloc", CRASH, RECORDED, "bad-alloc", codes=(-6,)),
    Row("memory: the limit of its cgroup", {"oom": None}, ("oom, kernel log", "oom, kernel log", "yes"), "oom-cgroup", codes=(-9,), varies=True),
    Row("SIGKILL after the kernel ended its child for lack of memory", KILLED, FORKED, "oom-beside", codes=(-9,), varies=True),
    Row("no descriptor left, and a fault", CRASH, RECORDED, "no-descriptors", codes=(-11,)),
    Row("seccomp kills the process", CRASH, UNSEEN_CRASH, "seccomp-kill-process", codes=(-signal.SIGSYS,)),
    Row("seccomp kills a thread, then exit(0)", CLEAN, LEFT, "seccomp-kill-thread"),
    Row("seccomp traps a system call", CRASH, RECORDED, "seccomp-trap", codes=(-signal.SIGSYS,)),
    Row("a timer expires (SIGALRM)", CRASH, UNSEEN_CRASH, "timer-expires", codes=(-signal.SIGALRM,)),
    Row("a write to a pipe without a reader", CRASH, RECORDED_UNCOUNTED, "sigpipe", codes=(-signal.SIGPIPE,)),
    # faults
    Row("a read through NULL", CRASH, RECORDED, "null-read", codes=(-11,)),
    Row("a division by zero", CRASH, RECORDED, "int-div0", codes=(-8,)),
    Row("an undefined instruction", CRASH, RECORDED, "illegal", codes=(-4,)),
    Row("a mapped file that was cut (SIGBUS)", CRASH, RECORDED, "bus-truncated", codes=(-7,)),
    Row("overflow of the stack", CRASH, RECORDED, "stack-overflow", codes=(-11,)),
    Row("overflow of a thread's stack", CRASH, RECORDED, "stack-overflow-pthread", codes=(-11,)),
    Row("abort()", CRASH, RECORDED, "abort", codes=(-6,)),
    Row("assert()", CRASH, RECORDED, "assert", codes=(-6,)),
    Row("stack protector", CRASH, RECORDED, "stack-smashing", codes=(-6,)),
    Row("a block freed twice", CRASH, RECORDED, "double-free", codes=(-6,)),
    Row("an exception that nothing catches", CRASH, RECORDED, "uncaught-exception", codes=(-6,)),
    Row("a fault in a function that exit() calls", CRASH, RECORDED, "fault-at-exit", codes=(-11,)),
    Row("a fault under a debugger", CRASH | {"debugger": None}, ("debugger, tracer", "debugger, tracer", "no"), "traced", codes=(-11,)),
    Row("a fault after the launch", CRASH, RECORDED_UNCOUNTED, "null-read", phase="finished", codes=(-11,)),
    Row("a fault in a launch task", CRASH, RECORDED, "null-read", phase="task", codes=(-11,)),
    Row("a fault as the second process of the application", CRASH, RECORDED_UNCOUNTED, "second-instance", codes=(-11,)),
    # its own will
    Row("return from main", CLEAN, LEFT, "return-from-main", phase="finished"),
    Row("exit(0) during the launch", CLEAN, LEFT, "exit-0"),
    Row("exit(7)", EXIT, EXITED, "exit-7", codes=(7,)),
    Row("exit(6) on another thread", EXIT, EXITED, "exit-on-thread", codes=(6,)),
    Row("_exit(3)", EXIT, UNSEEN_EXIT, "exit-now", codes=(3,)),
    Row("quick_exit(4)", EXIT, UNSEEN_EXIT, "exit-quick", codes=(4,)),
    Row("a function that its library lacks", EXIT, UNSEEN_EXIT, "lazy-symbol-missing", codes=(127,)),
    Row("pthread_exit() of main, later the last thread returns", CLEAN, LEFT, "main-thread-leaves"),
    Row("exec of itself, then exit(0)", CLEAN, LEFT, "exec-over-itself"),
    Row("exec of another program, which exits with 0", CLEAN, UNSEEN_CLEAN, "exec-other"),
    # children
    Row("a crash in a forked child, then exit(0)", CLEAN, LEFT, "fork-child-crashes"),
    Row("a crash in a vforked child, then exit(0)", CLEAN, LEFT, "vfork-child-crashes"),
    Row("daemon() during the launch", CLEAN, ("unknown, fork", "clean, witness", "no"), "daemon-during-launch", varies=True),
    Row("a fork whose parent leaves by exit(0); the child crashes", CLEAN, LEFT, "daemon-after-start"),
    # the machine, and the files
    sent("the machine is booted again; a witness saw SIGKILL before", {"reboot": None} | KILLED, ("reboot, boot differs", "killed, witness", "no / yes"), signal.SIGKILL, change=boot_again),
    Row("a fault, then the machine is booted again", CRASH, RECORDED, "null-read", codes=(-11,), change=boot_again),
    sent("SIGKILL, then the clock is set back", KILLED, UNSEEN, signal.SIGKILL, change=set_clock_back),
    Row("a fault, then the clock is set back", CRASH, RECORDED, "null-read", codes=(-11,), change=set_clock_back),
    sent("SIGKILL, then the run file is deleted", KILLED, ("unknown, file unreadable", "unknown, file unreadable", "yes"), signal.SIGKILL, change=delete),
    Row("a fault, then the run file is cut", CRASH, ("crash, crash mark", "crash, crash mark", "yes"), "null-read", codes=(-11,), change=cut),
    Row("a fault, then another version of the program starts", CRASH, RECORDED, "null-read", codes=(-11,), next=("--app-version", "99")),
    sent("SIGKILL, then another application starts in the directory", {"nothing": None}, ("nothing", "nothing", "no"), signal.SIGKILL, next=("--app-id", "org.launchguard.other")),
    Row("a full disk at the start, then exit(0)", NO_RUN, NOT_THERE, "disk-full-start"),
    Row("a read-only directory, then exit(0)", NO_RUN, NOT_THERE, "state-read-only"),
    Row("a directory of another user, then exit(0)", NO_RUN, NOT_THERE, "state-of-another"),
    Row("a limit of file sizes at the start, then exit(0)", NO_RUN, NOT_THERE, "limit-file-size-start"),
]
