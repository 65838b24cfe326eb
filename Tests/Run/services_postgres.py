"""PostgreSQL under `launchguard run`: the postmaster and its backends die as without it and are
recorded, and the postmaster starts again what a backend took with it."""
import glob
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import tempfile

import services
from children import LIMIT_S, PR_SET_PDEATHSIG, prctl
from descendants import tells_ends
from programs import has, is_root, line, state, wait_until
from records import MemoryGroup

QUERY = "create table if not exists t (a int); insert into t select generate_series(1, %d); select count(*) > 0, sum(a) > 0 from t"

TELLS_ENDS = tells_ends()

SLEEP = "do $$ begin perform pg_sleep(3600); end $$"


def other_user():
    """In the child: the server refuses root."""
    if is_root():
        user = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # taken back with the user


def title(process):
    """The server's name for the work of a process."""
    return pathlib.Path("/proc/%d/cmdline" % process).read_text().rstrip("\0 ")


class Postgres(services.Service):
    name = "postgres"
    # For each way: the query of a session, the signal to its backend, and the possible ends of the
    # run. An older kernel reports the status of a backend to the postmaster alone; only where its
    # log can be read, the log names the processes that the kernel ended.
    BACKEND = {
        "fault": (SLEEP, None, {"crash"}),
        "abort": (SLEEP, signal.SIGABRT, {"crash"}),
        "kill": (SLEEP, signal.SIGKILL, {"killed"} if TELLS_ENDS else {"unknown"}),
        "term": (SLEEP, signal.SIGTERM, {"exit"}),
        "memory": ("select length(repeat('x', 500000000))", None, {"oom", "killed"} if TELLS_ENDS else {"oom", "unknown"}),
    }

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for folder in glob.glob("/usr/lib/postgresql/*/bin"):
            os.environ["PATH"] = folder + ":" + os.environ["PATH"]
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-run-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.give(cls.folder)
        if has("initdb"):
            subprocess.run(["initdb", "-D", cls.folder / "data", "-A", "trust", "-U", "tester", "--no-sync", "-E", "UTF8", "--locale=C"],
                           check=True, preexec_fn=other_user, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=LIMIT_S, cwd=cls.folder)

    @staticmethod
    def give(path):
        if is_root():
            user = pwd.getpwnam("nobody")
            os.chown(path, user.pw_uid, user.pw_gid)

    def setUp(self):
        super().setUp()
        self.give(self.directory)
        # Each test has a copy, which its crashes change.
        subprocess.run(["cp", "-a", self.folder / "data", self.directory], check=True, timeout=LIMIT_S)
        # Where another user may read them.
        self.tool = shutil.copy(self.options.tool, self.directory / "launchguard")
        self.library = shutil.copy(self.options.preload, self.directory / "preload.so")
        self.addCleanup(self.clean)

    def under(self):
        return ["env", "LAUNCHGUARD_PRELOAD=%s" % self.library, self.tool, *super().under()[1:]]

    def command(self):
        settings = ("listen_addresses=", "unix_socket_directories=%s" % self.directory, "shared_buffers=8MB", "max_connections=8", "fsync=off",
                    "dynamic_shared_memory_type=mmap", "log_min_messages=log")
        return ["postgres", "-D", self.directory / "data", *(part for setting in settings for part in ("-c", setting))]

    def start(self, prefix, before=None):
        return super().start(prefix, lambda: (before and before(), other_user()))

    def psql(self, *queries):
        queries = [part for query in queries for part in ("-c", query)]
        return subprocess.Popen(["psql", "-X", "-q", "-A", "-t", "-h", self.directory, "-U", "tester", *queries, "postgres"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)

    def work(self, count):
        return self.psql(QUERY % count).communicate(timeout=LIMIT_S)[0] == b"t|t\n"

    def clean(self):
        """Its processes, which have sessions of their own, and the shared memory of a server that
        was killed."""
        try:
            memory = (self.directory / "data/postmaster.pid").read_text().splitlines()[6].split()[1]
        except (FileNotFoundError, IndexError):
            memory = None
        super().clean()
        if memory:
            subprocess.run(["ipcrm", "-m", memory], stderr=subprocess.DEVNULL, timeout=LIMIT_S)

    def backend_dies(self, prefix, death):
        """The server's log of the death, the client's output, and the two processes."""
        query, number, _ = self.BACKEND[death]
        group = MemoryGroup() if death == "memory" else None
        if group and not group.path:
            self.skipTest("a control group with little memory needs root and a memory controller")
        (self.directory / "output").unlink(missing_ok=True)
        try:
            run, server = self.start(prefix, group and group.enter)
            client = self.psql("select pg_backend_pid()", query)
            self.addCleanup(client.wait)
            self.addCleanup(client.kill)
            backend = int(line(client.stdout))
            if query == SLEEP:
                wait_until(lambda: title(backend).endswith("] DO") and state(backend) == "S", "the backend sleeps")
            if death == "fault":
                self.inject(backend, services.FAULT)
            elif number:
                os.kill(backend, number)
            words = client.communicate(timeout=LIMIT_S), client.returncode
            wait_until(lambda: state(backend) is None, "the backend ends")
            wait_until(lambda: self.work(1), "the server goes on")
            self.work(50)
            os.kill(run.pid, signal.SIGTERM)
            self.assertEqual(run.process.wait(LIMIT_S), 0)
            log = (self.directory / "output").read_text()
            return re.findall("server process .PID [0-9]+. (was .*|exited .*)", log), words, backend, server
        finally:
            self.clean()
            if group:
                group.remove()

    def check_backend(self, death):
        if death == "fault" and not has("gdb"):
            self.skipTest("gdb is not installed")
        without = self.backend_dies([], death)
        under = self.backend_dies(self.under(), death)
        self.assertEqual(under[:2], without[:2])
        if not TELLS_ENDS:
            print("this kernel reports the status of a backend to the postmaster alone; Linux 6.15 also to the tool")
        run = self.run_of(self.name, under[2])
        self.assertIn(run["verdict"]["end"], self.BACKEND[death][2])
        if death == "fault":
            self.at_nowhere(run)
        if death == "abort":
            self.assertEqual(run["crash"]["signal"]["number"], signal.SIGABRT)
        self.assertIn(self.run_of(self.name, under[3])["verdict"]["end"], {"clean", "exit", "terminated"})


for death in services.DEATHS:
    setattr(Postgres, "test_" + death, lambda self, death=death: self.check(death))
    setattr(Postgres, "test_backend_" + death, lambda self, death=death: self.check_backend(death))
