"""The agent acts as the owner of the state directory, or not at all. Scheduling, limits and
environment are its own, whatever program started it."""
import ctypes
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import unittest

import server as scripted
from delivery import AGENT, LIMIT, MISSING, DeliveryTest, is_gone, status_of
from waiting import wait_until

DONE, NO_SPOOL, LEFT, NO_OWNER, NO_PLACE = 0, 3, 6, 8, 9
NOBODY, SOMEBODY = 65534, 12345
LIBC = ctypes.CDLL(None, use_errno=True)


def become(user, *groups):
    def prepare():
        os.setgroups(groups)
        os.setgid(user)
        os.setuid(user)
    return prepare


class Owner(DeliveryTest):
    def setUp(self):
        super().setUp()
        if os.geteuid():
            self.skipTest("only root acts for other users")
        self.folder.chmod(0o755)
        self.home = self.folder / "home"
        self.home.mkdir()
        os.chown(self.home, NOBODY, 0)  # the group is root's
        self.state, self.spool = self.home / "state", self.home / "state/spool"

    def owe_as(self, user, **options):
        """A run of another user that ended while no agent was there."""
        return self.run_victim("deliver", "begin", "crash", agent_path=MISSING, prepare=become(user), **options)

    def run_as(self, prepare, *arguments):
        return subprocess.run([AGENT, "--state", str(self.state), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
                              env=self.environment, preexec_fn=prepare)

    def refused(self, status, words, prepare=None):
        done = self.run_as(prepare)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, words)

    def owners(self):
        return {path.stat().st_uid for path in [self.state, *self.state.rglob("*")]}

    def test_root_becomes_the_owner(self):
        server = self.server(otherwise=scripted.hang)
        run = self.owe_as(NOBODY, endpoint=server.url())
        agent = self.start_agent()
        wait_until(lambda: server.requests, "the agent sends")
        is_now = {name: status_of(agent.pid, name).split() for name in ("Uid", "Gid", "Groups")}
        self.assertEqual(is_now, {"Uid": [str(NOBODY)] * 4, "Gid": [str(NOBODY)] * 4, "Groups": []})
        for name in "CapInh", "CapPrm", "CapEff", "CapAmb":
            self.assertEqual(int(status_of(agent.pid, name), 16), 0, name)
        agent.kill()
        agent.wait(LIMIT)
        server.otherwise = scripted.status(200)
        self.nudge()  # the attempt has failed
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(list(self.identities(server)), [run.uuid])
        self.assertEqual(self.owners(), {NOBODY})

    def test_root_reads_no_file_of_root_for_another_user(self):
        """Neither credentials nor certificates."""
        server = self.server()
        secret = self.credentials("Authorization: Bearer of-root")
        for name in "credential_file", "ca_file":
            with self.subTest(name):
                self.owe_as(NOBODY, endpoint=server.url().replace("http:", "https:") if name == "ca_file" else server.url(), **{name: secret})
                self.run_agent()
                self.assertEqual(server.requests, [])
                error = self.entry()["error"]
                self.assertRegex(error, "cannot be opened by this user" if name == "credential_file" else "(?i)certificate|CA")
                self.assertEqual(self.owners(), {NOBODY})
                shutil.rmtree(self.state)

    def test_others_are_refused(self):
        server = self.server()
        self.owe_as(NOBODY, endpoint=server.url())
        self.refused(NO_OWNER, "belongs to user %d, and the agent acts as user %d" % (NOBODY, SOMEBODY), become(SOMEBODY))
        os.chown(self.state, 0, 0)
        self.refused(NO_OWNER, "belongs to user 0", become(NOBODY))
        self.assertEqual(server.requests, [])

    def test_a_spool_of_another_user(self):
        """In a folder that all may write to, anybody can make one."""
        server = self.server()
        self.owe_as(NOBODY, endpoint=server.url())
        os.chown(self.state, 0, 0)
        self.state.chmod(0o1777)
        self.refused(NO_OWNER, "spool: it belongs to user %d" % NOBODY)
        self.assertEqual(server.requests, [])

    def test_a_lock_of_another_user(self):
        self.owe_as(NOBODY, endpoint="http://127.0.0.1:9/")
        (self.spool / "agent").touch(mode=0o600)
        self.refused(NO_PLACE, "spool/agent: it cannot be locked: Permission denied")

    def mount(self, *options):
        if subprocess.run(["mount", *options, self.state], stderr=subprocess.DEVNULL, timeout=LIMIT).returncode:
            self.skipTest("this machine mounts no such file system")
        self.addCleanup(subprocess.run, ["umount", "-l", self.state], timeout=LIMIT)

    def test_a_disk_that_is_read_only(self):
        self.owe(endpoint="http://127.0.0.1:9/")
        self.mount("--bind", "-o", "ro", self.state)
        self.refused(NO_PLACE, "spool/agent: it cannot be locked: Read-only file system")

    def test_a_disk_that_is_full(self):
        self.owe(endpoint="http://127.0.0.1:9/")
        copy = self.folder / "copy"
        shutil.copytree(self.state, copy)
        self.mount("-t", "tmpfs", "-o", "nr_inodes=%d" % (len(list(copy.rglob("*"))) + 1), "none")
        shutil.copytree(copy, self.state, dirs_exist_ok=True)
        self.refused(NO_PLACE, "spool/agent: it cannot be locked: No space left on device")


