#!/usr/bin/env python3
"""A session leaves a service manager's socket and watchdog to the program: nothing arrives, and the
variables are as they were. The agent drops them: Delivery/test_standing.py."""
import os
import pathlib
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
from waiting import LIMIT_S, wait_until

WATCHDOG = {"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}
AGENT = '#!/bin/sh\n: >"$2/begun"\n'


class Notify(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-notify-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.state = self.directory / "state"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.socket.bind(str(self.directory / "notify"))
        self.variables = dict(WATCHDOG, NOTIFY_SOCKET=str(self.directory / "notify"))
        self.agent = self.directory / "agent"
        self.agent.write_text(AGENT)
        self.agent.chmod(0o700)

    def received(self):
        return self.socket.recv(4096) if select.select([self.socket], [], [], 0)[0] else None

    def run_victim(self, *action):
        return subprocess.run([victim, self.state, *action], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S,
                              env=dict(os.environ, **self.variables))

    def test_nothing_arrives_and_nothing_changes(self):
        done = self.run_victim("deliver", self.agent)
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.splitlines()
        for name, value in self.variables.items():
            self.assertIn(f"{name}={value}", lines)
        self.assertIsNone(self.received())

        wait_until((self.state / "begun").exists, "the agent runs")
        self.assertIsNone(self.received())

    def test_a_crash_says_nothing_either(self):
        self.assertLess(self.run_victim("launch-crash").returncode, 0)
        self.assertIsNone(self.received())
        self.assertEqual(self.run_victim("launch").returncode, 0)
        self.assertIsNone(self.received())

    def test_the_socket_of_the_test_works(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.sendto(b"READY=1", self.variables["NOTIFY_SOCKET"])
        self.assertEqual(self.received(), b"READY=1")


if __name__ == "__main__":
    victim = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
