#!/usr/bin/env python3
"""Every way to die, and what must be known afterwards.

Asks each program for its catalogue, runs every entry in a fresh process with a fresh state directory, and looks at four things:
how the process ended, what the record says, how long it took, and whether the records of its neighbours are as they were.
"""
import argparse
import concurrent.futures
import ctypes
import hashlib
import itertools
import json
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
import time

# Stages of a record that is whole, by number (docs/FORMAT.md).
WHOLE = {1, 2, 3, 4, 8}
HEADER = 1

LIMIT_S = 20  # a process that takes longer hangs
DEADLINE_MS = 1000
MARGIN_MS = 1500  # the machine may be busy
AT_ONCE = 2

# What LaunchGuard's crash handlers are installed for; a program's own handler replaces them there.
CRASH_SIGNALS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS}
SILENT = ["killed", "unknown"]
ENDS = ["none", "clean", "terminated", "crash", "hang", "oom", "killed", "exit", "reboot", "upgrade", "debugger", "unknown", "running"]

# With Swift's own backtracer, which can take seconds: only these.
BACKTRACED = {"null-read", "illegal", "abort"}

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)


class Modifiers:
    """How the entry is run: options of the program, and what Swift's own backtracer does: off, on, or missing."""

    def __init__(self, thread="main", own_handler="none", altstack="ours", threads=1, idle=0, depth=0, phase=None, backtrace="off"):
        self.thread, self.own_handler, self.altstack, self.threads = thread, own_handler, altstack, threads
        self.idle, self.depth, self.phase, self.backtrace = idle, depth, phase, backtrace

    def arguments(self, entry):
        phase = self.phase or entry.get("phase") or "launching"
        return ["--thread", self.thread, "--own-handler", self.own_handler, "--altstack", self.altstack, "--threads", str(self.threads),
                "--idle-threads", str(self.idle), "--depth", str(self.depth), "--phase", phase]

    def environment(self):
        value = "enable=%s,color=no,interactive=no" % ("no" if self.backtrace == "off" else "yes")
        return {"SWIFT_BACKTRACE": value + ",swift-backtrace=/no/such/program" * (self.backtrace == "missing")}

    def __str__(self):
        words = [self.thread] * (self.thread != "main") + ["handler " + self.own_handler] * (self.own_handler != "none")
        words += ["altstack " + self.altstack] * (self.altstack != "ours") + ["%d threads" % self.threads] * (self.threads != 1)
        words += ["%d idle" % self.idle] * (self.idle != 0) + ["%d deep" % self.depth] * (self.depth != 0)
        return ", ".join(words + [self.phase] * bool(self.phase) + ["backtrace " + self.backtrace] * (self.backtrace != "off"))


PLAIN = Modifiers()


def expectation(entry, modifiers):
    """What is right for this entry under these modifiers: the one place with exceptions from the catalogue."""
    expected = dict(entry["expected"])
    unseen = dict(record="none", kinds=[], end=SILENT, has_address=None, message=None, launch="W")
    signals = {number for number in expected["numbers"] if expected["status"] == "signal"}
    if modifiers.own_handler == "after" and signals & CRASH_SIGNALS and expected["record"] != "none":
        expected.update(unseen)  # ours was replaced
    if modifiers.phase == "finished":
        expected.update(launch="N")
    if modifiers.altstack == "absent" and "fault.stack_overflow" in expected["kinds"]:
        expected.update(unseen)  # nothing can run there
    return expected


# ---- processes ----

def bind_to_runner():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Child:
    """A process in a session of its own. Its whole group is gone when `end` returns."""

    def __init__(self, command, directory, modifiers=PLAIN, name="child", stdin=subprocess.DEVNULL, stdout=None):
        environment = dict(os.environ, TMPDIR=str(directory), HOME=str(directory))
        environment.update(modifiers.environment())
        for variable in ("STATE_DIRECTORY", "XDG_STATE_HOME"):
            environment.pop(variable, None)
        self.output = directory / (name + ".out")
        with open(self.output, "wb") as output:
            self.begun = time.monotonic()
            self.process = subprocess.Popen([str(part) for part in command], stdin=stdin, stdout=stdout or output, stderr=output,
                                            env=environment, start_new_session=True, preexec_fn=bind_to_runner)

    def end(self, limit=LIMIT_S):
        """Wait; returns (status as of Popen, or None when it had to be killed at the limit, milliseconds)."""
        file = os.pidfd_open(self.process.pid)
        try:
            waiting = select.poll()
            waiting.register(file, select.POLLIN)
            ready = waiting.poll(max(0, limit - (time.monotonic() - self.begun)) * 1000)
            ms = (time.monotonic() - self.begun) * 1000
        finally:
            os.close(file)
            self.kill_group()
        status = self.process.wait()
        return (status if ready else None), ms

    def kill_group(self):
        """Its leader is not reaped yet, so that the number is still its own."""
        if self.process.returncode is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def text(self):
        return self.output.read_text(errors="replace")


