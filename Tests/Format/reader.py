#!/usr/bin/env python3
"""Print a run file or a ledger as JSON. Written from docs/FORMAT.md alone, whose tables it reads,
independently of the code."""
import json
import pathlib
import sys

import ends
from page import STRUCTURES, Damaged, File, crc32c, part, require, uuid
from run_file import read_annotations, read_crashes, read_guards, read_log, read_memory_snapshot, read_modules, read_pulse, read_run, read_snapshots, read_stderr, read_system

HOT, FAULTS, HINT, SLOT, BOOK, BOOK_CONTEXT, BOOK_RUN, RUNG, SUSPECT = (
    STRUCTURES[name] for name in ("hot", "hot_faults", "hint", "slot", "ledger_payload", "ledger_context", "ledger_run", "ledger_rung", "ledger_suspect"))


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
            ({} if hot == "damaged" else read_start_faults(hot[HOT.at("faults"):])) | read_hint(file.bytes[4792:4792 + HINT.size]) |
            {"kind": "ledger", "slots_valid": sum(1 << i for i in whole),
             "build_id": BOOK.get(book, "build_id")[:BOOK.get(book, "build_id_size")].hex(),
             "contexts": [read_book_context(block) for block in entries(book, BOOK, "contexts", BOOK_CONTEXT, "context_count")],
             "timeline": [read_book_run(block) for block in entries(book, BOOK, "timeline", BOOK_RUN, "timeline_count")]})


def read_start_faults(block):
    faults = FAULTS.pick(block, "wall_ns count left")
    return {"start_faults": faults["count"], "starts_left": faults["left"], "start_fault_wall_ns": faults["wall_ns"]} if faults["wall_ns"] else {}


def read_hint(block):
    hint = HINT.pick(block, "serial kind expires_ns context name") if len(block) == HINT.size and strings_end(HINT, block) else {}
    counts = hint and HINT.get(block, "crc") == crc32c(block[4:]) and hint["serial"] and hint["kind"] <= 4
    return {"hint": hint} if counts else {}


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
    rungs = entries(block, BOOK_CONTEXT, "rungs", RUNG, "rung_count")
    untried = any(RUNG.get(rung, "fate") == 0 and RUNG.get(rung, "attempts") and (flags & 4 or not RUNG.get(rung, "flags") >> 31) for rung in rungs)
    over = phase == 0 and context["mode"] == 2 and limit != 0 and context["safe_crashes"] >= limit and not untried
    late = BOOK_CONTEXT.pick(block, "window_ms finish ends quits unsteady stops")
    late["finish"] *= late["finish"] <= 3
    return context | {name: value for name, value in late.items() if value} | {
        "status": {1: 1, 3: 1, 5: 2, 6: 2, 2: 3}.get(phase, 0), "halted": int(phase == 6 or over), "due": flags & 1, "shadow": flags >> 3 & 1,
        "rungs": [read_rung(rung) for rung in rungs],
        "suspects": [SUSPECT.pick(suspect, "key crashes") | {"left_out": int(SUSPECT.get(suspect, "left_out") == 1)}
                     for suspect in entries(block, BOOK_CONTEXT, "suspects", SUSPECT, "suspect_count")]}


def read_rung(block):
    rung = RUNG.pick(block, "name series_wall_ns impact attempts timeout_ms flags fate")
    return rung | {"flags": rung["flags"] & 0x7fffffff, "built_in": rung["flags"] >> 31}


def read_book_run(block):
    run = BOOK_RUN.pick(block, "ordinal wall_ns duration_ns launching repairing counted attributed events app_version")
    late = {"late": BOOK_RUN.get(block, "late"), "told": int(BOOK_RUN.get(block, "told") == 1), "reason": BOOK_RUN.get(block, "reason"),
            "degraded": int(BOOK_RUN.get(block, "degraded") == 1)}
    return run | {name: value for name, value in late.items() if value} | {"uuid": uuid(BOOK_RUN.get(block, "uuid")),
                  "verdict": BOOK_RUN.pick(block, "end evidence signal code kind monotonic_ns")}


# ---- §4: the process of a run ----

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
            "log": part(read_log, file), "verdict": ends.Case(run, crash, pulse, same_boot).verdict()}
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
