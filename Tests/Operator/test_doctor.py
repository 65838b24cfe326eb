#!/usr/bin/env python3
"""`launchguard doctor`: each weakness is made true and is named, and a healthy system has none."""
import ctypes
import errno
import json
import os
import pathlib
import shutil
import signal
import struct
import unittest

import operator_case
from operator_case import OperatorCase, run

NOTE, WARNING, ERROR = "note", "warning", "error"
STATUS = {None: 0, NOTE: 0, WARNING: 7, ERROR: 8}
USAGE = 2
NOBODY = 65534
HEALTHY = 'ulimit -c unlimited; exec "$@"'  # the only weakness that most systems have by themselves


def can_unshare():
    return os.geteuid() == 0 and shutil.which("unshare") and run(["unshare", "-m", "true"]).status == 0


# Another process 1 than this machine's, which may leave processes behind.
ALONE = ["unshare", "-mpf", "--kill-child", "--mount-proc"] if can_unshare() else []
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
needs_mounts = unittest.skipUnless(can_unshare(), "needs root and a mount namespace")
needs_root = unittest.skipUnless(os.geteuid() == 0, "needs root, for files of another user")
needs_gcc = unittest.skipUnless(shutil.which("gcc") and shutil.which("objcopy"), "needs gcc and binutils, to make the programs")


class DoctorCase(OperatorCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o755)  # other users of the tests go through it

    def needs_another_user(self):
        if any(run([*AS_NOBODY, "test", "-r", path]).status for path in (operator_case.options.tool, self.directory)):
            self.skipTest("another user may not enter the folder of the tool, or TMPDIR")

    def doctor(self, *arguments, wrap=(), shell=HEALTHY, variables={}, **more):
        command = [*ALONE, *wrap, "/bin/sh", "-c", shell, "sh", operator_case.options.tool, "doctor", "--json", *arguments]
        result = run(command, {"LAUNCHGUARD_AGENT": "/bin/true", **variables}, **more)
        findings = {}
        for line in result.output.splitlines():
            finding = json.loads(line)
            self.assertEqual(finding["type"], "finding")
            self.assertTrue(finding["problem"] and finding["remedy"])
            findings.setdefault(finding["code"], finding)
        worst = [severity for severity in (ERROR, WARNING, NOTE) if any(finding["severity"] == severity for finding in findings.values())]
        self.assertEqual(result.status, STATUS[worst[0] if worst else None], result)
        self.assertEqual(result.errors, "")
        if not ALONE:
            findings.pop("system.reaper", None)
        return findings

    def finds(self, code, severity, words, *arguments, **more):
        findings = self.doctor(*arguments, **more)
        self.assertIn(code, findings)
        self.assertEqual(findings[code]["severity"], severity, findings[code])
        self.assertIn(words, findings[code]["problem"])
        return findings

    def mounted(self, script, *arguments):
        """The way of finds() to a mount namespace, in which the script runs first; its $0 is the
        folder of the test."""
        return {"wrap": ["/bin/sh", "-c", script + ' && exec "$@"', self.directory]}


class Healthy(DoctorCase):
    def test_nothing(self):
        self.state.mkdir(mode=0o700)
        self.assertEqual(self.doctor(self.state), {})
        self.assertEqual(self.doctor(), {})
        self.assertEqual(self.doctor(variables={"STATE_DIRECTORY": f"{self.state}:/elsewhere"}), {})
        # The program has symbols, a build id, unwind tables and a loader.
        self.assertEqual(self.doctor(self.state, "--", operator_case.options.victim, "--json", "-x"), {})

    def test_nothing_in_words(self):
        self.state.mkdir(mode=0o700)
        if not ALONE:
            self.skipTest("needs a pid namespace: process 1 of this machine may leave processes behind")
        command = [*ALONE, "/bin/sh", "-c", HEALTHY, "sh", operator_case.options.tool, "doctor", self.state]
        result = run(command, {"LAUNCHGUARD_AGENT": "/bin/true"})
        self.assertEqual((result.status, result.output), (0, "nothing was found that would weaken a record\n"))

    def test_nothing_is_changed(self):
        self.doctor(self.state, "--", operator_case.options.victim, self.state, "live")
        self.assertFalse(self.state.exists())

    def test_words_and_errors_first(self):
        result = self.tool("doctor", "/dev/null/x", "--", "no-such-program", PATH="/usr/bin:/bin")
        self.assertEqual(result.status, STATUS[ERROR])
        self.assertTrue(result.output.startswith("error    "), result)
        self.assertIn("[program.missing]\n         name a program", result.output)

    def test_usage(self):
        for arguments in [["--no-such"], ["a", "b"]]:
            self.assertEqual(self.tool("doctor", *arguments).status, USAGE)


