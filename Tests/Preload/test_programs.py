#!/usr/bin/env python3
"""Programs of the system with the library preloaded: same status, same output, and the record that
is to be expected."""
import os
import shutil
import signal
import subprocess
import unittest

from preload import EXEC, EXIT_MARK, LIMIT_S, TERMINATE_MARK, Case, main

FAULT, ABORT = -signal.SIGSEGV, -signal.SIGABRT

RECOVERS = """
import signal, os, threading
try:
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(60)
except KeyboardInterrupt:
    print("interrupted")
print([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV)])
"""
FORKS = """
import os, sys, warnings
warnings.simplefilter("error")
child = os.fork()
if child == 0:
    os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
child = os.fork()
if child == 0:
    os.abort()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
OUT_OF_BOUNDS = """
#include <stdlib.h>
int main(int count, char **arguments)
{
    char *memory = malloc(8);
    memory[8 + count - 1] = 1;
    return arguments == NULL;
}
"""

INHERITS = """
import os, signal, subprocess, sys
faults = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS}
look = ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]
def hand_on():
    subprocess.run(look, env={}, restore_signals=False)
    os.waitpid(os.posix_spawnp("grep", look, {}), 0)
    os.system("env -i " + " ".join(look))
    try:
        os.execve("/nowhere", look, {})
    except OSError as error:
        print(error, flush=True)
    if os.fork() == 0:
        os.execvpe("grep", look, {})
    os.wait()
    print({int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())}, [int(signal.getsignal(number)) for number in sorted(faults)], flush=True)
for number in faults:
    signal.signal(number, signal.SIG_IGN)
