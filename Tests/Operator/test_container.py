#!/usr/bin/env python3
"""docs/SUPERVISORS.md in containers of podman: process 1, a root that is read-only, a volume, a
memory limit, and the seccomp filter that podman has for everybody. Long."""
import json
import os
import pathlib
import re
import shutil
import unittest

import manager
import operator_case
from booted import library_folders
from operator_case import ROOT, OperatorCase

HALTED = 20
# The first lines of the shell in the namespaces: $0 is the folder of the test. Processes of podman
# end with the namespaces. The limits are lower than podman's own, which not everybody may set.
# After an end for lack of memory podman leaves a file in the working directory.
BEGIN = manager.UNTIL + r"""
mount -t tmpfs none /run && cd "$0" || exit 99
engine() {
    podman --root "$0/engine/root" --runroot /run/engine --tmpdir /run/engine-tmp --cgroup-manager=cgroupfs --events-backend=none --storage-driver=vfs \
        --runtime "$RUNTIME" "$@"
}
contained() {
    engine run --rm --name notes --network=none --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --cgroup-parent="/$GROUP" --cgroupns=private \
        --read-only --read-only-tmpfs=false --volume /usr:/usr:ro --volume "$0/bin:/opt/notes:ro" --volume "$0/volume:/var/lib/notes" $FOLDERS \
        --env PATH=/opt/notes:/usr/bin:/bin --env LAUNCHGUARD_PRELOAD=/opt/notes/launchguard-preload.so --env PAUSE=0 "$@"
}
"""


