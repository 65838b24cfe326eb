"""Records of programs that died under `launchguard run`; the programs died as without it."""
import functools
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys

import ends
import signals
from children import LIMIT_S
from programs import Run, Terminal, children, field, is_root, line, session, state, wait_until
from under_run import UnderRun

LIMIT_BYTES = 64 << 20  # of the control group

# Real work, then a line with the process, then the death.
BASH = r"""
ulimit -c 0; declare -A squares; for i in $(seq 50); do squares[$i]=$((i * i)); done
sum=$(printf '%s\n' "${squares[@]}" | sort -n | awk '{ s += $1 } END { print s }'); cat <<< "sum $sum"
echo $$; """
PYTHON = r"""
import ctypes, json, os, resource, signal, subprocess, threading
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
words = sorted(json.loads(json.dumps([str(i * i) for i in range(50)])))
done = []
threads = [threading.Thread(target=lambda: done.append(len(words))) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print("sum", sum(map(int, words)), subprocess.run(["echo", "done"], capture_output=True).stdout, flush=True)
print(os.getpid(), flush=True)
"""
WAYS = {
    "bash": (["bash", "-c"], BASH, {"fault": "ulimit -s 256; f() { f; }; f", "abort": "kill -ABRT $$", "wait": "exec 3<> <(:); read <&3 line; exec sleep 3600",
                                    "memory": "a=x; while :; do a=$a$a; done"}),
    "python3": (["/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable, "-c"], PYTHON,
                {"fault": "ctypes.string_at(0)", "abort": "os.abort()", "wait": "signal.pause()", "memory": "a = []\nwhile True: a.append(bytearray(b'x' * 100000))"}),
}
FAULT = """
int *volatile nowhere;
__attribute__((noinline)) void writes_through(int *pointer) { *pointer = 1; }
int main(void) { writes_through(nowhere); return 0; }
"""
VECTOR = """
#include <vector>
__attribute__((noinline)) int pick(const std::vector<int> &from, int at) { return from.at(at); }
__attribute__((noinline)) int other(const std::vector<int> &from, int at) { return from.at(at + 1); }
int main(int count, char **) { std::vector<int> some{1, 2, 3}; return count > 1 ? pick(some, 7) : other(some, 8); }
"""
OPTION = """
#[inline(never)] fn load(from: &[i32]) -> i32 { from.first().copied().unwrap() }
fn main() { let none: Vec<i32> = Vec::new(); println!("{}", load(&none)); }
"""
# The way to die, who does what, and the ends that the record may name.
DEATHS = {
    "fault": ("fault", None, {"crash"}),
    "abort": ("abort", None, {"crash"}),
    "kill": ("wait", signal.SIGKILL, {"killed"}),
    "term": ("wait", signal.SIGTERM, {"terminated"}),
    "memory": ("memory", None, {"oom", "killed"}),
}


def loader_of(program):
    """The loader that a program names."""
    return re.search(rb"/[^\0]*ld-linux[^\0]*", pathlib.Path(program).read_bytes())[0].decode()


class Recorded(UnderRun):
    is_recorded = True

    def runs(self, name):
        """The runs of a program, the oldest first."""
        done = subprocess.run([self.options.tool, "list", "--reverse", "--json", self.records / name], stdout=subprocess.PIPE, timeout=LIMIT_S)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def run_of(self, name, process):
        """The newest run of a process."""
        for listed in reversed(self.runs(name)):
            done = subprocess.run([self.options.tool, "inspect", "--json", "--no-symbols", listed["path"]], stdout=subprocess.PIPE, timeout=LIMIT_S)
            run = json.loads(done.stdout)
            if run["identity"]["processID"] == process:
                return run
        self.fail("no run of process %d of %s" % (process, name))


class Limits(Recorded):
    def test_size_of_files(self):
        """Where no file fits, the tool and the program run as without a limit, and the log has a
        word where that fits."""
        for most in 0, 4096, 65536:
            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            log = self.directory / str(most)
            with open(self.directory / "errors", "wb") as errors:
                for way, status in (["exit", "5"], 5), (["fault"], -signal.SIGSEGV):
                    for to in subprocess.PIPE, errors:
                        self.assertEqual(Run([*self.under("--log", log), self.options.probe, *way], before=limit, stderr=to).end()[0], status)
            self.assertEqual((self.directory / "errors").read_bytes(), b"")
            with open(self.directory / "errors", "wb") as errors:  # the end by a write of its own
                writes = ["bash", "-c", "seq 20000 >&2; echo $? > /dev/full; exit $?"]
                statuses = [Run([*how, *writes], before=limit, stderr=errors).end()[0] for how in ([], self.under())]
                self.assertEqual(*statuses)
            self.assertEqual(b"raise ulimit -f" in log.read_bytes(), most > 0)

    def test_threads_of_a_limited_program(self):
        """With few addresses nearly as many threads begin as without."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        command = [self.options.probe, "threads"]
        without = int(self.ends(0, command, before=limit)[0])
        limited = ["sh", "-c", 'ulimit -v %d; exec "$@"' % (1 << 20), "sh", *command]
        under = int(self.ends(0, [*self.under("--quiet"), *limited])[0])
        self.assertGreater(without, 50)
        self.assertGreaterEqual(under, without * 0.9)

    def test_handler_that_uses_a_large_stack(self):
        self.ends(7, [self.options.probe, "deep"])
        self.ends(7, [*self.under("--quiet"), self.options.probe, "deep"])


class MemoryGroup:
    """A control group with little memory, where this user may make one."""

    def __init__(self, size=LIMIT_BYTES):
        for parent, limits in (("/sys/fs/cgroup/memory", {"memory.limit_in_bytes": size, "memory.memsw.limit_in_bytes": size}),
                               ("/sys/fs/cgroup", {"memory.max": size, "memory.swap.max": 0})):
            self.path = pathlib.Path(parent, "launchguard-run-%d" % os.getpid())
            try:
                self.path.mkdir()
            except OSError:
                continue
            for name, value in limits.items():
                try:
                    (self.path / name).write_text(str(value))
                except OSError:  # no account of swap
                    pass
            if (self.path / next(iter(limits))).exists():
                return
            self.path.rmdir()
        self.path = None

    def enter(self):
        """In the child."""
        (self.path / "cgroup.procs").write_text("0")

    def remove(self):
        if self.path:
            def empty():
                for process in (self.path / "cgroup.procs").read_text().split():
                    os.kill(int(process), signal.SIGKILL)
                return not (self.path / "cgroup.procs").read_text()
            wait_until(empty, "the control group empties")
            self.path.rmdir()


class Dying(Recorded):
    LIMIT_BYTES = LIMIT_BYTES

    def dies(self, command, death, **how):
        """A program does its work, prints a line, then its process, and dies. The result is its
        status, that process, its output but for the process, and its errors."""
        number = DEATHS[death][1]
        group = MemoryGroup(self.LIMIT_BYTES) if death == "memory" else None
        if group and not group.path:
            self.skipTest("a control group with little memory needs root and a memory controller")
        run = process = None
        try:
            run = Run(command, before=group and group.enter, **how)
            lines = [line(run.process.stdout) for _ in range(2)]
            process = int(lines[1])
            if number:
                wait_until(lambda: state(process) == "S", "the program waits")
                os.kill(run.pid if number == signal.SIGTERM else process, number)
            status, rest, errors = run.end()
            return status, process, lines[0] + rest, errors
        finally:
            if run:
                run.kill()
            if process and session(process) == run.pid:
                os.kill(process, signal.SIGKILL)
            if group:
                group.remove()


class FiveWays(Dying):
    def check(self, name, death):
        command, work, ways = WAYS[name]
        command = [*command, work + ways[DEATHS[death][0]]]
        without = self.dies(command, death)
        under = self.dies([*self.under(), *command], death)
        self.assertEqual((under[0], under[2]), (without[0], without[2]))
        self.assertLess(under[0], 0)
        run = self.run_of(name, under[1])
        self.assertIn(run["verdict"]["end"], DEATHS[death][2])
        self.assertEqual(run["identity"]["witness"]["signal"]["number"], -under[0])
        if death in ("fault", "abort"):
            self.assertEqual(run["crash"]["signal"]["number"], -under[0])
            self.assertTrue(run["crash"]["dwarfStack"]["frames"])


for name in WAYS:
    for death in DEATHS:
        setattr(FiveWays, "test_%s_%s" % (name, death), lambda self, name=name, death=death: self.check(name, death))


class Witness(Recorded):
    def test_orphan(self):
        output, _ = self.ends(0, [*self.under(), self.options.probe, "orphan"])
        orphan = self.run_of(pathlib.Path(self.options.probe).name, int(output.split()[1]))
        self.assertEqual((orphan["identity"]["witness"]["exitCode"], orphan["verdict"]["end"]), (3, "exit"))

    def test_silent_death(self):
        self.ends(-signal.SIGKILL, [*self.under(), "bash", "-c", "kill -KILL $$"], errors=b"")
        self.assertEqual(self.runs("bash")[-1]["verdict"]["end"], "killed")

    def test_shell_without_job_control(self):
        """A shell reports a child that crashed as it does without the tool."""
        def says(*prefix):
            output, errors = self.ends(0, ["sh", "-c", '"$@"; echo $?', "sh", *prefix, self.options.probe, "fault"])
            return output, errors.decode().splitlines()[-1].split()[0]
        self.assertEqual(says(), says(*self.under()))

    def test_nested(self):
        """One library, and one run of the program."""
        output, _ = self.ends(0, [*self.under(), "--", *self.under(), "--", "sh", "-c", "echo $LD_PRELOAD"])
        self.assertEqual(output.decode().strip(), self.options.preload)
        self.assertEqual(len(self.runs("sh")), 1)

    def test_other_library(self):
        """One that is to be loaded already comes after."""
        output, _ = self.ends(0, [*self.under(), "sh", "-c", "echo $LD_PRELOAD"], env=dict(os.environ, LD_PRELOAD="libm.so.6"))
        self.assertEqual(output.decode().strip(), self.options.preload + ":libm.so.6")

    def test_relative_folder(self):
        self.ends(3, [self.options.tool, "run", "--directory", "here", "sh", "-c", "cd /; sh -c 'exit 3'; exit $?"], cwd=self.directory)
        self.records = self.directory / "here"
        self.assertEqual([run["verdict"]["end"] for run in self.runs("sh")], ["exit", "exit"])

    def test_usual_folder(self):
        for variable in ("XDG_STATE_HOME", "STATE_DIRECTORY"):
            self.records = self.directory / variable
            environment = {key: value for key, value in os.environ.items() if key not in ("XDG_STATE_HOME", "STATE_DIRECTORY")}
            self.ends(-signal.SIGKILL, [self.options.tool, "run", "sh", "-c", "kill -KILL $$"], env={**environment, variable: str(self.records)})
            listed = self.runs("sh") if variable == "XDG_STATE_HOME" else self.runs("")
            self.assertEqual([run["verdict"]["end"] for run in listed], ["killed"])

    def test_no_folder(self):
        """Where the folder cannot be made, the program runs, and a message says so."""
        (self.directory / "file").write_text("")
        _, errors = self.ends(4, [self.options.tool, "run", "--directory", self.directory / "file/below", "sh", "-c", "exit 4"])
        self.assertRegex(errors.decode(), "^launchguard: .*file/below: it cannot be made: .*; the program runs without records\n$")

    def test_interrupted_python(self):
        """Ctrl-C is the interpreter's, which does not notice a signal just before it sleeps: it
        does not sleep."""
        code = ("try:\n  print('rea' + 'dy', flush=True)\n  while True: pass\n"
                "except KeyboardInterrupt:\n  print('interr' + 'upted', flush=True)")
        with Terminal([*self.under(), *WAYS["python3"][0], code]) as terminal:
            terminal.expect("ready")
            terminal.write("\x03")
            terminal.expect("interrupted")
            self.assertEqual(terminal.end(), 0)


class Named(Recorded):
    """The headline names the program's own function, and the record its file."""

    def build(self, name, source, *compiler):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.directory / "source").write_text(source)
        subprocess.run([*compiler, self.directory / "source", "-o", path], check=True, stderr=subprocess.PIPE)
        return path

    def dies(self, number, *command):
        """The first line of the report, and the file of the program."""
        _, errors = self.ends(-number, [*self.under(), *command])
        self.assertNotIn(b"launchguard:", errors)
        path, = self.records.glob("*/runs/*.lgrun")
        done = subprocess.run([self.options.tool, "inspect", path], stdout=subprocess.PIPE, timeout=LIMIT_S, check=True)
        run = json.loads(subprocess.run([self.options.tool, "inspect", "--json", path], stdout=subprocess.PIPE, timeout=LIMIT_S, check=True).stdout)
        shutil.rmtree(self.records)
        self.assertEqual(run["modules"][0]["buildID"], run["identity"]["buildID"])
        return done.stdout.decode().splitlines()[0], run["identity"]["executable"], run["modules"][0]["path"]

    def test_loader(self):
        """The program is an argument of the loader."""
        program = self.build("probe", FAULT, "cc", "-xc", "-g")
        for loader in [loader_of(program)], ["/usr/bin/ld.so", "--library-path", "/nowhere"]:
            if not os.path.exists(loader[0]):
                continue
            line, executable, module = self.dies(signal.SIGSEGV, *loader, program)
            self.assertRegex(line, r" in writes_through\b")
            self.assertEqual((executable, module), (str(program), str(program)))

    def test_long_path(self):
        """A name that was cut says so, and ends in the name of the file."""
        deep = pathlib.Path(*["d" * 200] * 6)
        for folder, whole in (pathlib.Path("d" * 100), True), (deep, False):
            program = self.build(folder / "probe", FAULT, "cc", "-xc", "-g")
            line, executable, module = self.dies(signal.SIGSEGV, program)
            self.assertTrue(module == str(program) if whole else module.startswith("…") and str(program).endswith(module[1:]), module)
            self.assertTrue(executable == str(program) if whole else executable.startswith("…d") and executable.endswith("/probe"), executable)

    def test_static_runtimes(self):
        """Functions of a runtime that is linked into the program are none of its own."""
        program = self.build("vector", VECTOR, "c++", "-xc++", "-g", "-O1", "-static-libstdc++", "-static-libgcc")
        self.assertRegex(self.dies(signal.SIGABRT, program)[0], r" in other\b")
        self.assertRegex(self.dies(signal.SIGABRT, program, "1")[0], r" in pick\b")
        if not shutil.which("rustc"):
            self.skipTest("rustc is not installed")
        for options in [], ["-Csymbol-mangling-version=v0"]:
            program = self.build("option", OPTION, "rustc", "-Cpanic=abort", *options)
            self.assertRegex(self.dies(signal.SIGABRT, program)[0], r" in \S*load\b")


