#!/usr/bin/env python3
"""One life of a program: its description is JSON on standard input, and what was seen of it JSON on
standard output. Root gives the program a room of its own, with processes, network, System V objects
and /dev/shm that nobody else uses; without root it shares those of the machine."""
import ctypes
import fcntl
import hashlib
import json
import os
import pathlib
import pwd
import re
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import termios
import time

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
MS_NOSUID, MS_REC, MS_PRIVATE = 2, 0x4000, 0x40000
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
IGNORED = [number for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN]
SETTLE_S = 20  # processes that should be gone by then stay
libc = ctypes.CDLL(None, use_errno=True)


class Lost(Exception):
    """The life did not go as described."""


def call(function, *arguments):
    if function(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def furnish(paths):
    """The room of process 1."""
    call(libc.mount, b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    call(libc.mount, b"proc", b"/proc", b"proc", MS_NOSUID, None)
    for path in ["/dev/shm", *paths]:
        os.makedirs(path, exist_ok=True)
        call(libc.mount, b"tmpfs", path.encode(), b"tmpfs", MS_NOSUID, b"mode=%o" % (0o1777 if path == "/dev/shm" else 0o755))
    # the loopback device is up
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 0x49))


def status_of(process):
    """Name, state, parent, session, whether it is in the foreground of its terminal; None: gone."""
    try:
        text = pathlib.Path("/proc/%d/stat" % process).read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
    return name, rest[0], int(rest[1]), int(rest[3]), rest[2] == rest[5]