class Living:
    """A healthy process of the same program with a session in the same state directory."""

    def __init__(self, program, state, directory, name):
        # A pipe of our own: that of Popen would be inherited by processes that other threads start meanwhile.
        self.child = Child([program, "live", "--state", state, "--phase", "finished"], directory, name=name, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
        ready = select.select([self.child.process.stdout], [], [], LIMIT_S)[0]
        if not ready or self.child.process.stdout.readline() != b"live\n":
            self.kill()
            raise AssertionError("a healthy process does not start: " + self.child.text())

    def settled(self, dump, path):
        """Its file, once the thread that prepares it is done."""
        for _ in range(200):
            run = dump(path)
            if run and run["modules"]:
                return run
            time.sleep(0.005)
        raise AssertionError("a healthy process writes no table of modules")

    def finish(self):
        self.child.process.stdin.close()
        status, _ = self.child.end(LIMIT_S + time.monotonic() - self.child.begun)
        self.child.process.stdout.close()
        return status

    def kill(self):
        self.child.kill_group()
        self.child.process.wait()


# ---- what is on disk ----

class Dump:
    def __init__(self, program):
        self.program = program
        self.kinds = {}

    def __call__(self, path):
        done = subprocess.run([self.program, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def ended(self, path):
        """The run once its process is gone: a process that is not waited for may take a moment."""
        for _ in range(200):
            run = self(path)
            if not run or ENDS[run["verdict"]["end"]] != "running":
                return run
            time.sleep(0.01)
        return run


def read_kinds(header):
    """Names of kinds by number, from the public header."""
    table = re.findall(r"X\(LG_CRASH_\w+, (\d+), \"([^\"]+)\"\)", header.read_text())
    return {int(number): name for number, name in table}


def run_files(state):
    return sorted((state / "runs").glob("*.lgrun")) if (state / "runs").is_dir() else []


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---- one case ----

def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "SIG%d" % number


def status_name(status):
    return "hang" if status is None else signal_name(-status) if status < 0 else "exit %d" % status


class Case:
    def __init__(self, program, entry, modifiers, dump, alone):
        self.program, self.entry, self.modifiers, self.dump, self.alone = program, entry, modifiers, dump, alone
        self.expected = expectation(entry, modifiers)
        self.errors, self.skipped = [], None
        self.recorded, self.status, self.ms = "-", None, 0.0

    def check(self, right, text):
        if not right:
            self.errors.append(text)
        return right

    def run(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-faults-"))
        self.living = []
        try:
            self.look(directory, directory / "state")
        except Exception as error:  # a broken runner is a failure, not an end
            self.errors.append("%s: %s" % (type(error).__name__, error))
        finally:
            for living in self.living:
                living.kill()
            shutil.rmtree(directory, ignore_errors=True)
        return self

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
            before = digest(ended_path), second.settled(self.dump, living_path)
        known = set(run_files(state))

        command = [self.program, self.entry["name"], "--state", state, "--deadline-ms", str(DEADLINE_MS)]
        child = Child(command + self.modifiers.arguments(self.entry), directory, self.modifiers)
        self.status, self.ms = child.end()
        if self.status == 77:
            self.skipped = child.text().strip().split("cannot run here: ")[-1]
        else:
            self.look_at_status(child)
            new = [path for path in run_files(state) if path not in known]
            run = self.look_at_record(new)
            limit = DEADLINE_MS + MARGIN_MS + self.expected["lasts_ms"] + 8000 * (self.modifiers.backtrace == "on")
            self.check(self.ms <= limit, "took %d ms, at most %d are right" % (self.ms, limit))

        if with_neighbours:
            after = digest(ended_path), self.dump(living_path)
            self.check(before[0] == after[0], "the file of the ended run before it changed")
            self.check(before[1] == after[1], "the file of the living run beside it changed")
            self.check(before[1]["crash"] is None and ENDS[after[1]["verdict"]["end"]] == "running", "the living run is not whole")
            if not self.skipped:
                self.look_at_next_start(state, directory, run)
            self.check(second.finish() == 0, "the healthy process beside it did not end well")
            self.living.remove(second)

    def look_at_status(self, child):
        expected = self.expected
        if expected["status"] == "any":
            return self.check(self.status is not None, "hangs")
        wanted = [-number if expected["status"] == "signal" else number for number in expected["numbers"]]
        said = child.text().strip().splitlines()
        if not self.check(self.status in wanted, "ended with %s" % status_name(self.status)) and said:
            self.errors.append("said: " + said[-1])

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
        end = ENDS[run["verdict"]["end"]]
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
        stages = {stage for stage in range(1, 32) if crash["stages"] >> stage & 1}
        wanted = {"full": WHOLE, "header": {HEADER}}.get(expected["record"], set())
        self.check(wanted <= stages, "stages committed: %s" % sorted(stages))
        self.check(not expected["kinds"] or self.recorded in expected["kinds"], "kind: %s" % self.recorded)
        has_address = crash["address"] is not None
        self.check(expected["has_address"] in (None, has_address), "it has %s address" % ("an" if has_address else "no"))
        if not expected["numbers"] or expected["status"] == "signal":
            self.check(expected["status"] == "any" or crash["signal"] in expected["numbers"], "signal in the record: %d" % crash["signal"])
        if expected["message"] and "message" in crash:
            self.check(expected["message"] in json.dumps(crash["message"]), "message: %s" % crash["message"])

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


# ---- the matrix ----

def cases(program, entries, dump, cross, swift):
    for entry in entries:
        yield Case(program, entry, PLAIN, dump, alone=False)
        if "core" in entry["traits"]:
            yield Case(program, entry, Modifiers(phase="finished"), dump, alone=False)
            yield Case(program, entry, Modifiers(thread="pthread", idle=7, depth=200), dump, alone=True)
    if not cross:
        return
    threads = ["main", "pthread"] + ["dispatch", "task"] * swift
    for entry in entries:
        if "core" not in entry["traits"]:
            continue
        for values in itertools.product(threads, ["none", "before", "after"], ["ours", "foreign", "absent"], [1, 20]):
            modifiers = Modifiers(*values)
            if str(modifiers):
                yield Case(program, entry, modifiers, dump, alone=True)
        if swift and entry["name"] in BACKTRACED:
            for backtrace in ("on", "missing"):
                yield Case(program, entry, Modifiers(backtrace=backtrace), dump, alone=True)


def describe(expected):
    if expected["kinds"]:
        return expected["kinds"][0] + " or others" * (len(expected["kinds"]) > 1)
    return "/".join(expected["end"]) or "any"


def report(case, width):
    expected = case.expected
    numbers = ["any"] if expected["status"] == "any" else [
        signal_name(number) if expected["status"] == "signal" else "exit %d" % number for number in expected["numbers"]]
    name = case.entry["name"] + (" (%s)" % case.modifiers if str(case.modifiers) else "")
    verdict = "FAIL" if case.errors else "skip" if case.skipped else "ok"
    print("%-4s %-*s  %-30s  %-26s  %-20s  %6.0f ms" % (verdict, width, name, describe(expected), case.recorded, "%s%s" % (
        status_name(case.status), "" if not case.errors or case.skipped else " of " + "/".join(numbers)), case.ms))
    if case.skipped:
        print("       %s" % case.skipped)
    for error in case.errors:
        print("       %s" % error)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="a build of launchguard-faults")
    parser.add_argument("--dump", required=True, help="the program that prints a file as JSON (Tests/Format/dump.c)")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only entries whose name matches")
    parser.add_argument("--cross", action="store_true", help="the core kinds with every combination of modifiers as well")
    parser.add_argument("--failures", action="store_true", help="print only what is not right")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    dump = Dump(os.path.abspath(options.dump))
    dump.kinds = read_kinds(pathlib.Path(__file__).resolve().parents[2] / "include/launchguard/reader.h")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    # A child dies with the thread that made it: these live until the end.
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for program in options.programs:
            program = os.path.abspath(program)
            listed = subprocess.run([program, "--list", "--json"], stdout=subprocess.PIPE, check=True, timeout=LIMIT_S)
            entries = [entry for entry in json.loads(listed.stdout) if re.search(options.filter, entry["name"])]
            swift = any(entry["language"] == "Swift" for entry in json.loads(listed.stdout))
            print("%s: %d entries" % (program, len(entries)))
            all_cases = list(cases(program, entries, dump, options.cross, swift))
            width = max((len(case.entry["name"]) + len(str(case.modifiers)) + 3 for case in all_cases), default=0)
            runs = [pool.submit(case.run) for case in all_cases]
            try:
                for run in runs:
                    case = run.result()
                    result = "failed" if case.errors else "skipped" if case.skipped else "passed"
                    counts[result] += 1
                    if not options.failures or result != "passed":
                        report(case, width)
            finally:
                for run in runs:  # after an interrupt: those that have not begun
                    run.cancel()
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