hand_on()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGFPE, signal.SIGTERM})
hand_on()
signal.signal(signal.SIGSEGV, signal.SIG_DFL)
hand_on()
os.kill(os.getpid(), signal.SIGSEGV)
"""
# Its constructor runs before those of a library that is preloaded.
EARLY = """
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
__attribute__((constructor)) static void begin(void)
{
    char *words[] = { "echo", "started", NULL };
    pid_t child = 0;
    int status = posix_spawnp(&child, words[0], NULL, NULL, words, environ);
    waitpid(child, NULL, 0);
    printf("%d %d %d\\n", status, syscall(SYS_getpid) == getpid(), prctl(PR_GET_DUMPABLE));
    fflush(stdout);
    if (system("echo by sh") != 0 || fork() == 0) {
        execlp("echo", "echo", "executed", (char *)NULL);
        perror("execlp");
        _exit(9);
    }
    wait(&status);
    printf("%d\\n", status);
}
void early(void) {}
"""


def program(name):
    found = shutil.which(name)
    if not found:
        raise unittest.SkipTest(name + " is not installed")
    return found


class Programs(Case):
    def names(self):
        return sorted(path.name for path in self.state.iterdir()) if self.state.is_dir() else []

    def test_shells(self):
        script = "echo a; /bin/true; (exit 3); echo $?; echo b | cat; x=$(echo c); echo $x; trap 'echo bye' EXIT; exit 4"
        for shell in "dash", "bash":
            with self.subTest(shell=shell):
                self.setUp()
                self.same(program(shell), "-c", script, status=4)
                runs = self.runs(shell)
                self.expect(runs[0], "exit", EXIT_MARK, code=4)
                self.assertEqual([run["verdict"]["code"] for run in runs[1:]], [3], "helpers leave nothing")
                self.assertEqual(self.names(), sorted([shell, "cat", "true"]))

    def test_shell_is_killed(self):
        self.same(program("bash"), "-c", "kill -SEGV $$", status=FAULT)
        self.expect(self.one("bash"), "crash", signal=signal.SIGSEGV)
        self.setUp()
        self.same(program("bash"), "-c", "trap 'echo asked; exit 2' TERM; kill -TERM $$", status=2)
        self.expect(self.one("bash"), "exit", EXIT_MARK, code=2)
        self.setUp()
        self.same(program("dash"), "-c", "kill -TERM $$", status=-signal.SIGTERM)
        self.expect(self.one("dash"), "terminated", TERMINATE_MARK)

    def test_python(self):
        python = os.path.realpath("/usr/bin/python3") if os.path.exists("/usr/bin/python3") else program("python3")
        name = os.path.basename(python)
        self.assertIn("interrupted", self.same(python, "-c", RECOVERS))
        self.expect(self.one(name), "clean", EXIT_MARK)
        self.setUp()
        self.assertEqual(self.same(python, "-c", FORKS), "5\n-6\n")
        parent, left, crashed = self.runs(name)
        self.expect(parent, "clean", EXIT_MARK)
        self.expect(left, "exit", EXIT_MARK, code=5)
        self.expect(crashed, "crash", signal=signal.SIGABRT)
        self.setUp()
        text = self.same(python, "-X", "faulthandler", "-c", "import ctypes; ctypes.string_at(0)", status=FAULT,
                         # newer ones also print the stack of C, in which the library has a frame
                         change=lambda text: [line for line in text.splitlines() if not line.startswith(("Current thread", "  Binary file"))])
        self.assertIn("Fatal Python error: Segmentation fault", text)
        self.expect(self.one(name), "crash", signal=signal.SIGSEGV, code=1)

    def test_perl(self):
        perl = program("perl")
        self.same(perl, "-e", "$SIG{ALRM} = sub { print qq(alarm\\n) }; kill 'ALRM', $$; system('true'); print $?, qq(\\n); exit 3", status=3)
        self.expect(self.one("perl"), "exit", EXIT_MARK, code=3)
        self.setUp()
        self.same(perl, "-e", "exec 'sh', '-c', 'exit 6'", status=6)
        self.expect(self.one("perl"), "clean", EXEC)
        self.expect(self.one("sh"), "exit", EXIT_MARK, code=6)

    def test_one_thread(self):
        """Calls that a process with two threads is refused."""
        setpriv, unshare = program("setpriv"), program("unshare")
        self.same(setpriv, "--no-new-privs", "--", "sh", "-c", "exit 2", status=2)
        self.expect(self.one("setpriv"), "clean", EXEC)
        bare = self.run_one([unshare, "-U", "true"], False)
        if bare[0] != 0:
            self.skipTest("no user namespaces here: " + bare[1].strip())
        self.same(unshare, "-U", "sh", "-c", "echo there")
        self.expect(self.one("unshare"), "clean", EXEC)

    def test_lost_reader(self):
        """An end by SIGPIPE, as of `yes | head`, is no crash."""
        text = self.same(program("bash"), "-c", "yes | head -n 1; echo ${PIPESTATUS[0]}")
        self.assertEqual(text, "y\n141\n")
        run = self.one("yes")
        self.expect(run, "terminated", TERMINATE_MARK, signal=signal.SIGPIPE)
        self.assertIsNone(run["crash"])

    def test_signals_that_are_handed_on(self):
        """A program that is executed ignores and blocks the same signals."""
        self.same("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else program("python3"), "-c", INHERITS, status=FAULT)
        self.setUp()
        self.same(program("sh"), "-c", "trap '' SEGV FPE; exec env -i grep SigIgn /proc/self/status")

    def test_constructor_that_runs_earlier(self):
        """Functions of libc that are replaced work there, too."""
        (self.directory / "early.c").write_text(EARLY)
        (self.directory / "main.c").write_text("void early(void);\nint main(void) { early(); return 3; }\n")
        for command in (("-shared", "-fPIC", "-o", "libearly.so", "early.c"), ("-o", "main", "main.c", "-L.", "-learly", "-Wl,-rpath,$ORIGIN")):
            subprocess.run([program("gcc"), *command], cwd=self.directory, check=True, timeout=LIMIT_S)
        text = self.same(str(self.directory / "main"), status=3)
        self.assertEqual(sorted(text.splitlines()), sorted(["started", "0 1 1", "by sh", "executed", "0"]))

    def test_sanitizer(self):
        """Its runtime, which refuses to come after other libraries, starts and reports as ever."""
        compiler = program("gcc")
        source, checked = self.directory / "checked.c", self.directory / "checked"
        source.write_text(OUT_OF_BOUNDS)
        done = subprocess.run([compiler, "-g", "-fsanitize=address", source, "-o", checked], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=LIMIT_S)
        if done.returncode:
            self.skipTest("gcc has no AddressSanitizer here")
        def first_lines(text):
            return [line for line in text.splitlines() if "SUMMARY" in line]
        text = self.same(checked, status=1, change=first_lines)
        self.assertIn("heap-buffer-overflow", text)
        self.expect(self.one("checked"), "unknown")  # it ends the process by system call

    def test_tracers(self):
        for command in (("strace", "-f", "-o", "/dev/null"), ("gdb", "-q", "-nx", "-batch", "-ex", "set startup-with-shell off", "-ex", "run", "--args")):
            with self.subTest(tracer=command[0]):
                self.setUp()
                tracer = program(command[0])
                status, _ = self.run_one([tracer, *command[1:], self.ways, "exit", "0"], True)
                self.assertEqual(status, 0)
                self.expect(self.one("preload-ways"), "clean", EXIT_MARK)

    def test_environment(self):
        ours = ("LD_PRELOAD=", "LAUNCHGUARD_")
        self.same(program("env"), change=lambda text: [line for line in text.splitlines() if not line.startswith(ours)])
        self.expect(self.one("env"), "clean", EXIT_MARK)

    # ---- where no record can be made ----

    def problem(self, text):
        self.assertIn(text, self.log.read_text())
        self.log.unlink()

    def test_without_a_place(self):
        """The program runs as ever; only the log has a word."""
        self.state.write_text("no folder")
        self.assertEqual(self.run_one([self.ways, "exit", "5"], True)[0], 5)
        self.problem("preload-ways[")
        self.assertEqual(self.run_one([self.ways, "fault"], True), (FAULT, ""))
        self.problem("state")
        self.assertEqual(self.run_one([self.ways, "fork", "crash"], True)[1], self.run_one([self.ways, "fork", "crash"], False)[1])
        self.log.unlink()
        self.state = "relative"
        self.assertEqual(self.run_one([self.ways, "exit", "5"], True), (5, ""))
        self.problem("absolute")

    def test_size_of_files(self):
        """Under a limit that has no place for the files the program runs as ever, and the log has a
        word where it fits."""
        for blocks in 0, 8, 100:  # of 1 KiB, in bash
            def run(preloaded, *way):
                return self.run_one(["bash", "-c", f"ulimit -f {blocks}; exec \"$@\"", "-", self.ways, *way], preloaded)
            for way in ("exit", "5"), ("fault",), ("fork", "crash"), ("recover", "3"):
                with self.subTest(blocks=blocks, way=way):
                    self.assertEqual(run(True, *way), run(False, *way))
                    self.assertEqual(self.runs("preload-ways"), [])
                    if blocks:
                        self.problem("raise ulimit -f")
                    else:
                        self.assertEqual(self.log.read_text(), "")

    def test_other_user(self):
        """Each user has a folder of its own; nobody's files are taken away."""
        if os.geteuid() != 0:
            self.skipTest("needs root: two users")
        self.state.mkdir()
        self.state.chmod(0o1777)
        setpriv = program("setpriv")
        self.assertEqual(self.run_one([self.ways, "exit", "5"], True)[0], 5)
        os.chmod(self.directory, 0o755)
        if self.run_one([setpriv, "--reuid", "65534", "--clear-groups", program("test"), "-d", self.directory], False)[0] != 0:
            self.skipTest("another user may not enter TMPDIR")
        shutil.copy(self.ways, self.directory / "ways")
        status, text = self.run_one([setpriv, "--reuid", "65534", "--clear-groups", self.ways, "fault"], True)
        if status != FAULT:
            self.skipTest("another user cannot run the program here: " + text.strip())
        self.expect(self.one("preload-ways"), "exit", code=5)
        self.expect(self.one("preload-ways.65534"), "crash", signal=signal.SIGSEGV)


if __name__ == "__main__":
    main(__doc__)
