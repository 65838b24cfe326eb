#!/usr/bin/env python3
"""Measure exports and symbols: Benchmarks/export.py BUILD_DIR TOOL [--rounds N]

BUILD_DIR has liblaunchguard.a, and the agent where it was built; TOOL is a release build of the
tool. One crash, below 64 functions and beside three threads, is exported in every format that the
tool has, with symbols and without; its functions and lines are found in every way that the tool
knows. Programs of others read the core file or the export of the same crash. Each round runs every
row once, in a random order. A ratio is that to the row which the others do the work of: the text
with symbols.

cold: no cache of symbols, and the program's file is not in the page cache. warm: after other calls.
"""
import argparse
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import typing

from budget import put
from tool import HERE, measure

LIMIT_S = 60
REFERENCE = "text, symbols warm"
MADE_BY_AGENT = "sentry", "otlp"
CRASHES = 100
FIGURES = {"page": "html, symbols warm", "text": REFERENCE, "list": f"list of {CRASHES} such crashes"}
JOURNAL = "/lib/systemd/systemd-journal-remote"


class Row(typing.NamedTuple):
    name: str
    command: typing.Sequence[str]
    is_cold: bool = False
    accepted: typing.Sequence[int] = (0,)
    absent: str = ""  # why it cannot be measured


def crash(build, folder):
    """The program, its state directory, and the core file or None."""
    program, state = folder + "/deep", folder + "/state"
    subprocess.run(["cc", "-O2", "-g", "-D_GNU_SOURCE", "-I" + HERE + "/../include", HERE + "/deep.c", build + "/liblaunchguard.a", "-o", program, "-pthread", "-ldl"],
                   check=True, timeout=LIMIT_S)
    for name, cores in [("many", "0")] * CRASHES + [("state", "unlimited")]:
        died = subprocess.run(["sh", "-c", f"ulimit -c {cores}; exec ./deep {name}"], cwd=folder, timeout=LIMIT_S, stderr=subprocess.DEVNULL, check=False)
        if died.returncode != -signal.SIGSEGV:
            sys.exit(f"the program that is to crash ended with status {died.returncode}")
    cores = [name for name in os.listdir(folder) if name.startswith("core")]
    return program, state, folder + "/" + cores[0] if cores else None


def formats(tool):
    """By the tool's own help."""
    text = " ".join(subprocess.run([tool, "export", "--help"], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout.split())
    return re.search(r"--format <format> .*?\(values: ([\w, ]+)\)", text)[1].split(", ")


def exported(command, path):
    """Why there is no such export; "": there is, in the file."""
    result = subprocess.run([*command, "-o", path], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return "" if result.returncode == 0 else "the tool says: " + (result.stderr.splitlines() or ["nothing"])[0]


def journal(export, folder):
    path = folder + "/crash.journal"
    if not os.path.exists(JOURNAL):
        return "", "systemd-journal-remote is not installed"
    absent = exported([*export, "--format", "journal"], folder + "/crash.export")
    if not absent and subprocess.run([JOURNAL, "-o", path, folder + "/crash.export"], capture_output=True, timeout=LIMIT_S, check=False).returncode:
        absent = "systemd-journal-remote does not read the export"
    return path, absent


def peers(export, program, core, folder):
    def row(name, command, absent=""):
        if not shutil.which(command[0]):
            absent = f"{command[0]} is not installed"
        return Row(name, command, absent=absent, accepted=(0, 1))  # 1: eu-stack lost a thread

    no_core = "" if core else "this system leaves no core file in the folder of the program"
    dump, entries = folder + "/crash.dmp", journal(export, folder)
    yield row("eu-stack, of a core", ["eu-stack", "--core", core or "", "-e", program], no_core)
    yield row("eu-stack with lines, of a core", ["eu-stack", "-s", "--core", core or "", "-e", program], no_core)
    yield row("gdb, of a core", ["gdb", "-nx", "-q", "-batch", "-ex", "thread apply all bt", program, core or ""], no_core)
    yield row("minidump-stackwalk, of a minidump", ["minidump-stackwalk", dump], exported([*export, "--format", "minidump"], dump))
    yield row("coredumpctl info, of a journal", ["coredumpctl", "--no-pager", "--file=" + entries[0], "info"], entries[1])


def rows(tool, agent, program, state, core, folder):
    export = [tool, "export", state]
    text = [*export, "--format", "text"]
    yield Row("nothing (--version)", [tool, "--version"])
    for format in formats(tool):
        command = [*export, "--format", format] + (["--agent", agent] if format in MADE_BY_AGENT else [])
        absent = exported(command, f"{folder}/{format}")
        yield Row(f"{format}, no symbols", [*command, "--no-symbols"], absent=absent)
        yield Row(f"{format}, symbols warm", command, absent=absent)
    yield Row("text, symbols cold", text, is_cold=True)
    for way in "builtin", "llvm", "swift":
        yield Row(f"text, symbolizer {way}", [*text, "--symbolizer", way])
    yield Row(f"list of {CRASHES} such crashes", [tool, "list", folder + "/many"])
    yield from peers(export, program, core, folder)


def forget(program):
    """The file leaves the page cache."""
    file = os.open(program, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("tool")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="launchguard-bench-") as folder:
        program, state, core = crash(options.build, folder)
        agent = os.path.abspath(options.build + "/Sources/launchguard-agent/launchguard-agent")
        os.environ["HOME"] = folder + "/home"
        os.environ.pop("XDG_CACHE_HOME", None)
        os.environ.pop("DEBUGINFOD_URLS", None)
        table = list(rows(os.path.abspath(options.tool), agent, program, state, core, folder))
        present = [row for row in table if not row.absent]
        times = {row.name: [] for row in present}
        for number in range(options.rounds + 1):
            for row in random.sample(present, len(present)):
                os.makedirs(folder + "/home", exist_ok=True)
                if row.is_cold:
                    os.environ["HOME"] = tempfile.mkdtemp(dir=folder)
                    forget(program)
                taken = measure(row.command, row.accepted)
                os.environ["HOME"] = folder + "/home"
                if number:  # the first round fills the caches
                    times[row.name].append(taken)
    width = max(len(row.name) for row in table)
    print(f"{f'One crash, n = {options.rounds}; ms, of the wall but for CPU':{width}} {'median':>8} {'least':>8} {'most':>8} {'CPU':>8} {'MB':>8} {'ratio':>8}  of CPU")
    for row in table:
        if row.absent:
            print(f"{row.name:{width}}  {row.absent}")
            continue
        wall, cpu, memory = zip(*times[row.name])
        ratios = [statistics.median(a[i] / b[i] for a, b in zip(times[row.name], times[REFERENCE])) for i in (0, 1)]
        print(f"{row.name:{width}} {statistics.median(wall):8.1f} {min(wall):8.1f} {max(wall):8.1f} {statistics.median(cpu):8.1f} {max(memory):8.1f} {ratios[0]:8.2f} {ratios[1]:7.2f}")
    for name, row in FIGURES.items():
        found = times.get(row)
        put(name, found and statistics.median(wall for wall, _, _ in found), next((each.absent for each in table if each.name == row), None))


main()
