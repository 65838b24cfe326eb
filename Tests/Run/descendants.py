"""The end of a process whose parent is not the tool: the kernel reports it since Linux 6.15."""
import concurrent.futures
import ctypes
import errno
import fcntl
import json
import os
import pathlib
import platform
import resource
import signal
import struct
import subprocess
import sys

from children import LIMIT_S
from programs import Run, children, is_root, line, state, wait_until
from records import Recorded

GET_INFO = 0xC040FF0B  # PIDFD_GET_INFO
INFO_EXIT = 1 << 3
CORE = 0x80  # of a wait status
SYSTEM_CALLS = {"x86_64": {"ioctl": 16, "inotify_init1": 294, "exit_group": 231}, "aarch64": {"ioctl": 29, "inotify_init1": 26, "exit_group": 94}}[platform.machine()]
SYSTEM_CALLS["pidfd_open"] = 434


def tells_ends():
    """Whether this kernel does."""
    process = os.fork()
    if process == 0:
        os._exit(3)
    try:
        file = os.pidfd_open(process)
        os.waitpid(process, 0)
        info = bytearray(struct.pack("QQ11Ii", INFO_EXIT, 0, *[0] * 12))
        fcntl.ioctl(file, GET_INFO, info)
        os.close(file)
    except OSError:
        return False
    mask, *_, status = struct.unpack("QQ11Ii", info)
    return bool(mask & INFO_EXIT) and status == 3 << 8


def refuse(call, error, argument=None):
    """In the child: a system call fails, with its second argument alone."""
    def instruction(code, value, yes=0, no=0):
        return struct.pack("HBBI", code, yes, no, value)
    load, equal, answer = 0x20, 0x15, 0x06
    asked = [] if argument is None else [instruction(load, 24), instruction(equal, argument, 0, 1)]
    filter = b"".join([instruction(load, 0), instruction(equal, SYSTEM_CALLS[call], 0, len(asked) + 1), *asked,
                       instruction(answer, 0x00050000 | error), instruction(answer, 0x7FFF0000)])
    buffer = ctypes.create_string_buffer(filter, len(filter))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filter) // 8, ctypes.addressof(buffer)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    # No new rights, then the filter.
    for arguments in ((38, 1, 0, 0, 0), (22, 2, ctypes.addressof(program), 0, 0)):
        if prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def watched(tool):
    """The processes of which a tool has descriptors."""
    found = set()
    for entry in pathlib.Path("/proc/%d/fdinfo" % tool).iterdir():
        try:
            found |= {int(text.split()[1]) for text in entry.read_text().splitlines() if text.startswith("Pid:")}
        except FileNotFoundError:
            pass
    return found


class Family(Recorded):
    """A parent under the tool, and its children."""

    @classmethod
    def setUpClass(cls):
        cls.family = cls.options.build("family.c", "-pthread")

    def start(self, *ways, **how):
        """The run, and the children."""
        run = Run([*self.under(), self.family, *ways], stdin=subprocess.PIPE, cwd=self.directory, **how)
        self.addCleanup(run.kill)
        return run, [int(line(run.process.stdout)) for way in ways if way != "now"]

    def statuses(self, run):
        """The statuses that the parent got, by process."""
        statuses = {}
        while (words := line(run.process.stdout).split()) != [b"done"]:
            statuses[int(words[0])] = int(words[1])
        return statuses

    def shown(self):
        """All runs, the oldest first: their process, the wait status that was stored, and
        the end."""
        def inspect(path):
            done = subprocess.run([self.options.tool, "inspect", "--json", "--no-symbols", path], stdout=subprocess.PIPE, timeout=LIMIT_S)
            run = json.loads(done.stdout)
            end = "running" if run["identity"]["isAlive"] else run["verdict"]["end"]
            return run["identity"]["monotonicNanoseconds"], run["identity"]["processID"], run["identity"].get("witness", {}).get("waitStatus"), end
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return [list(found[1:]) for found in sorted(pool.map(inspect, self.records.glob("*/runs/*.lgrun")))]

    def all_runs(self):
        """The same of the newest run of each process."""
        return {process: found for process, *found in self.shown()}

    def ends_well(self, run, program):
        """The program, whose end the tool has of its own."""
        self.assertEqual(run.end(b"\n"), (0, b"", b""))
        found = self.all_runs()
        self.assertEqual(found[program], [0, "clean"])
        return found


