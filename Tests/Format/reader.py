#!/usr/bin/env python3
"""Print a run file or a ledger as JSON. Written from docs/FORMAT.md alone, whose tables it reads,
independently of the code."""
import json
import os
import pathlib
import re
import sys

from page import STRUCTURES, Damaged, File, crc32c, part, require, uuid
from run_file import read_annotations, read_crashes, read_guards, read_log, read_memory_snapshot, read_modules, read_pulse, read_run, read_snapshots, read_stderr, read_system

HOT, FAULTS, SLOT, BOOK, BOOK_CONTEXT, BOOK_RUN, RUNG, SUSPECT = (
    STRUCTURES[name] for name in ("hot", "hot_faults", "slot", "ledger_payload", "ledger_context", "ledger_run", "ledger_rung", "ledger_suspect"))


# ---- §10: ledger ----

def read_ledger(file):
    whole = {}
    for i, kind in enumerate((17, 18)):
        slot = part(file.block, kind, 0, SLOT.size)
        if slot != "damaged" and slot_whole(slot):
            whole[i] = slot
    require(whole, "both slots")
    slot = max(whole.values(), key=lambda slot: SLOT.get(slot, "generation"))
    book = slot[SLOT.at("payload"):]
    hot = part(file.block, 16, 0, HOT.size)
    return (BOOK.pick(book, "app_id app_version last_ordinal") | SLOT.pick(slot, "generation") |
            ({} if hot == "damaged" else read_start_faults(hot[HOT.at("faults"):])) |
            {"kind": "ledger", "slots_valid": sum(1 << i for i in whole),
             "build_id": BOOK.get(book, "build_id")[:BOOK.get(book, "build_id_size")].hex(),
             "contexts": [read_book_context(block) for block in entries(book, BOOK, "contexts", BOOK_CONTEXT, "context_count")],
             "timeline": [read_book_run(block) for block in entries(book, BOOK, "timeline", BOOK_RUN, "timeline_count")]})


def read_start_faults(block):
    faults = FAULTS.pick(block, "wall_ns count left")
    return {"start_faults": faults["count"], "starts_left": faults["left"], "start_fault_wall_ns": faults["wall_ns"]} if faults["wall_ns"] else {}


def entries(block, structure, field, of, count):
    """The used entries of an array of structures."""
    at = structure.at(field)
    count = structure.get(block, count) if isinstance(count, str) else count
    return [block[at + of.size * i:at + of.size * (i + 1)] for i in range(count)]


def slot_whole(slot):
    head, book = SLOT.pick(slot, "generation size crc"), slot[SLOT.at("payload"):]
    bounds = BOOK.pick(book, "context_count timeline_count build_id_size")
    if (head["generation"] == 0 or bounds["context_count"] > 16 or bounds["timeline_count"] > 16 or bounds["build_id_size"] > 32 or
            head["size"] != BOOK.at("contexts") + BOOK_CONTEXT.size * bounds["context_count"] or
            head["crc"] != crc32c(slot[:SLOT.at("crc")], book[:head["size"]])):
        return False
    contexts = entries(book, BOOK, "contexts", BOOK_CONTEXT, "context_count")
    return (strings_end(BOOK, book) and all(strings_end(BOOK_RUN, run) for run in entries(book, BOOK, "timeline", BOOK_RUN, 16)) and
            all(context_right(context) for context in contexts))


def context_right(block):
    bounds = BOOK_CONTEXT.pick(block, "phase mode rung rung_count suspect_count")
    return (bounds["phase"] <= 7 and bounds["mode"] <= 3 and bounds["rung"] <= bounds["rung_count"] <= 17 and
            bounds["suspect_count"] <= 8 and strings_end(BOOK_CONTEXT, block) and
            all(strings_end(SUSPECT, suspect) for suspect in entries(block, BOOK_CONTEXT, "suspects", SUSPECT, 8)) and
            all(strings_end(RUNG, rung) for rung in entries(block, BOOK_CONTEXT, "rungs", RUNG, 17)))


def strings_end(structure, block):
    return all(b"\0" in block[offset:offset + 64] for offset, kind in structure.fields.values() if kind == "string[64]")


