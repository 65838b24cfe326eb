#!/usr/bin/env python3
"""The data that survive each death: test_survives.py --victim V --dump D --library L [--print]

Each row of docs/ENDS.md whose last column begins with *survives* is brought about, with a
process that has one of everything, and its files are read."""
import argparse
import ctypes
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests/Support"))
from waiting import wait_until

LIMIT_S = 120
SEGV, ABRT, KILL, TERM, QUIT = signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM, signal.SIGQUIT
WHOLE = 0x1fe  # stages 1 to 8 of a record, as bits
HEADER = ["death", "crash record", "stacks", "breadcrumb", "annotation", "counts", "the next start says", "with a witness"]


def names(header, pattern):
    return {int(number): name for number, name in re.findall(pattern, (ROOT / "include/launchguard" / header).read_text())}


KINDS = names("end.h", r"X\(LG_CRASH_\w+, (\d+), \"([^\"]+)\"")
ENDS = names("end.h", r"X\(LG_END_\w+, (\d+), \"([^\"]+)\"")
EVIDENCE = {int(number): name.lower().replace("_", " ") for name, number in
            re.findall(r"X\(LG_EVIDENCE_(\w+), (\d+)", (ROOT / "include/launchguard/end.h").read_text())}


def send(number):
    return lambda child, dump: child.send_signal(number)


def kill_slowly(child, dump):
    """As a service manager whose patience ends: the program has noted that it was alive a second
    after SIGTERM."""
    child.send_signal(TERM)
    wait_until(lambda: dump()["run"].get("term_alive_ns"), "the program notes that it was alive")
    child.kill()


def kill_when(marked):
    def outside(child, dump):
        wait_until(lambda: marked(dump()), "the record comes to the wanted state")
        child.kill()
    return outside


def stacks_of_a_hang(run):
    return any(snapshot and snapshot.get("threads") for snapshot in run.get("snapshots") or [])


# death: way of the victim, what somebody else does, wait status; the largest file it may make
ROWS = {
    "SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS": ("fault", None, -SEGV),
    "`abort()`, `assert()`, an exception that nobody catches": ("abort", None, -ABRT),
    "overflow of a stack": ("overflow", None, -SEGV),
    "a damaged heap, when libc notices": ("heap", None, -ABRT),
    "a crash, and the program's own handler then waits for ever": ("handler", None, -SEGV),
    "a crash, and SIGKILL before its handlers are done": ("patient", kill_when(lambda run: (run.get("crash") or {}).get("stages", 0) & WHOLE == WHOLE), -KILL),
    "a crash, after somebody cut the run file": ("cut", None, -SEGV),
    "a crash of a run for which there was little space": ("fault", None, -SEGV, 120000),
    "a crash before `lg_start()`": ("early", None, -SEGV),
    "SIGKILL, by whomever": ("kill", None, -KILL),
    "a loop that hangs, then SIGKILL": ("hang", kill_when(stacks_of_a_hang), -KILL),
    "a job beyond its deadline, then SIGKILL": ("deadline", kill_when(stacks_of_a_hang), -KILL),
    "SIGTERM, the stop of a service or of a container": ("wait", send(TERM), -TERM),
    "the same, too slow, then SIGKILL": ("slow", kill_slowly, -KILL),
    "SIGQUIT": ("wait", send(QUIT), -QUIT),
    "`exec` of another program": ("execute", None, 0),
    "a forked child crashes, and the program exits with 0": ("child", None, 0),
    "`_exit(3)`": ("leave", None, 3),
    "`exit(3)`": ("exit", None, 3),
}


