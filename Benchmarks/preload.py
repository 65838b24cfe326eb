#!/usr/bin/env python3
"""The cost of the preloaded library and of the tool that preloads it:
Benchmarks/preload.py BUILD_DIR [--tool LAUNCHGUARD] [--rounds N]

BUILD_DIR has launchguard-preload.so and the program preload-ways of Tests/Preload. In each round
every program runs once without the library and once with it, or under `launchguard run`, in an
order that is drawn anew. Elapsed time and processor time of the process and its children.
"""
import argparse
import os
import random
import statistics
import tempfile
import time

from budget import put

FAULTS, CHILDREN = 20000, 100
FORK, MAKE, UNDER_RUN = "a forked child that does nothing", "a small C file of a make -j2", "launchguard run, a program that does nothing"
FILES = 16  # of a make -j2
SHELL = "i=0; while [ $i -lt %d ]; do %%s; i=$((i+1)); done" % CHILDREN


def measure(command, environment):
    """Milliseconds: elapsed, and of the processor."""
    to_nothing = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    begun = time.perf_counter_ns()
    child = os.posix_spawn(command[0], command, environment, file_actions=to_nothing)
    _, _, used = os.wait4(child, 0)
    return (time.perf_counter_ns() - begun) / 1e6, (used.ru_utime + used.ru_stime) * 1e3


def write_sources(folder):
    """Files for make, which works there from now on."""
    for number in range(FILES):
        with open("%s/file%d.c" % (folder, number), "w") as file:
            file.write("#include <stdio.h>\nint f%d(int x) { return printf(\"%%d\", x); }\n" % number)
    with open(folder + "/Makefile", "w") as file:
        file.write("all: %s\n" % " ".join("file%d.o" % number for number in range(FILES)))
    os.chdir(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--tool", type=os.path.abspath, help="of a release build, for the rows of launchguard run")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    library = os.path.abspath(options.build + "/Sources/launchguard-preload/launchguard-preload.so")
    ways = os.path.abspath(options.build + "/Tests/Preload/preload-ways")
    # what is measured, the command, and how many of them it holds
    rows = (
        ("a program that does nothing, a start", ["/bin/true"], 1),
        ("a fault that the program recovers from", [ways, "recover", str(FAULTS)], FAULTS),
        ("the first such fault, and the start", [ways, "recover", "1"], 1),
        (FORK, ["/bin/sh", "-c", SHELL % "(:)"], CHILDREN),
        ("a command of a shell", ["/bin/sh", "-c", SHELL % "/bin/true"], CHILDREN),
        (MAKE, ["/usr/bin/make", "-B", "-s", "-j2"], FILES),
    )
    if options.tool:
        run = [options.tool, "run", "--quiet", "--"]
        rows += (
            (UNDER_RUN, ["/bin/true"], 1, run),
            ("the same with --witness-only", ["/bin/true"], 1, [options.tool, "run", "--witness-only", "--"]),
        )
    plain = {"PATH": "/usr/bin:/bin"}
    with tempfile.TemporaryDirectory(prefix="launchguard-bench-", dir=os.getcwd()) as state:
        preloaded = dict(plain, LD_PRELOAD=library, LAUNCHGUARD_DIRECTORY=state)
        under_tool = dict(plain, LAUNCHGUARD_PRELOAD=library, LAUNCHGUARD_DIRECTORY=state)
        write_sources(state)
        found = {}
        for round_number in range(options.rounds + 1):
            order = [(row, environment) for row in range(len(rows)) for environment in (False, True)]
            random.shuffle(order)
            for row, is_preloaded in order:
                command, tool = rows[row][1], rows[row][3:] if is_preloaded else ()
                times = measure([*(tool[0] if tool else ()), *command], plain if not is_preloaded else under_tool if tool else preloaded)
                if round_number:  # the first one warms up
                    found.setdefault((row, is_preloaded), []).append([value * 1e3 / rows[row][2] for value in times])
    print("%-46s %9s %9s %9s %9s %9s %6s" % ("Preloaded, us, medians", "CPU", "with", "more", "elapsed", "with", "ratio"))
    ratios, more = {}, {}
    for row, (name, *_) in enumerate(rows):
        without, preloaded_ = found[row, False], found[row, True]
        figures = (statistics.median(a[1] for a in without), statistics.median(b[1] for b in preloaded_), statistics.median(b[1] - a[1] for a, b in zip(without, preloaded_)),
                   statistics.median(a[0] for a in without), statistics.median(b[0] for b in preloaded_))
        ratios[name] = statistics.median(b[0] / a[0] for a, b in zip(without, preloaded_))
        more[name] = statistics.median(b[0] - a[0] for a, b in zip(without, preloaded_))
        print("  %-44s %s %6.2f" % (name, " ".join("%9s" % ("%.1f" % figure if figure < 100 else "{:,.0f}".format(figure)) for figure in figures), ratios[name]))
    put("true", more[UNDER_RUN] / 1000 if UNDER_RUN in more else None, "launchguard-run is not built")
    put("fork", ratios[FORK])
    put("make", ratios[MAKE])


if __name__ == "__main__":
    main()
