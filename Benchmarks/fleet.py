#!/usr/bin/env python3
"""Measure the fleet commands: Benchmarks/fleet.py BUILD_DIR TOOL [--rounds N] [--most N]

BUILD_DIR has the programs of Tests/Fleet, with which the runs are made: of each device 100, more
than half of them clean. TOOL is a release build with launchguard-fleet beside it. Wall clock, and
processor time of the tool and of the programs that it starts.
"""

import argparse
import pathlib
import random
import statistics
import subprocess
import tempfile

from budget import put
from tool import measure

ENDS = ["clean"] * 6 + ["write", "divide", "abort", "exit", "kill"]
RUNS_OF_A_DEVICE = 100
START_S = 1_760_000_000
DAY_S = 86400


def make(build, folder, count):
    """The state directories of a fleet; the same ones each time."""
    programs, draw, lines = pathlib.Path(build) / "Tests/Fleet", random.Random(count), []
    sources = {}
    for end in sorted(set(ENDS)):
        state = folder / "sources" / end
        if not state.exists():
            subprocess.run([programs / "fleet-victim", state, "1.0", end], check=False)
        sources[end] = next((state / "runs").glob("*.lgrun"))
    for index in range(count):
        device = index // RUNS_OF_A_DEVICE
        path = folder / str(count) / f"kiosk-{device}"
        (path / "runs").mkdir(parents=True, exist_ok=True)
        lines.append(f"{sources[draw.choice(ENDS)]} {path} {index % RUNS_OF_A_DEVICE + 1} {START_S + draw.randrange(20 * DAY_S)} 1.{draw.randrange(4)} {device + 1:032x}\n")
    subprocess.run([programs / "fleet-copies"], input="".join(sorted(lines)), text=True, check=True)
    return folder / str(count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("tool")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=int, default=10000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="launchguard-bench-") as name:
        folder = pathlib.Path(name)
        counts = [count for count in (100, 1000, 10000) if count <= options.most]
        times = {}

        def take(scene, *arguments):
            times.setdefault(scene, []).append(measure([options.tool, *map(str, arguments)]))

        for count in counts:
            devices, database = make(options.build, folder, count), folder / f"{count}.db"
            for _ in range(options.rounds + 1):
                database.unlink(missing_ok=True)
                take(f"collect {count}", "collect", "--into", database, devices)
                take(f"collect {count} again", "collect", "--into", database, devices)
                take(f"top of {count}", "top", database)
                take("nothing (--version)", "--version")
    print(f"{f'Fleets, n = {options.rounds}; ms, of the wall but for CPU':50} {'median':>9} {'least':>9} {'most':>9} {'CPU':>9} {'MB':>8}")
    for scene, taken in times.items():
        wall, cpu, memory = zip(*taken[1:])  # the first one fills the page cache
        print(f"  {scene:48} {statistics.median(wall):9.1f} {min(wall):9.1f} {max(wall):9.1f} {statistics.median(cpu):9.1f} {max(memory):8.1f}")
        if scene == "top of 10000":
            put("top", statistics.median(wall))


main()