class Case:
    def __init__(self, death):
        self.death, (self.way, self.outside, self.status, *limit) = death, ROWS[death]
        self.limit = (limit or [resource.RLIM_INFINITY])[0]

    def cells(self):
        with tempfile.TemporaryDirectory(prefix="launchguard-survives-") as folder:
            state = pathlib.Path(folder) / "state"
            pid, status = self.die(state)
            assert status == self.status, "%s: ended with %s" % (self.death, status)
            if not state.exists():
                return [self.death, *left({}), "no", "nothing: there is no run", "–"]
            files = list((state / "runs").iterdir())
            run = dump_of(files[0]) if files else {}
            shutil.copytree(state, state.with_name("witnessed"))
            said = self.next_start(state)
            stored = ctypes.CDLL(str(options.library)).lg_witness(str(state.with_name("witnessed")).encode(), pid, -status if status < 0 else status << 8)
            assert stored == 0 or not run, "lg_witness: %d" % stored
            witnessed = self.next_start(state.with_name("witnessed"))
        return [self.death, *left(run), said[0], said[1], witnessed[1] if stored == 0 else "–"]

    def die(self, state):
        child = subprocess.Popen([options.victim, state, self.way], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 preexec_fn=self.limits)
        begun = time.monotonic()
        try:
            if self.outside:
                assert select.select([child.stdout], [], [], LIMIT_S)[0] and child.stdout.readline() == b"ready\n", "it does not start"
                self.outside(child, lambda: dump_of(next((state / "runs").iterdir())))
            status = child.wait(LIMIT_S)
            assert time.monotonic() - begun < LIMIT_S, "it hangs"
            return child.pid, status
        finally:
            child.kill()
            child.wait()
            child.stdout.close()

    def limits(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.limit, self.limit))

    def next_start(self, state):
        """Whether the end counts, and how the next start says that the run ended."""
        done = subprocess.run([options.victim, state, "next"], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S)
        kept, streak, unknown = done.stdout.split()
        assert kept == "full", done
        (entry,) = [entry for entry in dump_of(state / "ledger.lg")["timeline"] if entry["ordinal"] == 1]
        verdict = entry["verdict"]
        return {"1 0": "yes", "0 1": "unexplained", "0 0": "no"}[streak + " " + unknown], "%s, *%s*" % (ENDS[verdict["end"]], EVIDENCE[verdict["evidence"]])


def dump_of(path):
    done = subprocess.run([options.dump, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def left(run):
    """The cells of what a run file holds: crash record, stacks, breadcrumb, annotation."""
    crash = run.get("crash") or {}
    others = (crash.get("threads") or {}).get("threads") or []
    frames = bool(crash.get("frames"))
    stacks = "all threads" if frames and others else "one thread" if frames else "–"
    if stacks == "–" and stacks_of_a_hang(run):
        stacks = "taken before"
    texts = [entry["text"] for entry in (run.get("log") or {}).get("entries", [])]
    annotations = {entry["key"]: entry["value"] for entry in run.get("annotations") or []}
    return ["`%s`" % KINDS[crash["kind"]] if crash else "–", stacks, "yes" if "the last breadcrumb" in texts else "no",
            "yes" if annotations.get("screen") == "map" else "no"]


def documented():
    section = (ROOT / "docs/ENDS.md").read_text().split("## What survives what\n")[1]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    assert lines[0] == [*HEADER, "test"], lines[0]
    return {cells[0]: cells[1:-1] for cells in lines[2:] if cells[-1].startswith("survives")}


def main():
    wrong, page = 0, {} if options.print else documented()
    for death in ROWS:
        cells = Case(death).cells()
        if options.print:
            print("| %s | survives |" % " | ".join(cells))
        elif page.pop(death, None) != cells[1:]:
            wrong += 1
            print("FAIL: docs/ENDS.md says something else than: | %s |" % " | ".join(cells))
    if page:
        wrong += 1
        print("FAIL: docs/ENDS.md has rows that no test brings about: %s" % list(page))
    print("%d passed, %d failed" % (len(ROWS) - wrong, wrong))
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("victim", "dump", "library"):
        parser.add_argument("--" + name, type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--print", action="store_true", help="print the rows for docs/ENDS.md")
    options = parser.parse_args()
    main()
