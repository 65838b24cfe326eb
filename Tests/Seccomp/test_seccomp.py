#!/usr/bin/env python3
"""The system calls of a start, of a life, of a crash, of an exit and of other threads are those of
docs/SECCOMP.md. A process that may make no others lives, ends and leaves its record as without a
filter.

`--write` writes the page's lists and docs/seccomp.json anew."""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, PROFILE = ROOT / "docs/SECCOMP.md", ROOT / "docs/seccomp.json"
LIMIT_S = 120
NOT_HERE = 77  # status of the supervisor, and of ctest for a test that was skipped

PHASES = {1: "start", 2: "life", 3: "crash", 4: "exit", 5: "thread"}  # as in mark.h
STAGE_DONE = 8  # FORMAT.md
WAYS = {"exit": 0, "crash": -signal.SIGSEGV, "abort": -signal.SIGABRT}

# What the program itself does meanwhile: its marks, a thread that waits, the end.
OF_PROGRAM = {"getpriority", "pause", "exit_group"}
# Calls of any phase that the moment decides, or the system, with the reason.
SELDOM = {
    "arch_prctl": "a crash lost the thread pointer",
    "clock_gettime": "the vDSO has no clock",
    "clone": "the watch thread begins; a libc without clone3()",
    "clone3": "a thread begins",
    "close": "the watch thread reads figures",
    "exit": "a thread ends",
    "fadvise64": "a run file takes the place of an older one",
    "fallocate": "a run file is made or gives space back",
    "fstat": "a file of ours was cut",
    "ftruncate": "a run file gives space back",
    "futex": "a thread waits for another one",
    "getdents64": "the threads are listed",
    "getppid": "/proc is of another pid namespace",
    "getrandom": "a run gets its UUID; libc fills its heap",
    "lseek": "the threads are listed again",
    "madvise": "a thread ends, or the watch thread begins again",
    "mmap": "an alternate stack is small",
    "mprotect": "a thread begins",
    "munmap": "a thread has ended",
    "openat": "the watch thread reads figures",
    "poll": "standard error is copied",
    "pread64": "a file is read again",
    "process_vm_readv": "memory may be gone",
    "read": "the watch thread reads figures",
    "readlinkat": "a module has no row",
    "renameat": "a run file takes the place of an older one",
    "restart_syscall": "a wait goes on after a signal",
    "rseq": "a thread begins",
    "rt_sigaction": "a handler was replaced",
    "rt_sigpending": "a handler recovers",
    "rt_sigprocmask": "a thread begins",
    "rt_sigqueueinfo": "a blocked signal waits",
    "rt_sigreturn": "a thread was asked for its registers",
    "rt_tgsigqueueinfo": "threads are asked for their registers",
    "sched_yield": "another crash is being recorded",
    "set_robust_list": "a thread begins",
    "sigaltstack": "a thread begins, or an alternate stack is small",
    "tgkill": "a thread may be gone",
    "timer_create": "a hang gets a deadline",
    "timer_delete": "a hang is over",
    "timer_settime": "a hang gets a deadline",
    "unlinkat": "an old run is deleted",
    "write": "standard error is copied",
}


def numbers():
    """Name → number of the system calls of this machine."""
    text = subprocess.run([options.compiler, "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null"], check=True, stdout=subprocess.PIPE,
                          text=True, timeout=LIMIT_S).stdout
    return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", text)}


def observed(state, way):
    """Phase → names of the calls that the program made in it; and the wait status."""
    done = subprocess.run([options.supervise, options.life, state, way], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
    if done.returncode == NOT_HERE:
        print("this kernel, or a sandbox around it, gives no notifications of system calls: " + done.stdout.strip())
        sys.exit(NOT_HERE)
    names = {number: name for name, number in numbers().items()}
    found = {phase: set() for phase in PHASES.values()}
    *lines, last = done.stdout.splitlines()
    for phase, number, _ in (map(int, line.split()) for line in lines):
        found[PHASES[phase]].add(names[number])
    return {phase: calls - OF_PROGRAM for phase, calls in found.items()}, os.waitstatus_to_exitcode(int(last.split()[1]))


def all_observed(state):
    found = {phase: set() for phase in PHASES.values()}
    for way in ("exit", *WAYS):  # the first one makes the directory
        calls, status = observed(state, way)
        assert status == WAYS[way], (way, status)
        for phase in found:
            found[phase] |= calls[phase]
    return found


def listed():
    """The lists of the page."""
    return {name: set(text.split()) for name, text in re.findall(r"^## (?:A|An|Any) (\w+)$.*?^```\n(.*?)^```$", PAGE.read_text(), re.M | re.S)}


def with_list(text, name, calls):
    lines = "\n".join(textwrap.wrap(" ".join(sorted(calls)), 100, break_on_hyphens=False))
    return re.sub(r"(^## (?:A|An|Any) %s$.*?^```\n).*?(^```$)" % name, lambda match: match[1] + lines + "\n" + match[2], text, flags=re.M | re.S)


def profile(calls):
    return json.dumps({"names": sorted(calls), "action": "SCMP_ACT_ALLOW"}, indent=2) + "\n"


class Seccomp(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.state = pathlib.Path(directory.name) / "state"

    def test_the_page_lists_what_is_called(self):
        found, page = all_observed(self.state), listed()
        self.assertEqual(set(page), {*PHASES.values(), "phase"})
        self.assertEqual(page["phase"], set(SELDOM))
        for phase, calls in found.items():
            with self.subTest(phase):
                missing, never = calls - page[phase] - set(SELDOM), page[phase] - calls - set(SELDOM)
                if phase == "thread":
                    never = set()  # the process may end before a thread has come so far
                self.assertEqual((missing, never), (set(), set()), "%s --write writes the lists anew" % __file__)

    def test_the_profile_is_the_page(self):
        self.assertEqual(PROFILE.read_text(), profile(set().union(*listed().values())))

    def test_no_other_call_is_needed(self):
        known = numbers()
        allowed = [str(known[name]) for name in sorted(set().union(*listed().values(), OF_PROGRAM)) if name in known]
        for ordinal, (way, status) in enumerate(WAYS.items(), 1):
            with self.subTest(way):
                done = subprocess.run([options.life, self.state, way, *allowed], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
                self.assertEqual(done.returncode, status, done.stdout)
                runs = {run.name.split("-")[0]: run for run in (self.state / "runs").iterdir()}
                self.assertEqual(len(runs), ordinal)
                newest = max((self.state / "runs").iterdir(), key=lambda run: int(run.name.split("-")[0]))
                run = json.loads(subprocess.run([options.dump, newest], check=True, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S).stdout)
                self.assertEqual(bool(run["crash"] and run["crash"]["stages"] >> STAGE_DONE & 1), status != 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("supervise")
    parser.add_argument("life")
    parser.add_argument("dump")
    parser.add_argument("compiler")
    parser.add_argument("--write", action="store_true")
    options, rest = parser.parse_known_args()
    if not os.uname().machine == "x86_64":
        print("the lists are those of x86-64")
        sys.exit(NOT_HERE)
    if options.write:
        with tempfile.TemporaryDirectory() as directory:
            text = PAGE.read_text()
            for phase, calls in all_observed(pathlib.Path(directory) / "state").items():
                text = with_list(text, phase, calls | listed()[phase] & set(SELDOM))
            PAGE.write_text(with_list(text, "phase", SELDOM))
            PROFILE.write_text(profile(set().union(*listed().values())))
        sys.exit(0)
    unittest.main(argv=[sys.argv[0], *rest])