class Reported(Family):
    def setUp(self):
        super().setUp()
        if not tells_ends():
            self.skipTest("this kernel reports the end of a process only to the parent; Linux 6.15 also to others")

    def check(self, expected):
        """Ways to end, each with its wait status and the end that the record names."""
        run, family = self.start(*expected, "stay6")
        program = run.program()
        wait_until(lambda: watched(run.pid) == set(family), "the tool watches the children")
        run.process.stdin.write(b"\n")
        statuses = self.statuses(run)
        self.assertEqual([statuses[child] & ~CORE for child in family[:-1]], [status for status, _ in expected.values()])
        # The neighbour lives, and is still watched.
        wait_until(lambda: watched(run.pid) == {family[-1]}, "the ends are stored")
        self.assertNotIn(state(family[-1]), (None, "Z"))
        self.assertEqual(self.all_runs()[family[-1]], [None, "running"])
        found = self.ends_well(run, program)
        self.assertEqual([found[child] for child in family], [*([statuses[child], end] for child, (_, end) in zip(family, expected.values())), [6 << 8, "exit"]])

    def test_signals(self):
        self.check({"signal9": (9, "killed"), "signal15": (15, "terminated"), "signal14": (14, "crash"), "fault0": (11, "crash")})

    def test_statuses(self):
        self.check({"group3": (3 << 8, "exit"), "group0": (0, "clean"), "exit4": (4 << 8, "exit"), "group255": (255 << 8, "exit")})

    def test_threads(self):
        """The status is that of the process, also where its first thread has gone before."""
        self.check({"other-group5": (5 << 8, "exit"), "other-signal9": (9, "killed"), "gone-group6": (6 << 8, "exit"), "gone-signal9": (9, "killed"),
                    "gone-thread7": (7 << 8, "exit"), "gone-fault0": (11, "crash")})

    def test_other_program(self):
        """A process that goes on as another program ends as that one. One at a time: the next start
        of that program may say how the last one ended before the tool does."""
        for way in ("exec", "other-exec", "gone-exec"):
            self.check({way: (9, "killed")})

    def test_core_file(self):
        """Its bit is in the status."""
        def cores():
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY and not is_root():
            self.skipTest("core files may not be written here")
        run, (child,) = self.start("fault0", before=cores)
        program = run.program()
        wait_until(lambda: watched(run.pid) == {child}, "the tool watches the child")
        run.process.stdin.write(b"\n")
        status = self.statuses(run)[child]
        if not status & CORE:
            print("the kernel wrote no core file: the bit is not checked")
        self.assertEqual(self.ends_well(run, program)[child], [status, "crash"])

    def test_many(self):
        """More than the tool takes descriptors for: those that it has are known, the others may be
        unknown, and its own child is known."""
        run, family = self.start(*("group%d" % (number + 1) for number in range(60)), before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80)))
        program = run.program()
        wait_until(lambda: len(watched(run.pid)) == 40, "the tool has taken its half")
        known = watched(run.pid)
        run.process.stdin.write(b"\n")
        statuses = self.statuses(run)
        found = self.ends_well(run, program)
        for child in family:
            self.assertIn(found[child], [[statuses[child], "exit"], *[[None, "unknown"]] * (child not in known)])

    def test_crowd(self):
        """200 children at a time."""
        run, family = self.start(*("group%d" % (number + 1) for number in range(200)))
        wait_until(lambda: watched(run.pid) == set(family), "the tool watches the children")
        run.process.stdin.write(b"\n")
        statuses = self.statuses(run)
        self.assertEqual([statuses[child] for child in family], [number << 8 for number in range(1, 201)])
        self.assertEqual(run.end(b"\n"), (0, b"", b""))
        verdicts = [listed["verdict"] for listed in self.runs("family-pthread")]
        self.assertEqual(sorted(verdict["exitCode"] for verdict in verdicts if verdict["end"] == "exit" and verdict["evidenceKind"] == "witness"), [*range(1, 201)])