class NotLoaded(Recorded):
    def words(self, path, why):
        return "launchguard: %s: it %s, so that only its end is watched; no record is written\n" % (path, why)

    def test_static(self):
        static = self.options.build("probe.c", "-static")
        words = self.words(static, "is statically linked")
        self.assertEqual(self.ends(5, [*self.under(), static, "exit", "5"])[1].decode(), words)
        self.assertEqual(self.ends(-11, [*self.under(), static, "fault"])[1].decode(), words + "launchguard: %s: it died of SIGSEGV\n" % static)
        self.ends(-11, [*self.under("--quiet"), static, "fault"], errors=b"")

    def test_simulated(self):
        """As one into which nothing is loaded: valgrind would report all that the library does."""
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not installed")
        valgrind, program = shutil.which("valgrind"), self.options.probe
        words = self.words(valgrind, "simulates the program that it runs")
        for way, status, last in (["exit", "5"], 5, ""), (["fault"], -signal.SIGSEGV, "launchguard: %s: it died of SIGSEGV\n" % valgrind):
            command = ["valgrind", "--quiet", "--log-file=/dev/null", program, *way]
            self.ends(status, command, errors=b"")
            self.assertEqual(self.ends(status, [*self.under(), *command])[1].decode(), words + last)

    def test_script_of_static_program(self):
        static = self.options.build("probe.c", "-static")
        script = self.directory / "script"
        script.write_text("#!%s exit\n" % static)
        script.chmod(0o755)
        self.assertEqual(self.ends(0, [*self.under(), script])[1].decode(), self.words(script, "is statically linked"))

    def test_more_rights(self):
        if not is_root():
            self.skipTest("a program with the rights of another user needs root")
        program = self.directory / "probe"
        shutil.copy(self.options.probe, program)
        self.directory.chmod(0o755)
        program.chmod(0o4755)
        (self.directory / "records").mkdir(mode=0o777)
        tool = shutil.copy(self.options.tool, self.directory / "launchguard")
        library = shutil.copy(self.options.preload, self.directory / "preload.so")
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*nobody, "test", "-r", tool], check=False).returncode:
            self.skipTest("another user may not enter TMPDIR")
        environment = dict(os.environ, LAUNCHGUARD_PRELOAD=library)
        command = [*nobody, tool, "run", "--directory", self.records, program, "exit", "4"]
        self.assertEqual(self.ends(4, command, env=environment)[1].decode(), self.words(program, "has more rights than its caller"))
        program.chmod(0o755)
        self.ends(4, command, env=environment, errors=b"")
        # Root itself gets nothing more from it.
        program.chmod(0o4755)
        self.ends(4, [*self.under(), program, "exit", "4"], errors=b"")


