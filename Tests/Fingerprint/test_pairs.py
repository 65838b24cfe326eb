#!/usr/bin/env python3
"""How often the fingerprint separates bugs, and how often it recognises one.

The bugs are real ends of a program that was built in several ways; the fingerprint is what the
public reader says of the file. Each pair of pairs.py is judged as that list says.
"""
import argparse
import collections
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
    parser.add_argument("--verbose", action="store_true", help="print every pair")
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

    def verdicts(self):
        """pair, whether it is one bug, whether the fingerprint says so"""
        for pair, same in self.pairs:
            yield pair, same, (self.prints[pair.one, False] == self.prints[pair.other, pair.one == pair.other]) == same


class Pairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="launchguard-pairs-")
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        (folder / "moved").mkdir()
        shutil.copy(options.builds / "lib/libtracks.so", folder / "moved")
        cls.corpus = Corpus(options, folder)
        cls.verdicts = list(cls.corpus.verdicts())

    def test_each_pair_is_judged_as_the_list_says(self):
        right, all_of = collections.Counter(), collections.Counter()
        changed = []
        for pair, same, is_right in self.verdicts:
            right[same] += is_right
            all_of[same] += 1
            if options.verbose or not is_right:
                print(f"{'right' if is_right else 'wrong'}: {'one bug' if same else 'two bugs'}: {pair.name}: {pair.reason}" + (f"; {pair.wrong}" if pair.wrong else ""))
            if is_right == bool(pair.wrong):
                changed.append(f"{pair.name} ({pair.reason}) is judged {'right' if is_right else 'wrong'} now: " +
                               ("take its reason out of pairs.py" if is_right else "mend the fingerprint, or say in pairs.py why"))
        print(f"judged right: {sum(right.values())} of {len(self.verdicts)} pairs: {right[True]} of {all_of[True]} of one bug, {right[False]} of {all_of[False]} of two bugs")
        if self.corpus.missing:
            print("left out, for lack of their compilers: the pairs of " + ", ".join(self.corpus.missing))
        self.assertEqual(changed, [], "\n" + "\n".join(changed))

    def test_the_corpus_is_large_enough_and_each_pair_is_there_once(self):
        names = [frozenset((pair.one, pair.other)) for pair, _ in self.corpus.judged]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(self.verdicts), 40)

    def test_the_page_has_the_figures(self):
        """By the lists, so that a machine without a compiler checks them too."""
        right = 0
        for name, pairs in ("one bug", SAME), ("two bugs", DIFFERENT):
            right += sum(not pair.wrong for pair in pairs)
            self.assertIn(f"| {sum(not pair.wrong for pair in pairs)} of {len(pairs)} pairs of {name} |", PAGE)
        self.assertIn(f"| {right} of {len(SAME) + len(DIFFERENT)} pairs |", PAGE)
        reasons = [int(number) for number in re.findall(r"\((\d+) pairs?\)", PAGE)]
        self.assertEqual(sum(reasons), len(SAME) + len(DIFFERENT) - right)

    def test_the_example_of_the_page(self):
        """The reader makes of the file what the page makes of the lines."""
        file, text, fingerprint = re.search(r"The file `(Tests/Golden/\S+)`.*?```\n(.*?)```.*?fingerprint is `(\w+)`", PAGE, re.S).groups()
        self.assertEqual(hashlib.blake2s(text.encode(), key=b"LG fingerprint 1", digest_size=16).hexdigest(), fingerprint)
        with tempfile.TemporaryDirectory(prefix="launchguard-pairs-") as folder:
            os.mkdir(folder + "/runs")
            shutil.copy(ROOT / file, folder + "/runs")
            self.assertEqual(read(options, folder), fingerprint)


if __name__ == "__main__":
    options = parse()
    unittest.main(argv=sys.argv[:1], verbosity=2)
