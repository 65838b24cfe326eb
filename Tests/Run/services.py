"""Services under `launchguard run`: they serve, die as without it, and are recorded."""
import os
import signal
import socket
import subprocess
import unittest

from children import LIMIT_S
from programs import Run, children, has, is_root, state, wait_until
from records import MemoryGroup, Recorded

# In a process that waits: a jump to nowhere, and more memory than the control group has.
FAULT = ["set var $pc = 0"]
MEMORY = ["call (void *)memset((void *)malloc(0x10000000UL), 1, 0x10000000UL)"]
DEATHS = {
    "fault": (FAULT, None, {"crash"}),
    "abort": (None, signal.SIGABRT, {"crash"}),
    "kill": (None, signal.SIGKILL, {"killed"}),
    "term": (None, signal.SIGTERM, {"clean", "terminated", "exit"}),
    "memory": (MEMORY, None, {"oom", "killed"}),
}


class Service(Recorded):
    """The ways to die, of a program that the classes below choose."""
    name = None

    def setUp(self):
        super().setUp()
        if not has(self.name):
            self.skipTest("%s is not installed" % self.name)
        self.address = str(self.directory / "socket")

    def start(self, prefix, before=None):
        """The run, and the process of the program."""
        run = Run([*prefix, *self.command()], before=before, stdout=open(self.directory / "output", "ab"), stderr=subprocess.STDOUT, cwd=self.directory)
        self.addCleanup(run.kill)

        def answers():
            self.assertIsNone(run.process.poll(), (self.directory / "output").read_text())
            try:
                return self.work(1)
            except OSError:
                return False
        wait_until(answers, "%s serves" % self.name)
        self.work(200)
        return run, run.program() if prefix else run.pid

    def ask(self, request, end):
        """The answer to a request, up to its end."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(LIMIT_S)
            client.connect(self.address)
            client.sendall(request)
            answer = b""
            while not answer.endswith(end) and (part := client.recv(65536)):
                answer += part
            return answer

    def inject(self, process, commands):
        """The debugger does it in the process, which dies of it once it is let go."""
        arguments = [part for command in commands for part in ("-ex", command)]
        subprocess.run(["gdb", "-q", "-nx", "-batch", "-p", str(process), "-ex", "set confirm off", *arguments, "-ex", "detach"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT_S)

    def at_nowhere(self, run):
        """A system call that is to be repeated puts the counter two bytes back."""
        self.assertIn(int(run["crash"]["programCounter"], 16), (0, 2**64 - 2))

    def dies(self, prefix, death):
        commands, number, _ = DEATHS[death]
        group = MemoryGroup() if death == "memory" else None
        if group and not group.path:
            self.skipTest("a control group with little memory needs root and a memory controller")
        if commands and not has("gdb"):
            self.skipTest("gdb is not installed")
        try:
            run, process = self.start(prefix, group and group.enter)
            if commands:
                self.inject(process, commands)
            else:
                os.kill(run.pid if number == signal.SIGTERM else process, number)
            status = run.process.wait(LIMIT_S)
            return status, process
        finally:
            if group:
                group.remove()
            self.clean()

    def clean(self):
        """The records of the program."""
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and os.readlink("/proc/%s/cwd" % entry).startswith(str(self.directory)):
                    os.kill(int(entry), signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                pass

    def check(self, death):
        without, _ = self.dies([], death)
        status, process = self.dies(self.under(), death)
        self.assertEqual(status, without)
        run = self.run_of(self.name, process)
        self.assertIn(run["verdict"]["end"], DEATHS[death][2])
        if status < 0:
            self.assertEqual(run["identity"]["witness"]["signal"]["number"], -status)
        if death in ("fault", "abort"):
            self.assertEqual(run["crash"]["signal"]["number"], -status)
        if death == "fault":
            self.at_nowhere(run)


class Redis(Service):
    name = "redis-server"
    SHORT = ["--crash-memcheck-enabled", "no"]  # the report of a crash

    def command(self):
        return ["redis-server", "--port", "0", "--unixsocket", self.address, "--save", "", "--dir", str(self.directory), *self.SHORT]

    def work(self, count):
        requests = b"".join(b"INCR counter\r\nSET k%d %s\r\n" % (number, b"x" * 100) for number in range(count))
        return self.ask(requests + b"PING\r\n", b"+PONG\r\n").count(b"+OK") == count

    def test_memory_check(self):
        """Its handler needs a megabyte of stack."""
        self.SHORT = ["--crash-memcheck-enabled", "yes"]
        self.check("abort")

    def test_saving_child(self):
        """It forks a child that writes the data: a run of its own, which ends well."""
        run, process = self.start(self.under())
        self.ask(b"BGSAVE\r\n", b"\r\n")
        wait_until(lambda: (self.directory / "dump.rdb").exists() and b"rdb_bgsave_in_progress:0" in self.ask(b"INFO persistence\r\n", b"\r\n\r\n"), "the data is saved")
        os.kill(run.pid, signal.SIGTERM)
        self.assertEqual(run.process.wait(LIMIT_S), 0)
        self.assertIn(self.run_of(self.name, process)["verdict"]["end"], DEATHS["term"][2])


class Nginx(Service):
    name = "nginx"

    def command(self):
        page = self.directory / "page"
        page.write_text("served\n")
        path = self.directory / "conf"
        path.write_text("""
            %s worker_processes 2; daemon off; pid pid; error_log stderr;
            events { worker_connections 64; }
            http { access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
                   server { listen unix:%s; root %s; } }""" % ("user root;" if is_root() else "", self.address, self.directory))
        return ["nginx", "-p", str(self.directory), "-c", str(path)]

    def setUp(self):
        super().setUp()
        os.environ["PATH"] += ":/usr/sbin"

    def start(self, prefix, before=None):
        # A master that was killed leaves its socket, which the next one takes for another server.
        if os.path.exists(self.address):
            os.unlink(self.address)
        return super().start(prefix, before)

    def work(self, count):
        return all(b"served" in self.ask(b"GET /page HTTP/1.0\r\n\r\n", b"served\n") for _ in range(count))

    def test_worker(self):
        """A worker that crashes is replaced, and recorded; the master goes on."""
        if not has("gdb"):
            self.skipTest("gdb is not installed")
        run, master = self.start(self.under())
        worker = wait_until(lambda: children(master), "the workers start")[0]
        self.inject(worker, FAULT)
        wait_until(lambda: state(worker) is None, "the worker dies")
        wait_until(lambda: len(children(master)) == 2, "another worker takes its place")
        self.work(50)
        os.kill(run.pid, signal.SIGTERM)
        self.assertEqual(run.process.wait(LIMIT_S), 0)
        crashed = self.run_of(self.name, worker)
        self.assertEqual(crashed["verdict"]["end"], "crash")
        self.at_nowhere(crashed)
        self.assertIn(self.run_of(self.name, master)["verdict"]["end"], DEATHS["term"][2])


for program in (Redis, Nginx):
    for death in DEATHS:
        setattr(program, "test_" + death, lambda self, death=death: self.check(death))
del program  # a test case of its own, to the loader