class Directory(DoctorCase):
    def test_missing(self):
        self.finds("directory.missing", NOTE, "is not there yet", self.state)
        self.finds("directory.missing", NOTE, "is not there yet", self.state / "a/b/c")

    def test_no_directory(self):
        self.state.write_bytes(b"")
        self.finds("directory.kind", ERROR, "is not a directory", self.state)
        self.finds("directory.kind", ERROR, "a part of", self.state / "below")

    def test_mode(self):
        self.state.mkdir()
        for mode, found in [(0o770, True), (0o702, True), (0o755, False), (0o700, False)]:
            os.chmod(self.state, mode)
            self.assertEqual("directory.mode" in self.doctor(self.state), found, oct(mode))

    @needs_root
    def test_other_users(self):
        self.needs_another_user()
        self.finds("directory.missing", ERROR, "may not make it", self.state, wrap=AS_NOBODY)
        (self.directory / "closed").mkdir(mode=0o700)
        self.finds("directory.closed", ERROR, "may not enter", self.directory / "closed/state", wrap=AS_NOBODY)
        self.state.mkdir(mode=0o755)
        self.finds("directory.owner", ERROR, "belongs to user 0, and this is user 65534", self.state, wrap=AS_NOBODY)
        self.finds("directory.permission", ERROR, "may not be written", self.state, wrap=AS_NOBODY)
        os.chown(self.state, NOBODY, NOBODY)
        self.finds("directory.owner", NOTE, "belongs to user 65534", self.state)
        self.assertEqual(self.doctor(self.state, wrap=AS_NOBODY), {})

    @needs_root
    def test_links(self):
        inner = self.directory / "inner"
        (inner / "state").mkdir(parents=True)
        link = self.directory / "link"
        link.symlink_to(inner)
        self.assertEqual(self.doctor(link / "state"), {}, "root's own link")
        os.lchown(link, NOBODY, NOBODY)
        self.finds("directory.link", ERROR, "is a symbolic link of user 65534", link)
        self.assertEqual(self.doctor(link / "state"), {}, "another user's link where nobody else may make one")
        os.chmod(self.directory, 0o757)
        self.finds("directory.link", ERROR, "is a symbolic link of user 65534", link / "state")
        for name in ("ledger.lg", "runs"):
            (inner / "state" / name).symlink_to("/nowhere")
            self.finds("directory.link", ERROR, f"{name} is a symbolic link", inner / "state")
            (inner / "state" / name).unlink()