# Each of the two has the number 500.
SAME_NUMBER = """
import ctypes, os, sys, time
clock = lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK") // 10**9
def child(status, go):
    open("/proc/sys/kernel/ns_last_pid", "w").write("499")
    if (process := os.fork()) == 0:
        go and sys.stdin.readline()
        ctypes.CDLL(None).syscall(%d, status)
    assert process == 500
    print("begun", flush=True)
    assert os.waitpid(process, 0)[1] == status << 8
child(11, True)
ended = clock()
while clock() == ended: pass  # the next one starts later by the clock of /proc
child(12, False)
print("done", flush=True)
sys.stdin.readline()
"""


class SameNumber(Family):
    def test_same_number(self):
        """Another process that gets the number is not taken for the one that had it."""
        if not tells_ends() or not is_root() or not os.path.exists("/proc/sys/kernel/ns_last_pid"):
            self.skipTest("it needs Linux 6.15, root, and a kernel that lets root choose the next number")
        code = SAME_NUMBER % SYSTEM_CALLS["exit_group"]
        run = Run(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *self.under(), sys.executable, "-c", code], stdin=subprocess.PIPE)
        self.addCleanup(run.kill)
        self.assertEqual(line(run.process.stdout), b"begun\n")
        tool = children(run.pid)[0]
        wait_until(lambda: watched(tool), "the tool watches the child")
        os.kill(tool, signal.SIGSTOP)
        wait_until(lambda: state(tool) == "T", "the tool stops")
        run.process.stdin.write(b"\n")
        self.assertEqual([line(run.process.stdout) for _ in range(2)], [b"begun\n", b"done\n"])
        os.kill(tool, signal.SIGCONT)
        wait_until(lambda: not watched(tool), "the tool lets go")
        self.assertEqual(run.end(b"\n"), (0, b"", b""))
        # each has its own mark of its end, and no status of the other one
        self.assertEqual([found[1:] for found in self.shown() if found[0] == 500], [[None, "exit"]] * 2)


class NotReported(Family):
    """An end that cannot be had is unknown, and nothing else is different."""

    def test_at_once(self):
        """Children that are gone before anybody can look: never another one's status."""
        run, family = self.start("now", *("group%d" % (number + 1) for number in range(200)))
        program = run.program()
        statuses = self.statuses(run)
        found = self.ends_well(run, program)
        left = [child for child in family if child in found]  # others gave way to them
        self.assertTrue(left)
        for child in left:
            self.assertIn(found[child], ([statuses[child], "exit"], [None, "unknown"]))

    def check(self, *refused):
        run, (killed, left) = self.start("signal9", "exit3", before=lambda: refuse(*refused))
        program = run.program()
        run.process.stdin.write(b"\n")
        self.assertEqual(self.statuses(run), {killed: 9, left: 3 << 8})
        self.assertEqual(watched(run.pid), set())
        found = self.ends_well(run, program)
        self.assertEqual((found[killed], found[left]), ([None, "unknown"], [None, "exit"]))

    def test_folder_that_may_not_be_read(self):
        """Above the usual folder of records: the tool waits for its program alone."""
        closed = self.directory / "closed"
        closed.mkdir()
        self.directory.chmod(0o755)
        closed.chmod(0o700 if is_root() else 0)
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if is_root() else []
        if user and subprocess.run([*user, "test", "-x", self.options.tool], check=False).returncode:
            self.skipTest("another user may not execute the tool here")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "LAUNCHGUARD_DIRECTORY"))}
        run = Run([*user, self.options.tool, "run", "--", "cat"], stdin=subprocess.PIPE, env=dict(environment, HOME=str(closed)))
        self.addCleanup(run.kill)
        run.process.stdin.write(b"one\n")
        self.assertEqual(line(run.process.stdout), b"one\n")
        self.assertEqual(run.end(b"")[0], 0)

    def test_older_kernel(self):
        self.check("ioctl", errno.ENOTTY, GET_INFO)
        self.check("ioctl", errno.EINVAL, GET_INFO)

    def test_no_descriptors_of_processes(self):
        self.check("pidfd_open", errno.ENOSYS)
        self.check("pidfd_open", errno.EPERM)

    def test_no_notices(self):
        self.check("inotify_init1", errno.EMFILE)
