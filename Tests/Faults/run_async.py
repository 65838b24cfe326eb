#!/usr/bin/env python3
"""The callers that wait by Swift's `await`, as the tool says them: those of the program's source,
and those that Swift's own backtracer says of the same crash.
"""
import argparse
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from case import Dump, run_files
from children import LIMIT_S, Child
from expected import Modifiers
from run_backtracer import Backtraced, backtracer

# The function that crashes, and the program's own functions that wait for it. The optimiser may
# leave functions of the runtime and of the compiler out, but none of these.
CHAINS = {
    "swift-async": ["Concurrency.index", "Concurrency.middle", "closure"],
    "swift-async-callers": ["Concurrency.index", "Concurrency.middle", "Concurrency.outer", "closure"],
    "swift-async-main-actor": ["Concurrency.mainIndex", "Concurrency.mainMiddle", "Concurrency.mainOuter", "closure"],
    "swift-async-actor": ["Concurrency.index", "Concurrency.middle", "Concurrency.outer", "Concurrency.Reader.read", "closure"],
    "swift-async-group": ["Concurrency.index", "Concurrency.middle", "Concurrency.outer", "closure"],
}
# Threads of Swift programs without a task, and of C.
WITHOUT = ["swift-index", "swift-recursion", "swift-main-actor", "swift-dispatch-precondition", "null-read", "stack-overflow",
           "abort", "jump-garbage"]


def own(frames):
    """The names of the program's functions, without what the compiler made of them."""
    names = [re.sub("^(specialized |static )*", "", frame["symbols"][-1]["name"]) for frame in frames if frame.get("symbols")]
    return [re.sub(r"\(.*| #.*", "", name) for name in names if not re.match("partial apply|thunk|completeTask", name)]


class Async(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-async-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def tool(self, *arguments):
        done = subprocess.run([options.tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def crashed(self, entry, modifiers):
        """What the process said, and its run file."""
        directory = self.directory / entry
        directory.mkdir()
        child = Child([options.program, entry, "--state", directory / "state", "--handler-ms", "60000"] + modifiers.arguments({}), directory, modifiers)
        self.assertLess(child.end()[0], 0, child.text())
        path = run_files(directory / "state")[0]
        dump.ended(path)
        return child.text(), path

    def crash(self, path):
        return json.loads(self.tool("inspect", "--json", path))["crash"]

    def test_the_chain_is_that_of_the_source(self):
        for entry, functions in CHAINS.items():
            with self.subTest(entry):
                _, path = self.crashed(entry, Modifiers())
                chains = [chain for chain in self.crash(path)["asyncChains"] if chain["isAsync"]]
                self.assertEqual([own([chain["frame"]] + chain["callers"]) for chain in chains], [functions])
                self.assertFalse(chains[0]["isTruncated"])
                said = self.tool("inspect", path)
                lines = re.findall(r"^#\d+ +\[async\] (0x\w+) in (.*)", said, re.M)
                self.assertEqual([address for address, _ in dict(lines).items()], [caller["address"] for caller in chains[0]["callers"]])
                self.assertIn("the functions that await #%d " % chains[0]["number"], said)
                log = json.loads(self.tool("export", "--format", "swift", path))["threads"][0]["frames"]
                self.assertEqual([frame["address"] for frame in log if frame["kind"] == "asyncResumePoint" and not frame.get("inlined")],
                                 [caller["address"] for caller in chains[0]["callers"]])

    def test_no_chain_where_nothing_is_asynchronous(self):
        for entry in WITHOUT:
            with self.subTest(entry):
                _, path = self.crashed(entry, Modifiers())
                self.assertEqual([chain for chain in self.crash(path).get("asyncChains", []) if chain.get("isAsync") is not False], [])
                self.assertNotIn("[async]", self.tool("inspect", path))

    def test_a_job_whose_task_waits(self):
        said, path = self.crashed("swift-async-deadline", Modifiers())
        report = json.loads(self.tool("inspect", "--json", path))
        thread = report["snapshots"][0]["threads"][0]
        self.assertEqual((thread["how"], thread["stack"]["method"], thread["stack"]["isTruncated"]), ("task", "async", False), said)
        names = [name for name in own(thread["stack"]["frames"]) if name.startswith(("Concurrency", "closure"))]
        self.assertEqual(names, ["Concurrency.pause", "Concurrency.download", "Concurrency.job", "closure"])
        self.assertRegex(self.tool("inspect", path), r"#\d+ +\[async\] 0x\w+ in (specialized )?static Concurrency.download\(\)")

    @unittest.skipUnless(backtracer(), "no swift-backtrace beside the toolchain in PATH")
    def test_the_chain_is_that_of_the_backtracer(self):
        for entry in CHAINS:
            with self.subTest(entry):
                said, path = self.crashed(entry, Backtraced("launching", backtracer()))
                thread = re.search(r"\nThread \d+ .*crashed:?\n(.*?)\n\n\n", said, re.S)[1]
                of_runtime = [address for address, _ in itertools.groupby(re.findall(r"^ *\d+ \[async\].*? (0x\w+) ", thread, re.M))]
                chain = next(chain for chain in self.crash(path)["asyncChains"] if chain["isAsync"])
                self.assertEqual([caller["address"] for caller in chain["callers"]], of_runtime, thread)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="a Swift build of launchguard-faults")
    parser.add_argument("--tool", required=True, help="launchguard")
    parser.add_argument("--dump", required=True, help="the program that prints a file as JSON (Tests/Format/dump.c)")
    options, rest = parser.parse_known_args()
    options.program, options.tool = os.path.abspath(options.program), os.path.abspath(options.tool)
    dump = Dump(os.path.abspath(options.dump))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    unittest.main(argv=[sys.argv[0]] + rest)
