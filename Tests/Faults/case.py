"""One entry under one set of modifiers, and the four checks: the end of the process, the contents
of the record, the time, and whether the records of its neighbours are unchanged."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from children import LIMIT_S, Child, Living
from expected import HANGS, expectation

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
from waiting import wait_until

# Stages of a whole record, by number (docs/FORMAT.md).
WHOLE = {1, 2, 3, 4, 5, 6, 7, 8}
HEADER = 1
BRIEF = 1 << 1 | 1 << 2 | 1 << 3  # of a brief record, as bits

OUTPUT_LINES = 20  # lines of a process with a wrong outcome

# A time proves one thing only: the process hung until the deadline ended it. A machine with other
# work may delay a process by seconds, and a whole record is as good then. Benchmarks measure the
# time of a crash.
DEADLINE_MS = 10000
HANGING_HANDLER_MS = 1000  # ends an earlier handler that never returns


class Dump:
    def __init__(self, program):
        headers = pathlib.Path(__file__).resolve().parents[2] / "include/launchguard"
        self.program = program
        self.kinds = read_names(headers / "end.h", "LG_CRASH_")
        self.ends = read_names(headers / "end.h", "LG_END_")

    def __call__(self, path):
        done = subprocess.run([self.program, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def end(self, run):
        return self.ends[run["verdict"]["end"]]

    def ended(self, path):
        """The run after the end of its process. A process without a waiting parent may take a
        moment."""
        def ended():
            run = self(path)
            return (run,) if not run or self.end(run) != "running" else None
        return wait_until(ended, "the process of %s ends" % path)[0]


def read_names(header, prefix):
    """Names by number, from a table of a public header."""
    table = re.findall(r"X\(%s\w+, (\d+), \"([^\"]+)\"[,)]" % prefix, header.read_text())
    return {int(number): name for number, name in table}


def run_files(state):
    return sorted((state / "runs").glob("*.lgrun")) if (state / "runs").is_dir() else []


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "SIG%d" % number


def status_name(status):
    return "hang" if status is None else signal_name(-status) if status < 0 else "exit %d" % status


# a later point of the ring log's clock moves the times of a young process by less
CLOCK_NS = 1_000_000


def differences(before, after, name=""):
    """The differences of two documents of a living process, as text."""
    if re.fullmatch(r"\.log\.entries\[\d+\]\.monotonic_ns", name) and abs(before - after) < CLOCK_NS:
        return ""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = sorted(set(before) | set(after))
        return ", ".join(filter(None, (differences(before.get(key), after.get(key), "%s.%s" % (name, key)) for key in keys)))
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return ", ".join(filter(None, (differences(one, other, "%s[%d]" % (name, i)) for i, (one, other) in enumerate(zip(before, after)))))
    return "" if before == after else "%s was %.100r, is %.100r" % (name, before, after)


class Case:
    def __init__(self, program, entry, modifiers, dump, alone, sanitizer="none"):
        self.program, self.entry, self.modifiers, self.dump, self.alone = program, entry, modifiers, dump, alone
        self.expected = expectation(entry, modifiers, sanitizer)
        self.errors, self.seen, self.skipped = [], [], None
        self.recorded, self.status, self.ms = "-", None, 0.0

    def check(self, right, text):
        if not right:
            self.errors.append(text)
        return right

    def run(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-faults-"))
        self.living, self.child, self.load, self.stages = [], None, os.getloadavg()[0], None
        self.crash = None
        try:
            self.look(directory, directory / "state")
        except Exception as error:  # a broken runner is a failure and must not end the other cases
            self.errors.append("%s: %s" % (type(error).__name__, error))
        finally:
            if self.errors:
                self.describe()
            for living in self.living:
                living.kill()
            shutil.rmtree(directory, ignore_errors=True)
        return self

    def describe(self):
        """The facts that help to find the cause of a failure from the log alone."""
        self.seen.append("it took %.0f ms; load average %.1f before, %.1f after; stages committed: %s" %
                         (self.ms, self.load, os.getloadavg()[0], "no record" if self.stages is None else sorted(self.stages)))
        if self.crash:
            threads = {name: value for name, value in (self.crash.get("threads") or {}).items() if name != "threads"}
            self.seen.append("stages that crashed: %#x; notes: %s; threads: %s" % (self.crash.get("skipped", 0), self.crash.get("notes"), threads))
        for line in (self.child.text().splitlines() if self.child else [])[-OUTPUT_LINES:]:
            self.seen.append("| " + line)

    def look(self, directory, state):
        with_neighbours = not self.alone and "own-state" not in self.entry["traits"]
        if with_neighbours:
            first = Living(self.program, state, directory, "first")
            self.living.append(first)
            ended_path = run_files(state)[0]
            second = Living(self.program, state, directory, "second")
            self.living.append(second)
            living_path = run_files(state)[1]
            self.check(first.finish() == 0, "the healthy process before it did not end well")
            self.living.remove(first)
            before = digest(ended_path), self.dump(living_path)
        known = set(run_files(state))

        command = [self.program, self.entry["name"], "--state", state, "--deadline-ms", str(DEADLINE_MS),
                   "--handler-ms", str(HANGING_HANDLER_MS if self.entry["name"] in HANGS else DEADLINE_MS)]
        child = self.child = Child(command + self.modifiers.arguments(self.entry), directory, self.modifiers)
        self.status, self.ms = child.end()
        if self.status == 77:
            self.skipped = child.text().strip().split("cannot run here: ")[-1]
        else:
            self.look_at_status(child)
            new = [path for path in run_files(state) if path not in known]
            run = self.look_at_record(new)
            limit = DEADLINE_MS + self.expected["lasts_ms"] + 8000 * (self.modifiers.backtrace == "on")
            self.check(self.ms <= limit, "took %d ms, at most %d are right" % (self.ms, limit))

        if with_neighbours:
            after = digest(ended_path), self.dump(living_path)
            self.check(before[0] == after[0], "the file of the ended run before it changed")
            changed = differences(before[1], after[1])
            self.check(not changed, "the file of the living run beside it changed: %s" % changed)
            self.check(before[1]["crash"] is None and self.dump.end(after[1]) == "running", "the living run is not whole")
            if not self.skipped:
                self.look_at_next_start(state, directory, run)
            self.check(second.finish() == 0, "the healthy process beside it did not end well")
            self.living.remove(second)

    def look_at_status(self, child):
        expected = self.expected
        said = child.text().strip().splitlines()
        wanted = [-number if expected["status"] == "signal" else number for number in expected["numbers"]]
        if expected["status"] == "any":
            self.check(self.status is not None, "hangs")
        else:
            self.check(self.status in wanted, "ended with %s" % status_name(self.status))
        if expected["says"]:
            self.check(any(expected["says"] in line for line in said), "it does not say \"%s\"" % expected["says"])

    def look_at_record(self, new):
        """The run file of the process, read back with the public reader."""
        expected = self.expected
        if expected["end"] == ["no-run"]:
            self.check(not new, "it has a run file")
            return None
        if not self.check(new, "it has no run file"):
            return None
        run = self.dump.ended(new[-1])
        if run is None:
            self.recorded = "unreadable"
            self.check(not expected["end"], "the run file cannot be read")
            return None
        end = self.dump.end(run)
        crash = run["crash"]
        self.recorded = end if crash is None else "damaged" if crash == "damaged" else self.dump.kinds[crash["kind"]]
        self.check(not expected["end"] or end in expected["end"], "end: %s" % end)
        if crash == "damaged":
            self.errors.append("the record is damaged")
        elif expected["record"] == "none":
            self.check(crash is None, "it has a record: %s" % self.recorded)
        elif crash is None:
            self.check(expected["record"] == "any", "it has no record")
        else:
            self.look_at_crash(run, crash)
        return run

    def look_at_crash(self, run, crash):
        expected = self.expected
        if crash.get("brief"):
            # Where threads crash at once, the one that ends the process may have a brief record.
            # The record of the first is whole.
            self.check(crash["stages"] & BRIEF == BRIEF, "stages of the brief record: %#x" % crash["stages"])
            whole = [one for one in run.get("crashes") or [] if one != "damaged" and not one.get("brief")]
            if self.check(len(whole) == 1 and whole[0]["tid"] != crash["tid"], "a brief record without a whole one of another thread"):
                crash = whole[0]
                self.recorded = self.dump.kinds[crash["kind"]]
        self.crash = crash
        stages = self.stages = {stage for stage in range(1, 32) if crash["stages"] >> stage & 1}
        wanted = {"full": WHOLE, "header": {HEADER}}.get(expected["record"], set())
        self.check(wanted <= stages, "stages committed: %s" % sorted(stages))
        self.check(not expected["kinds"] or self.recorded in expected["kinds"], "kind: %s" % self.recorded)
        has_address = crash["address"] is not None
        self.check(expected["has_address"] in (None, has_address), "it has %s address" % ("an" if has_address else "no"))
        if expected["signals"]:
            self.check(crash["signal"] in expected["signals"], "signal in the record: %d" % crash["signal"])
        # sent to the process: any thread may get the signal
        sent = any(kind.startswith("signal.") for kind in expected["kinds"])
        if expected["record"] == "full" and self.modifiers.depth and not sent:
            self.look_at_stack(crash)
        if expected["message"]:
            said = [message["text"] for message in crash["messages"] or []]
            self.check(any(expected["message"] in text for text in said), "messages: %s" % said)

    def look_at_stack(self, crash):
        """The stack has the calls of the modifiers and reaches the begin of the thread."""
        stack = max(crash["frames"], key=lambda frames: frames["total"])
        self.check(stack["total"] > self.modifiers.depth and not stack["reason"],
                   "%d frames, at least %d are right; %s" % (stack["total"], self.modifiers.depth + 1, stack["reason"] or "whole"))

    def look_at_next_start(self, state, directory, run):
        """The next start accounts for the run: whether it counts for the launch."""
        status, _ = Child([self.program, "return-from-main", "--state", state], directory, name="next").end()
        self.check(status == 0, "the next start: %s" % status_name(status))
        ledger = self.dump(state / "ledger.lg")
        if not self.check(ledger, "the ledger cannot be read afterwards") or run is None or run["run"]["secondary"]:
            return
        entries = [entry for entry in ledger["timeline"] if entry["uuid"] == run["run"]["uuid"]]
        if not self.check(len(entries) == 1, "it is %d times in the timeline" % len(entries)):
            return
        counted = bool(entries[0]["counted"])
        if self.expected["launch"] != "W":
            self.check(counted == (self.expected["launch"] == "Y"), "counted as a launch crash: %s" % ("yes" if counted else "no"))
