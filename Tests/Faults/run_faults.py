#!/usr/bin/env python3
"""Every way to die, and what must be known afterwards.

Asks each program for its catalogue, runs every entry in a fresh process with a fresh state
directory, and compares.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
import seeds
from case import Case, Dump, signal_name, status_name
from children import LIMIT_S, PLAIN
from expected import SANITIZERS, Modifiers, makes_sense

PROGRESS = 100  # entries between two lines, where those that pass are not printed

# With Swift's own backtracer, which can take seconds: only these.
BACKTRACED = {"null-read", "illegal", "abort"}


def cases(program, entries, dump, sanitizer):
    for entry in entries:
        yield Case(program, entry, PLAIN, dump, alone=False, sanitizer=sanitizer)
        if "core" in entry["traits"]:
            yield Case(program, entry, Modifiers(phase="finished"), dump, alone=False, sanitizer=sanitizer)
            yield Case(program, entry, Modifiers(thread="pthread", idle=7, depth=200), dump, alone=True, sanitizer=sanitizer)


def cross_product(program, entries, dump, swift, sanitizer):
    threads = ["main", "pthread"] + ["dispatch", "task"] * swift
    for entry in entries:
        if "core" not in entry["traits"]:
            continue
        for values in itertools.product(threads, ["none", "before", "after"], ["ours", "foreign", "absent"], [1, 20]):
            modifiers = Modifiers(*values)
            if str(modifiers):
                yield Case(program, entry, modifiers, dump, alone=True, sanitizer=sanitizer)
        if swift and entry["name"] in BACKTRACED:
            for backtrace in ("on", "missing"):
                yield Case(program, entry, Modifiers(backtrace=backtrace), dump, alone=True)


def describe(expected):
    if expected["kinds"]:
        return expected["kinds"][0] + " or others" * (len(expected["kinds"]) > 1)
    return "/".join(expected["end"]) or "any"


def named(case):
    return case.entry["name"] + (" (%s)" % case.modifiers if str(case.modifiers) else "")


def report(case, width):
    expected = case.expected
    numbers = ["any"] if expected["status"] == "any" else [
        signal_name(number) if expected["status"] == "signal" else "exit %d" % number for number in expected["numbers"]]
    verdict = "FAIL" if case.errors else "skip" if case.skipped else "ok"
    print("%-4s %-*s  %-30s  %-26s  %-20s  %6.0f ms" % (verdict, width, named(case), describe(expected), case.recorded, "%s%s" % (
        status_name(case.status), "" if not case.errors or case.skipped else " of " + "/".join(numbers)), case.ms))
    if case.skipped:
        print("       %s" % case.skipped)
    for line in case.errors + case.seen:
        print("       %s" % line)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="a build of launchguard-faults")
    parser.add_argument("--dump", required=True, help="the program that prints a file as JSON (Tests/Format/dump.c)")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only entries whose name matches")
    parser.add_argument("--cross", action="store_true", help="the core kinds with every combination of modifiers as well")
    parser.add_argument("--sample", type=int, metavar="N", help="of these combinations only N, which are drawn")
    parser.add_argument("--core", action="store_true", help="only the core kinds")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), metavar="N", help="entries at a time; each has a state directory of its own")
    parser.add_argument("--sanitizer", choices=SANITIZERS, default="none", help="what the programs are built with")
    parser.add_argument("--failures", action="store_true", help="print only what is not right")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # running processes are ended and their files removed
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ.update(SANITIZERS[options.sanitizer])
    dump = Dump(os.path.abspath(options.dump))
    counts, failed = {"passed": 0, "failed": 0, "skipped": 0}, []
    # A child dies with the thread that made it: these live until the end.
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program in options.programs:
            program = os.path.abspath(program)
            listed = subprocess.run([program, "--list", "--json"], stdout=subprocess.PIPE, check=True, timeout=LIMIT_S)
            entries = [entry for entry in json.loads(listed.stdout) if re.search(options.filter, entry["name"]) and
                       ("core" in entry["traits"] or not options.core) and makes_sense(entry, options.sanitizer)]
            swift = any(entry["language"] == "Swift" for entry in json.loads(listed.stdout))
            print("%s: %d entries" % (program, len(entries)))
            all_cases = list(cases(program, entries, dump, options.sanitizer))
            crossed = list(cross_product(program, entries, dump, swift, options.sanitizer)) if options.cross else []
            if options.sample is not None and options.sample < len(crossed):
                print("%d of %d combinations" % (options.sample, len(crossed)))
                samples = [draw.sample(range(len(crossed)), options.sample) for draw, _ in seeds.draws("faults")]
                crossed = [crossed[i] for i in sorted(set().union(*samples))]
            all_cases += crossed
            width = max((len(case.entry["name"]) + len(str(case.modifiers)) + 3 for case in all_cases), default=0)
            runs = [pool.submit(case.run) for case in all_cases]
            try:
                for number, run in enumerate(runs, 1):
                    case = run.result()
                    result = "failed" if case.errors else "skipped" if case.skipped else "passed"
                    counts[result] += 1
                    if case.errors:
                        failed.append((case, width))
                    if not options.failures or result != "passed":
                        report(case, width)
                    if options.failures and number % PROGRESS == 0:
                        print("%d of %d" % (number, len(runs)), flush=True)
            finally:
                for run in runs:  # after an interrupt: those that have not begun
                    run.cancel()
    if failed:  # once more, at the end of the log, where a reader looks first
        print("\nfailed:")
    for case, width in failed:
        report(case, width)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
