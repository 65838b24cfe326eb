#!/usr/bin/env python3
"""The end of a run: its facts by docs/FORMAT.md, section 11, and its rule by docs/ENDS.md, written
from these pages alone. As a program: every question that the rules ask, as tables of C for
Tests/Core/machine/test_every_end.c."""
import os
import pathlib
import re

CLEAN, TERMINATED, CRASH, HANG, OOM, KILLED, EXIT, REBOOT, DEBUGGER, UNKNOWN, RUNNING = 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12


# ---- the rules ----

def judge(holds, replaced=False):
    """End, evidence, what goes with it, and which time."""
    found = first(holds)
    stays = found[1] in (12, 14, 2, 3, 5, 17)
    return found if stays or not replaced else (EXIT, 12, "nothing", "nothing")


def first(holds):
    record = "crash" if holds("crashed") else "dump" if holds("dumped") else None
    if holds("executed") and not record and not holds("noted"):
        return CLEAN, 12, "nothing", "end"
    if holds("alive"):
        return RUNNING, 1, "nothing", "nothing"
    if record == "crash" and holds("traced"):
        return DEBUGGER, 14, "record", "record"
    if record != "crash" and holds("noted"):
        return CRASH, 2, "nothing", "note"
    if record:
        own = 3 if record == "crash" else 13
        return CRASH if record == "crash" else TERMINATED, 15 if holds("seen record") else own, "record", "record"
    for fact, end, at in (("seen exit 0", CLEAN, "end"), ("seen exit n", EXIT, "end"), ("seen request", TERMINATED, "request"), ("seen deadly", CRASH, "nothing")):
        if holds(fact):
            return end, 15, "status", at
    if holds("seen kill"):
        return cause(holds) or (KILLED, 19 if holds("oom group") else 15, "status", "nothing")
    return mark(holds) or cause(holds) or unknown(holds)


def mark(holds):
    """The evidence that the process left before anybody ended it."""
    if holds("stopped"):
        return CLEAN, 5, "nothing", "end"
    for fact, end in (("exit 0", CLEAN), ("exit n", EXIT)):
        if holds(fact):
            return end, 4, "exit", "end"
    slow = holds("asked") and holds("lived on")
    if holds("asked") and not slow:
        return TERMINATED, 6, "request", "request"
    if holds("will end"):
        return (TERMINATED, 20, "request", "alive") if slow else (TERMINATED, 16, "nothing", "announcement")
    if holds("will restart"):
        return CLEAN, 17, "nothing", "announcement"
    return (REBOOT, 7, "nothing", "nothing") if holds("rebooted") else None


def cause(holds):
    """The reason for an end from outside; None: no evidence."""
    for fact, evidence in (("oom named", 24), ("oom largest", 25)):
        if holds(fact):
            return OOM, evidence, "kill", "memory"
    if holds("hung"):
        return HANG, 18, "status", "hang"
    killed = holds("seen kill")
    if killed and holds("cpu near"):
        return KILLED, 21, "status", "cpu"
    if holds("asked"):
        return TERMINATED, 20, "request", "alive" if holds("lived on") else "request"
    return (KILLED, 22, "status", "job") if killed and holds("job near") else None


def unknown(holds):
    for fact, evidence, at in (("cpu near", 21, "cpu"), ("job near", 22, "job"), ("forked", 26, "fork"), ("oom group", 19, "nothing"), ("memory near", 23, "memory"), ("survived", 10, "nothing")):
        if holds(fact):
            return UNKNOWN, evidence, "nothing", at
    return UNKNOWN, 8, "nothing", "nothing"


# ---- the facts ----

def is_traced(crash):
    process = crash.get("process")
    figures = process["resources"] if isinstance(process, dict) else []
    return any(name == "tracer_pid" and known and value != 0 for name, _, known, value in figures)


