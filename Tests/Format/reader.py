#!/usr/bin/env python3
"""Print a run file or a ledger as JSON. Written from docs/FORMAT.md alone, whose tables it reads: nothing here knows the code."""
import json
import pathlib
import sys

from page import STRUCTURES, Damaged, File, crc32c, part, require, uuid
from run_file import read_crash, read_log, read_modules, read_run, read_stderr

SLOT, BOOK, BOOK_CONTEXT, BOOK_RUN = (STRUCTURES[name] for name in ("slot", "book", "book_context", "book_run"))


# ---- §10: ledger ----

def read_ledger(file):
    whole = {}
    for i, kind in enumerate((17, 18)):
        slot = part(file.block, kind, 0, SLOT.size)
        if slot != "damaged" and slot_whole(slot):
            whole[i] = slot
    require(whole, "both slots")
    slot = max(whole.values(), key=lambda slot: SLOT.get(slot, "generation"))
    book = slot[SLOT.at("book"):]
    contexts, timeline = book[BOOK.at("contexts"):], book[BOOK.at("timeline"):]
    return (BOOK.pick(book, "app_id app_version last_ordinal") | SLOT.pick(slot, "generation") |
            {"kind": "ledger", "slots_valid": sum(1 << i for i in whole),
             "build_id": BOOK.get(book, "build_id")[:BOOK.get(book, "build_id_size")].hex(),
             "contexts": [read_book_context(contexts[BOOK_CONTEXT.size * i:]) for i in range(BOOK.get(book, "context_count"))],
             "timeline": [read_book_run(timeline[BOOK_RUN.size * i:]) for i in range(BOOK.get(book, "timeline_count"))]})


def slot_whole(slot):
    head, book = SLOT.pick(slot, "generation size crc"), slot[SLOT.at("book"):]
    return (head["generation"] != 0 and head["size"] == BOOK.size and head["crc"] == crc32c(slot[:SLOT.at("crc")], book) and
            BOOK.get(book, "context_count") <= 16 and BOOK.get(book, "timeline_count") <= 16 and BOOK.get(book, "build_id_size") <= 32)


def read_book_context(block):
    context = BOOK_CONTEXT.pick(block, "name streak unknown reported rung rung_count attempts interruptions report_after repair_after "
                                       "unknown_after launches crashes repairs rung_name")
    flags = BOOK_CONTEXT.get(block, "flags")
    return context | {"probation": flags & 1, "exhausted": flags >> 1 & 1, "needs_repair": flags >> 2 & 1}


def read_book_run(block):
    run = BOOK_RUN.pick(block, "ordinal wall_ns duration_ns launching repairing counted repaired app_version")
    return run | {"uuid": uuid(BOOK_RUN.get(block, "uuid")),
                  "verdict": BOOK_RUN.pick(block, "end evidence signal code kind monotonic_ns")}


# ---- §4, §11: how a run ended ----

def process_of(run, proc_pid):
    """Is it alive, and is this its boot?"""
    try:
        if pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip() != run["boot_id"]:
            return False, False
        fields = pathlib.Path("/proc/%d/stat" % (proc_pid or run["pid"])).read_text().rpartition(")")[2].split()
        return int(fields[19]) == run["start_ticks"], True
    except (OSError, IndexError):
        return False, True


def is_traced(crash):
    process = crash.get("process")
    figures = process["resources"] if isinstance(process, dict) else []
    return any(name == "tracer_pid" and known and value != 0 for name, _, known, value in figures)


def verdict(run, crash, same_boot):
    def made(end, evidence, signal=0, code=0, kind=0, ns=0):
        return {"end": end, "evidence": evidence, "signal": signal, "code": code, "kind": kind, "monotonic_ns": ns}
    crash = None if crash == "damaged" else crash
    if run["alive"]:
        return made(12, 1)
    if crash and not crash["handled"] and crash["signal"] == 3:
        return made(2, 13, crash["signal"], ns=crash["monotonic_ns"])
    if crash and not crash["handled"]:
        return made(*((10, 14) if is_traced(crash) else (3, 3)), crash["signal"], crash["code"], crash["kind"], crash["monotonic_ns"])
    if run["ended"] == 2:
        return made(1, 5, ns=run["ended_ns"])
    if run["ended"] == 1:
        return made(7 if run["exit_code"] else 1, 4, code=run["exit_code"], ns=run["ended_ns"])
    if run["term_signal"]:
        return made(2, 6, signal=run["term_signal"], ns=run["term_ns"])
    if not same_boot:
        return made(8, 7)
    return made(11, 10 if crash else 8)


def read(path):
    file = File(path)
    if file.kind == "ledger":
        return read_ledger(file)
    run, contexts, arch = read_run(file)
    alive, same_boot = process_of(run, run.pop("proc_pid"))
    run["alive"] = int(alive)
    crash, tail = part(read_crash, file, run["ended"], arch), part(read_stderr, file)
    said = {"kind": "run", "run": run, "contexts": contexts, "crash": crash, "modules": part(read_modules, file),
            "log": part(read_log, file), "verdict": verdict(run, crash, same_boot)}
    return said if tail is None else said | {"stderr": tail}


if __name__ == "__main__":
    try:
        json.dump(read(sys.argv[1]), sys.stdout, indent=1)
        print()
    except (Damaged, OSError) as error:
        sys.exit("reader.py: %s: %s" % (sys.argv[1], error))
