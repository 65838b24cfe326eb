"""Of several agents one works in a directory, and no program that looks for one is left without: at
whatever step the other agent is, of whatever version, whether it was run once, or ends."""
import contextlib
import fcntl
import os
import pathlib
import re
import signal
import struct
import subprocess
import threading
import unittest

import server as scripted
from delivery import AGENT, FAULTY_AGENT, HERE, KINDS, LIMIT, MISSING, DeliveryTest, agents_of, is_stopped
from waiting import wait_until

F_OFD_GETLK, F_OFD_SETLK = 36, 37
FLOCK = "hh4xqqi4x"
VERSION = re.search(r'LG_VERSION_STRING "(\d+)\.(\d+)\.(\d+)"', (HERE.parents[1] / "include/launchguard/base.h").read_text())
MAJOR, MINOR, PATCH = map(int, VERSION.groups())
WORKS, WAITS, SERVES = 0, 1, 2 + (MAJOR * 1000 + MINOR) * 1000 + PATCH  # bytes of spool/agent
SERVES_OTHERS = SERVES + 1
DONE, NO_CONFIG, LEFT, NO_PLACE = 0, 4, 6, 9
KEPT = 0
CHANGED = 100  # keep_reports: with a new configuration a program starts its agent within the call


class Place(DeliveryTest):
    def setUp(self):
        super().setUp()
        self.released = threading.Event()

    def late(self, exchange):
        """A positive answer once the test says so."""
        while not self.released.is_set() and not exchange.wait(0.01):
            pass
        scripted.status(200)(exchange)
    late.code = 200

    def lock(self, kind, *bytes_, command=F_OFD_SETLK, file=None):
        """As an agent; returns the open file, and what is locked."""
        if file is None:
            file = os.open(self.spool / "agent", os.O_RDWR | os.O_CREAT, 0o600)
            self.addCleanup(os.close, file)
        found = [fcntl.fcntl(file, command, struct.pack(FLOCK, kind, os.SEEK_SET, byte, 1, 0)) for byte in bytes_]
        return file, struct.unpack(FLOCK, found[-1])[0] != fcntl.F_UNLCK

    def has(self, byte):
        """Whether an agent has locked the byte."""
        return self.lock(fcntl.F_WRLCK, byte, command=F_OFD_GETLK)[1]

    def start_with_agent(self, server):
        """A program that has looked for an agent, and lives on."""
        child = self.start("deliver", "begin", "finish", "loop", endpoint=server.url(), keep_reports=CHANGED)
        self.said(child, "finish: ok")
        return child

    def serves(self, child):
        """Whether there is one agent, which takes what comes and waits for the program's end."""
        agents = agents_of(self.state)
        if len(agents) != 1 or not self.has(SERVES):
            return False
        with contextlib.suppress(FileNotFoundError):
            return any("Pid:\t%d\n" % child.pid in path.read_text() for path in pathlib.Path("/proc/%d/fdinfo" % agents[0]).iterdir())

    def one_serves(self, child):
        wait_until(lambda: self.serves(child), lambda: "one agent serves: %s\n%s" % (agents_of(self.state), self.log()))
        child.kill()
        self.end(child)


class Ends(Place):
    """Each step of an agent's end, while a program starts."""

    def at_each_step(self, **options):
        server = self.server()
        steps = "agent: may end", "agent: takes nothing more", "agent: ends"
        agents = []
        for number, point in enumerate(steps):
            self.state = self.folder / ("state-%d" % number)
            self.spool = self.state / "spool"
            self.run_victim("deliver", "begin", "finish", endpoint=server.url(), agent_path=MISSING, **options)
            agents.append((self.state, self.start_agent(agent=FAULTY_AGENT, LAUNCHGUARD_AGENT_FAULT="stop:" + point)))
        for point, (self.state, agent) in zip(steps, agents):
            self.spool = self.state / "spool"
            with self.subTest(point):
                wait_until(lambda: is_stopped(agent.pid), "the agent stops")
                child = self.start_with_agent(server)
                agent.send_signal(signal.SIGCONT)
                self.one_serves(child)

    def test_after_it_had_nothing_to_do(self):
        self.at_each_step()

    def test_without_consent(self):
        self.at_each_step(consent=KEPT)


