"""The rows of run_causes.py: how a process really ended, and which words for it are right."""
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
    def __init__(self, cause, truth, entry="live", phase="launching", codes=(0,), outside=None, before=":", arguments=(), change=unchanged,
                 next=(), varies=False):
        self.cause, self.truth, self.entry, self.phase, self.codes = cause, truth, entry, phase, codes
        self.outside, self.before, self.arguments, self.change = outside, before, arguments, change
        # `before`: what the shell does before it executes the program
        self.next = next      # further arguments of the next start
        self.varies = varies  # where it is unknown: maybe with the evidence of a fork


def sent(cause, truth, number, **more):
    return Row(cause, truth, codes=(-number,), outside=send(number), **more)


ROWS = [
    # killed
    sent("SIGKILL from the parent", KILLED, signal.SIGKILL),
    Row("SIGKILL from another process", KILLED, codes=(-9,), outside=send_by_another(9)),
    sent("SIGKILL during a launch task", KILLED, signal.SIGKILL, phase="task"),
    sent("SIGKILL during a repair", KILLED, signal.SIGKILL, phase="repairing"),
    sent("SIGKILL while the launch is held", KILLED, signal.SIGKILL, phase="held"),
    sent("SIGKILL after the launch", KILLED, signal.SIGKILL, phase="finished"),
    Row("SIGKILL from itself", KILLED, "sigkill", codes=(-9,)),
    Row("SIGKILL because its parent ended (PR_SET_PDEATHSIG)", {"killed": None, "clean": "witness"}, "parent-dies"),
    Row("SIGKILL while it was stopped", KILLED, "stopped-then-killed", codes=(-9,), varies=True),
    Row("SIGKILL from its debugger", KILLED | {"debugger": None}, "debugger-kills", codes=(-9,), varies=True),
    Row("SIGKILL in a deadlock without heartbeats", KILLED | {"hang": None}, "deadlock", codes=(-9,)),
    Row("SIGKILL in an endless loop without heartbeats", KILLED | {"hang": None}, "livelock", codes=(-9,)),
    Row("SIGKILL in a function that exit() calls", KILLED | {"hang": None}, "exit-hangs", codes=(-9,)),
    Row("a fault before lg_start()", NO_RUN, "fault-before-start", codes=(-11,)),
    # asked to end
    sent("SIGTERM without a handler", ASKED, signal.SIGTERM),
    sent("SIGTERM without a handler, during a repair", ASKED, signal.SIGTERM, phase="repairing"),
    Row("SIGTERM, whose handler calls exit(0)", CLEAN | ASKED, "sigterm-handled"),
    Row("SIGTERM that is handled, and SIGKILL for its slowness", ASKED, "stop-timeout", codes=(-9,)),
    Row("SIGTERM that is ignored, and SIGKILL", KILLED | ASKED, "sigterm-ignored", codes=(-9,), varies=True),
    Row("SIGTERM that its parent made it ignore, and SIGKILL", KILLED | ASKED, codes=(-9,), before="trap '' TERM",
        outside=lambda pid: (os.kill(pid, 15), os.kill(pid, 9))),
    sent("SIGINT without a handler", ASKED, signal.SIGINT),
    Row("SIGINT that is ignored, and SIGKILL", KILLED, codes=(-9,), before="trap '' INT", outside=lambda pid: (os.kill(pid, 2), os.kill(pid, 9))),
    sent("SIGHUP without a handler", ASKED, signal.SIGHUP),
    Row("SIGHUP that is ignored (nohup), and SIGKILL", KILLED, codes=(-9,), before="trap '' HUP", outside=lambda pid: (os.kill(pid, 1), os.kill(pid, 9))),
    Row("SIGHUP as reload, and SIGKILL", KILLED, "sighup-reload", codes=(-9,), varies=True),
    sent("SIGQUIT from outside", ASKED, signal.SIGQUIT),
    # deadly signals from outside
    sent("SIGSEGV from outside", CRASH, signal.SIGSEGV),
    sent("SIGBUS from outside", CRASH, signal.SIGBUS),
    sent("SIGABRT from outside", CRASH, signal.SIGABRT),
    sent("SIGSYS from outside", CRASH, signal.SIGSYS),
    sent("SIGTRAP from outside", CRASH, signal.SIGTRAP),
    sent("SIGXCPU from outside", CRASH, signal.SIGXCPU),
    sent("SIGXFSZ from outside", CRASH, signal.SIGXFSZ),
    sent("SIGPIPE from outside", CRASH, signal.SIGPIPE),
    sent("SIGALRM from outside", CRASH, signal.SIGALRM),
    sent("SIGUSR1 from outside", CRASH, signal.SIGUSR1),
    sent("SIGVTALRM from outside", CRASH, signal.SIGVTALRM),
    sent("a real-time signal from outside", CRASH, signal.SIGRTMIN + 5),
    Row("SIGSTOP and SIGCONT, then exit(0)", CLEAN, "stopped-and-continued"),
    # limits
    Row("CPU time: the soft limit", CRASH, "limit-cpu", codes=(-signal.SIGXCPU,)),
    Row("CPU time: the hard limit, set before the start", {"killed": "cpu limit"}, "limit-cpu-hard", codes=(-9,), before="ulimit -t 2"),
    Row("CPU time: the hard limit, set later", {"killed": None}, "limit-cpu-hard", codes=(-9,)),
    Row("size of a file: RLIMIT_FSIZE", CRASH, "limit-file-size", codes=(-signal.SIGXFSZ,)),
    Row("memory: RLIMIT_AS, and a write through NULL", CRASH, "malloc-null-write", codes=(-11,)),
    Row("memory: std::bad_alloc", CRASH, "bad-alloc", codes=(-6,)),
    Row("memory: the limit of its cgroup", {"oom": None}, "oom-cgroup", codes=(-9,), varies=True),
    Row("SIGKILL after the kernel ended its child for lack of memory", KILLED, "oom-beside", codes=(-9,), varies=True),
    Row("no descriptor left, and a fault", CRASH, "no-descriptors", codes=(-11,)),
    Row("seccomp kills the process", CRASH, "seccomp-kill-process", codes=(-signal.SIGSYS,)),
    Row("seccomp kills a thread, then exit(0)", CLEAN, "seccomp-kill-thread"),
    Row("seccomp traps a system call", CRASH, "seccomp-trap", codes=(-signal.SIGSYS,)),
    Row("a timer expires (SIGALRM)", CRASH, "timer-expires", codes=(-signal.SIGALRM,)),
    Row("a write to a pipe without a reader", CRASH, "sigpipe", codes=(-signal.SIGPIPE,)),
    # faults
    Row("a read through NULL", CRASH, "null-read", codes=(-11,)),
    Row("a division by zero", CRASH, "int-div0", codes=(-8,)),
    Row("an undefined instruction", CRASH, "illegal", codes=(-4,)),
    Row("a mapped file that was cut (SIGBUS)", CRASH, "bus-truncated", codes=(-7,)),
    Row("overflow of the stack", CRASH, "stack-overflow", codes=(-11,)),
    Row("overflow of a thread's stack", CRASH, "stack-overflow-pthread", codes=(-11,)),
    Row("abort()", CRASH, "abort", codes=(-6,)),
    Row("assert()", CRASH, "assert", codes=(-6,)),
    Row("stack protector", CRASH, "stack-smashing", codes=(-6,)),
    Row("a block freed twice", CRASH, "double-free", codes=(-6,)),
    Row("an exception that nothing catches", CRASH, "uncaught-exception", codes=(-6,)),
    Row("a fault in a function that exit() calls", CRASH, "fault-at-exit", codes=(-11,)),
    Row("a fault under a debugger", CRASH | {"debugger": None}, "traced", codes=(-11,)),
    Row("a fault after the launch", CRASH, "null-read", phase="finished", codes=(-11,)),
    Row("a fault in a launch task", CRASH, "null-read", phase="task", codes=(-11,)),
    Row("a fault as the second process of the application", CRASH, "second-instance", codes=(-11,)),
    # its own will
    Row("return from main", CLEAN, "return-from-main", phase="finished"),
    Row("exit(0) during the launch", CLEAN, "exit-0"),
    Row("exit(7)", EXIT, "exit-7", codes=(7,)),
    Row("exit(6) on another thread", EXIT, "exit-on-thread", codes=(6,)),
    Row("_exit(3)", EXIT, "exit-now", codes=(3,)),
    Row("quick_exit(4)", EXIT, "exit-quick", codes=(4,)),
    Row("a function that its library lacks", EXIT, "lazy-symbol-missing", codes=(127,)),
    Row("pthread_exit() of main, later the last thread returns", CLEAN, "main-thread-leaves"),
    Row("exec of itself, then exit(0)", CLEAN, "exec-over-itself"),
    Row("exec of another program, which exits with 0", CLEAN, "exec-other"),
    # children
    Row("a crash in a forked child, then exit(0)", CLEAN, "fork-child-crashes"),
    Row("a crash in a vforked child, then exit(0)", CLEAN, "vfork-child-crashes"),
    Row("daemon() during the launch", CLEAN, "daemon-during-launch", varies=True),
    Row("a fork whose parent leaves by exit(0); the child crashes", CLEAN, "daemon-after-start"),
    # the machine, and the files
    sent("the machine is booted again; a witness saw SIGKILL before", {"reboot": None} | KILLED, signal.SIGKILL, change=boot_again),
    Row("a fault, then the machine is booted again", CRASH, "null-read", codes=(-11,), change=boot_again),
    sent("SIGKILL, then the clock is set back", KILLED, signal.SIGKILL, change=set_clock_back),
    Row("a fault, then the clock is set back", CRASH, "null-read", codes=(-11,), change=set_clock_back),
    sent("SIGKILL, then the run file is deleted", KILLED, signal.SIGKILL, change=delete),
    Row("a fault, then the run file is cut", CRASH, "null-read", codes=(-11,), change=cut),
    Row("a fault, then another version of the program starts", CRASH, "null-read", codes=(-11,), next=("--app-version", "99")),
    sent("SIGKILL, then another application starts in the directory", {"nothing": None}, signal.SIGKILL, next=("--app-id", "org.launchguard.other")),
    Row("a full disk at the start, then exit(0)", NO_RUN, "disk-full-start"),
    Row("a read-only directory, then exit(0)", NO_RUN, "state-read-only"),
    Row("a directory of another user, then exit(0)", NO_RUN, "state-of-another"),
    Row("a limit of file sizes at the start, then exit(0)", NO_RUN, "limit-file-size-start"),
]