PRIO_PROCESS, PR_SET_TIMERSLACK, IOPRIO_CLASS_IDLE = 0, 29, 3
IOPRIO_SET, IOPRIO_GET = {"x86_64": (251, 252), "aarch64": (30, 31)}[os.uname().machine]
CAP_SYS_NICE = 23
OF_AGENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "https_proxy": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1", "SSL_CERT_DIR": "/etc/ssl/certs",
            "LAUNCHGUARD_WORD": "1"}
OF_PROGRAM = {"SSLKEYLOGFILE": "/tmp/keys", "LD_LIBRARY_PATH": "/nowhere", "MALLOC_PERTURB_": "85", "GLIBC_TUNABLES": "glibc.malloc.perturb=85", "NOTIFY_SOCKET": "/run/notify",
              "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1", "CURL_HOME": "/nowhere", "OPENSSL_CONF": "/nowhere", "PATHOLOGY": "1", "LCD": "1"}


class Own(DeliveryTest):
    def odd(self):
        """Settings of a program that its agent must not have."""
        os.umask(0)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        os.nice(10)
        LIBC.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(10 ** 9), 0, 0, 0)
        LIBC.syscall(IOPRIO_SET, 1, 0, IOPRIO_CLASS_IDLE << 13)
        pathlib.Path("/proc/self/oom_score_adj").write_text("500")
        for limit, soft in (resource.RLIMIT_CPU, 60), (resource.RLIMIT_FSIZE, 1 << 30), (resource.RLIMIT_NOFILE, 128), (resource.RLIMIT_STACK, 1 << 20):
            resource.setrlimit(limit, (soft, resource.getrlimit(limit)[1]))
        os.chdir(self.folder)

    def has(self, agent, name):
        return (pathlib.Path("/proc/%d" % agent) / name).read_text()

    def least_nice(self, agent):
        if int(status_of(agent, "CapEff"), 16) >> CAP_SYS_NICE & 1:
            return 0
        return min(10, max(0, 20 - resource.getrlimit(resource.RLIMIT_NICE)[1]))

    def soft_limits(self, agent):
        return dict(re.findall(r"^(Max [a-z ]+?) {2,}(\S+)", self.has(agent, "limits"), re.MULTILINE))

    def test_what_the_program_has_is_not_the_agents(self):
        hard = {name: resource.getrlimit(limit)[1] for name, limit in (("Max cpu time", resource.RLIMIT_CPU), ("Max file size", resource.RLIMIT_FSIZE),
                ("Max open files", resource.RLIMIT_NOFILE), ("Max stack size", resource.RLIMIT_STACK), ("Max core file size", resource.RLIMIT_CORE))}
        most = {"Max open files": 4096, "Max stack size": 8 << 20, "Max core file size": 0}
        child = self.start("deliver", "begin", "finish", "loop", endpoint="http://127.0.0.1:9/", environment={**OF_AGENT, **OF_PROGRAM}, prepare=self.odd)
        self.attached(child)
        agent = self.agent()
        self.assertEqual(os.sched_getscheduler(agent), os.SCHED_OTHER)
        self.assertEqual(os.sched_getaffinity(agent), os.sched_getaffinity(0))
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, agent), self.least_nice(agent))
        self.assertEqual(LIBC.syscall(IOPRIO_GET, 1, agent) >> 13 & 3, 0)
        if os.geteuid() == 0:  # others may not read it
            self.assertEqual(self.has(agent, "timerslack_ns").strip(), "50000")
        self.assertEqual(self.has(agent, "oom_score_adj").strip(), "0")
        soft = self.soft_limits(agent)
        for name, value in hard.items():
            if name in most:
                value = most[name] if value == resource.RLIM_INFINITY else min(value, most[name])
            self.assertEqual(soft[name], "unlimited" if value == resource.RLIM_INFINITY else str(value), name)
        self.assertEqual(status_of(agent, "Umask"), "0077")
        self.assertEqual(os.readlink("/proc/%d/cwd" % agent), "/")
        self.assertEqual(self.has(agent, "comm").strip(), os.path.basename(AGENT)[:15])
        variables = dict(word.split("=", 1) for word in self.has(agent, "environ").split("\0") if word)
        self.assertEqual(variables, {**OF_AGENT, "HOME": str(self.folder)})
        os.kill(child.pid, signal.SIGKILL)
        self.end(child)

    def test_a_start_by_hand(self):
        """Here the agent alone drops what is not on its list; the others stay as they are."""
        server = self.server(otherwise=scripted.hang)
        self.owe(server=server)
        agent = self.start_agent("--once", **OF_AGENT, **OF_PROGRAM)
        wait_until(lambda: server.requests, "the agent sends")
        variables = dict(word.split("=", 1) for word in self.has(agent.pid, "environ").split("\0") if word)
        self.assertEqual(variables, {**OF_AGENT, "HOME": str(self.folder)})

    def test_it_confines_itself(self):
        """And the process beside it, which ends with it. What that means: test_sandbox.c."""
        child = self.start("deliver", "begin", "finish", "loop", endpoint="http://127.0.0.1:9/")
        self.attached(child)
        agent = self.agent()
        words = re.search("confined: (.*)", self.log())[1]
        print(words, flush=True)
        self.assertRegex(words, "^(writes only beneath the state directory, by Landlock|files by the rights of the user alone, without Landlock: .)")
        beside, = map(int, self.has(agent, "task/%d/children" % agent).split())
        self.assertEqual(self.has(beside, "cmdline").rstrip("\0"), "launchguard-status")
        self.assertEqual([os.readlink(entry.path).split(":")[0] for entry in os.scandir("/proc/%d/fd" % beside)], ["socket"])
        for process in agent, beside:
            self.assertEqual(status_of(process, "NoNewPrivs"), "1")
            if "without a filter: " not in words:
                self.assertEqual(status_of(process, "Seccomp"), "2")
        self.end_agent(agent)
        wait_until(lambda: is_gone(beside), "the process beside the agent has ended")
        os.kill(child.pid, signal.SIGKILL)
        self.end(child)

    def test_a_loader_that_is_told_to_load_it(self):
        """The agent cannot execute itself again, and works."""
        server = self.server()
        run = self.owe(server=server)
        loader = re.search(rb"/[^\0]+/ld-[^\0]+", pathlib.Path(AGENT).read_bytes()[:4096])
        if not loader:
            self.skipTest("the agent is a static program")
        done = subprocess.run([loader[0].decode(), AGENT, "--state", self.state, "--once"], timeout=LIMIT, env={**self.environment, "PATHOLOGY": "1"})
        self.assertEqual(done.returncode, DONE)
        self.assertEqual(list(self.identities(server)), [run.uuid])


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is left out