class Follows(Place):
    def test_an_agent_that_was_run_once(self):
        """A living program needs one that stays; the other ends after the request under way."""
        server = self.server(self.late)
        runs = [self.owe("begin", kind, server=server).uuid for kind in KINDS[:2]]
        once = self.start_agent("--once")
        wait_until(lambda: server.requests, "the agent sends")
        child = self.start_with_agent(server)
        wait_until(lambda: self.has(WAITS), "another agent waits")
        self.released.set()
        self.assertEqual(once.wait(LIMIT), LEFT)
        self.until_sent(*runs)
        self.one_serves(child)
        found = self.identities(server)
        self.assertEqual({uuid: found[uuid] for uuid in runs}, {uuid: ["brief", "full"] for uuid in runs})

    def test_an_agent_of_another_version(self):
        server = self.server()
        self.run_victim("deliver", "begin", "finish", endpoint=server.url(), agent_path=MISSING)
        other, _ = self.lock(fcntl.F_WRLCK, WORKS, SERVES_OTHERS)
        before = os.fstat(other).st_mtime_ns
        child = self.start_with_agent(server)
        wait_until(lambda: self.has(WAITS), "the agent of the program waits")
        wait_until(lambda: os.fstat(other).st_mtime_ns != before, "the other one is asked to end")
        self.assertEqual(self.start_agent().wait(LIMIT), DONE)  # one of them waits
        self.assertEqual(self.log(), "")
        self.lock(fcntl.F_UNLCK, WORKS, SERVES_OTHERS, file=other)
        self.one_serves(child)

    def test_it_ends_for_another_version(self):
        """And so makes no other request."""
        server = self.server(self.late)
        self.owe(server=server)
        agent = self.start_agent()
        wait_until(lambda: server.requests, "the agent sends")
        self.assertTrue(self.has(SERVES))
        other, _ = self.lock(fcntl.F_WRLCK, WAITS)
        os.utime(other)
        self.released.set()
        self.assertEqual(agent.wait(LIMIT), LEFT)
        self.assertEqual(len(server.accepted()), 1)
        self.lock(fcntl.F_UNLCK, WAITS, file=other)
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(len(server.accepted()), 2)

    def test_each_ends_for_the_other(self):
        """The one that waits finds that the other one serves again, which then ends for it all the
        same, before it has gone."""
        server = self.server()
        self.run_victim("deliver", "begin", "finish", endpoint=server.url(), agent_path=MISSING)
        other, _ = self.lock(fcntl.F_WRLCK, WORKS)
        agent = self.start_agent(agent=FAULTY_AGENT, LAUNCHGUARD_AGENT_FAULT="stop:place: served")
        wait_until(lambda: self.has(WAITS), "the agent waits")
        self.lock(fcntl.F_WRLCK, SERVES, file=other)
        wait_until(lambda: is_stopped(agent.pid), "the agent has seen it")
        self.lock(fcntl.F_UNLCK, SERVES, file=other)
        self.assertTrue(self.has(WAITS))
        self.lock(fcntl.F_UNLCK, WORKS, file=other)
        agent.send_signal(signal.SIGCONT)
        wait_until(lambda: self.has(SERVES) or agent.poll() is not None, "the agent serves, or has gone")
        self.assertIsNone(agent.poll())

    def test_none_that_is_run_once(self):
        """It leaves the agent at work where it is."""
        self.owe(endpoint=self.server().url())
        self.lock(fcntl.F_WRLCK, WORKS)
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(len(self.files("new")), 0)


class Refused(Place):
    def says(self, status, words):
        done = subprocess.run([AGENT, "--state", str(self.state)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
                              env=self.environment)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, words)

    def test_an_agent_that_does_not_end(self):
        self.owe(endpoint=self.server().url())
        self.lock(fcntl.F_WRLCK, WORKS)
        self.says(NO_PLACE, "was to end, and has not")

    def test_no_lock(self):
        self.owe(endpoint=self.server().url())
        (self.spool / "agent").mkdir()
        self.says(NO_PLACE, "spool/agent: it cannot be locked: Is a directory")


if __name__ == "__main__":
    unittest.main()
