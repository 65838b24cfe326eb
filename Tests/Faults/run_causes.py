#!/usr/bin/env python3
"""The true cause of an end, and the verdict on it.

Each row ends a process of the catalogue in a way that the runner knows, because the runner or the
entry brought it about. The next start then says how the run ended: once without a witness, and once
after this process, which waited, called lg_witness(). A wrong cause fails the test; "unknown" is
honest, and named. The outcome has to be that of the row.
"""
import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile

from case import Dump, run_files
from causes import ROWS
from children import LIMIT_S, Child

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVIDENCE = {int(number): name.lower().replace("_", " ") for name, number in
            re.findall(r"X\(LG_EVIDENCE_(\w+), (\d+)", (ROOT / "include/launchguard/end.h").read_text())}
SKIPPED = 77


class Said:
    """The end that somebody says, its evidence, and whether it counts for the launch."""

    def __init__(self, end, evidence="", counts=False):
        self.end, self.evidence, self.counts = end, evidence, counts

    def __str__(self):
        return self.end + (", %s" % self.evidence if self.evidence else "")


class Case:
    def __init__(self, number, row, options):
        self.number, self.row, self.options = number, row, options
        self.dump = Dump(options.dump)
        self.errors, self.skipped, self.said = [], None, []

    def run(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-causes-"))
        try:
            status = self.end_process(self.directory / "state")
            if not self.skipped:
                self.said = [self.next_start(None), self.next_start(status)]
                for said in self.said:
                    if self.verdict(said) == "WRONG":
                        self.errors.append("said: %s" % said)
        except Exception as error:  # a broken runner is a failure and must not end the other cases
            self.errors.append("%s: %s" % (type(error).__name__, error))
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
        return self

    def end_process(self, state):
        """The wait status of the process."""
        row = self.row
        command = [self.options.program, row.entry, "--state", state, "--phase", row.phase, *row.arguments]
        command = ["sh", "-c", "%s; exec \"$@\"" % row.before, "sh", *command]
        lives = row.entry == "live"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE} if lives else {}
        child = Child(command, self.directory, **pipes)
        if lives:
            ready = select.select([child.process.stdout], [], [], LIMIT_S)[0]
            if not ready or child.process.stdout.readline() != b"live\n":
                child.kill_group()
                raise AssertionError("it does not start: " + child.text())
            row.outside(child.process.pid)
        code, _ = child.end()
        if lives:
            child.process.stdin.close()
            child.process.stdout.close()
        if code == SKIPPED:
            self.skipped = child.text().strip().split("cannot run here: ")[-1]
        elif code is None:
            raise AssertionError("hangs")
        elif code not in row.codes:
            raise AssertionError("ended with %d of %s" % (code, row.codes))
        return -code if code < 0 else code << 8

    def next_start(self, wait_status):
        """How the next start says that the run ended, on a copy of the files."""
        state = self.directory / ("state" if wait_status is None else "witnessed")
        if wait_status is None:
            (self.directory / "state").mkdir(exist_ok=True)
            shutil.copytree(state, self.directory / "witnessed")
        files = run_files(state)
        if not files:
            return Said("no run")
        run = self.dump.ended(files[-1])["run"]
        if wait_status is not None:
            stored = ctypes.CDLL(self.options.library).lg_witness(str(state).encode(), run["pid"], wait_status)
            if stored != 0:
                raise AssertionError("lg_witness: %d" % stored)
        self.row.change(files[-1])
        code, _ = Child([self.options.program, "return-from-main", "--state", state, *self.row.next], self.directory, name="next").end()
        if code != 0:
            raise AssertionError("the next start ends with %s" % code)
        if run["secondary"]:  # is in no timeline
            verdict = self.dump(files[-1])["verdict"]
            return Said(self.dump.ends[verdict["end"]], EVIDENCE[verdict["evidence"]])
        for entry in self.dump(state / "ledger.lg")["timeline"]:
            if entry["uuid"] == run["uuid"]:
                return Said(self.dump.ends[entry["verdict"]["end"]], EVIDENCE[entry["verdict"]["evidence"]], bool(entry["counted"]))
        return Said("nothing")

    def verdict(self, said):
        if said.end in self.row.truth and self.row.truth[said.end] in (None, said.evidence):
            return "right"
        return "unknown" if said.end == "unknown" else "WRONG"

    def cells(self):
        counts = ["yes" if said.counts else "no" for said in self.said]
        return (str(self.said[0]), str(self.said[1]), " / ".join(dict.fromkeys(counts)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="a build of launchguard-faults")
    parser.add_argument("--dump", required=True, help="the program that prints a file as JSON (Tests/Format/dump.c)")
    parser.add_argument("--library", required=True, help="the shared library, for lg_witness()")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only causes that match")
    parser.add_argument("--print", action="store_true", help="print what is said")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), metavar="N")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options.program, options.dump = os.path.abspath(options.program), os.path.abspath(options.dump)
    failed, counts = 0, {"right": 0, "unknown": 0, "skipped": 0}
    cases = [Case(number, row, options) for number, row in enumerate(ROWS, 1) if re.search(options.filter, row.cause)]
    # A child dies with the thread that made it: these live until the end.
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case in pool.map(Case.run, cases):
            if not case.errors and case.skipped:
                counts["skipped"] += 1
                print("skip %d %s: %s" % (case.number, case.row.cause, case.skipped))
            elif not case.errors:
                cells = case.cells()
                if options.print:
                    print(case.number, case.row.cause, cells)
                elif case.row.said != cells and not (case.row.varies and case.said[0].end == "unknown"):
                    case.errors.append("the row says %s; it is %s" % (case.row.said, cells))
                for said in case.said:
                    counts[case.verdict(said)] += 1
            for error in case.errors:
                print("FAIL %d %s: %s" % (case.number, case.row.cause, error))
            failed += bool(case.errors)
    print("%d causes: %d times right, %d times unknown, %d cannot run here, %d failed" %
          (len(cases), counts["right"], counts["unknown"], counts["skipped"], failed))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
