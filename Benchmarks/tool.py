#!/usr/bin/env python3
"""Measure the tool: Benchmarks/tool.py BUILD_DIR TOOL [OTHER_TOOL] [--rounds N] [--runs N]

BUILD_DIR has liblaunchguard.a, with which the files are made; TOOL is a release build
(swift build --package-path Tools -c release --product launchguard). With OTHER_TOOL both are
measured in the same rounds, and the ratio of each round is that of TOOL to OTHER_TOOL. The order is
drawn anew in each round. Wall clock, and processor time of the tool, which other programs disturb
less; the most memory that it held.
"""

import argparse
import glob
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def make(build, folder):
    program = folder + "/tool-runs"
    subprocess.run(
        ["cc", "-g", "-O2", "-D_GNU_SOURCE", "-I" + HERE + "/../include", HERE + "/tool-runs.c", build + "/liblaunchguard.a",
         "-o", program, "-pthread", "-ldl"], check=True)
    return program


def measure(command, accepted=(0, 3)):
    """Wall and processor time in ms, and the most resident memory in MB."""
    with open(os.devnull, "w") as null:
        start = time.monotonic()
        child = subprocess.Popen(command, stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in accepted:
        sys.exit(f"{' '.join(command)} ended with status {child.returncode}")
    return wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("tool")
    parser.add_argument("other", nargs="?")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--runs", type=int, default=10000, help="ended runs of the long list")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="launchguard-bench-") as folder:
        program = make(options.build, folder)
        for name, count, how in [("few", 30, "stop"), ("many", options.runs, "stop"), ("crashed", 30, "crash"), ("deep", 1, "deep"), ("ring", 1, "log")]:
            subprocess.run([program, f"{folder}/{name}", str(count), how], check=True)
        subprocess.run(["tar", "-czf", folder + "/few.tar.gz", "-C", folder, "few"], check=True)
        scenes = {
            "nothing (--version)": ["--version"],
            "list of 30": ["list", folder + "/few"],
            "list of 30, JSON": ["list", "--json", folder + "/few"],
            "list of 30 crashes": ["list", folder + "/crashed"],
            f"list of {options.runs}": ["list", folder + "/many"],
            f"list of {options.runs}, JSON": ["list", "--json", folder + "/many"],
            f"list -n 20 of {options.runs}": ["list", "-n", "20", folder + "/many"],
            "list of a tarball of 30": ["list", folder + "/few.tar.gz"],
            "log of a short run": ["log", folder + "/few"],
            "verify of a run": ["verify", glob.glob(folder + "/few/runs/*.lgrun")[0]],
            "verify of 30": ["verify", folder + "/few"],
            "log of 16 MiB": ["log", folder + "/ring"],
            "log of 16 MiB, JSON": ["log", "--json", folder + "/ring"],
        }
        for way in ["none", "builtin", "swift"] + ["llvm"] * bool(shutil.which("llvm-symbolizer")):
            scenes[f"64 frames, {way}"] = ["inspect", "--last", "--symbolizer", way, folder + "/deep"]
        tools = [tool for tool in (options.tool, options.other) if tool]
        cases = [(scene, tool) for scene in scenes for tool in tools]
        times = {case: [] for case in cases}
        for _ in range(options.rounds + 1):
            for scene, tool in random.sample(cases, len(cases)):
                times[scene, tool].append(measure([tool] + scenes[scene]))
    print(f"{f'The tool, n = {options.rounds}; ms, of the wall but for CPU':50} {'median':>8} {'least':>8} {'most':>8} {'CPU':>8} {'MB':>8}" + "  ratio, CPU" * bool(options.other))
    for scene in scenes:
        for tool in tools:
            taken = times[scene, tool][1:]  # the first one fills the page cache
            wall, cpu, memory = zip(*taken)
            text = f"  {scene:48} {statistics.median(wall):8.1f} {min(wall):8.1f} {max(wall):8.1f} {statistics.median(cpu):8.1f} {max(memory):8.1f}"
            if tool == options.tool and options.other:
                other = times[scene, options.other][1:]
                ratios = [statistics.median(a[i] / b[i] for a, b in zip(taken, other)) for i in (0, 1)]
                text += "   " + " ".join(f"{ratio:6.3f}" for ratio in ratios)
            print(text + ("   other" if tool == options.other else ""))


if __name__ == "__main__":
    main()