@needs_mounts
class Space(DoctorCase):
    def tmpfs(self, options):
        self.state.mkdir(exist_ok=True)
        return self.mounted(f'mount -t tmpfs -o {options},mode=700 none "$0/state"')

    def test_memory(self):
        found = self.finds("filesystem.memory", WARNING, "is on tmpfs", self.state, **self.tmpfs("size=8m"))
        self.assertEqual(list(found), ["filesystem.memory"])
        self.finds("filesystem.memory", WARNING, "is on tmpfs", self.state / "not/yet", **self.tmpfs("size=8m"))

    def test_space(self):
        self.finds("space.full", WARNING, "KiB are free", self.state, **self.tmpfs("size=512k"))
        self.finds("space.full", ERROR, "KiB are free", self.state, **self.tmpfs("size=64k"))

    def test_inodes(self):
        self.finds("space.inodes", WARNING, "inodes are free", self.state, **self.tmpfs("size=8m,nr_inodes=20"))
        self.finds("space.inodes", ERROR, "inodes are free", self.state, **self.tmpfs("size=8m,nr_inodes=3"))

    def test_read_only(self):
        found = self.finds("space.read-only", ERROR, "read-only", self.state, **self.tmpfs("size=8m,ro"))
        self.assertEqual(list(found), ["space.read-only"])

    def test_overlay(self):
        self.state.mkdir()
        way = self.mounted('mount -t tmpfs none /mnt && mkdir /mnt/a /mnt/b /mnt/c && '
                           'mount -t overlay -o lowerdir=/mnt/a,upperdir=/mnt/b,workdir=/mnt/c none "$0/state"')
        if run([*ALONE, *way["wrap"], "true"]).status != 0:
            self.skipTest("this kernel mounts no overlay here")
        self.finds("filesystem.layer", WARNING, "is on overlay", self.state, **way)

    def test_remote(self):
        self.state.mkdir()
        device = os.stat(self.state).st_dev
        for name in ("nfs4", "fuse.sshfs", "9p"):
            (self.directory / "mounts").write_text(f"30 1 {os.major(device)}:{os.minor(device)} / / rw,relatime shared:1 - {name} host:/x rw\n")
            way = self.mounted('mount --bind "$0/mounts" "/proc/$$/mountinfo"')
            self.finds("filesystem.remote", WARNING, f"is on {name}", self.state, **way)

    def test_sharing(self):
        """As on some network file systems: mmap() refuses to share files."""
        def refuse():
            libc = ctypes.CDLL(None)
            load, equal, any_of, answer = 0x20, 0x15, 0x45, 0x06
            call = {"x86_64": 9, "aarch64": 222}[os.uname().machine]
            # mmap(), MAP_SHARED, a file: ENODEV
            rules = [(load, 0, 0, 0), (equal, 0, 5, call), (load, 0, 0, 40), (any_of, 0, 3, 1), (load, 0, 0, 48), (any_of, 1, 0, 0x80000000),
                     (answer, 0, 0, 0x00050000 | errno.ENODEV), (answer, 0, 0, 0x7FFF0000)]
            filter = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", code, yes, no, value) for code, yes, no, value in rules))
            program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(filter)))
            if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
                os._exit(77)
        self.state.mkdir()
        self.finds("filesystem.sharing", ERROR, "cannot share", self.state, preexec_fn=refuse)
        self.assertNotIn("filesystem.sharing", self.doctor(self.state))
        self.assertEqual(list(self.state.iterdir()), [])

    def test_fuse(self):
        if not shutil.which("bindfs") or not os.path.exists("/dev/fuse"):
            self.skipTest("needs FUSE and Debian's package bindfs")
        (self.directory / "source").mkdir(mode=0o700)
        self.state.mkdir()
        # Its server ends with the namespace.
        way = self.mounted('bindfs "$0/source" "$0/state"')
        found = self.finds("filesystem.remote", WARNING, f"{self.state} is on fuse", self.state, **way)
        self.assertEqual(list(found), ["filesystem.remote"])


class System(DoctorCase):
    def test_limits(self):
        for limit, code, severity, words in [
            ("ulimit -f 100", "limit.file-size", ERROR, "a run file does not fit"), ("ulimit -n 12", "limit.descriptors", WARNING, "12 descriptors"),
            ("ulimit -c 0", "limit.core", NOTE, "no core file"),
        ]:
            with self.subTest(limit=limit):
                self.finds(code, severity, words, shell=f'ulimit -c unlimited; {limit}; exec "$@"')

    @unittest.skipUnless(shutil.which("prlimit"), "needs prlimit")
    def test_pending_signals(self):
        self.finds("limit.pending-signals", WARNING, "of 4 places", wrap=["prlimit", "--sigpending=4"])

    def test_address_space(self):
        self.finds("limit.address-space", WARNING, "100663296 bytes", shell='ulimit -c unlimited; ulimit -v 98304; exec "$@"')

    @needs_mounts
    def test_core_pattern(self):
        for text, program in [("|/usr/lib/systemd/systemd-coredump %P %u\n", "/usr/lib/systemd/systemd-coredump"), ("|/usr/share/apport/apport -p%p\n", "apport")]:
            (self.directory / "pattern").write_text(text)
            found = self.finds("system.core-pattern", NOTE, program, shell='ulimit -c 0; exec "$@"',
                               **self.mounted('mount --bind "$0/pattern" /proc/sys/kernel/core_pattern'))
            self.assertNotIn("limit.core", found, "the limit is one of files")

    def test_seccomp(self):
        def allow_all():
            libc = ctypes.CDLL(None)
            # BPF_RET, SECCOMP_RET_ALLOW
            rule = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
            program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(rule)))
            # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
            if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
                os._exit(77)
        self.finds("system.seccomp", NOTE, "a seccomp filter is in force", preexec_fn=allow_all)

    @needs_mounts
    def test_process_one_that_does_not_reap(self):
        script = ("import os, subprocess, sys\nif sys.argv[1] == 'leave' and os.fork() == 0: os._exit(0)\n"
                  "sys.exit(subprocess.call(sys.argv[2:]))")
        for how, found in [("leave", True), ("none", False)]:
            findings = self.doctor(wrap=["python3", "-c", script, how])
            self.assertEqual("system.reaper" in findings, found, findings)
        self.finds("system.reaper", WARNING, "process 1 (python3) does not wait", wrap=["python3", "-c", script, "leave"])

    def test_agent(self):
        self.state.mkdir(mode=0o700)
        absent = {"variables": {"LAUNCHGUARD_AGENT": "/nonexistent"}}
        self.finds("agent.missing", NOTE, "was not found", self.state, **absent)
        (self.state / "spool").mkdir(mode=0o700)
        self.finds("agent.missing", WARNING, "they stay owed", self.state, **absent)
        self.finds("agent.broken", WARNING, "/bin/false cannot run", self.state, variables={"LAUNCHGUARD_AGENT": "/bin/false"})
        agent = self.directory / "agent"
        agent.write_text("#!/bin/sh\necho 'launchguard-agent 0.1.0, built without OpenSSL: hint_key has no effect'\n")
        agent.chmod(0o700)
        old = {"variables": {"LAUNCHGUARD_AGENT": str(agent)}}
        config = self.state / "spool/config"
        for key in ("", "A" * 43):
            config.write_text("launchguard-delivery 1\ntarget=http\nhint_key=%s\n" % key)
            self.assertEqual("agent.no-hints" in self.doctor(self.state, **old), bool(key))
        config.unlink()
        mute = self.directory / "mute"
        mute.write_text("#!/bin/sh\nexec sleep 60\n")
        mute.chmod(0o755)
        self.finds("agent.broken", WARNING, "mute does not answer", self.state, variables={"LAUNCHGUARD_AGENT": str(mute)})
        self.assertEqual(self.doctor(self.state), {})