class Container(OperatorCase):
    runtime = None  # that works here

    @classmethod
    def setUpClass(cls):
        if why := manager.obstacle():
            raise unittest.SkipTest(why)
        if not shutil.which("podman"):
            raise unittest.SkipTest("needs Debian's package podman")

    def setUp(self):
        super().setUp()
        for name in ("root/usr", "root/etc", "root/proc", "root/sys", "root/dev", "root/run", "root/tmp", "root/opt/notes", "root/var/lib/notes", "bin", "volume"):
            (self.directory / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (self.directory / "root" / name).symlink_to(f"usr/{name}")
        (self.directory / "root/etc/passwd").write_text("root:x:0:0::/root:/bin/sh\n")
        options = operator_case.options
        for path in (options.tool, options.victim, options.preload, ROOT / "Examples/supervisors/supervise.sh"):
            shutil.copy(path, self.directory / "bin" / path.name)
        self.folders = library_folders(options.tool, options.victim)
        for folder in self.folders:
            (self.directory / "root" / folder[1:]).mkdir(parents=True, exist_ok=True)
        self.volume = self.directory / "volume"
        if not type(self).runtime:
            type(self).runtime = self.find_runtime()

    def find_runtime(self):
        said = []
        for name in ("crun", "runc"):
            if path := shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin"):
                said.append(self.engine('contained --rootfs "$0/root" true && echo "it works"', path))
                if said[-1].endswith("it works\n"):
                    return path
        self.skipTest("podman runs no container here: " + ("; ".join(said) or "needs Debian's package crun or runc"))

    def engine(self, script, runtime=None):
        """The output of a script in which `contained` begins `podman run` and `engine` podman."""
        group = f"launchguard-container-{os.getpid()}"
        variables = {"RUNTIME": runtime or self.runtime, "GROUP": group, "FOLDERS": " ".join(f"--volume {path}:{path}:ro" for path in self.folders)}
        settings = "".join(f"{name}='{value}'; " for name, value in variables.items())
        try:
            output = manager.alone(["/bin/sh", "-c", settings + BEGIN + script, self.directory])
        finally:
            groups = pathlib.Path("/sys/fs/cgroup").glob(f"*/{group}")
            manager.remove_groups([pathlib.Path("/sys/fs/cgroup") / group, *groups])
        self.assertNotIn("in vain", output)
        return output

    def ends(self, state):
        verdicts = [json.loads(line)["verdict"] for line in self.tool("list", "--reverse", "--json", "--no-symbols", state).output.splitlines()]
        return [(verdict["end"], verdict.get("signal", {}).get("name")) for verdict in verdicts]

    def test_crash_loop_until_halted(self):
        output = self.engine('contained --rootfs "$0/root" supervise.sh /var/lib/notes operator-victim /var/lib/notes launch-crash; echo "status $?"')
        self.assertIn(f"status {HALTED}\n", output)
        ends = self.ends(self.volume)
        self.assertGreaterEqual(len(ends), 4)
        self.assertEqual(set(ends), {("crash", "SIGABRT")}, output)

    def test_stopped_by_the_engine(self):
        for entry_point in "supervise.sh /var/lib/notes operator-victim", "launchguard run --witness-only -- operator-victim":
            with self.subTest(entry_point):
                output = self.engine(f'contained --rootfs "$0/root" {entry_point} /var/lib/notes pause & ' """
                    until_it 'ls "$0"/volume/runs/*-*'
                    engine stop --time 60 notes
                    wait $!; echo "status $?"
                    """)
                self.assertIn("status 143\n", output)
                self.assertEqual(self.ends(self.volume), [("terminated", "SIGTERM")], output)
                shutil.rmtree(self.volume)
                self.volume.mkdir()

    def test_process_one_of_a_program_as_it_is(self):
        """launchguard run as process 1: status, record, and processes that it inherits."""
        orphans = manager.ORPHANS + "cat /proc/1/comm; kill -SEGV $$"
        output = self.engine(f"""contained --rootfs "$0/root" launchguard run --directory /var/lib/notes -- dash -c '{orphans}'; echo "status $?" """)
        self.assertIn("launchguard\nstatus 139\n", output)
        self.assertIn(("crash", "SIGSEGV"), self.ends(self.volume / "dash"))

    def test_memory_limit(self):
        """Read in the container: from outside nobody sees what the kernel counted there."""
        output = self.engine("""
            contained --memory 64m --memory-swap 64m --rootfs "$0/root" sh -c '
                launchguard run --directory /var/lib/notes -- /usr/bin/python3 -c "kept = [bytearray(1 << 20) for _ in range(4000)]"; echo "status $?"
                launchguard inspect --last /var/lib/notes/python3'
            """)
        if "status" not in output:
            self.skipTest("this machine has no memory limit for a container: " + output)
        self.assertIn("status 137\n", output)
        self.assertIn("killed: ended by SIGKILL; the kernel ended a process of its cgroup for lack of memory", output)

    def test_crash_under_the_filter_of_the_engine(self):
        """The whole record, with the stacks of all threads."""
        output = self.engine("""
            contained --rootfs "$0/root" launchguard run --directory /var/lib/notes -- /usr/bin/python3 -c '
import os, threading
for _ in range(3): threading.Thread(target=threading.Event().wait, daemon=True).start()
os.kill(os.getpid(), 11)'; echo "status $?"
            """)
        self.assertIn("status 139\n", output)
        run = json.loads(self.tool("inspect", "--json", "--no-symbols", "--last", self.volume / "python3").output.splitlines()[0])
        self.assertEqual((run["verdict"]["end"], run["crash"]["threadCounts"]["captured"], run["problems"]), ("crash", 3, []))
        self.assertEqual(run["crash"]["stages"][-1], "done")

    def test_doctor(self):
        output = self.engine("""
            contained --ulimit core=-1 --rootfs "$0/root" launchguard doctor --json /var/lib/notes -- operator-victim; echo "status $?"
            contained --ulimit core=-1 --rootfs "$0/root" launchguard doctor --json /var/lib/other; echo "status $?"
            """)
        parts = re.split(r"status (\d)\n", output)
        codes = [{json.loads(line)["code"] for line in part.splitlines() if line.startswith("{")} for part in parts[0::2]]
        self.assertEqual(parts[1::2], ["0", "8"], output)
        self.assertLessEqual(codes[0], {"system.seccomp", "limit.core", "system.core-pattern", "agent.missing"})
        self.assertIn("system.seccomp", codes[0])
        self.assertLessEqual({"directory.missing", "space.read-only"}, codes[1])


if __name__ == "__main__":
    operator_case.main()