def read_book_context(block):
    context = BOOK_CONTEXT.pick(block, "name mode streak unknown reported rung rung_count attempts interruptions skips good_runs retry_runs "
                                       "safe_crashes report_after repair_after unknown_after safe_crash_limit launches crashes repairs "
                                       "last_task")
    flags, phase, limit = (BOOK_CONTEXT.get(block, name) for name in ("flags", "phase", "safe_crash_limit"))
    over = phase == 0 and context["mode"] == 2 and limit != 0 and context["safe_crashes"] >= limit
    late = BOOK_CONTEXT.pick(block, "window_ms finish")
    late["finish"] *= late["finish"] <= 3
    return context | {name: value for name, value in late.items() if value} | {
        "status": {1: 1, 3: 1, 5: 2, 6: 2, 2: 3}.get(phase, 0), "halted": int(phase == 6 or over), "due": flags & 1, "shadow": flags >> 3 & 1,
        "rungs": [read_rung(rung) for rung in entries(block, BOOK_CONTEXT, "rungs", RUNG, "rung_count")],
        "suspects": [SUSPECT.pick(suspect, "key crashes") | {"left_out": int(SUSPECT.get(suspect, "left_out") == 1)}
                     for suspect in entries(block, BOOK_CONTEXT, "suspects", SUSPECT, "suspect_count")]}


def read_rung(block):
    rung = RUNG.pick(block, "name series_wall_ns impact attempts timeout_ms flags")
    return rung | {"flags": rung["flags"] & 0x7fffffff, "built_in": rung["flags"] >> 31}


def read_book_run(block):
    run = BOOK_RUN.pick(block, "ordinal wall_ns duration_ns launching repairing counted attributed events app_version")
    late = {"late": BOOK_RUN.get(block, "late"), "told": int(BOOK_RUN.get(block, "told") == 1), "reason": BOOK_RUN.get(block, "reason"),
            "degraded": int(BOOK_RUN.get(block, "degraded") == 1)}
    return run | {name: value for name, value in late.items() if value} | {"uuid": uuid(BOOK_RUN.get(block, "uuid")),
                  "verdict": BOOK_RUN.pick(block, "end evidence signal code kind monotonic_ns")}


# ---- §4, §11: the end of a run ----

def process_of(run, proc_pid):
    """Whether the process is alive, and whether this is its boot."""
    try:
        if pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip() != run["boot_id"]:
            return False, False
        fields = pathlib.Path("/proc/%d/stat" % (proc_pid or run["pid"])).read_text().rpartition(")")[2].split()
        ended = fields[0] in "XZ" and int(fields[17]) < 2
        return not ended and int(fields[19]) == run["start_ticks"], True
    except (OSError, IndexError):
        return False, True


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


def memory_evidence(run, same_boot):
    """The evidence that the kernel ended this very process for lack of memory; None: none."""
    killed = killed_for_memory(run)
    if not same_boot or killed is False:
        return None
    if kernel_log_names(run):
        return 24
    return 25 if killed and run.get("memory_own", 0) > run.get("memory_limit", 0) // 2 else None


def lived_on(run):
    return bool(run["term_signal"]) and run.get("term_alive_ns", 0) > run["term_ns"]


def meant_something_else(run):
    slow = run.get("term_alive_ns", 0) > run["term_ns"] + 10**11
    return lived_on(run) and (run["term_signal"] == 1 or run["term_signal"] == 2 and slow)


def hung_first(run):
    hang = run.get("hang_ns", 0)
    asked = run["term_signal"] and not meant_something_else(run) and hang <= run["term_ns"] + 10**11
    leaving = (run["term_ns"] if asked else 0, run.get("announced_ns", 0), run["ended_ns"] if run["ended"] else 0)
    return hang != 0 and all(not at or at > hang + 10**9 for at in leaving)


def made(end, evidence, signal=0, code=0, kind=0, ns=0):
    return {"end": end, "evidence": evidence, "signal": signal, "code": code, "kind": kind, "monotonic_ns": ns}


def cause(run, pulse, same_boot, killed):
    """The reason for an end from outside, by SIGKILL where the status is known; None: no
    evidence."""
    memory = memory_evidence(run, same_boot)
    if memory:
        return made(5, memory, 9, ns=run.get("memory_near_ns", 0))
    if hung_first(run):
        return made(4, 18, 9 if killed else 0, ns=run["hang_ns"])
    if run.get("cpu_near_ns"):
        return made(6, 21, 9, ns=run["cpu_near_ns"])
    if run["term_signal"] and not meant_something_else(run) and (lived_on(run) or killed):
        return made(2, 20, run["term_signal"], ns=run["term_alive_ns"] if lived_on(run) else run["term_ns"])
    near = [job["near_ns"] for job in pulse["deadlines"] if job["near_ns"]] if pulse and pulse != "damaged" else []
    return made(6, 22, 9, ns=min(near)) if near else None


