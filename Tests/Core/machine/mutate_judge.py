#!/usr/bin/env python3
"""Each row of read/judge.c is left out, swapped with the next one, and changed in each of its
parts; the verdict must then fail its test."""
import re
import sys

from mutants import ROOT, Machine, main

sys.path.append(str(ROOT / "Tests/Format"))
import ends

SOURCE = ROOT / "Sources/CLaunchGuard/read/judge.c"
ROW = re.compile(r"( +ROW|.* again = ROW)\(([\w |]+), ([\w |]+), (\w+), (\w+), (\w+), (\w+), (true|false)\)(,|;)$")
# Facts of which a run has one at most: rows that need two of them have no order.
EXCLUSIVE = [{"CRASHED", "DUMPED", "SURVIVED"}, {"SEEN_EXIT_0", "SEEN_EXIT_N", "SEEN_REQUEST", "SEEN_DEADLY", "SEEN_KILL"},
             {"EXECUTED", "STOPPED", "EXIT_0", "EXIT_N"}, {"WILL_END", "WILL_RESTART"}]
EQUIVALENT = {
    ("ROW(ALIVE, NO, RUNNING, PROCESS_ALIVE, NOTHING, NOTHING, false),", "ROW(ALIVE, NO, RUNNING, PROCESS_ALIVE, NOTHING, NOTHING, true),"):
        "a run whose process executed its program again is not alive",
    ("ROW(CRASHED | SEEN_RECORD, NO, CRASH, WITNESS, RECORD, RECORD, false),", "ROW(SEEN_RECORD, NO, CRASH, WITNESS, RECORD, RECORD, false),"):
        "the other record that a signal can be of has its rows before",
    ("static const struct lg__judge_row again = ROW(NO, NO, EXIT, EXEC, NOTHING, NOTHING, true);",
     "static const struct lg__judge_row again = ROW(NO, NO, EXIT, EXEC, NOTHING, NOTHING, false);"): "nobody asks it",
}


def without_one(facts):
    """The conditions of a row, each time without one of its facts."""
    names = facts.split(" | ")
    if names != ["NO"]:
        for i in range(len(names)):
            yield " | ".join(names[:i] + names[i + 1:]) or "NO"


def ordered(first, second):
    """Whether both rows can apply to a run."""
    (needs, lacks), (needs_too, lacks_too) = ((set(row[2].split(" | ")), set(row[3].split(" | "))) for row in (first, second))
    exclude = any(needs & facts and needs_too & facts and needs & facts != needs_too & facts for facts in EXCLUSIVE)
    return not exclude and not needs & lacks_too and not needs_too & lacks


def mutants(text):
    lines = text.split("\n")
    rows = [(number, line, ROW.match(line)) for number, line in enumerate(lines) if ROW.match(line)]
    assert len(rows) == text.count("ROW(") - 1, "a row of another form"
    # a value that stands in another row
    others = [sorted({row[group] for _, _, row in rows}) for group in range(4, 8)]
    for i, (number, line, row) in enumerate(rows):
        head, *parts, tail = row.groups()
        changes = [(k, changed) for k in (0, 1) for changed in without_one(parts[k])]
        for k, values in enumerate(others, 2):
            changes.append((k, values[(values.index(parts[k]) + 1) % len(values)]))
        changes.append((6, "false" if parts[6] == "true" else "true"))
        for k, changed in changes:
            yield number, line, f"{head}({', '.join(parts[:k] + [changed] + parts[k + 1:])}){tail}"
        if tail == ",":
            yield number, line, ""
        if tail == "," and rows[i + 1][2][9] == "," and ordered(row, rows[i + 1][2]):
            yield number, line + "\n" + rows[i + 1][1], rows[i + 1][1] + "\n" + line


def prepare(directory):
    (directory / "every_end.h").write_text(ends.as_c())


if __name__ == "__main__":
    sys.exit(main(Machine("machine-judge-mutants", [SOURCE], mutants, [("test_every_end", [], 60, ["test_every_end.c"])], EQUIVALENT, prepare), __doc__))
