#!/usr/bin/env python3
"""Programs that cannot take the library, started by one that has it: another loader, another
machine, another root directory. They start, say nothing, and get no files."""
import os
import re
import shutil
import subprocess
import unittest

from preload import Case, main

# A loader of its own: it shows what it was given, and loads nothing.
LOADER = r"""
#if defined __x86_64__
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call show");
static long call(long number, long a, const void *b, long c)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
}
enum { WRITE = 1, EXIT = 231 };
#elif defined __i386__
__asm__(".globl _start\n_start: mov %esp, %eax\n and $-16, %esp\n sub $12, %esp\n push %eax\n call show");
static long call(long number, long a, const void *b, long c)
{
    __asm__ volatile("int $0x80" : "+a"(number) : "b"(a), "c"(b), "d"(c) : "memory");
    return number;
}
enum { WRITE = 4, EXIT = 252 };
#else
__asm__(".globl _start\n_start: mov x0, sp\n b show");
static long call(long number, long a, const void *b, long c)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = (long)b, x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
enum { WRITE = 64, EXIT = 94 };
#endif
void show(long *stack)
{
    const char *name = "LD_PRELOAD=";
    for (char **at = (char **)(stack + *stack + 2); *at; at++) {
        int same = 0, size = 0;
        while (name[same] && (*at)[same] == name[same])
            same++;
        while ((*at)[size])
            size++;
        if (!name[same]) {
            call(WRITE, 1, *at, size);
            call(WRITE, 1, "\n", 1);
        }
    }
    call(WRITE, 1, "begun\n", 6);
    call(EXIT, 0, 0, 0);
}
"""
WAYS = r"""
import os, subprocess, sys
program = sys.argv[1]
folder, name = os.path.split(program)
env = dict(os.environ, PATH=folder)
def child(execute):
    if (process := os.fork()) == 0:
        try:
            execute()
        finally:
            os._exit(99)
    assert os.waitpid(process, 0)[1] == 0
child(lambda: os.execv(program, [program]))
child(lambda: os.execve(program, [program], env))
def by_path(function):
    os.environ["PATH"] = folder
    function()
child(lambda: by_path(lambda: os.execvp(name, [name])))
child(lambda: by_path(lambda: os.execvpe(name, [name], env)))
file = os.open(program, os.O_RDONLY)
os.set_inheritable(file, True)
child(lambda: os.execve(file, [program], env))
assert os.waitpid(os.posix_spawn(program, [program], os.environ), 0)[1] == 0
subprocess.run([program], check=True)
"""
CHROOT = r"""
import os, sys
os.chroot(sys.argv[1]); os.chdir("/")
if (child := os.fork()) == 0:
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sorted(os.listdir("/")))
"""


class Elsewhere(Case):
    def compile(self, name, source, *options):
        path = self.directory / name
        subprocess.run(["cc", "-xc", "-", "-o", path, *options], input=source, text=True, check=True)
        return path

    def foreign(self, loader="ld-musl-test.so.1", *options):
        """A program with that loader."""
        if os.uname().machine == "x86_64":
            options += ("-fcf-protection=none",)
        path = self.compile(loader, LOADER, "-nostdlib", "-static", "-fno-stack-protector", "-fno-pie", "-no-pie", *options)
        return self.compile("foreign", "void _start(void) { for (;;) ; }", "-nostdlib", "-pie", "-fpie", f"-Wl,--dynamic-linker={path}", *options)

    def test_other_loader(self):
        """However it is executed, also as the interpreter of a script."""
        program = self.foreign()
        self.assertEqual(self.same("/usr/bin/python3", "-c", WAYS, program), "begun\n" * 7)
        script = self.directory / "script"
        script.write_text(f"#!{program} -x\n")
        script.chmod(0o755)
        self.assertEqual(self.same("/usr/bin/python3", "-c", WAYS, script), "begun\n" * 7)

    def test_what_else_is_preloaded_stays(self):
        program = self.foreign()
        status, output = self.run_one(["sh", "-c", f"export LD_PRELOAD=\"libm.so.6:$LD_PRELOAD libdl.so.2\"; /bin/sh -c {program}"], True)
        self.assertEqual((status, output), (0, "LD_PRELOAD=libm.so.6:libdl.so.2\nbegun\n"))

    @unittest.skipUnless(os.uname().machine == "x86_64", "the other machine is i386")
    def test_other_machine(self):
        """Its loader would say that the library is of a wrong class."""
        program = self.foreign("ld-linux.so.2", "-m32")
        if self.run_one([program], False)[0] != 0:
            self.skipTest("this kernel runs no programs of i386")
        self.assertEqual(self.same("/usr/bin/python3", "-c", WAYS, program), "begun\n" * 7)

    def jail(self):
        jail = self.directory / "jail"
        programs = [shutil.which("true"), shutil.which("sh")]
        for program in map(os.path.realpath, programs):
            libraries = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)
            for path in [program, *libraries]:
                to = jail / path.lstrip("/")
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, to)
        return jail, *map(os.path.realpath, programs)

    @unittest.skipUnless(os.geteuid() == 0, "only root may change the root directory")
    def test_other_root(self):
        jail, true, shell = self.jail()
        before = sorted(jail.rglob("*"))
        self.same("chroot", jail, true)
        self.same("chroot", jail, shell, "-c", f"{true}; {true}; exit 3", status=3)
        self.same("/usr/bin/python3", "-c", CHROOT, jail)
        self.assertEqual(sorted(jail.rglob("*")), before)


if __name__ == "__main__":
    main(__doc__)
