#!/usr/bin/env python3
"""What lg_start() and an exit ask of the kernel, where ended runs are there and the last one ended
clean: system calls by name, and page faults. These numbers repeat where microseconds do not.

CMake passes the supervisor, the program and the compiler."""
import collections
import os
import platform
import re
import subprocess
import sys
import tempfile

# What no start and no exit exceeds, with the shared library on x86-64 and glibc: 97, 7 and 33, and
# what other kernels, mounts and groups of control add.
CALLS = {"start": 106, "exit": 9}
FAULTS = 40

PHASES = {1: "start", 4: "exit"}  # as in Tests/Seccomp/mark.h
OF_PROGRAM = {"getpriority", "exit_group"}
WARM, STARTS = 14, 5
LIMIT_S = 60
NOT_HERE = 77


def names(compiler):
    """Number → name of the system calls of this machine."""
    text = subprocess.run([compiler, "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null"], check=True, stdout=subprocess.PIPE, text=True,
                          timeout=LIMIT_S).stdout
    return {int(number): name for name, number in re.findall(r"#define __NR_(\w+) (\d+)", text)}


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
    if done.returncode == NOT_HERE:
        print("no notifications of system calls here: " + done.stdout.strip())
        sys.exit(NOT_HERE)
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()


def counts(lines, known):
    """Phase → Counter of names, of one life under the supervisor."""
    found = {name: collections.Counter() for name in PHASES.values()}
    for line in lines:
        if re.fullmatch(r"\d+ \d+ \d+", line):
            phase, number, count = map(int, line.split())
            if phase in PHASES and known[number] not in OF_PROGRAM:
                found[PHASES[phase]][known[number]] += count
    assert lines[-1] == "status 0", lines
    return found


def main():
    supervise, program, compiler = sys.argv[1:]
    if platform.machine() != "x86_64":
        print("the budget is that of x86-64")
        sys.exit(NOT_HERE)
    known = names(compiler)
    failed = False
    with tempfile.TemporaryDirectory() as directory:
        state = directory + "/state"
        for _ in range(WARM):
            run(program, state)
        # a start in eight to sixteen looks at all runs: it is none of these
        lives = [counts(run(supervise, program, state), known) for _ in range(STARTS)]
        faults = sorted(int(run(program, state)[0].split()[1]) for _ in range(STARTS))
    for phase, most in CALLS.items():
        least = min((life[phase] for life in lives), key=lambda counter: sum(counter.values()))
        total = sum(least.values())
        print("%s: %d system calls, at most %d: %s" % (phase, total, most, ", ".join("%s %d" % pair for pair in least.most_common())))
        failed |= total > most
    print("start: %d page faults, at most %d" % (faults[0], FAULTS))
    failed |= faults[0] > FAULTS
    sys.exit(failed)


main()
