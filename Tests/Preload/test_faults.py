#!/usr/bin/env python3
"""Every way to die of the catalogue, in a program without a session: it ends with the library
preloaded as without."""
import os
import re
import signal
import subprocess
import unittest

from preload import LIMIT_S, Case, main, status_name

CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS}
# These fill disks or memory, and what they meet there is not the same twice; or never end.
LEFT_OUT = re.compile("disk-full|oom|memory-limit|cgroup|handler-hangs")
# The ways in which no handler runs: for want of a stack, or because the kernel calls none.
NO_HANDLER = re.compile("no-altstack|altstack-unmapped|altstack-small|handler-on-stack|clash|seccomp-kill")


class Faults(Case):
    def test_every_way(self):
        program = os.environ["FAULTS"]
        listed = subprocess.run([program, "--list"], stdout=subprocess.PIPE, timeout=LIMIT_S, check=True).stdout.decode()
        names = [line.split()[0] for line in listed.splitlines() if not LEFT_OUT.search(line.split()[0])]
        self.assertGreater(len(names), 100)
        for name in names:
            with self.subTest(name=name):
                self.setUp()
                command = [program, "--no-guard", "--state", self.directory / "own", name]
                bare, preloaded = self.run_one(command, False), self.run_one(command, True)
                self.assertEqual(status_name(preloaded[0]), status_name(bare[0]))
                ends = [self.end(run) for run in self.runs("launchguard-faults")]
                self.assertTrue(ends)
                if bare[0] and bare[0] < 0 and -bare[0] in CRASHES and not NO_HANDLER.search(name):
                    self.assertIn("crash", ends)


if __name__ == "__main__":
    main(__doc__)
