#!/usr/bin/env python3
"""Tools that run a program in their hands, as valgrind, strace, gdb and qemu do: they print the
same about a program with the library preloaded, and end the same."""
import os
import platform
import re
import signal
import subprocess
import unittest

from preload import ROOT, Case, main
from test_programs import program

GUEST = "int main(int count, char **arguments) { return count > 1 ? 3 : **(volatile char **)arguments[count]; }"
EARLY = """
#include <spawn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
__attribute__((constructor)) static void ask(void)
{
    char *command[] = { "sh", "-c", "exit 5", NULL };
    int status = -1;
    pid_t child;
    posix_spawn(&child, "/bin/sh", NULL, NULL, command, environ);
    waitpid(child, &status, 0);
    dprintf(1, "%d %d %d\\n", syscall(SYS_getpid) == getpid(), prctl(PR_GET_DUMPABLE) == -1, WEXITSTATUS(status));
}
void early(void) {}
"""
THREADS = """
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
static void *work(void *argument) { free(malloc(100)); return argument; }
static void note(int number) { (void)number; }
int main(void)
{
    pthread_t threads[4];
    signal(SIGUSR1, note);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    raise(SIGUSR1);
    int status = 0;
    if (fork() == 0)
        _exit(7);
    return wait(&status) > 0 && status == 7 << 8 ? 2 : 1;
}
"""
USER = "void early(void); int main(void) { early(); return 0; }"
FAULT = -signal.SIGSEGV
COMPLAINTS = re.compile(r"^--\d+-- .*", re.M)


def without_numbers(text):
    """Processes differ from run to run, and what valgrind itself suppresses."""
    return re.sub(r"\b\d{3,}\b|suppressed: .*", "N", text)


class Valgrind(Case):
    """A program that valgrind simulates has no session: the reports name each call, block and
    race."""

    def reports(self, *command, status):
        bare, preloaded = (self.run_one([program("valgrind"), "--trace-children=yes", *command], preloaded) for preloaded in (False, True))
        self.assertEqual((preloaded[0], without_numbers(preloaded[1])), (status, without_numbers(bare[1])))
        self.assertEqual(bare[0], status)

    def test_programs(self):
        for tool in "memcheck", "helgrind":
            for way, status in (("fault",), FAULT), (("exit", "3"), 3), (("fork", "crash"), 97):
                with self.subTest(tool=tool, way=way):
                    self.setUp()
                    self.reports("--tool=" + tool, self.ways, *way, status=status)
                    self.assertIn("preload-ways", self.log.read_text())
                    self.assertIn("valgrind", self.log.read_text())
                    self.assertFalse((self.state / "preload-ways").exists())

    def test_threads(self):
        """The library adds no block and no shared word to a program with threads and handlers."""
        threads = self.directory / "threads"
        subprocess.run(["cc", "-xc", "-", "-g", "-pthread", "-o", threads], input=THREADS, text=True, check=True)
        for tool in "memcheck", "helgrind", "drd":
            with self.subTest(tool=tool):
                self.reports("--tool=" + tool, threads, status=2)

    def test_linked(self):
        """A program with a session of its own takes no signals there, and valgrind knows its
        calls."""
        linked = os.environ["FAULTS"]
        for way in "null-write", "abort":
            own = self.directory / "own"
            bare = self.run_one([program("valgrind"), linked, "--no-guard", way], False)
            status, text = self.run_one([program("valgrind"), linked, "--state", own, way], False)
            self.assertEqual(status, bare[0], text)
            self.assertEqual(COMPLAINTS.findall(text), COMPLAINTS.findall(bare[1]))
            self.assertTrue(list(own.glob("runs/*.lgrun")), text)


class Tracers(Case):
    def test_same_words(self):
        strace, gdb = program("strace"), program("gdb")
        for tool in ([strace, "-f", "-o", "/dev/null"], [strace, "--seccomp-bpf", "-f", "-e", "trace=execve", "-o", "/dev/null"],
                     [strace, "--seccomp-bpf", "-f", "-o", "/dev/null"]):
            for way, status in (("fault",), FAULT), (("exit", "3"), 3), (("fork", "crash"), 97):
                with self.subTest(tool=tool, way=way):
                    self.setUp()
                    self.same(*tool, self.ways, *way, status=status)
                    ends = {"fault": ["debugger"], "exit": ["exit"], "fork": ["exit", "debugger"]}
                    self.assertEqual([self.end(run) for run in self.runs("preload-ways")], ends[way[0]])
        for way, status in ("fault", 0), ("exit", 0), ("fork", 0):
            with self.subTest(tool="gdb", way=way):
                self.setUp()
                self.same(gdb, "-q", "-nx", "-batch", "-ex", "run", "--args", self.ways, way, "3", status=status, change=without_numbers)

    def test_calls_of_a_child(self):
        """A filter that the program puts on itself is asked for these calls: of the start of a
        forked child, of its end, and of the look at a program that it executes."""
        strace, trace = program("strace"), self.directory / "trace"
        source = (ROOT / "Sources/launchguard-preload/filter.c").read_text()
        asked = set(re.findall(r"SYS_(\w+)", source[source.index("needed[]"):source.index("};")]))
        made = set()
        for way in "leave", "nothing", "missing", "execute", "leave":
            self.run_one([strace, "-ff", "-qq", "-e", "signal=none", "-o", trace, self.ways, "fork", way], True)
            for file in self.directory.glob("trace.*"):
                text = file.read_text()
                file.unlink()
                if not text.startswith("execve("):
                    made |= set(re.findall(r"^(\w+)\(", text.split("+++")[0].split("SIGSEGV")[0].split("execve(\"/")[0], re.M))
        self.assertIn("openat", made)
        self.assertLessEqual(made, asked | {"execve", "write"})


class Qemu(Case):
    def emulator(self, machine):
        return program("qemu-" + machine)

    def test_own_machine(self):
        """The program has the record of its crash."""
        for way, status, end in (("fault",), FAULT, "crash"), (("exit", "3"), 3, "exit"):
            self.setUp()
            self.same(self.emulator(platform.machine()), self.ways, *way, status=status, change=without_numbers)
            self.assertEqual(self.end(self.one("preload-ways")), end)

    def test_other_machine(self):
        """The library is not for the program, whose loader is not asked for it; the record of the
        emulator has its end."""
        other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
        emulator, compiler = self.emulator(other), program(other + "-linux-gnu-gcc")
        root = "/usr/%s-linux-gnu" % other
        for more, status, end in (["more"], 3, "exit"), ([], FAULT, "crash"):
            self.setUp()
            guest = self.directory / "guest"
            subprocess.run([compiler, "-xc", "-", "-o", guest], input=GUEST, text=True, check=True)
            self.same(emulator, "-L", root, guest, *more, status=status)
            self.assertEqual(self.end(self.one("qemu-" + other)), end)


class Constructors(Case):
    def test_other_library(self):
        """A library that makes calls before this one is ready gets libc's answers."""
        library, user = self.directory / "libearly.so", self.directory / "user"
        for source, path, *how in (EARLY, library, "-shared", "-fPIC"), (USER, user, library, f"-Wl,-rpath,{self.directory}"):
            subprocess.run(["cc", "-xc", "-", "-xnone", "-o", path, *how], input=source, text=True, check=True)
        self.assertEqual(self.same(user), "1 0 5\n")


if __name__ == "__main__":
    main(__doc__)