def everyone():
    """All descendants of this process."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (status := status_of(int(entry))):
            found[int(entry)] = status
    family = {os.getpid()}
    while more := {process for process, status in found.items() if status[2] in family} - family:
        family |= more
    return {process: found[process] for process in family - {os.getpid()}}


class Life:
    def __init__(self, plan):
        self.plan = plan
        self.until = time.monotonic() + plan["limit"]
        self.output, self.errors, self.status, self.seen = b"", b"", None, 0
        self.files, self.master = {}, None

    # ---- the start ----

    def identity(self):
        user = pwd.getpwnam(self.plan["user"])
        os.setgroups(os.getgrouplist(user.pw_name, user.pw_gid))
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)

    def become(self, files, terminal):
        """In the child, which leads a process group as a job of a shell does."""
        os.setpgid(0, 0)
        if terminal is not None:
            os.tcsetpgrp(terminal, os.getpid())
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTTOU,))
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.closerange(3, 4096)
        for number in {*IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT}:
            signal.signal(number, signal.SIG_DFL)
        os.umask(0o022)
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if self.plan["user"]:
            self.identity()
        os.chdir(self.plan["folder"])
        os.execvpe(self.plan["command"][0], self.plan["command"], self.plan["environment"])

    def start(self):
        terminal = None
        if self.plan["steps"] is not None:
            self.master, terminal = os.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
            self.modes = termios.tcgetattr(terminal)
            if self.plan["user"]:
                os.fchown(terminal, pwd.getpwnam(self.plan["user"]).pw_uid, -1)
            files = [terminal] * 3
            self.files = {self.master: "output"}
            # the child takes the terminal, which a process of the background may not
            signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTTOU,))
        else:
            (read, write), (read_errors, write_errors) = os.pipe(), os.pipe()
            files = [os.open(self.plan["input"], os.O_RDONLY), write, write_errors]
            self.files = {read: "output", read_errors: "errors"}
        self.terminal = terminal
        self.program = os.fork()
        if self.program == 0:
            try:
                self.become(files, terminal)
            finally:
                os._exit(127)
        for file in files:
            if file != terminal:
                os.close(file)

    # ---- while it lives ----

    def pump(self, pause=0.02):
        """Takes what came, and the ends of children."""
        for file in select.select(list(self.files), [], [], pause)[0]:
            try:
                part = os.read(file, 65536)
            except OSError:
                part = b""
            if not part:
                del self.files[file]
                if file != self.master:
                    os.close(file)
            elif self.files[file] == "output":
                self.output += part
            else:
                self.errors += part
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if process == self.program:
                self.status = os.waitstatus_to_exitcode(status)

    def wait(self, condition, what, until=None):
        while not condition():
            self.pump()
            if time.monotonic() > (until or self.until):
                raise Lost(what)

    def named(self, name):
        return [process for process, status in everyone().items() if status[0] == name[:15] and status[1] != "Z"]

    def is_in_foreground(self, name):
        return any(status[4] for process in self.named(name) if (status := status_of(process)))

    def step(self, kind, *words):
        if kind == "expect":
            wanted = words[0].encode()
            self.wait(lambda: wanted in self.output[self.seen:], "%r does not come" % words[0])
            self.seen = self.output.index(wanted, self.seen) + len(wanted)
            if words[1:]:
                self.step("runs", words[1])
        elif kind == "send":
            os.write(self.master, words[0].encode())
        elif kind == "runs":  # it waits for something
            self.wait(lambda: any(everyone().get(one, "??")[1] == "S" for one in self.named(words[0])), "no %s waits" % words[0])
        elif kind == "foreground":
            self.wait(lambda: self.is_in_foreground(words[0]), "%s does not come to the foreground" % words[0])
        elif kind == "stops":
            self.wait(lambda: any(everyone().get(one, "??")[1] == "T" for one in self.named(words[0])), "%s does not stop" % words[0])
        elif kind == "ends":
            self.wait(lambda: not self.named(words[0]), "%s does not end" % words[0])
        elif kind == "size":
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", *words, 0, 0))
        else:
            raise AssertionError(kind)

    def prepare(self):
        """The script that comes before the program, without the tool."""
        done = subprocess.run(["sh", "-c", self.plan["before"]], cwd=self.plan["folder"], env=self.plan["environment"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise Lost("the preparation fails with status %d: %s" % (done.returncode, done.stdout.decode(errors="replace")[-1000:]))

    # ---- what is left ----

    def left(self):
        return sorted(status[0] for process, status in everyone().items() if status[1] != "Z")

    def tree(self):
        found = {}
        for root in self.plan["trees"]:
            for folder, folders, names in os.walk(root):
                for name in folders + names:
                    path = os.path.join(folder, name)
                    info = os.lstat(path)
                    kind = "%o %d:%d" % (info.st_mode, info.st_uid, info.st_gid)
                    if stat.S_ISREG(info.st_mode):
                        kind += " " + hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:16]
                    elif stat.S_ISLNK(info.st_mode):
                        kind += " -> " + os.readlink(path)
                    found[path] = kind
        return found

    def live(self):
        seen = {}
        try:
            self.prepare()
            self.start()
            for words in self.plan["steps"] or ():
                self.step(*words)
            self.wait(lambda: self.status is not None, "the program does not end")
            seen["foreground"] = self.terminal is not None and os.tcgetpgrp(self.terminal) == self.program
            try:
                self.wait(lambda: self.left() == sorted(self.plan["stays"]), "", time.monotonic() + SETTLE_S)
            except Lost:
                pass
            self.pump(0)
            while self.files and select.select(list(self.files), [], [], 0)[0]:
                self.pump(0)
        except Lost as error:
            seen["lost"] = str(error)
            seen["alive"] = sorted(" ".join(map(str, (process, *status))) for process, status in everyone().items())
        seen.update(status=self.status, output=self.output.decode(errors="backslashreplace"), errors=self.errors.decode(errors="backslashreplace"),
                    left=self.left())
        if self.terminal is not None:
            seen["modes"] = repr(termios.tcgetattr(self.terminal)) if termios.tcgetattr(self.terminal) != self.modes else "as before"
        self.end()
        seen["tree"] = self.tree()
        if self.plan["room"]:
            seen["ipc"] = [line.split()[0] + " " + name for name in ("shm", "sem", "msg")
                           for line in pathlib.Path("/proc/sysvipc", name).read_text().splitlines()[1:]]
            seen["shm"] = sorted(os.listdir("/dev/shm"))
        return seen

    def end(self):
        """Nothing stays."""
        while family := everyone():
            for process in family:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.pump()


def within(plan):
    os.setsid()
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return Life(plan).live()


def in_room(plan):
    """Process 1 of a room, whose end ends all in it."""
    call(libc.unshare, CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET)
    read, write = os.pipe()
    first = os.fork()
    if first == 0:
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.close(read)
            furnish(plan["mounts"])
            pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(plan["first"]))
            with os.fdopen(write, "w") as stream:
                json.dump(within(plan), stream)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            raise
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    os.waitpid(first, 0)
    return json.loads(text)


if __name__ == "__main__":
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    plan = json.load(sys.stdin)
    print(json.dumps(in_room(plan) if plan["room"] else within(plan)))
