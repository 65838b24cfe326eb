"""The number of instructions of an entry of the ring log, which repeats exactly where nanoseconds
do not.

CMake passes the program and the name of the compiler. Measured at -O2 on x86-64: gcc 12.2 makes 117
and 725 instructions, clang 21 makes 131 and 838. The limits leave some room for other compilers.
They show that no change made an entry dearer by accident.
"""
import platform
import re
import shutil
import subprocess
import sys
import tempfile

CALLS = 2000
# The called functions, and the limit of instructions of a call, by gcc and by others; more with the
# clock of the kernel.
LIMITS = [("text", "lg_log_write", 125, 140), ("format", "lg_log", 780, 900)]
KERNEL_CLOCK = 150


def collected(program, what, function):
    with tempfile.TemporaryDirectory() as directory:
        run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=" + function, program,
                              directory + "/state", what, str(CALLS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    found = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit("valgrind: status %d\n%s" % (run.returncode, run.stderr))
    return int(found[1]) / CALLS, run.stdout.strip()


def main():
    if not shutil.which("valgrind") or platform.machine() != "x86_64":
        print("skipped: " + ("not counted on this CPU" if shutil.which("valgrind") else "valgrind is not installed"))
        sys.exit(77)
    failed = False
    program, compiler = sys.argv[1:]
    for what, function, gcc, others in LIMITS:
        count, clock = collected(program, what, function)
        limit = (gcc if compiler == "GNU" else others) + (0 if clock == "counter" else KERNEL_CLOCK)
        print("%s(): %.1f instructions with the clock of the %s, limit %d" % (function, count, "CPU" if clock == "counter" else clock, limit))
        failed |= count > limit
    sys.exit(failed)


main()
