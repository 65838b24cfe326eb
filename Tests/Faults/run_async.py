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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Export"))

import streams
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
# The same of functions that hang.
HANGS = {
    "swift-async-hang": ["Concurrency.standAfterAWait", "Concurrency.standMiddle", "Concurrency.standOuter", "closure"],
    "swift-async-hang-main-actor": ["Concurrency.standOnMainAfterAWait", "Concurrency.standOnMainMiddle", "Concurrency.standOnMainOuter", "closure"],
}
# One that crashes after that: the backtracer says of it, too.
HANG_THEN_TRAP = "swift-async-hang-then-trap"
# A function that crashes, and one that stands on another thread.
TWO_THREADS = "swift-async-two-threads"
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
        done = subprocess.run([options.tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=LIMIT_S)
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

    def chain(self, callee, functions):
        """The one chain of a thread, which is that of these functions."""
        chains = [chain for chain in callee["asyncChains"] if chain.get("isAsync")]
        self.assertEqual([own([chain["frame"]] + chain["callers"]) for chain in chains], [functions])
        self.assertFalse(chains[0]["isTruncated"])
        self.assertNotIn("asyncChainsOmitted", callee)
        return chains[0]

    def minidump(self, path):
        """The asynchronous callers in a minidump."""
        file = self.directory / "dump"
        self.tool("export", "--format", "minidump", "-o", file, path)
        return streams.annotations(file.read_bytes())[1].get("launchguard.async")

    def shown(self, text):
        """The addresses of the asynchronous callers in a text."""
        return list(dict.fromkeys(re.findall(r"^ *#\d+ +\[async\] (0x\w+) in ", text, re.M)))

    def awaiting(self, threads):
        """The asynchronous callers of all these threads: others may still run what is awaited."""
        chains = [chain for thread in threads for chain in thread.get("asyncChains", []) if chain.get("isAsync")]
        return list(dict.fromkeys(caller["address"] for chain in chains for caller in chain["callers"]))

    def test_the_chain_is_that_of_the_source(self):
        for entry, functions in CHAINS.items():
            with self.subTest(entry):
                _, path = self.crashed(entry, Modifiers())
                crash = self.crash(path)
                chain = self.chain(crash, functions)
                said, shown = self.tool("inspect", path), self.awaiting([crash, *crash["threads"]])
                self.assertEqual((self.shown(said), self.shown(self.minidump(path))), (shown, shown))
                addresses = [caller["address"] for caller in chain["callers"]]
                self.assertEqual(shown[:len(addresses)], addresses)
                self.assertIn("the functions that await #%d " % chain["number"], said)
                log = json.loads(self.tool("export", "--format", "swift", path))["threads"][0]["frames"]
                self.assertEqual([frame["address"] for frame in log if frame["kind"] == "asyncResumePoint" and not frame.get("inlined")], addresses)

    def test_a_hang_shows_the_chain(self):
        for entry, functions in HANGS.items():
            with self.subTest(entry):
                _, path = self.crashed(entry, Modifiers())
                report = json.loads(self.tool("inspect", "--json", path))
                self.assertEqual(report["verdict"]["end"], "hang")
                snapshot = report["snapshots"][0]
                chain = self.chain(snapshot["threads"][0], functions)
                self.assertEqual(snapshot["threads"][0]["threadID"], snapshot["threadID"])
                addresses = self.awaiting(snapshot["threads"])
                said, page = self.tool("inspect", path), self.tool("export", "--format", "html", path)
                in_minidump = self.minidump(path)
                self.assertEqual((self.shown(said), self.shown(in_minidump)), (addresses, addresses))
                in_journal = self.tool("export", "--format", "journal", path)
                self.assertEqual(list(dict.fromkeys(re.findall(r"#\d+ +\[async\] (0x\w+) ", in_journal))), addresses)
                for text in said, page, in_minidump:
                    self.assertIn("the functions that await #%d " % chain["number"], text)
                self.assertEqual(list(dict.fromkeys(re.findall(r"\[async\]</span><code>(0x\w+)<", page))), addresses)

    def test_another_thread_has_its_own_chain(self):
        _, path = self.crashed(TWO_THREADS, Modifiers())
        crash = self.crash(path)
        crashed = self.chain(crash, CHAINS["swift-async-main-actor"])
        others = [thread for thread in crash["threads"] if any(chain.get("isAsync") for chain in thread.get("asyncChains", []))]
        self.assertEqual(len(others), 1)
        other = self.chain(others[0], HANGS["swift-async-hang"])
        addresses = [[caller["address"] for caller in chain["callers"]] for chain in (crashed, other)]
        for text in self.tool("inspect", path), self.minidump(path):
            self.assertEqual(self.shown(text), list(dict.fromkeys(sum(addresses, []))))
        log = json.loads(self.tool("export", "--format", "swift", path))["threads"]
        of_log = [[frame["address"] for frame in thread["frames"] if frame["kind"] == "asyncResumePoint" and not frame.get("inlined")] for thread in log]
        self.assertEqual([found for found in of_log if found], addresses)

    def test_no_chain_where_nothing_is_asynchronous(self):
        for entry in WITHOUT:
            with self.subTest(entry):
                _, path = self.crashed(entry, Modifiers())
                self.assertEqual([chain for chain in self.crash(path).get("asyncChains", []) if chain.get("isAsync") is not False], [])
                self.assertNotIn("[async]", self.tool("inspect", path))
                self.assertIsNone(self.minidump(path))

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
        for entry in [*CHAINS, HANG_THEN_TRAP]:
            with self.subTest(entry):
                said, path = self.crashed(entry, Backtraced("launching", backtracer()))
                thread = re.search(r"\nThread \d+ .*crashed:?\n(.*?)\n\n\n", said, re.S)[1]
                of_runtime = [address for address, _ in itertools.groupby(re.findall(r"^ *\d+ \[async\].*? (0x\w+) ", thread, re.M))]
                report = json.loads(self.tool("inspect", "--json", path))
                hung = [snapshot["threads"][0] for snapshot in report.get("snapshots", [])]
                self.assertEqual(len(hung), entry == HANG_THEN_TRAP)
                for callee in [report["crash"], *hung]:
                    chain = next(chain for chain in callee["asyncChains"] if chain["isAsync"])
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
