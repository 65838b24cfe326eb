#!/usr/bin/env python3
"""Tests do the same in each run, and have the same verdict on a busy machine: they wait for
conditions and not for times, and draw by the seeds of Tests/Support alone.

A time that a test is about passes in pass_time() or passTime(), which have the reason; a thread of
a C program that paces itself in a loop calls rest()."""
import pathlib
import re
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
# The one place of each.
SUPPORT = TESTS / "Support"
SUFFIXES = {".c", ".cpp", ".h", ".java", ".py", ".rs", ".swift", ".zsh"}
# A sleep by any name; one of a shell has no parenthesis.
SLEEP = r"\b(?:u|nano|clock_nano)?sleep(?:_for|_until)?\(|\b(?:Task|Thread|time|thread|asyncio)(?:\.|::)sleep\b|\basyncAfter\b"
# Sources of randomness that differ from run to run; random.Random(1) does not.
CLOCK = (r"\burandom\(|\brandom\.(?!Random\(\d)\w+\(|\b(?:mt19937|random_device|SystemRandomNumberGenerator|arc4random\w*|getrandom)\b"
         r"|\.random\(in: [^,]*\)|\.(?:shuffled?|randomElement)\(\)|\b(?:seed|random_state|srand\w*)\b\s*[=(:].*(?:time|clock|tv_nsec|pid)|LAUNCHGUARD_\w+_SEED")


def found(pattern, but=()):
    for path in sorted([*TESTS.rglob("*"), *(TESTS.parent / "Tools/Tests").rglob("*")]):
        if path.suffix in SUFFIXES and path != pathlib.Path(__file__) and not any(folder in path.parents for folder in but):
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if re.search(pattern, line):
                    yield f"{path.relative_to(TESTS.parent)}:{number}: {line.strip()}"


class Waits(unittest.TestCase):
    maxDiff = None

    def test_no_sleep(self):
        self.assertEqual(list(found(SLEEP, [SUPPORT])), [])

    def test_reason(self):
        """A line that passes time says why."""
        self.assertEqual([line for line in found(r"\b(?:pass_time|pass_us|passTime)\(", [SUPPORT]) if not re.search(r"(?:pass_time|pass_us|passTime)\(.*\"[^\"]+\"", line)
                          and not re.search(r"void pass_time\(", line)], [])

    def test_seeds(self):
        names = "Tests/Seccomp/"  # names of system calls
        self.assertEqual([line for line in found(CLOCK, [SUPPORT]) if not line.startswith(names)], [])


if __name__ == "__main__":
    unittest.main()