class Tools(Recorded):
    def test_tools(self):
        """A debugger, a tracer and an emulator print and end as without the tool, and the crash is
        in a run of the program. gdb kills the program that stands at its fault: where the tool has
        not seen the new run by then, that end is unknown."""
        numbers = functools.partial(re.sub, rb"\b\d{3,}\b", b"N")
        for tool, end in (["strace", "-f", "-o", "/dev/null"], ("debugger",)), (["gdb", "-q", "-nx", "-batch", "-ex", "run", "--args"], ("killed", "unknown")), \
                         (["qemu-" + platform.machine()], ("crash",)):
            if not shutil.which(tool[0]):
                print("left out: %s is not installed" % tool[0])
                continue
            for way, names in (["fault"], end), (["exit", "3"], ("exit",)):
                with self.subTest(tool=tool[0], way=way):
                    shutil.rmtree(self.records, ignore_errors=True)
                    command = [*tool, self.options.probe, *way]
                    bare, under = Run(command).end(), Run([*self.under(), *command]).end()
                    self.assertEqual([under[0], *map(numbers, under[1:])], [bare[0], *map(numbers, bare[1:])])
                    run, = self.runs(pathlib.Path(self.options.probe).name)
                    self.assertIn(run["verdict"]["end"], names)


class RecordedEnds(Recorded, ends.Ends):
    """As without records."""
    test_words_about_a_death = None


class RecordedSent(Recorded, signals.Sent):
    """As without records."""


class RecordedOnTerminal(Recorded, signals.OnTerminal):
    """As without records."""
