#!/usr/bin/env python3
"""Measure docs/FLEET-AT-SCALE.md: Benchmarks/scale.py BUILD_DIR TOOL [--runs N] [--times N]

BUILD_DIR has the programs of Tests/Fleet, with which run files are made, of a hundred runs of each
device, most of them clean; TOOL is a release build with launchguard-fleet beside it. They are made,
collected and deleted in parts, as a disk seldom holds all. --times writes the rows of each run and
device so many times, with other ids: run files of fewer runs for as many rows. PostgreSQL, and
DuckDB where Python has it, load the rows of `collect --to` and answer the queries of the page,
whose numbers are compared with those of `launchguard top`. The fleet is the same each time. TMPDIR
says where files go; --keep names a folder in which database and rows stay, and are used again.
"""

import argparse
import json
import os
import pathlib
import re
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Tests/Fleet"))
import page_at_scale

try:
    import duckdb
except ImportError:
    duckdb = None

RUNS_OF_A_DEVICE = 100
APPS, VERSIONS, KERNELS, DAYS = 10, 12, 5, 60
SCREENS = ["map", "menu", "help"]
START_S, DAY_S = 1_760_000_000, 86400
WEIGHTS = {"clean": 70, "write": 8, "divide": 6, "abort": 5, "assert": 4, "assert-state": 3, "exit": 3, "kill": 1}
LIMIT_S = 7200
ROUNDS = 3


def say(words, *figures):
    print(f"{words:44}", *figures, flush=True)


