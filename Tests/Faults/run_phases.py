#!/usr/bin/env python3
"""Every way to end in every phase of a launch, and the state of the ledger at the next start.

The right states are written here independently, from docs/LAUNCH.md: for each phase, the effects of
a crash, of an unexplained death and of an innocent end.
"""
import argparse
import concurrent.futures
import os
import pathlib
import resource
import shutil
import sys
import tempfile

from case import Dump, status_name
from children import Child

NORMAL, PROBATION, SAFE, TRIAL = range(4)
NORMAL_STATUS, CHECKING, NEEDS_REPAIR, REPAIRING = range(4)

# Ways to end: entry of the catalogue, class of its end (docs/LAUNCH.md, "Account"), wait status.
CRASH, UNEXPLAINED, INNOCENT = "crash", "unexplained", "innocent"
WAYS = [("null-read", CRASH, -11), ("abort", CRASH, -6), ("sigkill", UNEXPLAINED, -9), ("exit-now", UNEXPLAINED, 3),
        ("sigterm", INNOCENT, -15), ("exit-0", INNOCENT, 0), ("exit-7", INNOCENT, 7)]

# Earlier runs that lead to a phase which one run alone does not reach: (entry, phase).
CRASHED = [("null-read", "launching")]
SAFE_CRASHED = [("null-read", "safe"), ("null-read", "launching")]
SAFE_FINISHED = [("null-read", "safe"), ("return-from-main", "finished"), ("return-from-main", "finished")]
BEFORE = {"reporting": CRASHED, "giving-up": SAFE_CRASHED, "trial": SAFE_FINISHED}


def expected(phase, kind, entry, before):
    """The fields of the context after the next start has accounted for the run. `before`: streak
    and unknown before the run."""
    streak, unknown = before
    context = {"streak": streak, "unknown": unknown, "mode": NORMAL}
    counted = kind == CRASH
    if phase == "finished":
        context.update(streak=0, unknown=0)
    elif phase in ("launching", "task", "reporting"):
        context.update(streak=streak + counted, unknown=unknown + (kind == UNEXPLAINED))
    elif phase in ("held", "protecting"):
        context.update(streak=streak + counted, due=1)
    elif phase == "repairing":
        # A repair that ends the process by exit(), or by an unrequested death, has used its
        # attempt. A requested end gives the attempt back.
        used = kind != INNOCENT or entry == "exit-7"
        context.update(due=1, attempts=1 if used else 0, interruptions=0 if used else 1)
    elif phase == "probation":
        context.update(streak=streak + counted, unknown=unknown + (kind == UNEXPLAINED), due=int(counted), mode=NORMAL if counted else PROBATION,
                       rung=2 if counted else 1)
    elif phase == "safe":
        context.update(streak=streak + counted, unknown=unknown + (kind == UNEXPLAINED), safe_crashes=int(counted), mode=SAFE)
    elif phase == "giving-up":
        context.update(streak=streak + counted, mode=SAFE, halted=1)
    elif phase == "trial":
        context.update(streak=streak + counted, unknown=unknown + (kind == UNEXPLAINED), mode=NORMAL if counted else TRIAL,
                       due=int(counted), retry_runs=4 if counted else 2)
    return context


def expected_to_count(phase, kind):
    if phase == "finished":
        return False
    return phase == "repairing" or kind != INNOCENT and not (phase == "giving-up" and kind == UNEXPLAINED)


class Case:
    def __init__(self, program, dump, phase, way):
        self.program, self.dump, self.phase = program, dump, phase
        self.entry, self.kind, self.status = way
        self.errors = []

    def run_one(self, directory, entry, phase, name):
        child = Child([self.program, entry, "--state", directory / "state", "--phase", phase, "--deadline-ms", "2000"], directory, name=name)
        status, _ = child.end()
        return status, child.text().strip().splitlines()[-1:]

    def context(self, directory):
        """The state that the next start leaves, which accounts for the last run and begins no
        launch."""
        status, said = self.run_one(directory, "return-from-main", "none", "look")
        if status != 0:
            raise AssertionError("the next start: %s %s" % (status_name(status), said))
        ledger = self.dump(directory / "state/ledger.lg")
        return ledger["contexts"][0], ledger["timeline"][-1]

    def run(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-phases-"))
        try:
            for number, (entry, phase) in enumerate(BEFORE.get(self.phase, [])):
                self.run_one(directory, entry, phase, "before-%d" % number)
            before = (0, 0)
            if self.phase in BEFORE:
                context, _ = self.context(directory)
                before = (context["streak"], context["unknown"])
            status, said = self.run_one(directory, self.entry, self.phase, "run")
            if status != self.status:
                self.errors.append("ended with %s of %s %s" % (status_name(status), status_name(self.status), said))
            context, entry = self.context(directory)
            for field, value in expected(self.phase, self.kind, self.entry, before).items():
                if context[field] != value:
                    self.errors.append("%s is %s, %s is right" % (field, context[field], value))
            counts = expected_to_count(self.phase, self.kind)
            if bool(entry["counted"]) != counts:
                self.errors.append("the timeline says that it %s" % ("counts" if entry["counted"] else "does not count"))
        except Exception as error:  # a broken runner is a failure and must not end the other cases
            self.errors.append("%s: %s" % (type(error).__name__, error))
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        return self


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="a build of launchguard-faults")
    parser.add_argument("--dump", required=True, help="the program that prints a file as JSON (Tests/Format/dump.c)")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    dump = Dump(os.path.abspath(options.dump))
    phases = ["launching", "finished", "task", "reporting", "protecting", "held", "repairing", "probation", "safe", "giving-up", "trial"]
    failed = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        cases = [Case(os.path.abspath(options.program), dump, phase, way) for phase in phases for way in WAYS]
        for case in pool.map(Case.run, cases):
            print("%-4s %-10s  %s" % ("FAIL" if case.errors else "ok", case.phase, case.entry))
            for error in case.errors:
                print("       %s" % error)
            failed += [case] * bool(case.errors)
    print("%d passed, %d failed" % (len(cases) - len(failed), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
