#!/usr/bin/env python3
"""Tools that run a program in their hands, as valgrind, strace, gdb and qemu do: they print the same
about a program with the library preloaded, and end the same."""
import os
import re
import signal
import subprocess
import unittest

from preload import ROOT, Case, main
from test_programs import program

FAULT = -signal.SIGSEGV
COMPLAINTS = re.compile(r"^--\d+-- .*", re.M)


def without_numbers(text):
    """Processes differ from run to run."""
    return re.sub(r"\b\d{3,}\b", "N", text)


class Valgrind(Case):
    """A program that valgrind simulates has no session: the reports name each call, block and race."""

    def reports(self, *command, status):
        bare, preloaded = (self.run_one([program("valgrind"), "--trace-children=yes", *command], preloaded) for preloaded in (False, True))
        self.assertEqual((preloaded[0], without_numbers(preloaded[1])), (status, without_numbers(bare[1])))
        self.assertEqual(bare[0], status)

    def test_programs(self):
        for tool in "memcheck", "helgrind":
            for way, status in (("fault",), FAULT), (("exit", "3"), 3), (("fork", "crash"), 97):
                with self.subTest(tool=tool, way=way):
                    self.setUp()
                    self.reports("--tool=" + tool, self.ways, *way, status=status)
                    self.assertIn("preload-ways", self.log.read_text())
                    self.assertIn("valgrind", self.log.read_text())
                    self.assertFalse((self.state / "preload-ways").exists())

    def test_linked(self):
        """A program with a session of its own takes no signals there, and valgrind knows its calls."""
        linked = os.environ["FAULTS"]
        for way in "null-write", "abort":
            own = self.directory / "own"
            bare = self.run_one([program("valgrind"), linked, "--no-guard", way], False)
            status, text = self.run_one([program("valgrind"), linked, "--state", own, way], False)
            self.assertEqual(status, bare[0], text)
            self.assertEqual(COMPLAINTS.findall(text), COMPLAINTS.findall(bare[1]))
            self.assertTrue(list(own.glob("runs/*.lgrun")), text)


class Strace(Case):
    def test_calls_of_a_child(self):
        """A filter that the program puts on itself is asked for these calls: of the start of a forked
        child, of its end, and of the look at a program that it executes."""
        strace, trace = program("strace"), self.directory / "trace"
        source = (ROOT / "Sources/launchguard-preload/filter.c").read_text()
        asked = set(re.findall(r"SYS_(\w+)", source[source.index("needed[]"):source.index("};")]))
        made = set()
        for way in "leave", "nothing", "missing", "execute", "leave":
            self.run_one([strace, "-ff", "-qq", "-e", "signal=none", "-o", trace, self.ways, "fork", way], True)
            for file in self.directory.glob("trace.*"):
                text = file.read_text()
                file.unlink()
                if not text.startswith("execve("):
                    made |= set(re.findall(r"^(\w+)\(", text.split("+++")[0].split("SIGSEGV")[0].split("execve(\"/")[0], re.M))
        self.assertIn("openat", made)
        self.assertLessEqual(made, asked | {"execve", "write"})


if __name__ == "__main__":
    main(__doc__)
