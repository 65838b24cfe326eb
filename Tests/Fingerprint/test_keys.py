#!/usr/bin/env python3
"""The two keys of a crash over a corpus of real ends.

    test_keys.py --tool T --read R --builds B --library L [--sample] [--held-back] [--verbose]

Programs are generated, built in several ways, and die of each of their bugs. The coarse key is that
of the reader; the bug key is the one that `launchguard collect` gives the run. --sample judges a
fixed part; --held-back judges programs of another generator too.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import typing
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "Support"), str(HERE.parent / "Preload"), str(HERE)]

import generated
import pairs
import runtimes
from loadable import loadable
from waiting import LIMIT_S

ROOT = HERE.parents[1]
PAGE = ROOT / "docs/FINGERPRINT.md"
SEED = 20261126
RUN_NAME = "org.example.run"
BAD = {-number for number in (signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGTRAP)} | {1, 3, 101}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in "tool", "read", "builds", "library":
        parser.add_argument("--" + name, required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--held-back", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print every pair")
    return parser.parse_args()


class End(typing.NamedTuple):
    """A way to die of a bug: the program, its arguments, and the application that it says it is."""
    program: str
    bug: typing.Any
    way: int = 0
    app: str = ""
    again: bool = False

    def __str__(self):
        return f"{self.program} {self.bug}" + (f" way {self.way}" if self.way else "") + (f" of {self.app}" if self.app else "")


class Pair(typing.NamedTuple):
    one: End
    other: End
    is_same: bool
    reason: str
    # The device knows no two functions of it: they are one, or in no stack.
    is_one_function: bool = False


class Programs:
    """What is built, how each program is started, and the pairs of it."""

    def __init__(self, folder, sample):
        self.folder, self.sample = folder, sample
        self.commands, self.pairs, self.missing, self.jobs = {}, [], [], []
        draw = generated.drawing(SEED)
        self.add_listed()
        for name, is_cpp in (("c", False), ("cpp", True)):
            self.add_generated(name, generated.Program(f"player-{name}", SEED, 26, is_cpp), draw)
            self.add_shapes(name, is_cpp)
        self.add_exits()
        self.add_swift()
        self.add_rust()
        self.add_python()

    def build(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda job: job(), self.jobs))

    def same(self, one, other, reason):
        self.pairs.append(Pair(one, other, True, reason))

    def different(self, one, other, reason, is_one_function=False):
        self.pairs.append(Pair(one, other, False, reason, is_one_function))

    def compile(self, *command):
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=self.folder)
        if result.returncode != 0:
            raise AssertionError(f"{command}: {result.stderr}")

    def native(self, name, text, is_cpp, compiler, flags, linked=""):
        """A program in C or C++, with LaunchGuard in it."""
        source = self.folder / f"{name}.{'cpp' if is_cpp else 'c'}"
        source.write_text(text)
        program = self.folder / name

        def job():
            tool = {"gcc": "g++", "clang": "clang++"}[compiler] if is_cpp else compiler
            start = self.folder / f"{name}-start.o"
            self.compile("gcc", "-O1", "-c", HERE / "start.c", "-I", ROOT / "include", "-o", start, *(["-fno-pie"] if linked == "fixed" else []))
            more = ["-w", "-g", "-pthread", *flags]
            ending = ["-L", options.library, f"-Wl,-rpath,{options.library}", "-llaunchguard"]
            if linked == "shared":
                self.compile(tool, *more, "-fPIC", "-shared", source, "-o", self.folder / f"libplayer-{name}.so")
                self.compile(tool, "-pthread", start, "-o", program, "-L", self.folder, f"-lplayer-{name}", f"-Wl,-rpath,{self.folder}", *ending)
            elif linked == "static":
                self.compile(tool, *more, start, source, "-o", program, *(["-static-libstdc++"] if is_cpp else []), "-static-libgcc", options.library / "liblaunchguard.a")
            else:
                self.compile(tool, *more, *(["-no-pie"] if linked == "fixed" else []), start, source, "-o", program, *ending)

        self.jobs.append(job)
        self.commands[name] = lambda state, end: [program, state, end.app or "org.example.generated", end.bug, end.way]

    def has(self, compiler, what):
        if shutil.which(compiler):
            return True
        self.missing.append(f"{what}: there is no {compiler}")
        return False

    # ---- pairs ----

    def add_listed(self):
        """Those of pairs.py, whose programs are built."""
        def end(text, again=False):
            bug, _, build = text.partition("@")
            return End("listed-" + (build or "O2"), bug, again=again)

        for is_same, listed in ((True, pairs.SAME), (False, pairs.DIFFERENT)):
            for pair in listed[::4 if self.sample else 1]:
                builds = {text.partition("@")[2] or "O2" for text in (pair.one, pair.other)}
                if not all((options.builds / build.replace("moved", "O2") / "player").exists() for build in builds):
                    continue
                self.pairs.append(Pair(end(pair.one), end(pair.other, pair.one == pair.other), is_same, pair.reason, pair.one_function))
        for build in {pair.program for two in self.pairs for pair in two[:2]}:
            player = options.builds / build.removeprefix("listed-").replace("moved", "O2") / "player"
            self.commands[build] = lambda state, end, player=player: [player, state, end.bug]

    def add_generated(self, name, program, draw):
        builds = [build for build in generated.BUILDS if not self.sample or build in generated.SAMPLE_BUILDS]
        for build in builds:
            compiler, flags, version, linked = generated.BUILDS[build]
            if compiler == "gcc" or self.has(compiler, f"builds of the generated program in {name}"):
                self.native(f"{name}-{build}", generated.text(program, version), program.is_cpp, compiler, flags, linked)
        there = [build for build in builds if f"{name}-{build}" in self.commands and build != "base"]
        for bug in program.bugs[:8 if self.sample else None]:
            base = End(f"{name}-base", bug.number)
            for build in ["later", *draw.sample([build for build in there if build != "later"], min(3, len(there) - 1))]:
                self.same(base, End(f"{name}-{build}", bug.number), f"{bug.kind} in the build {build}")
            way = draw.randrange(1, 4)
            self.same(base, End(f"{name}-base", bug.number, way), f"{bug.kind} by {generated.WAYS[way]}")
        for one, other in itertools.combinations(program.bugs[:8 if self.sample else None], 2):
            ends = End(f"{name}-base", one.number), End(f"{name}-base", other.number)
            if one.function == other.function:
                self.different(*ends, f"{one.kind} at two lines of one function", True)
            elif one.kind == other.kind:
                self.different(*ends, f"{one.kind} in two functions")
        for bug in program.bugs[:2 if self.sample else 8]:
            self.different(End(f"{name}-base", bug.number), End(f"{name}-base", bug.number, 0, "org.example.other"), "one place in two programs")

    def add_shapes(self, name, is_cpp):
        for level in ("O2",) if self.sample else ("O0", "O1", "O2"):
            program = f"shapes-{name}-{level}"
            self.native(program, generated.shapes(is_cpp), is_cpp, "gcc", [f"-{level}"])
            for one, other in itertools.combinations(range(1, 9), 2):
                self.different(End(program, one), End(program, other), "two functions of one size and shape")

    def add_exits(self):
        self.native("exits", "#include <stdlib.h>\n#include <signal.h>\nint program(int bug, int way) { (void)way; if (bug == 9) raise(SIGKILL); exit(bug); }\n", False, "gcc", [])
        self.different(End("exits", 3), End("exits", 3, 0, "org.example.other"), "exit with one status of two programs")
        self.different(End("exits", 9), End("exits", 9, 0, "org.example.other"), "SIGKILL of two programs")
        self.different(End("exits", 3), End("exits", 1), "exit with two statuses")
        self.same(End("exits", 3), End("exits", 3, again=True), "exit with one status")

    def under_run(self, name, command):
        self.commands[name] = lambda state, end: [options.tool, "run", "--quiet", "--only-program", "--name", RUN_NAME, "--directory", state, "--", *command, end.bug, end.way]

    def add_runs(self, name, bugs, builds, is_exit=lambda bug: False):
        base = f"{name}-{builds[0]}"
        for bug, kind in bugs.items():
            for build in builds[1:]:
                self.same(End(base, bug), End(f"{name}-{build}", bug), f"{kind} in {name}, in the build {build}")
            self.same(End(base, bug), End(base, bug, 1), f"{kind} in {name}, by another caller and with other data")
        for one, other in itertools.combinations(bugs, 2):
            if bugs[one] == bugs[other]:
                self.different(End(base, one), End(base, other), f"{bugs[one]} in two functions of {name}", is_exit(one))

    def add_swift(self):
        if self.sample or not self.has("swiftc", "Swift"):
            return
        for build, (flags, version) in runtimes.SWIFT_BUILDS.items():
            source, program = self.folder / f"swift-{build}.swift", self.folder / f"swift-{build}"
            source.write_text(runtimes.swift(version))
            self.jobs.append(lambda source=source, program=program, flags=flags: self.compile(
                "swiftc", "-g", *flags, "-parse-as-library", "-module-name", "Player", source, "-o", program))
            self.under_run(f"swift-{build}", [program])
        self.add_runs("swift", runtimes.SWIFT_BUGS, list(runtimes.SWIFT_BUILDS))

    def add_rust(self):
        if self.sample or not self.has("rustc", "Rust"):
            return
        for build, (flags, version) in runtimes.RUST_BUILDS.items():
            folder = self.folder / f"rust-{build}"
            folder.mkdir()
            (folder / "player.rs").write_text(runtimes.rust(version))
            self.jobs.append(lambda folder=folder, flags=flags: self.compile("rustc", "-g", *flags, folder / "player.rs", "-o", folder / "player"))
            self.under_run(f"rust-{build}", [folder / "player"])
        self.add_runs("rust", runtimes.RUST_BUGS, list(runtimes.RUST_BUILDS), lambda bug: bug < 6)

    def add_python(self):
        for version in (1, 2):
            folder = self.folder / f"python-{version}"
            folder.mkdir()
            (folder / "player.py").write_text(runtimes.python(version))
            self.under_run(f"python-{version}", [sys.executable, folder / "player.py"])
        self.add_runs("python", runtimes.PYTHON_BUGS, ["1", "2"], lambda bug: True)


class Corpus:
    """The keys of each end: `coarse`, `bug`, and those of two simple rules."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        ends = list(dict.fromkeys(end for pair in programs.pairs for end in pair[:2]))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            states = dict(zip(ends, pool.map(self.die, ends)))
        self.coarse = {end: self.read(state, end) for end, state in states.items()}
        database = folder / "corpus.db"
        result = subprocess.run([options.tool, "collect", "--into", database, "--debug-dir", options.builds / "O2", *states.values()], capture_output=True, text=True,
                                timeout=10 * LIMIT_S, check=False)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        with sqlite3.connect(database) as connection:
            rows = {pathlib.Path(path).parents[1]: (key, headline) for path, key, headline in connection.execute("SELECT path, bug, headline FROM run")}
        connection.close()
        self.bug = {end: rows[state.resolve()][0] for end, state in states.items()}
        self.headline = {end: rows[state.resolve()][1] for end, state in states.items()}
        self.names, self.offset = ({}, {}) if programs.sample else self.simple(states)

    def die(self, end):
        state = pathlib.Path(tempfile.mkdtemp(dir=self.folder, prefix="state-"))
        command = self.programs.commands[end.program](state, end)
        moved = end.program == "listed-moved"
        variables = dict(os.environ, LD_LIBRARY_PATH=str(self.folder / "moved" if moved else options.builds / "lib"), SWIFT_BACKTRACE="enable=no", RUST_BACKTRACE="0",
                         LAUNCHGUARD_PRELOAD=str(loadable(options.library / "Sources/launchguard-preload/launchguard-preload.so")))
        status = subprocess.run([str(word) for word in command], env=variables, timeout=LIMIT_S, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, check=False).returncode
        if status not in BAD:
            raise AssertionError(f"{end} ended with status {status}: {command}")
        return state / RUN_NAME if (state / RUN_NAME).exists() else state

    def read(self, state, end):
        result = subprocess.run([options.read, state], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if result.returncode != 0:
            raise AssertionError(f"{end}: {result.stderr}")
        return result.stdout.split()[0]

    def simple(self, states):
        """The names of all frames; and the innermost function with the place in it."""
        together = self.folder / "together/runs"
        together.mkdir(parents=True)
        ends = {}
        for end, state in states.items():
            path = max((state / "runs").glob("*.lgrun"))
            shutil.copy(path, together)
            ends[path.stem] = end
        reports = self.folder / "reports"
        subprocess.run([options.tool, "export", "--format", "json", "--all", "-o", reports, "--debug-dir", options.builds / "O2", together.parent], capture_output=True,
                       timeout=10 * LIMIT_S, check=False)
        names, offset = {}, {}
        for path in reports.glob("*.json"):
            run = json.loads(path.read_text())
            crash = run.get("crash") or {}
            stack = crash.get("dwarfStack") or crash.get("framePointerStack") or {}
            frames = stack.get("frames") or []
            kind = (run.get("verdict") or {}).get("end"), crash.get("kind")
            named = tuple(symbol["name"] for frame in frames for symbol in frame.get("symbols") or [])
            names[ends[path.stem]] = kind + named
            top = next((symbol for frame in frames for symbol in (frame.get("symbols") or [])[-1:]), {})
            offset[ends[path.stem]] = kind + (top.get("name"), top.get("offset"))
        return names, offset

    def verdicts(self, keys):
        """Of one bug and of two bugs, the right ones and all; and the wrong pairs."""
        found, wrong = collections.Counter(), []
        for pair in self.programs.pairs:
            is_equal = keys.get(pair.one) == keys.get(pair.other)
            found[pair.is_same, is_equal == pair.is_same] += 1
            if is_equal != pair.is_same:
                wrong.append(pair)
        right, split, apart, merged = found[True, True], found[True, False], found[False, True], found[False, False]
        return right, right + split, apart, apart + merged, wrong


def words(name, verdicts):
    right, one, apart, two, _ = verdicts
    return f"{name}: {right + apart} of {one + two} pairs right ({100 * (right + apart) / (one + two):.1f} %): {right} of {one} of one bug, {apart} of {two} of two bugs; " \
           f"{two - apart} merged ({100 * (two - apart) / (one + two):.1f} %)"


class Keys(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-keys-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "moved").mkdir()
        shutil.copy(options.builds / "lib/libtracks.so", cls.folder / "moved")
        if options.held_back:
            import held_back
            cls.programs = held_back.Programs(cls.folder, options, Programs, End)
        else:
            cls.programs = Programs(cls.folder, options.sample)
        cls.programs.build()
        cls.corpus = Corpus(cls.programs, cls.folder)
        for reason in dict.fromkeys(cls.programs.missing):
            print("left out:", reason)
        for name, keys in ("bug key", cls.corpus.bug), ("coarse key", cls.corpus.coarse), ("all names", cls.corpus.names), ("top function and offset", cls.corpus.offset):
            if keys:
                print(words(name, cls.corpus.verdicts(keys)), flush=True)

    def test_the_bug_key(self):
        right, one, apart, two, wrong = self.corpus.verdicts(self.corpus.bug)
        for pair in wrong:
            print(f"wrong: {'one bug' if pair.is_same else 'two bugs'}: {pair.one} | {pair.other}: {pair.reason}"
                  + (f"\n    {self.corpus.headline[pair.one]}\n    {self.corpus.headline[pair.other]}" if options.verbose else ""))
        self.assertGreaterEqual(len(self.programs.pairs), 60 if options.sample else 250)
        self.assertGreaterEqual((right + apart) / (one + two), .95)
        self.assertLessEqual((two - apart) / (one + two), .04 if options.sample else .01)

    def test_the_coarse_key_merges_no_two_functions(self):
        merged = [pair for pair in self.corpus.verdicts(self.corpus.coarse)[4] if not pair.is_same and not pair.is_one_function]
        self.assertEqual([f"{pair.one} | {pair.other}: {pair.reason}" for pair in merged], [])


if __name__ == "__main__":
    options = parse()
    unittest.main(argv=sys.argv[:1], verbosity=2)
