"""Shared by the tests of delivery: programs that die, agents, and the files of both.

Every child has a time limit. A test ends all agents of its own state directory, and fails where one
is left."""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import server as scripted

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Format"), str(HERE.parent / "Support")]
from page import crc32c  # noqa: E402
from waiting import wait_until  # noqa: E402

VICTIM, FAULTY_VICTIM, AGENT, FAULTY_AGENT, ENTRIES, DUMP = (
    os.environ[name] for name in ("VICTIM", "FAULTY_VICTIM", "AGENT", "FAULTY_AGENT", "ENTRIES", "DUMP"))
LONG = bool(os.environ.get("LONG"))
LIMIT = 90  # seconds that mean "hung"
GIVEN, WITHHELD = 1, 2
HTTP, SENTRY, OTLP, MINIDUMP = 1, 2, 3, 4
MISSING = "/nonexistent/launchguard-agent"
MEMORY_MAX_KB = 64 * 1024
KINDS = "crash", "abort", "trap"  # crashes with fingerprints of their own
ENDS = {int(value): name for value, name in re.findall(r'X\(LG_END_\w+, (\d+), "([\w-]+)"', (HERE.parents[1] / "include/launchguard/end.h").read_text())}

# An agent outlives the program that started it, and becomes a child of this process then.
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def agents_of(folder):
    """The processes that have the folder in their arguments and are agents."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"launchguard-agent" in words[0] and any(os.fsencode(str(folder)) in word for word in words):
                    found.append(int(entry.name))
    return found


def is_gone(pid):
    """Whether the process has ended; it is waited for where it is a child."""
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    return not os.path.exists("/proc/%d" % pid)


def status_of(pid, field):
    """A line of /proc/PID/status."""
    for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith(field + ":"):
            return line.split(":", 1)[1].strip()
    raise KeyError(field)


def is_stopped(pid):
    return status_of(pid, "State").startswith("T")


def end_of(run):
    """Name of the end in the file of a run, as the C reader says it."""
    found = json.loads(subprocess.run([DUMP, run["run"]], stdout=subprocess.PIPE, timeout=LIMIT, check=True).stdout)
    return ENDS[found["verdict"]["end"]]


class Ended:
    """The output of a program, and its end."""

    def __init__(self, status, output):
        self.status, self.output = status, output
        self.said = {}
        for line in output.splitlines():
            name, _, value = line.partition(": ")
            self.said.setdefault(name, []).append(value)

    def __getitem__(self, name):
        if name not in self.said:
            raise AssertionError("the program did not say %r:\n%s" % (name, self.output))
        return self.said[name][-1]

    @property
    def uuid(self):
        """Identity of the run."""
        return pathlib.Path(self["run"]).stem.split("-", 1)[1]

    @property
    def ordinal(self):
        return int(pathlib.Path(self["run"]).stem.split("-", 1)[0])


class Report:
    """A report in the spool; struct lg__report_header."""
    FIELDS = {"flags": (120, "I"), "attempts": (124, "I"), "since_on_ns": (136, "Q"), "attempted_ns": (144, "Q"), "next_ns": (152, "Q"),
              "next_on_ns": (160, "Q"), "made_ns": (72, "Q"), "before": (384, "I")}
    HEADER = 456

    def __init__(self, path):
        self.path = path
        self.block = bytearray(path.read_bytes())

    def __getitem__(self, name):
        return struct.unpack_from("<" + self.FIELDS[name][1], self.block, self.FIELDS[name][0])[0]

    def change(self, **values):
        for name, value in values.items():
            struct.pack_into("<" + self.FIELDS[name][1], self.block, self.FIELDS[name][0], value)
        struct.pack_into("<I", self.block, self.HEADER - 4, crc32c(bytes(self.block[:self.HEADER - 4])))
        self.path.write_bytes(self.block)


class DeliveryTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="delivery-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.state = self.folder / "state"
        self.spool = self.state / "spool"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        self.children = []
        self.addCleanup(self.leave_nothing)

    def leave_nothing(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait(LIMIT)
        for pid in agents_of(self.folder):
            self.end_agent(pid)
        self.assertEqual(agents_of(self.folder), [])

    def server(self, *script, otherwise=None, certificate=None):
        server = scripted.Server(certificate)
        self.addCleanup(server.__exit__)
        server.script = list(script)
        server.otherwise = otherwise or server.otherwise
        return server

    # ---- programs ----

    def start(self, *steps, program=VICTIM, within=(), environment=None, prepare=None, **options):
        """A program with the options of lg_delivery_options, as an argument of another one."""
        options.setdefault("agent_path", AGENT)
        words = ["%s=%s" % pair for pair in options.items() if pair[1] is not None]
        output = tempfile.TemporaryFile("w+")
        child = subprocess.Popen([*within, program, "--state", str(self.state), *words, *steps], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                 start_new_session=True, env={**self.environment, **(environment or {})}, preexec_fn=prepare)
        child.output = output
        self.children.append(child)
        return child

    def end(self, child):
        child.wait(LIMIT)
        self.children.remove(child)
        with child.output:
            child.output.seek(0)
            return Ended(child.returncode, child.output.read())

    def said(self, child, text):
        """Wait until a living program has said it."""
        def look():
            with open("/proc/self/fd/%d" % child.output.fileno()) as output:
                return text in output.read()
        wait_until(look, "the program says %r" % text)

    def run_victim(self, *steps, **options):
        return self.end(self.start(*steps, **options))

    def owe(self, *steps, server=None, endpoint=None, **options):
        """A run that ends while no agent can be started: it stays owed."""
        ended = self.run_victim("deliver", *(steps or ("begin", "crash")), endpoint=server.url() if server else endpoint, agent_path=MISSING, **options)
        self.assertEqual(ended["deliver"], "no-agent")
        return ended

    # ---- agents ----

    def start_agent(self, *arguments, agent=AGENT, state=None, **environment):
        child = subprocess.Popen([agent, "--state", str(state or self.state), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env={**self.environment, **environment})
        self.children.append(child)
        return child

    def run_agent(self, *arguments, **options):
        """The agent with --once; returns its exit status."""
        child = self.start_agent("--once", *arguments, **options)
        child.wait(LIMIT)
        self.children.remove(child)
        return child.returncode

    def agent(self):
        """The pid of the one agent, once it lives."""
        def one():
            found = agents_of(self.folder)
            return found if len(found) == 1 else None
        return wait_until(one, lambda: "one agent: %s" % agents_of(self.folder))[0]

    def end_agent(self, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: is_gone(pid), "agent %d has ended" % pid)

    def stopped_agent(self, point, *arguments, **environment):
        """An agent that stops itself at a point, once it has."""
        agent = self.start_agent(*arguments, agent=FAULTY_AGENT, LAUNCHGUARD_AGENT_FAULT="stop:" + point, **environment)
        wait_until(lambda: agent.poll() is not None or is_stopped(agent.pid), "the agent stops")
        return agent

    def dies_at(self, point):
        """An agent that is killed at a point."""
        status = self.run_agent(agent=FAULTY_AGENT, LAUNCHGUARD_AGENT_FAULT=point)
        self.assertEqual(status, -signal.SIGKILL, "no agent came to the point " + point)

    def attached(self, child):
        """Wait until an agent waits for the end of the program."""
        wait_until(lambda: "waiting for the end of process %d" % child.pid in self.log(), lambda: "the agent waits for the program: " + self.log())

    def nudge(self, words="tool"):
        """As `launchguard upload`: try the reports that are due later now."""
        temporary = self.spool / "tmp/nudge.test"
        temporary.write_text(words + "\n")
        temporary.rename(self.spool / "nudge")

    def has_been_on(self, days):
        """The device has been on for so long; struct lg__server."""
        block = bytearray(136)
        block[:8] = b"LGSERVER"
        struct.pack_into("<Q", block, 80, days * 24 * 3600 * 10**9)
        struct.pack_into("<I", block, 132, crc32c(bytes(block[:132])))
        (self.spool / "server").write_bytes(block)

    def log(self):
        path = self.spool / "agent.log"
        return path.read_text() if path.exists() else ""

    # ---- the spool ----

    def entries(self, *states):
        done = subprocess.run([ENTRIES, str(self.state)], stdout=subprocess.PIPE, timeout=LIMIT, text=True, env=self.environment)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if lines == [{"status": "not-found"}]:
            return []  # the program has not made the spool yet
        if done.returncode:
            raise AssertionError("lg_delivery_entries(): %s" % done.stdout)
        self.assertEqual(lines.pop(), {"count": len(lines)})
        return [line for line in lines if not states or line["state"] in states]

    def entry(self):
        """The one report of the spool."""
        entries = self.entries()
        self.assertEqual(len(entries), 1, entries)
        return entries[0]

    def files(self, folder):
        path = self.spool / folder
        return sorted(path.glob("*.lgreport")) if path.exists() else []

    def until_sent(self, *uuids):
        wait_until(lambda: {entry["uuid"] for entry in self.entries("sent", "told")} >= set(uuids),
              lambda: "the reports are sent: %s\n%s" % (self.entries(), self.log()))

    def until_tried(self, attempts=1):
        """Wait until the one report had so many attempts that have ended, and return it."""
        def tried():
            log = self.log()  # which says that an attempt has failed after the report does
            return next((entry for entry in self.entries() if entry["attempts"] >= attempts and
                         (entry["state"] != "pending" or "attempt %d failed" % entry["attempts"] in log)), None)
        return wait_until(tried,
                     lambda: "an attempt is over: %s\n%s" % (self.entries(), self.log()))

    # ---- the server's side ----

    def identities(self, server):
        """The identities under which parts were accepted, with the parts in order."""
        found = {}
        for request in server.accepted():
            found.setdefault(request.headers["idempotency-key"].split("/")[0], []).append(request.headers["x-launchguard-part"])
        return found

    def credentials(self, *lines):
        path = self.folder / "credentials"
        path.write_text("".join(line + "\n" for line in lines))
        path.chmod(0o600)
        return str(path)

    def copy_state(self, name):
        """A copy of the state directory, which becomes that of the test."""
        shutil.copytree(self.state, self.folder / name, symlinks=True)
        self.state = self.folder / name
        self.spool = self.state / "spool"
