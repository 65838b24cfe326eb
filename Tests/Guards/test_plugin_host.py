#!/usr/bin/env python3
"""The plugin hosts of Examples: with guards the host lives through every way to misbehave, and its
run file has the event of each; without guards, and after their stop, each way ends the host as it
ends a program that has none, with the record of a crash."""
import argparse
import os
import pathlib
import platform
import re
import resource
import shutil
import signal
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Faults"))
from case import Dump, status_name
from children import Child

LIMIT_S = 60
SURVIVED, EXITED = 1, 0
USAGE = 2  # exit status
TRAP = signal.SIGTRAP if platform.machine() == "aarch64" else signal.SIGILL  # of Swift
ABORT, FAULT = signal.SIGABRT, signal.SIGSEGV
WRONG = "wrong"  # no crash, and a wrong result

# Each way with the class of its guard, and its end without a guard.
WAYS = {
    # of the host in C
    "missing-function": ("symbol", FAULT),
    "null-call": ("null-call", FAULT),
    "no-title": ("string", FAULT),
    "wrong-index": ("container", FAULT),
    "zero-rate": ("arithmetic", WRONG if platform.machine() == "aarch64" else signal.SIGFPE),
    "cut-file": ("memory", signal.SIGBUS),
    "wild-pointer": ("memory", FAULT),
    "wrong-thread": ("confinement", ABORT),
    "gone-handle": ("handle", ABORT),
    "gone-observer": ("observer", FAULT),
    # of the host in Swift
    "index": ("container", TRAP),
    "key": ("container", TRAP),
    "overflow": ("arithmetic", TRAP),
    "division": ("arithmetic", TRAP),
    "utf8": ("string", TRAP),
    "range": ("string", TRAP),
    "observer-twice": ("observer", WRONG),
    "observer-removed": ("observer", TRAP),
    "observer-gone": ("observer", ABORT),
    "timer-gone": ("timer", ABORT),
    "source-dropped": ("timer", TRAP),
    "source-resumed": ("timer", TRAP),
    "confined-value": ("confinement", TRAP),
    "confined-call": ("confinement", TRAP),
    "read": ("memory", FAULT),
}

# An event of its own where the machine is so busy that the main thread comes to nothing for
# seconds. No way to misbehave.
LATE = "the main actor has served nothing for "


def class_names():
    """Names by number, from the table of the public header."""
    table = re.findall(r"X\(LG_GUARD_\w+, (\d+), \"([^\"]+)\"", (ROOT / "include/launchguard/guard.h").read_text().split("LG_GUARD_ACTION_TABLE")[0])
    return {int(number): name for number, name in table}


class PluginHost(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-plugin-host-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def host(self, *arguments):
        """Exit status and output. A host that hangs has the status None."""
        child = Child([options.program, *arguments], self.directory)
        status, _ = child.end(LIMIT_S)
        return status, child.text()

    def ways(self):
        status, text = self.host("--list")
        self.assertEqual(status, EXITED, text)
        self.assertTrue(text.split())
        return text.split()

    def run_of(self, state):
        """The only run in a state directory."""
        (file,) = state.rglob("*.lgrun")
        return dump.ended(file)

    def test_with_guards(self):
        ways, state = self.ways(), self.directory / "state"
        status, text = self.host(state)
        self.assertEqual(status_name(status), status_name(EXITED), text)
        run = self.run_of(state)
        self.assertIsNone(run["crash"])
        sites = [site for site in run["guards"]["sites"] if not site["description"]["text"].startswith(LATE)]
        sites.sort(key=lambda site: site["description"]["first_ns"])
        names = class_names()
        self.assertEqual([(way, names[site["guard_class"]]) for way, site in zip(ways, sites)], [(way, WAYS[way][0]) for way in ways], text)
        self.assertEqual(len(sites), len(ways), text)
        for way, site in zip(ways, sites):
            with self.subTest(way=way):
                self.assertEqual((site["action"], site["survived"]), (SURVIVED, site["count"]))
                self.assertTrue(site["description"]["frames"])
                self.assertIn(site["description"]["text"], text)

    def dies(self, how):
        for way in self.ways():
            with self.subTest(way=way):
                state, end = self.directory / way, WAYS[way][1]
                status, text = self.host(state, how, way)
                run = self.run_of(state)
                self.assertEqual(run.get("guards", {}).get("sites", []), [], "a guard that is off")
                if end == WRONG:
                    self.assertEqual(status_name(status), status_name(EXITED), text)
                    self.assertIsNone(run["crash"])
                else:
                    self.assertEqual(status_name(status), status_name(-end), text)
                    self.assertEqual(run["crash"]["signal"], end)

    def test_without_guards(self):
        self.dies("--no-guards")

    def test_after_their_stop(self):
        self.dies("--stop-guards")

    def test_arguments(self):
        state, way = self.directory / "state", self.ways()[0]
        for arguments in [], [state, "--no-guards"], [state, "--no-guards", "no-such-way"], [state, "--without-guards", way]:
            with self.subTest(arguments=arguments):
                status, text = self.host(*arguments)
                self.assertEqual(status, USAGE, text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="a plugin host of Examples")
    parser.add_argument("--dump", required=True, help="the program that prints a file as JSON (Tests/Format/dump.c)")
    options, rest = parser.parse_known_args()
    options.program = os.path.abspath(options.program)
    dump = Dump(os.path.abspath(options.dump))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)  # says why a test is left out
