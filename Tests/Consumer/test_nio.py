"""A server of SwiftNIO that links LaunchGuard: the record of a crash in a channel handler names the
handler, its line and its thread."""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from consumer import HERE, SwiftConsumer, run

LIMIT_S = 60


def names(stack):
    return [symbol["name"] for frame in stack["frames"] for symbol in frame.get("symbols", [])]


class Nio(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = SwiftConsumer("nio-server").program("nio-server")

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.state = pathlib.Path(directory.name).resolve() / "state"

    @contextlib.contextmanager
    def server(self):
        """The server, its port and its run file; it is killed where it hangs."""
        child = subprocess.Popen([self.program, self.state], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                 env=os.environ | {"SWIFT_BACKTRACE": "enable=no"})
        timer = threading.Timer(LIMIT_S, child.kill)
        timer.start()
        try:
            port, path = child.stdout.readline().split()
            yield child, int(port), path
        finally:
            timer.cancel()
            child.kill()
            child.communicate()

    def ask(self, port, path):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
        with contextlib.closing(client):
            client.request("GET", path)
            return client.getresponse().read().decode()

    def serves(self, port):
        self.assertEqual([self.ask(port, "/0"), self.ask(port, "/2")], ["Emma", "Ulysses"])

    def read(self, path):
        """The run in the list, and its record."""
        return [json.loads(run(options.tool, command, "--json", what, limit=LIMIT_S).stdout) for command, what in (("list", self.state), ("inspect", path))]

    def test_a_crash_in_a_handler(self):
        with self.server() as (child, port, path):
            self.serves(port)
            with self.assertRaises((http.client.RemoteDisconnected, ConnectionResetError)):
                self.ask(port, "/crash")
            self.assertIn(child.wait(), (-signal.SIGILL, -signal.SIGTRAP))
        listed, record = self.read(path)
        lines = (HERE / "nio-server/Server/Library.swift").read_text().splitlines()
        bug, = (number for number, line in enumerate(lines, 1) if "The bug" in line)
        self.assertEqual(listed["headline"], "Index out of range in Library.book(at:) at Library.swift:%d of org.example.nio" % bug)
        self.assertEqual((record["verdict"]["end"], record["verdict"]["kind"], listed["reason"]), ("crash", "trap.swift", "trap.swift.bounds"))
        crash = record["crash"]
        loop = re.compile(r"NIO-ELT-\d+-#\d+")
        self.assertRegex(crash["threadName"], loop)
        # From the handler to the loop, and the thread that runs it.
        stack = [name for name in names(crash["dwarfStack"]) if name in ("Library.channelRead(context:data:)", "SelectableEventLoop.run()", "start_thread")]
        self.assertEqual(stack, ["Library.channelRead(context:data:)", "SelectableEventLoop.run()", "start_thread"])
        others = {thread["name"]: names(thread["stack"]) for thread in crash["threads"]}
        self.assertIn("EventLoopFuture.wait(file:line:)", others["nio-server"])
        idle, = (names for name, names in others.items() if loop.fullmatch(name))
        self.assertIn("SelectableEventLoop.run()", idle, "it waits, or still wakes the loop that crashed")

    def test_an_end_that_was_asked_for(self):
        with self.server() as (child, port, path):
            self.serves(port)
            child.send_signal(signal.SIGTERM)
            self.assertEqual(child.wait(), 0)
        self.assertEqual(self.read(path)[1]["verdict"]["end"], "clean")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True, type=os.path.abspath, help="the tool launchguard")
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
