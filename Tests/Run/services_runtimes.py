"""Programs of runtimes that bring their own fault handling, under `launchguard run`: they die as
without it and are recorded; a fault that the runtime recovers from is no crash."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import records
from programs import has

SOURCES = pathlib.Path(__file__).parent / "ways"
TURNS = 5  # of the measurement


class Runtime(records.Dying):
    """The five ways, of a program that the classes below build."""
    LIMIT_BYTES = 192 << 20
    tools = ()
    FAULT = signal.SIGSEGV  # what the record says of it, whatever the runtime makes of it
    ENDS = {}  # where they are others than those of the shell
    LINES = None  # of its output, that are the same each time

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for tool in cls.tools:
            if not has(tool):
                raise unittest.SkipTest("%s is not installed" % tool)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-run-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.build()

    @classmethod
    def make(cls, *command, **variables):
        done = subprocess.run(list(map(str, command)), cwd=cls.folder, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        if done.returncode != 0:
            raise AssertionError("%s fails: %s" % (command[0], done.stdout.decode(errors="replace")))

    @classmethod
    def libraries(cls):
        """The native code that the runtime loads to die."""
        for way in ("FAULT", "ABORT"):
            cls.make(os.environ.get("CC", "cc"), "-shared", "-fPIC", "-D" + way, "-o", way.lower() + ".so", SOURCES / "library.c")

    def words(self, text):
        """Without our line and without what changes from process to process."""
        lines = [line for line in text.decode(errors="replace").splitlines() if not line.startswith("launchguard: ")]
        return [re.sub(r"0x[0-9a-f]+|[0-9]+", "#", line) for line in lines[:self.LINES]]

    def both(self, way, death, **how):
        """The end under the tool, which is that without it."""
        without = self.dies(self.command(way), death, cwd=self.directory, **how)
        under = self.dies([*self.under(), *self.command(way)], death, cwd=self.directory, **how)
        self.assertEqual(under[0], without[0])
        for stream in (2, 3):
            self.assertEqual(self.words(under[stream]), self.words(without[stream]))
        return under, self.run_of(self.name, under[1])

    def check(self, death):
        (status, *_), run = self.both(records.DEATHS[death][0], death)
        self.assertIn(run["verdict"]["end"], self.ENDS.get(death, records.DEATHS[death][2]))
        witness = run["identity"]["witness"]
        self.assertEqual(-witness["signal"]["number"] if status < 0 else witness["exitCode"], status)
        self.is_crash(run, {"fault": self.FAULT, "abort": signal.SIGABRT}.get(death))

    def is_crash(self, run, number):
        """A crash by a signal, or none."""
        if number is None:
            self.assertTrue("crash" not in run or run["crash"]["isHandled"])
        else:
            self.assertEqual((run["crash"]["signal"]["number"], run["crash"]["isHandled"]), (number, False))
            self.assertTrue(run["crash"]["dwarfStack"]["frames"])

    def recovers(self):
        """Faults that the runtime recovers from: no crash is recorded; their cost is printed."""
        times = {}
        for _ in range(TURNS):
            for prefix in ([], self.under()):
                status, process, output, errors = self.dies([*prefix, *self.command("recover")], "fault", cwd=self.directory)
                self.assertEqual((status, errors), (0, b""))
                count, nanoseconds = map(int, output.split(b"\n")[-2].split())
                self.assertEqual(count, 20000)
                times.setdefault(len(prefix) > 0, []).append(nanoseconds / count)
                if prefix:
                    run = self.run_of(self.name, process)
                    self.assertEqual(run["verdict"]["end"], "clean")
                    self.is_crash(run, None)
        without, under = min(times[False]), min(times[True])
        print("\n%s: a fault that it recovers from takes %.1f us without the tool, %.1f us under it: ratio %.2f" %
              (self.name, without / 1000, under / 1000, under / without))


class Node(Runtime):
    name, tools = "ways.js", ("node", "cc")

    @classmethod
    def build(cls):
        cls.libraries()

    def command(self, way):
        return ["node", SOURCES / "ways.js", way, self.folder / (way + ".so")]

    def test_recovers(self):
        """WebAssembly beyond its memory."""
        self.recovers()


class Java(Runtime):
    name, tools = "Ways", ("java", "javac", "cc")
    # Its handler of SIGTERM ends it with a status.
    ENDS = {"term": {"exit"}}

    @classmethod
    def build(cls):
        cls.libraries()
        cls.make("javac", "-d", cls.folder, "-XDignore.symbol.file", SOURCES / "Ways.java")

    def command(self, way):
        return ["java", "-Xmx1g", "-XX:-UsePerfData", "-cp", self.folder, "Ways", way, self.folder / ("abort.so" if way == "abort" else "fault.so")]

    def reports(self):
        return [path.read_text(errors="replace") for path in self.directory.glob("hs_err_pid*.log")]

    def test_report(self):
        """Its own report of the fault comes as without the tool."""
        self.both("fault", "fault")
        reports = self.reports()
        self.assertEqual(len(reports), 2)
        for report in reports:
            self.assertRegex(report, "SIGSEGV .* at pc=(.|\n)*Unsafe_PutInt(.|\n)*END")

    def test_fault_in_native_code(self):
        (status, *_), run = self.both("native", "fault")
        self.assertEqual(status, -signal.SIGABRT)
        self.is_crash(run, signal.SIGSEGV)

    def test_recovers(self):
        """Null checks."""
        self.recovers()


class Rust(Runtime):
    name, tools = "ways-rs", ("rustc",)

    @classmethod
    def build(cls):
        cls.make("rustc", "-O", "-A", "warnings", "-o", cls.name, SOURCES / "ways.rs")

    def command(self, way):
        return [self.folder / self.name, way]

    def test_overflow(self):
        """The runtime says it, and aborts; the record has the fault."""
        (status, *_), run = self.both("overflow", "fault")
        self.assertEqual((status, run["verdict"]["kind"]), (-signal.SIGABRT, "fault.stack_overflow"))
        self.is_crash(run, signal.SIGSEGV)

    def test_panic(self):
        (status, *_), run = self.both("panic", "fault")
        self.assertEqual((status, run["verdict"]["end"]), (101, "exit"))


class Go(Runtime):
    """With C in it, so that the loader starts it."""
    name, tools = "ways-go", ("go", "cc")
    # The handler turns a fault into a panic, as for one that the program recovers from; the panic
    # then ends the program with status 2.
    FAULT = None
    ENDS = {"fault": {"exit"}}
    LINES = 3  # then the threads, as they happen to be

    @classmethod
    def build(cls):
        for name, files in (("ways-go", ("ways.go", "ways_c.go")), ("ways-static", ("ways.go", "ways_static.go"))):
            cls.make("go", "build", "-o", cls.folder / name, *(SOURCES / file for file in files), GO111MODULE="off",
                     GOCACHE=str(cls.folder / "cache"), GOFLAGS="", CGO_ENABLED="01"[name == "ways-go"])

    def command(self, way):
        return [self.folder / self.name, way]

    def test_handled_fault(self):
        """A panic: the run has the fault, as one that was handled. So it is for a fault in C."""
        for way in ("fault", "foreign"):
            (status, *_), run = self.both(way, "fault")
            self.assertEqual((status, run["verdict"]["end"]), (2, "exit"))
            self.assertEqual((run["crash"]["kind"], run["crash"]["isHandled"]), ("fault.null_write", True))

    def test_fault_that_aborts(self):
        """As an operator sets it for core files: the record has the abort."""
        (status, *_), run = self.both("fault", "fault", env=dict(os.environ, GOTRACEBACK="crash"))
        self.assertEqual(status, -signal.SIGABRT)
        self.is_crash(run, signal.SIGABRT)

    def test_recovers(self):
        """nil pointers."""
        self.recovers()

    def check_static(self, death):
        """Only the end of a static program is watched, and a message says so."""
        self.name = "ways-static"
        command = self.command(records.DEATHS[death][0])
        without, under = (self.dies([*prefix, *command], death) for prefix in ([], self.under()))
        self.assertEqual(under[0], without[0])
        self.assertEqual(self.words(under[3]), self.words(without[3]))
        self.assertIn("launchguard: %s: it is statically linked, so that only its end is watched" % command[0], under[3].decode())
        self.assertFalse((self.records / self.name).exists())


for runtime in (Node, Java, Rust, Go):
    for death in records.DEATHS:
        setattr(runtime, "test_" + death, lambda self, death=death: self.check(death))
for death in records.DEATHS:
    setattr(Go, "test_static_" + death, lambda self, death=death: self.check_static(death))
del runtime  # a test case of its own, to the loader