class Fleet:
    """Copies of a few real runs."""

    def __init__(self, build, folder):
        self.programs, self.folder = pathlib.Path(build) / "Tests/Fleet", folder
        self.sources = {}
        for end in WEIGHTS:
            for screen in SCREENS:
                state = folder / "sources" / f"{end}-{screen}"
                subprocess.run([self.programs / "fleet-victim", state, "1.0", end, screen], check=False, stderr=subprocess.DEVNULL)
                self.sources[end, screen] = next((state / "runs").glob("*.lgrun"))

    def make(self, devices):
        """The state directories of some devices."""
        lines = []
        for device in devices:
            draw = random.Random(device)
            path = self.folder / "devices" / f"device-{device}"
            (path / "runs").mkdir(parents=True)
            app, kernel = device % APPS, draw.randrange(KERNELS)
            for number in range(1, RUNS_OF_A_DEVICE + 1):
                version = VERSIONS * number // (RUNS_OF_A_DEVICE + 1)
                # A bug of one kernel, and one that comes with a version.
                weights = {**WEIGHTS, "divide": 0 if kernel else 24, "abort": 5 if version >= VERSIONS // 2 else 0}
                end = draw.choices(list(weights), list(weights.values()))[0]
                screen = "map" if end == "write" else draw.choice(SCREENS)
                lines.append(f"{self.sources[end, screen]} {path} {number} {START_S + number * DAYS * DAY_S // RUNS_OF_A_DEVICE + draw.randrange(DAY_S // 2)} "
                             f"2.{version} {device + 1:032x} org.example.app{app} 0 6.1.0-{kernel}\n")
        subprocess.run([self.programs / "fleet-copies"], input="".join(lines), text=True, check=True)
        return self.folder / "devices"


def median(action):
    """Its last result, and its time."""
    times = []
    for _ in range(ROUNDS):
        begin = time.monotonic()
        found = action()
        times.append(time.monotonic() - begin)
    return found, f"{statistics.median(times) * 1000:10.0f} ms"


def questions():
    """Each question, with its statement."""
    return [(text.splitlines()[0].removeprefix("-- "), text) for text in map(page_at_scale.statements, page_at_scale.QUERIES)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("tool")
    parser.add_argument("--runs", type=int, default=20000)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--batch", type=int, default=10000)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the database and the rows, which stay")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="launchguard-scale-") as name:
        folder = options.keep or pathlib.Path(name)
        folder.mkdir(exist_ok=True)
        database, rows = folder / "fleet.db", folder / "rows"
        if not rows.exists():
            collect(Fleet(options.build, pathlib.Path(name)), options, database, rows)
        top, taken = median(lambda: subprocess.run([options.tool, "top", "--json", database], check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout)
        say("SQLite: launchguard top", taken)
        wanted = [(group["bug"], options.times * group["devices"], options.times * group["runs"]) for group in map(json.loads, top.splitlines())]
        wanted.sort(key=lambda bug: (-bug[1], -bug[2]))  # as the statement has it; top has shares
        if options.times > 1:
            rows = multiply(rows, pathlib.Path(name) / "multiplied/rows", options.times)
            say(f"rows written {options.times} times", f"{sum(path.stat().st_size for path in rows.iterdir()) >> 20:8} MiB")
        values = {"old": "2.5", "new": "2.6", "bug": wanted[0][0]}
        server = page_at_scale.Server(LIMIT_S, rows)
        try:
            begin = time.monotonic()
            server.rows(page_at_scale.statements("postgresql"))
            say("PostgreSQL: load", f"{time.monotonic() - begin:8.1f} s")
            measure("PostgreSQL", lambda query: server.rows(query, **values), wanted)
        finally:
            server.stop()
        if duckdb:
            engine = duckdb.connect()
            os.chdir(rows.parent)
            begin = time.monotonic()
            engine.execute(page_at_scale.statements("duckdb"))
            say("DuckDB: load", f"{time.monotonic() - begin:8.1f} s")

            def ask(query):
                for name, value in values.items():
                    query = query.replace(f":'{name}'", f"'{value}'")
                return engine.execute(query).fetchall()

            measure("DuckDB", ask, wanted)


def collect(fleet, options, database, rows):
    making = collecting = 0
    devices = options.runs // RUNS_OF_A_DEVICE
    step = max(1, options.batch // RUNS_OF_A_DEVICE)
    for first in range(0, devices, step):
        begin = time.monotonic()
        made = fleet.make(range(first, min(first + step, devices)))
        middle = time.monotonic()
        subprocess.run([options.tool, "collect", "--into", database, made], check=True, stdout=subprocess.DEVNULL, timeout=LIMIT_S)
        end = time.monotonic()
        making, collecting = making + middle - begin, collecting + end - middle
        print(f"{min(first + step, devices) * RUNS_OF_A_DEVICE} runs: {middle - begin:.1f} s made, {end - middle:.1f} s collected", file=sys.stderr, flush=True)
        # The last one is collected again, when the rows are written.
        for device in sorted(made.iterdir())[:None if first + step < devices else -1]:
            shutil.rmtree(device)
    begin = time.monotonic()
    subprocess.run([options.tool, "collect", "--into", database, "--to", rows, made], check=True, stdout=subprocess.DEVNULL, timeout=LIMIT_S)
    say("run files made", f"{making:8.1f} s")
    say("collected", f"{collecting:8.1f} s")
    say("rows written by collect --to", f"{time.monotonic() - begin:8.1f} s", f"{sum(path.stat().st_size for path in rows.iterdir()) >> 20} MiB")


def multiply(rows, folder, times):
    """A copy of the rows: of the first runs as they are, and of the further ones with other ids."""
    folder.mkdir(parents=True)
    for path in rows.iterdir():
        with open(path, encoding="utf-8") as source, open(folder / path.name, "w", encoding="utf-8") as target:
            for line in source:
                target.write(line)
                if path.stem not in ("run", "annotation", "device"):
                    continue
                for number in range(1, times):
                    other = re.sub(r'^(\{"(?:run_)?uuid":")........', rf"\g<1>{number:08x}", line)
                    target.write(re.sub(r'("(?:device_)?id":)(\d+)', lambda found, number=number: f"{found[1]}{int(found[2]) + number * 10_000_000}", other, count=1))
    return folder


def measure(engine, ask, wanted):
    answers = []
    for question, query in questions():
        found, taken = median(lambda query=query: ask(query))
        say(f"{engine}: {question}", taken, f"{len(found)} rows")
        answers.append(found)
    ranking = [(row[0], int(row[2]), int(row[3])) for row in answers[0]]
    # Those of equal figures stand in any order.
    if not set(ranking) <= set(wanted) or [figures for _, *figures in ranking] != [figures for _, *figures in wanted[:len(ranking)]]:
        sys.exit(f"{engine} counts otherwise than launchguard top: {ranking}, and not {wanted[:len(ranking)]}")


main()