def killed_for_memory(run):
    """Whether the kernel ended a process of this reader's own cgroup, which is that of the run,
    since the run was last seen alive; None: not known."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        directory = pathlib.Path("/sys/fs/cgroup" + ("/memory" if controllers else "") + group)
        for name in (["memory.oom_control"] if controllers else ["memory.events.local", "memory.events"]):
            try:
                count = re.search(r"^oom_kill (\d+)$", (directory / name).read_text(), re.M)
                if count and run.get("oom_known", 0) == 1 and directory.stat().st_ino == run.get("oom_cgroup", 0):
                    return int(count[1]) > run.get("oom_kills", 0)
            except OSError:
                pass
    return None


def kernel_log_names(run):
    slack = run["monotonic_ns"] // 1000 + 10**9
    try:
        if os.readlink("/proc/self/ns/pid") != "pid:[4026531836]":
            return False
        file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        while True:
            try:
                record = os.read(file, 8192).decode("latin-1")
            except BrokenPipeError:
                continue
            found = re.match(r"([0-7]),\d+,(\d+),[^;]*;(?:[^\n]*?: )?Killed process (\d+)", record)
            if found and int(found[3]) == run["pid"] and int(found[2]) * 1000 >= run["monotonic_ns"] - slack:
                return True
    except OSError:
        return False
    finally:
        os.close(file)


def lived_on(run):
    return bool(run["term_signal"]) and run.get("term_alive_ns", 0) > run["term_ns"]


def asked(run):
    slow = run.get("term_alive_ns", 0) > run["term_ns"] + 10**11
    went_on = lived_on(run) and (run["term_signal"] == 1 or run["term_signal"] == 2 and slow)
    return bool(run["term_signal"]) and not went_on


def hung(run):
    hang = run.get("hang_ns", 0)
    may_end = asked(run) and hang <= run["term_ns"] + 10**11
    leaving = (run["term_ns"] if may_end else 0, run.get("announced_ns", 0), run["ended_ns"] if run["ended"] else 0)
    return hang != 0 and all(not at or at > hang + 10**9 for at in leaving)


class Case:
    """One run, and the answers to the questions of the rules."""

    def __init__(self, run, crash, pulse, same_boot):
        crash = None if crash == "damaged" else crash
        self.run, self.crash, self.same_boot = run, crash, same_boot
        self.died = crash if crash and not crash["handled"] else None
        status = run.get("witness_status", 0) if run.get("witnessed", 0) == 1 else None
        self.signal = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else 0
        self.status = os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None
        self.near = [job["near_ns"] for job in pulse["deadlines"] if job["near_ns"]] if pulse and pulse != "damaged" else []

    def holds(self, fact):
        run, died, signal = self.run, self.died, self.signal
        requests = (1, 2, 3, 10, 12, 15, 16, 30, *range(32, 128)) + ((13,) if run["term_signal"] == 13 else ())
        return bool({
            "executed": lambda: run["ended"] == 3, "alive": lambda: run["alive"],
            "crashed": lambda: died and died["signal"] != 3, "dumped": lambda: died and died["signal"] == 3, "survived": lambda: self.crash and not died,
            "traced": lambda: is_traced(died), "noted": lambda: run.get("crash_noted_ns"),
            "seen record": lambda: signal and died and signal == died["signal"],
            "seen exit 0": lambda: self.status == 0, "seen exit n": lambda: self.status, "seen request": lambda: signal in requests,
            "seen deadly": lambda: signal and signal != 9 and signal not in requests, "seen kill": lambda: signal == 9,
            "stopped": lambda: run["ended"] == 2, "exit 0": lambda: run["ended"] == 1 and run["exit_code"] == 0,
            "exit n": lambda: run["ended"] == 1 and run["exit_code"] != 0,
            "asked": lambda: asked(run), "lived on": lambda: lived_on(run),
            "will end": lambda: run.get("announced") == 1, "will restart": lambda: run.get("announced") == 2,
            "rebooted": lambda: not self.same_boot, "hung": lambda: hung(run), "cpu near": lambda: run.get("cpu_near_ns"),
            "job near": lambda: self.near, "forked": lambda: run.get("forked_ns"), "memory near": lambda: run.get("memory_near_ns"),
            "oom named": lambda: self.same_boot and killed_for_memory(run) is not False and kernel_log_names(run),
            "oom group": lambda: self.same_boot and killed_for_memory(run),
            "oom largest": lambda: self.holds("oom group") and run.get("memory_own", 0) > run.get("memory_limit", 0) // 2,
        }[fact]())

    def verdict(self):
        run, record = self.run, self.died or {}
        end, evidence, what, when = judge(self.holds)
        signal = {"record": record.get("signal"), "status": self.signal, "request": run["term_signal"], "kill": 9}.get(what, 0)
        code = {"record": record.get("code") if end in (CRASH, DEBUGGER) else 0, "status": self.status or 0, "exit": run["exit_code"]}.get(what, 0)
        time = {"end": lambda: run["ended_ns"] if run["ended"] else 0, "record": lambda: record["monotonic_ns"], "note": lambda: run["crash_noted_ns"],
                "request": lambda: run["term_ns"] if run["term_signal"] == signal else 0, "alive": lambda: run["term_alive_ns"],
                "announcement": lambda: run.get("announced_ns", 0), "hang": lambda: max(run["hang_ns"], run.get("hung_alive_ns", 0)), "cpu": lambda: run["cpu_near_ns"],
                "memory": lambda: run.get("memory_near_ns", 0), "job": lambda: min(self.near), "fork": lambda: run["forked_ns"], "nothing": lambda: 0}[when]()
        seen = run.get("witnessed_ns", 0)
        if not (when == "record" or when == "end" and time) and seen >= max(time, run["monotonic_ns"]):
            time = seen
        return {"end": end, "evidence": evidence, "signal": signal, "code": code,
                "kind": record["kind"] if what == "record" and end in (CRASH, DEBUGGER) else 0, "monotonic_ns": time}


# ---- every question of the rules ----

class Asks(Exception):
    """A fact that the answers so far do not have."""


def questions(replaced, answers=()):
    """The questions of judge() as a tree: (fact, the tree for no, the tree for yes), or the end."""
    def holds(fact):
        if fact not in known:
            raise Asks(fact)
        return known[fact]
    known = dict(answers)
    try:
        return judge(holds, replaced)
    except Asks as question:
        fact = question.args[0]
        return fact, *(questions(replaced, (*answers, (fact, answer))) for answer in (False, True))


def nodes(tree, of):
    """Append a tree to a list of initialisers in C; its index."""
    if len(tree) == 4:
        end, evidence, what, when = tree
        of.append("{ .end = %d, .evidence = %d, .with = LG__WITH_%s, .at = LG__AT_%s }" % (end, evidence, what.upper(), when.upper()))
    else:
        no, yes = (nodes(branch, of) for branch in tree[1:])
        of.append("{ .asks = true, .fact = LG__FACT_%s, .no = %d, .yes = %d }" % (tree[0].upper().replace(" ", "_"), no, yes))
    return len(of) - 1


def as_c():
    of = []
    roots = [nodes(questions(replaced), of) for replaced in (False, True)]
    return "static const struct node nodes[] = {\n    %s,\n};\nstatic const unsigned roots[] = { %d, %d }; /* replaced: no, yes */\n" % (",\n    ".join(of), *roots)


if __name__ == "__main__":
    print(as_c(), end="")
