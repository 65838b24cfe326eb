#!/usr/bin/env python3
"""The budget: what each call may cost. Benchmarks/budget.py FOLDER TABLE...

FOLDER has what the tables of one run have put (put() here, put_figure() in common.h): lines of a
name, a tab and a value, or of a name, "-" and the reason why there is no value. A target is met by
a figure of the tables that are named, and by nothing else.
"""
import os
import pathlib
import sys
import typing


class Target(typing.NamedTuple):
    table: str
    figure: str
    what: str
    limit: float
    unit: str = ""
    at_least: bool = False


def rows(table, *targets):
    return [Target(table, *target) for target in targets]


def by_file_system(table, *targets):
    """A row for ext4 and one for tmpfs: `what` has the place of the name."""
    return [Target(table, f"{figure}.{place}", what % place, *rest) for figure, what, *rest in targets for place in ("ext4", "tmpfs")]


X, US, NS, MS, KIB = "x", "us", "ns", "ms", "KiB"
AT_LEAST = True
TARGETS = [
    *rows("calls", ("start", "lg_start(), system calls", 45)),
    *by_file_system(
        "start",
        ("few-faults", "page faults, 10 runs, %s", 20),
        ("many-faults", "page faults, 10,000 runs, %s", 20),
        ("instructions", "instructions, %s", 40000),
        ("few", "lg_start(), 10 runs, %s", 120, US),
        ("many", "lg_start(), 10,000 runs, %s", 120, US),
        ("first", "first start to its floor, %s", 2, X),
        ("exit", "exit, more, %s", 30, US)),
    *rows(
        "start",
        ("process.ext4", "CPU of a process, more", 100, US),
        ("linked.ext4", "library linked, more", 150, US)),
    *rows(
        "crash",
        ("off", "given back to no handler", 1.15, X),
        ("few", "stages 1-5 to no handler", 1.5, X),
        ("all", "everything to no handler", 2.2, X),
        ("threads", "everything, 32 threads", 2, X),
        ("symbols", "backtrace_symbols_fd() to stages 1-5", 2, X, AT_LEAST),
        ("libunwind", "DWARF frames to libunwind", 1, X),
        ("header", "entry to header", 1.5, US),
        ("frames", "entry to frame-pointer frames", 8, US),
        ("dwarf", "entry to 64 DWARF frames", 40, US),
        ("deep", "entry to 512 DWARF frames", 120, US),
        ("process", "entry to process stage", 100, US)),
    *rows("hostile", ("records", "records of 10 crashes", 10, "", AT_LEAST)),
    *rows(
        "weight",
        ("library", "library, stripped", 200, KIB),
        ("private", "private dirty", 96, KIB),
        ("addresses", "address space", 4, "MiB"),
        ("threads", "threads", 0),
        ("file", "clean run's file", 64, KIB),
        ("fork", "fork() and wait", 1.15, X),
        ("thread", "thread, create and join", 1.1, X)),
    *rows(
        "faults",
        ("fault", "recovered fault", 3, X),
        ("threads", "8 idle threads", 3, X)),
    *rows(
        "guards",
        ("subscript", "array[index], more", 2, NS),
        ("addition", "addition, more", 2, NS),
        ("null", "call through NULL", 5, US)),
    *rows(
        "log",
        ("floor", "text to floor", 1.25, X),
        ("threads", "2 threads to own 1", 1.5, X),
        ("lttng", "LTTng-UST to text", 10, X, AT_LEAST),
        ("lttng-threads", "LTTng-UST, 2 threads", 8, X, AT_LEAST),
        ("format", "four arguments", 50, NS),
        ("slowest", "99.9 % of calls", 1000, NS),
        ("instructions", "instructions of text", 110),
        ("kept", "kept of 1000", 1000, "", AT_LEAST)),
    *rows(
        "swift",
        ("string", "String of 40 bytes", 35, NS),
        ("interpolation", "interpolation of 4 values", 150, NS),
        ("fields", "category, 2 fields", 120, NS)),
    *rows(
        "preload",
        ("true", "launchguard run true, more", 2, MS),
        ("fork", "fork and wait", 1.3, X),
        ("make", "make -j2", 1.05, X)),
    *rows(
        "export",
        ("page", "page with lines, warm", 40, MS),
        ("text", "text with lines, warm", 40, MS),
        ("list", "list of 100 crashes", 120, MS)),
    *rows("fleet", ("top", "top of 10,000 runs", 150, MS)),
    *rows("tool", ("size", "stripped", 12, "MB")),
]


def put(name, value, unless=None):
    """A figure of the table that runs. Without a value, `unless` is the reason."""
    path = os.environ.get("BENCH_FIGURES")
    if path:
        with open(path, "a") as file:
            file.write(f"{name}\t-\t{unless}\n" if value is None else f"{name}\t{value:.6g}\n")


def figures(path):
    """Name → value, or the reason why there is none; "*" is that of the whole table."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        name, value, *reason = line.split("\t")
        found[name] = reason[0] if reason else float(value)
    return found


def number(value):
    value = round(value, 2) + 0.0  # without a sign of zero
    return f"{value:,.2f}" if abs(value) < 10 and value != int(value) else f"{value:,.1f}" if abs(value) < 100 and value != int(value) else f"{value:,.0f}"


def line(target, found):
    """Measured, target and answer. Without a figure there is no answer."""
    value = found.get(target.figure, found.get("*", "the table printed no such figure"))
    limit = (">=" if target.at_least else "<=") + number(target.limit)
    if isinstance(value, str):
        return f"  {target.what:40} {'-':>9} {limit:>10} {target.unit:3}  not measured: {value}", None
    met = value >= target.limit if target.at_least else value <= target.limit
    return f"  {target.what:40} {number(value):>9} {limit:>10} {target.unit:3}  {'yes' if met else 'no'}", met


def lines(folder, measured, targets=None):
    targets = TARGETS if targets is None else targets
    answers = []
    yield f"{'Budget; medians, shared library':42} {'measured':>9} {'target':>10}"
    for table in dict.fromkeys(target.table for target in targets):
        wanted = [target for target in targets if target.table == table]
        if table in measured:
            found = figures(pathlib.Path(folder) / f"{table}.figures")
            texts, met = zip(*(line(target, found) for target in wanted))
            yield from (table, *texts)
            answers += met
        else:
            yield f"{table:42} not measured, {len(wanted)}: the table was not part of this run"
            answers += [None] * len(wanted)
    yield f"{answers.count(True)} yes, {answers.count(False)} no, {answers.count(None)} not measured"


if __name__ == "__main__":
    print("\n".join(lines(sys.argv[1], sys.argv[2:])))
