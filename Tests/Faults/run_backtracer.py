#!/usr/bin/env python3
"""Swift's own backtracer and LaunchGuard in one crash: neither disturbs the other.

Runs each crash with the backtracer off, on, and hanging, and compares. The backtracer stops all
threads, and says so of each thread that it cannot stop: LaunchGuard's own, which take no signal.
"""
import argparse
import itertools
import os
import pathlib
import re
import resource
import shutil
import signal
import sys
import tempfile
import unittest

from case import Dump, run_files, status_name
from children import Child
from expected import Modifiers

# C, the runtime's trap, abort(), and a thread of the concurrency pool.
ENTRIES = ["null-read", "illegal", "swift-index", "abort", "swift-async"]
# The watch thread runs already, and it is made by the crash.
PHASES = ["launching", "finished"]
# The fifth kind of idle thread takes no signal from anybody.
IDLE = 4
# Time limit of a handler that hangs.
HANDLER_MS = 1000


def backtracer():
    """The program beside the toolchain. Without its path the runtime of a statically linked program
    does not find it."""
    swift = shutil.which("swift")
    found = pathlib.Path(swift).resolve().parents[1] / "libexec/swift/linux/swift-backtrace" if swift else None
    return found if found and os.access(found, os.X_OK) else None


class Backtraced(Modifiers):
    def __init__(self, phase, program=None):
        super().__init__(idle=IDLE, phase=phase, backtrace="on" if program else "off")
        self.program = program

    def environment(self):
        value = super().environment()["SWIFT_BACKTRACE"]
        return {"SWIFT_BACKTRACE": value + ",swift-backtrace=%s" % self.program if self.program else value}


class Run:
    def __init__(self, directory, entry, phase, program=None, handler_ms=60000):
        directory.mkdir()
        command = [options.program, entry, "--state", directory / "state", "--handler-ms", str(handler_ms)]
        modifiers = Backtraced(phase, program)
        child = Child(command + modifiers.arguments({}), directory, modifiers)
        self.status, self.ms = child.end()
        self.said = child.text()
        self.file = dump.ended(run_files(directory / "state")[0])
        self.crash = self.file["crash"]

    def place(self, pc):
        """Module and offset of an address, whatever base the kernel chose."""
        for module in self.file["modules"]:
            if module["start"] <= pc < module["end"]:
                return os.path.basename(module["path"]), pc - module["bias"]
        return "none", pc

    def frames(self):
        return [[self.place(pc) for pc in walk["pcs"]] for walk in self.crash["frames"]]

    def record(self):
        """The parts that must be the same with the backtracer."""
        crash, threads = self.crash, self.crash["threads"]
        return {"end": self.file["verdict"]["end"], "signal": crash["signal"], "kind": crash["kind"], "stages": crash["stages"],
                "messages": [message["text"] for message in crash["messages"] or []], "notes": crash["notes"], "frames": self.frames(),
                "threads": (threads["complete"], threads["omitted"])}


class Beside(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-backtracer-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def compare(self, program, handler_ms, check):
        """Each crash with the backtracer off, and with this one."""
        for entry, phase in itertools.product(ENTRIES, PHASES):
            with self.subTest(entry=entry, phase=phase):
                directory = self.directory / ("%s-%s" % (entry, phase))
                directory.mkdir()
                alone, both = Run(directory / "off", entry, phase), Run(directory / "on", entry, phase, program, handler_ms)
                self.assertLess(alone.status, 0)
                self.assertEqual(status_name(both.status), status_name(alone.status))
                self.assertEqual(both.record(), alone.record())
                # the watch thread always; another one where the processor came to it too late
                # for the runtime, which waits for a short time only
                both.missed = set(re.findall(r"swift-runtime: failed to suspend thread (\d+)", both.said))
                self.assertGreaterEqual(len(both.missed), 1, both.said)
                check(both)

    def look_at_stacks(self, both):
        self.assertRegex(both.said, r"\*\*\* Program crashed: ")
        self.assertRegex(both.said, r"\nThread \d+ .*crashed")
        stacks = re.split(r"\nThread \d+", both.said)[1:]
        # every thread of the record, and the one that crashed
        self.assertEqual(len(stacks), both.crash["threads"]["listed"] + 2 - len(both.missed), both.said)
        for stack in stacks:
            self.assertRegex(stack, r"\n *0 .* in ", "a thread has no stack")

    def test_both_reports_are_whole(self):
        self.compare(backtracer(), 60000, self.look_at_stacks)

    def test_a_backtracer_that_hangs_is_ended(self):
        """The deadline of the handler holds."""
        hangs = self.directory / "hangs"
        hangs.write_text("#!/bin/sh\nexec sleep 600\n")
        hangs.chmod(0o700)
        self.compare(hangs, HANDLER_MS, lambda both: self.assertGreaterEqual(both.ms, HANDLER_MS))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="a Swift build of launchguard-faults")
    parser.add_argument("--dump", required=True, help="the program that prints a file as JSON (Tests/Format/dump.c)")
    options, rest = parser.parse_known_args()
    options.program = os.path.abspath(options.program)
    dump = Dump(os.path.abspath(options.dump))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not backtracer():
        print("not run: no swift-backtrace beside the toolchain in PATH")
        sys.exit()
    unittest.main(argv=[sys.argv[0]] + rest)