def verdict(run, crash, pulse, same_boot):
    def of_record(end, evidence):
        return made(end, evidence, crash["signal"], *((crash["code"], crash["kind"]) if end in (3, 10) else (0, 0)), crash["monotonic_ns"])
    crash = None if crash == "damaged" else crash
    died = bool(crash) and not crash["handled"]
    if run["ended"] == 3 and not died and not run.get("crash_noted_ns"):
        return made(1, 12, ns=run["ended_ns"])
    if run["alive"]:
        return made(12, 1)
    if died and crash["signal"] != 3 and is_traced(crash):
        return of_record(10, 14)
    if run.get("crash_noted_ns") and (not died or crash["signal"] == 3):
        return made(3, 2, ns=run["crash_noted_ns"])
    status = run.get("witness_status", 0)
    witnessed, signal = run.get("witnessed", 0) == 1, 0
    if witnessed and os.WIFSIGNALED(status):
        signal = os.WTERMSIG(status)
        if died and signal == crash["signal"]:
            return of_record(2 if signal == 3 else 3, 15)
        if not died and (signal in (15, 2, 1, 3) or signal == run["term_signal"] == 13):
            return made(2, 15, signal, ns=run["term_ns"] if run["term_signal"] == signal else 0)
        if not died and signal != 9:
            return made(3, 15, signal)
        if not died:
            return cause(run, pulse, same_boot, True) or made(6, 19 if same_boot and killed_for_memory(run) else 15, signal)
    elif witnessed and os.WIFEXITED(status) and not died:
        code = os.WEXITSTATUS(status)
        return made(7 if code else 1, 15, code=code, ns=run["ended_ns"] if run["ended"] else 0)
    if died:
        return of_record(*((2, 13) if crash["signal"] == 3 else (3, 3)))
    if run["ended"] == 2:
        return made(1, 5, ns=run["ended_ns"])
    if run["ended"] == 1:
        return made(7 if run["exit_code"] else 1, 4, code=run["exit_code"], ns=run["ended_ns"])
    if run["term_signal"] and not lived_on(run):
        return made(2, 6, signal=run["term_signal"], ns=run["term_ns"])
    if run.get("announced") == 1 and lived_on(run) and not meant_something_else(run):
        return made(2, 20, signal=run["term_signal"], ns=run["term_alive_ns"])
    if run.get("announced"):
        return made(*((2, 16) if run["announced"] == 1 else (1, 17)), ns=run["announced_ns"])
    if not same_boot:
        return made(8, 7)
    found = cause(run, pulse, same_boot, False)
    if found:
        return found
    if run.get("forked_ns"):
        return made(11, 26, ns=run["forked_ns"])
    if same_boot and killed_for_memory(run):
        return made(11, 19)
    if run.get("memory_near_ns"):
        return made(11, 23, ns=run["memory_near_ns"])
    return made(11, 10 if crash else 8)


def read(path):
    file = File(path)
    if file.kind == "ledger":
        return read_ledger(file)
    run, contexts, arch = read_run(file)
    alive, same_boot = process_of(run, run.pop("proc_pid"))
    file = File(path)  # as it is now: the process may have marked its end meanwhile
    run, contexts, arch = read_run(file)
    run.pop("proc_pid")
    run["alive"] = int(alive)
    (crash, crashes), tail, pulse = read_crashes(file, arch), part(read_stderr, file), part(read_pulse, file)
    said = {"kind": "run", "run": run, "contexts": contexts, "crash": crash, "modules": part(read_modules, file),
            "log": part(read_log, file), "verdict": verdict(run, crash, pulse, same_boot)}
    later = {"crashes": crashes, "stderr": tail, "annotations": read_annotations(file), "pulse": pulse, "snapshots": part(read_snapshots, file, arch),
             "memory_snapshot": part(read_memory_snapshot, file, arch), "guards": part(read_guards, file)}
    system = read_system(file)
    said |= {} if system is None else {"system": system or None}  # null: not committed
    return said | {name: what for name, what in later.items() if what is not None}


if __name__ == "__main__":
    try:
        json.dump(read(sys.argv[1]), sys.stdout, indent=1)
        print()
    except (Damaged, OSError) as error:
        sys.exit("reader.py: %s: %s" % (sys.argv[1], error))