class Programs(DoctorCase):
    def test_none(self):
        self.finds("program.missing", ERROR, "no-such-program: there is no such program", "--", "no-such-program", variables={"PATH": "/usr/bin:/bin"})
        self.finds("program.missing", ERROR, "there is no such program", "--", "/no/such/program")
        self.finds("program.permission", ERROR, "it is a directory", "--", "/")

    def script(self, text, mode=0o755):
        path = self.directory / "script"
        path.write_text(text)
        os.chmod(path, mode)
        return path

    def test_not_executable(self):
        self.finds("program.permission", ERROR, "it may not be run", "--", self.script("#!/bin/sh\n", 0o644))

    def test_scripts(self):
        # the line that names an interpreter ends at a space
        victim = shutil.copy(operator_case.options.victim, self.directory)
        for text, name in [(f"#!{victim}\n", victim), (f"#! {victim} -x\n", victim), ("#!/usr/bin/env sh\n", "sh"), ("#!/usr/bin/env -S sh -e\n", "sh")]:
            with self.subTest(text=text):
                self.finds("program.script", NOTE, f"for {name}: the runs are those of", "--", self.script(text))
        self.finds("program.missing", ERROR, "/no/such/interpreter: there is no such program", "--", self.script("#!/no/such/interpreter\n"))
        loop = self.script("")
        loop.write_text(f"#!{loop}\n")
        self.finds("program.script", NOTE, "is a script", "--", loop)

    def test_other_files(self):
        for text in ["", "text\n", "\x7fELF", "\x7fELF\x02\x01"]:
            with self.subTest(text=text):
                self.finds("program.kind", ERROR, "neither", "--", self.script(text))

    def test_search(self):
        path = self.script("#!/bin/sh\n")
        found = self.doctor("--", "script", variables={"PATH": f"/nowhere:{path.parent}:{os.environ['PATH']}"})
        self.assertIn("program.script", found)

    def test_damaged(self):
        """Any bytes: an answer, and in time."""
        good = bytearray(operator_case.options.victim.read_bytes())
        path = self.directory / "damaged"
        for place, value in [(32, b"\xff" * 8), (40, b"\xff" * 8), (56, b"\xff\xff"), (60, b"\xff\xff"), (62, b"\xff\xff"), (64 + 8, b"\xff" * 8), (64 + 32, b"\xff" * 8)]:
            with self.subTest(place=place):
                bad = bytearray(good)
                bad[place:place + len(value)] = value
                path.write_bytes(bad)
                os.chmod(path, 0o755)
                self.doctor("--", path)
        for size in (63, 64, 65, 120, 600, 4096):
            path.write_bytes(good[:size])
            os.chmod(path, 0o755)
            self.doctor("--", path)


