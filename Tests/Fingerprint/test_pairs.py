#!/usr/bin/env python3
"""The coarse key never merges two functions, and is one for one bug of one build as a rule.

The bugs are real ends of a program that was built in several ways; the key is what the public
reader says of the file. test_keys.py judges the bug key.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from pairs import DIFFERENT, SAME

LIMIT_S = 120
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/FINGERPRINT.md").read_text()
ENDS = {-number for number in (signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGTRAP)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--read", required=True, type=pathlib.Path)
    parser.add_argument("builds", type=pathlib.Path)
    return parser.parse_args()


def read(options, state):
    """The fingerprint of the one run of a state directory."""
    result = subprocess.run([options.read, state], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result.stdout.split()[0]


class Corpus:
    """The ends of the pairs whose builds are there. One that a pair has twice happens twice."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.judged = [(pair, same) for pairs, same in ((SAME, True), (DIFFERENT, False)) for pair in pairs]
        self.missing = sorted({build for pair, _ in self.judged for build in map(self.build, (pair.one, pair.other)) if not self.player(build).exists()})
        self.pairs = [(pair, same) for pair, same in self.judged if not {self.build(pair.one), self.build(pair.other)} & set(self.missing)]
        ends = dict.fromkeys((end, again) for pair, _ in self.pairs for end, again in ((pair.one, False), (pair.other, pair.one == pair.other)))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.prints = dict(zip(ends, pool.map(self.die, ends)))

    @staticmethod
    def build(end):
        return end.partition("@")[2] or "O2"

    def player(self, build):
        return self.options.builds / ("O2" if build == "moved" else build) / "player"

    def die(self, end):
        bug, build = end[0].partition("@")[0], self.build(end[0])
        state = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        libraries = self.folder / "moved" if build == "moved" else self.options.builds / "lib"
        status = subprocess.run([self.player(build), state, bug], env=dict(os.environ, LD_LIBRARY_PATH=libraries, SWIFT_BACKTRACE="enable=no"), timeout=LIMIT_S,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
        if status not in ENDS:
            raise AssertionError(f"{end[0]} ended with status {status}")
        fingerprint = read(self.options, state)
        shutil.rmtree(state)
        return fingerprint


class Pairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="launchguard-pairs-")
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        (folder / "moved").mkdir()
        shutil.copy(options.builds / "lib/libtracks.so", folder / "moved")
        cls.corpus = Corpus(options, folder)

    def is_one(self, pair):
        return self.corpus.prints[pair.one, False] == self.corpus.prints[pair.other, pair.one == pair.other]

    def test_two_functions_never_have_one_key(self):
        merged = [pair for pair, same in self.corpus.pairs if not same and self.is_one(pair)]
        for pair in merged:
            print(f"one key: {pair.name}: {pair.reason}")
        self.assertEqual([pair.name for pair in merged if not pair.one_function], [])

    def test_one_bug_of_one_build_has_one_key(self):
        """Other depths, values, moments and threads, in each build of one program."""
        kept = [self.is_one(pair) for pair, same in self.corpus.pairs if same and self.corpus.build(pair.one) == self.corpus.build(pair.other)]
        print(f"one key: {sum(kept)} of {len(kept)} pairs of one bug in one build")
        if self.corpus.missing:
            print("left out, for lack of their compilers: the pairs of " + ", ".join(self.corpus.missing))
        self.assertGreaterEqual(sum(kept) / len(kept), .65)

    def test_the_corpus_is_large_enough_and_each_pair_is_there_once(self):
        names = [frozenset((pair.one, pair.other)) for pair, _ in self.corpus.judged]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(self.corpus.pairs), 40)

    def test_the_example_of_the_page(self):
        """The reader makes of the file what the page makes of the lines."""
        file, text, fingerprint = re.search(r"The file\s`(Tests/Golden/\S+)`.*?```\n(.*?)```.*?fingerprint is `(\w+)`", PAGE, re.S).groups()
        self.assertEqual(hashlib.blake2s(text.encode(), key=b"LG fingerprint 2", digest_size=16).hexdigest(), fingerprint)
        with tempfile.TemporaryDirectory(prefix="launchguard-pairs-") as folder:
            os.mkdir(folder + "/runs")
            shutil.copy(ROOT / file, folder + "/runs")
            self.assertEqual(read(options, folder), fingerprint)

    def test_families(self):
        """The page, the reader and the desk take the same kinds for one."""
        said = re.search(r"\*\*Kind\.\*\*(.*?)\n\n", PAGE, re.S).group(1)
        page = {family: set(re.findall(r"`([\w.]+)`", kinds)) for family, kinds in re.findall(r"`([\w.]+)` for\s+((?:`[\w.]+`(?:,| and)?\s*)+)", said)}
        self.assertEqual(len(page), 3)
        names = dict(re.findall(r"X\((LG_CRASH_\w+), \d+, \"([\w.]+)\"", (ROOT / "include/launchguard/end.h").read_text()))
        reader = re.search(r"kind_name\(.*?\n}", (ROOT / "Sources/CLaunchGuard/read/fingerprint.c").read_text(), re.S).group()
        self.assertEqual({family: {names[kind] for kind in re.findall(r"LG_CRASH_\w+", cases)} for cases, family in
                          re.findall(r"((?:\s+case \w+:)+)\s+return \"([\w.]+)\"", reader)}, page)
        desk = (ROOT / "Sources/LaunchGuardReportModel/BugKey/BugKey.swift").read_text()
        found = {family: set(re.findall(r'"([\w.]+)"', kinds)) for kinds, family in re.findall(r'case ((?:"[\w.]+",? ?)+): "([\w.]+)"', desk)}
        self.assertEqual({family: kinds for family, kinds in found.items() if family.startswith("fault.")}, page)


if __name__ == "__main__":
    options = parse()
    unittest.main(argv=sys.argv[:1], verbosity=2)