@needs_gcc
class Built(DoctorCase):
    def build(self, *options, name="program", source="int main(void) { return 0; }\n"):
        path = self.directory / name
        (self.directory / "source.c").write_text(source)
        result = run(["gcc", "-g", "-Wl,--build-id", self.directory / "source.c", "-o", path, *options])
        self.assertEqual(result.status, 0, result)
        return path

    def test_healthy(self):
        self.assertEqual(self.doctor("--", self.build()), {})

    def test_no_unwind_tables(self):
        found = self.finds("program.unwind", WARNING, "no unwind tables", "--", self.build("-Wl,--no-eh-frame-hdr"))
        self.assertEqual(list(found), ["program.unwind"])

    def test_no_build_id(self):
        self.finds("program.build-id", WARNING, "has no build id", "--", self.build("-Wl,--build-id=none"))

    def test_stripped(self):
        path = self.build("-s")
        found = self.finds("program.symbols", NOTE, "is stripped", "--", path)
        self.assertEqual(list(found), ["program.symbols"])

    @needs_mounts
    def test_debug_file(self):
        path = self.build()
        buildid = run(["readelf", "-n", path]).output.split("Build ID: ")[1].split()[0]
        shutil.copy(path, self.directory / "debug")
        run(["strip", path])
        self.assertIn("program.symbols", self.doctor("--", path))
        folder = f"/usr/lib/debug/.build-id/{buildid[:2]}"
        if not pathlib.Path("/usr/lib/debug").is_dir():
            self.skipTest("there is no /usr/lib/debug to mount on")
        way = self.mounted(f'mount -t tmpfs none /usr/lib/debug && mkdir -p {folder} && cp "$0/debug" {folder}/{buildid[2:]}.debug')
        self.assertEqual(self.doctor("--", path, **way), {})

    def test_static(self):
        try:
            path = self.build("-static")
        except AssertionError:
            self.skipTest("there is no static libc to link with")
        self.finds("program.static", WARNING, "is statically linked", "--", path)

    @needs_root
    def test_setuid(self):
        self.needs_another_user()
        path = self.build()
        for mode, found in [(0o4755, True), (0o2755, True), (0o755, False)]:
            os.chmod(path, mode)
            self.assertEqual("program.setuid" in self.doctor("--", path, wrap=AS_NOBODY), found, oct(mode))

    def test_machine(self):
        path = self.build()
        other = bytearray(path.read_bytes())
        other[18:20] = struct.pack("<H", 243)  # RISC-V
        path.write_bytes(other)
        self.finds("program.machine", ERROR, "is made for another machine", "--", path)

    def test_other_loader(self):
        path = self.directory / "loader"
        shutil.copy(run(["readelf", "-l", operator_case.options.victim]).output.split("interpreter: ")[1].split("]")[0], path)
        self.finds("program.loader", WARNING, f"is loaded by {path}", "--", self.build(f"-Wl,--dynamic-linker={path}"))

    def test_handlers(self):
        """A finding about a library that another one loads."""
        empty = "void f%d(void) {}\n"
        folder = f"-L{self.directory}"
        origin = "-Wl,-rpath,$ORIGIN"
        self.build("-shared", "-fPIC", "-Wl,-soname,libsigsegv.so.2", name="libsigsegv.so.2", source=empty % 1)
        self.build("-shared", "-fPIC", folder, origin, "-Wl,--no-as-needed", "-l:libsigsegv.so.2", name="libmiddle.so", source=empty % 2)
        program = self.build(folder, origin, "-Wl,--no-as-needed", "-l:libmiddle.so", f"-Wl,-rpath-link,{self.directory}")
        self.finds("program.handlers", WARNING, "libmiddle.so loads libsigsegv.so.2, and libsigsegv installs", "--", program)
        self.assertEqual(self.doctor("--", self.build(folder, "-Wl,--as-needed", "-l:libmiddle.so", name="other")), {})

    def test_go(self):
        path = self.build()
        (self.directory / "note").write_bytes(b"x")
        run(["objcopy", "--add-section", f".note.go.buildid={self.directory}/note", path])
        self.finds("program.handlers", WARNING, "is a Go program", "--", path)


if __name__ == "__main__":
    operator_case.main()
