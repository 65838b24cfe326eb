#!/usr/bin/env python3
"""`launchguard export`: what others read from the file is what the record holds."""
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tarfile
import unittest
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Operator"), str(HERE.parent / "Format"), str(HERE.parent / "Support")]

import operator_case
import readers
import seeds
import streams
from operator_case import LIMIT_S, ROOT, OperatorCase
from page import crc32c

SECRET = b"correct-horse-battery-staple"
NOT_FOUND, USAGE, DAMAGED = 1, 2, 3
GOLDEN = sorted((ROOT / "Tests/Golden").glob("*.lgrun"))
FORMATS = ("json", "text", "html", "minidump", "journal", "swift")


def number(address):
    return int(address, 16)


class ExportCase(OperatorCase):
    def setUp(self):
        super().setUp()
        self.file = self.directory / "out"

    def export(self, format, *arguments, **variables):
        return self.tool("export", "--format", format, *arguments, **variables)

    def exported(self, format, *arguments):
        result = self.export(format, "-o", self.file, *arguments)
        self.assertEqual((result.status, result.errors), (0, ""), result)
        return self.file.read_bytes()

    def crash(self, *action):
        """A crashed run, as inspect has it."""
        self.assertEqual(self.victim(*action), -(signal.SIGABRT if action else signal.SIGSEGV))
        return json.loads(self.tool("inspect", "--json", "--memory", "--last", self.state).output)

    def leave_out(self, reason):
        print(f"{self.id()} is left out: {reason}")
        self.skipTest(reason)

    def read(self, name, path=None):
        """A reader's output for the file."""
        return self.read_each(name, [path or self.file])[0]

    def read_each(self, name, paths):
        """A reader's output for files; skips, with the reason, where there is no reader."""
        python, reason = readers.install(operator_case.options.tool.parent / "export-readers", name)
        if reason:
            self.leave_out(f"{name} cannot be installed: {reason}")
        found, complaint = readers.read_each(python, name, paths)
        self.assertIsNone(complaint, f"{name} does not read it: {complaint}")
        return found


class Minidump(ExportCase):
    def threads(self, run):
        crash = run["crash"]
        others = [[thread["threadID"], number(thread["programCounter"])] for thread in crash["threads"]]
        return [[crash["threadID"], number(crash["programCounter"])]] + others

    def test_pypi_minidump(self):
        run = self.crash()
        self.exported("minidump", self.state)
        found, crash = self.read("minidump"), run["crash"]
        self.assertEqual(found["threads"], self.threads(run))
        self.assertEqual(len(found["threads"]), 4)
        self.assertEqual(sorted([path, start] for path, start, _ in found["modules"]), sorted([m["path"], number(m["start"])] for m in run["modules"]))
        self.assertEqual(found["modules"][0][0], run["identity"]["executable"])
        self.assertEqual(found["exception"], {"tid": crash["threadID"], "signal": signal.SIGSEGV, "address": 0x1234, "flags": crash["code"]})
        self.assertEqual((found["architecture"], found["pid"]), ("AMD64", run["identity"]["processID"]))
        self.assertIn(run["system"]["kernel"], found["system"])
        # All bytes of the stacks are there, but those of the secret.
        for chunk in crash["memory"]:
            here, there = bytes.fromhex(chunk["bytes"]), bytes.fromhex(found["memory"][str(number(chunk["start"]))])
            self.assertEqual(len(here), len(there))
            self.assertTrue(all(a == b or b == ord("*") for a, b in zip(here, there)))
        for (tid, _), (start, size) in zip(found["threads"], found["stacks"]):
            own = next(chunk for chunk in crash["memory"] if chunk["threadID"] == tid)
            self.assertEqual((start, size), (number(own["start"]), own["size"]))

    def test_symbolic(self):
        run = self.crash()
        self.exported("minidump", self.state)
        found, crash = self.read("symbolic"), run["crash"]
        # For a caller symbolic shows the instruction before; for the first frame the instruction.
        self.assertEqual(found["threads"], self.threads(run))
        self.assertEqual(sorted(found["modules"]), sorted([m["path"], number(m["start"]), m.get("buildID")] for m in run["modules"]))
        self.assertEqual(found["exception"], {"tid": crash["threadID"], "reason": "SIGSEGV /SEGV_MAPERR", "address": 0x1234})
        self.assertEqual((found["architecture"], found["system"]), ("amd64", "Linux"))
        self.assertTrue(all(id for _, _, id in found["modules"]))

    def test_lldb(self):
        if not readers.lldb():
            self.leave_out("there is no lldb that starts here (Debian: lldb-14)")
        run = self.crash()
        self.exported("minidump", self.state)
        text = readers.debug(self.file, operator_case.options.victim, "thread list", "bt", "register read rip rsp", "image list", "process plugin dump --linux")
        crash = run["crash"]
        self.assertRegex(text, rf"\* thread #1: tid = {crash['threadID']}, .*export_victim_crash.* at victim\.c:\d+.*stop reason = signal SIGSEGV")
        for name in ("export_victim_crash", "export_victim_work", "main"):
            self.assertRegex(text, rf"frame #\d: 0x[0-9a-f]+ export-victim`{name}\(", text)
        self.assertEqual(len(re.findall(r"^[* ] thread #\d+: tid = ", text, re.M)), 4, text)
        self.assertIn(f"rip = {crash['programCounter']}", text)
        self.assertIn(f"rsp = {crash['stackPointer']}", text)
        for module in run["modules"]:
            self.assertIn(module["path"], text)
            self.assertIn(module["start"], text)
        self.assertIn(f"Pid:\t{run['identity']['processID']}\n", text)
        self.assertIn("[stack]\n", text)

    def test_other_streams(self):
        run = self.crash()
        data = self.exported("minidump", self.state)
        names = streams.thread_names(data)
        wanted = {thread["threadID"]: thread["name"] for thread in run["crash"]["threads"]} | {run["crash"]["threadID"]: run["crash"]["threadName"]}
        self.assertEqual(names, wanted)
        self.assertLessEqual({"first", "second", "third"}, set(names.values()))
        guid, values = streams.annotations(data)
        self.assertEqual(uuid.UUID(bytes_le=guid), uuid.UUID(run["identity"]["uuid"]))
        self.assertEqual(values.pop("launchguard.end"), "crash SIGSEGV " + run["crash"]["kind"])
        fingerprint = values["launchguard.fingerprint"]
        self.assertRegex(fingerprint, "^[0-9a-f]{32}$")
        self.assertEqual(values, {"screen": "settings", "launchguard.app": "org.example.export", "launchguard.version": "1.2",
                                  "launchguard.kind": run["crash"]["kind"], "launchguard.fingerprint": fingerprint})
        found = streams.streams(data)
        maps = [re.fullmatch(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) 00:00 0(?: (.*))?", line) for line in found[streams.MAPS].decode().splitlines()]
        self.assertEqual([(int(m[1], 16), int(m[2], 16), m[3], int(m[4], 16), m[5]) for m in maps],
                         [(number(m["start"]), number(m["end"]), m["permissions"], m["offset"], m.get("path")) for m in run["crash"]["memoryMap"]["mappings"]])
        self.assertIn(b"Name:\texport-victim\n", found[streams.STATUS])
        self.assertIn(b"Threads:\t4\n", found[streams.STATUS])
        self.assertEqual(struct.unpack_from("<I", data, 20)[0], int(subprocess.check_output(["date", "-d", run["crash"]["time"], "+%s"], timeout=LIMIT_S)))

    def test_redacted_values_are_blanked(self):
        run = self.crash()
        stacks = b"".join(bytes.fromhex(chunk["bytes"]) for chunk in run["crash"]["memory"])
        self.assertIn(SECRET, stacks, "the secret is not on the stack: the test shows nothing")
        data = self.exported("minidump", self.state)
        for start in range(len(SECRET) - 7):
            self.assertNotIn(SECRET[start:start + 8], data)
        self.assertIn(b"a mark on the stack", data)
        for format in ("json", "text", "html", "journal", "swift"):
            data = self.exported(format, self.state)
            self.assertNotIn(SECRET, data)
            for start in range(len(SECRET) - 7):
                self.assertNotIn(SECRET[start:start + 8].hex().encode(), data, f"{format} has bytes of it")

    def test_unknown_redaction(self):
        """Damage that hides which keys are redacted leaves no bytes of stacks."""
        self.crash()
        path = next((self.state / "runs").iterdir())
        data = path.read_bytes()
        places = [match.start() for match in re.finditer(rb"token\0", data)]
        self.assertGreater(len(places), 0)
        for place in places:
            data = data[:place] + b"nekot" + data[place + 5:]
        path.write_bytes(data)
        result = self.export("minidump", "-o", self.file, path)
        self.assertEqual(result.status, DAMAGED, result)
        self.assertEqual(self.read("minidump")["memory"], {})
        self.assertNotIn(SECRET, self.file.read_bytes())

    def test_abort(self):
        self.crash("abort")
        self.exported("minidump", self.state)
        found = self.read("minidump")
        self.assertEqual((found["exception"]["signal"], found["exception"]["address"], len(found["threads"])), (signal.SIGABRT, 0, 4))

    def test_aarch64(self):
        """A record of the other processor, made from a golden file."""
        data = (ROOT / "Tests/Golden/cpu.lgrun").read_bytes()
        at = data.index(struct.pack("<II", 1, 18))
        old = data[at:at + 944]
        registers = [0x1000 + index for index in range(31)] + [0x7fff0000, 0x40001234, 0x60000000]
        new = struct.pack("<II34Q", 2, 34, *registers) + old[8 + 34 * 8:]
        crc, more = struct.pack("<I", crc32c(old)), struct.pack("<I", crc32c(new))
        self.assertEqual(data.count(crc), 1)
        path = self.directory / "arm.lgrun"
        path.write_bytes((data[:at] + new + data[at + 944:]).replace(crc, more))
        self.exported("minidump", path)
        self.assertEqual(self.read("minidump")["architecture"], "AARCH64")
        found = self.read("symbolic")
        self.assertEqual(found["architecture"], "arm64")
        self.assertEqual(found["threads"][0][1], 0x40001234)
        if not readers.lldb():
            self.leave_out("there is no lldb that starts here (Debian: lldb-14)")
        text = readers.debug(self.file, "", "register read")
        for name, value in [("x0", 0x1000), ("x28", 0x101c), ("fp", 0x101d), ("lr", 0x101e), ("sp", 0x7fff0000), ("pc", 0x40001234), ("cpsr", 0x60000000)]:
            self.assertRegex(text, rf"\b{name} = 0x0*{value:x}\b")

    def test_stacks_of_a_hang(self):
        """Without a crash: the stacks that were taken last, and no exception."""
        self.exported("minidump", ROOT / "Tests/Golden/live.lgrun")
        found = self.read("minidump")
        self.assertIsNone(found["exception"])
        self.assertGreater(len(found["threads"]), 0)


class Choice(ExportCase):
    def test_same_as_inspect(self):
        self.crash()
        for format, options in [("json", ["--json"]), ("text", [])]:
            wanted = self.tool("inspect", "--last", *options, self.state).output
            self.assertEqual(self.exported(format, self.state).decode(), wanted)
            self.assertEqual(self.export(format, self.state).output, wanted)

    def test_newest_that_died(self):
        empty = self.export("json", self.state)
        self.assertEqual(empty.status, NOT_FOUND, empty)
        self.assertEqual(self.victim("exit"), 0)
        clean = self.export("json", self.state)
        self.assertEqual((clean.status, clean.output), (NOT_FOUND, ""), clean)
        self.assertIn("no run died here; --run names", clean.errors)
        self.crash()
        self.assertEqual(self.victim("exit"), 0)
        self.assertEqual(json.loads(self.exported("json", self.state))["identity"]["ordinal"], 2)
        self.assertEqual(json.loads(self.exported("json", "--run", "1", self.state))["identity"]["ordinal"], 1)

    def test_all(self):
        self.crash()
        self.victim("kill")
        self.victim("exit")
        self.crash("abort")
        folder = self.directory / "all"
        result = self.export("json", "--all", "-o", folder, self.state)
        self.assertEqual(result.status, 0, result)
        stems = [path.name.removesuffix(".lgrun") for path in sorted((self.state / "runs").iterdir())]
        self.assertEqual(sorted(path.name for path in folder.iterdir()), [stems[index] + ".json" for index in (0, 1, 3)])
        result = self.export("minidump", "--all", "-o", folder, self.state)
        self.assertEqual(result.status, 0, result)
        self.assertIn("a minidump is of stacks, and the run left none", result.errors)
        self.assertEqual(sorted(path.name for path in folder.glob("*.dmp")), [stems[index] + ".dmp" for index in (0, 3)])

    def test_files_that_cannot_be_read(self):
        """They are named, hide no other run, and leave no status of success."""
        self.crash()
        (whole,) = (self.state / "runs").iterdir()
        (self.state / "runs/00000002-cut.lgrun").write_bytes(whole.read_bytes()[:9000])
        (self.state / "runs/00000003-noise.lgrun").write_bytes(b"no run file" * 1000)
        cut = {"minidump": "what is readable of the file holds none", "swift": "what is readable of the file holds no record of one"}
        for format in FORMATS:
            folder = self.directory / format
            result = self.export(format, "--all", "-o", folder, self.state)
            self.assertEqual((result.status, len(list(folder.iterdir()))), (DAMAGED, 1 if format in cut else 2), result)
            self.assertIn("00000003-noise.lgrun: it is not a run file", result.errors)
            result = self.export(format, "-o", self.file, self.state)
            self.assertEqual(result.status, DAMAGED, result)
            self.assertIn("00000003-noise.lgrun: it is not a run file", result.errors)
            self.assertEqual(self.file.exists(), format not in cut)
            self.file.unlink(missing_ok=True)
            if format in cut:
                self.assertIn(cut[format], result.errors)
        whole.unlink()
        (self.state / "runs/00000002-cut.lgrun").unlink()
        for words in [["-o", self.file], ["--all", "-o", self.file]]:
            result = self.export("json", *words, self.state)
            self.assertEqual((result.status, self.file.exists()), (DAMAGED, False), result)
            self.assertIn("no run died here that can be read", result.errors)

    def test_many_runs(self):
        """The ledger is read once and not for each page, and a terminal sees how far it is."""
        self.crash()
        (path,) = (self.state / "runs").iterdir()
        for number in range(2, 250):
            os.link(path, path.with_name(f"{number:08}-{path.name[9:]}"))

        def spent(*words, stderr):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            process = subprocess.run([operator_case.options.tool, "export", "--format", "html", "--no-symbols", *words, self.state], stderr=stderr,
                                     timeout=LIMIT_S, check=True)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, process.stderr

        ours, theirs = pty.openpty()
        one, _ = spent("-o", self.file, stderr=subprocess.PIPE)
        every, _ = spent("--all", "-o", self.directory / "all", stderr=theirs)
        os.close(theirs)
        self.assertRegex(os.read(ours, 65536), rb"\r\x1b\[K\d+ runs exported")
        os.close(ours)
        self.assertEqual(len(list((self.directory / "all").iterdir())), 249)
        self.assertLess(every, 60 * one, "each page costs as much as the whole directory")
        self.assertEqual(spent("--all", "-o", self.directory / "all", stderr=subprocess.PIPE)[1], b"")

    def test_tarball_of_many_files(self):
        """It is refused before the look at what is unpacked takes longer than the unpacking."""
        path = self.directory / "many.tar"
        with tarfile.open(path, "w") as tar:
            for number in range(30000):
                tar.addfile(tarfile.TarInfo(f"state/runs/{number:08}-x.lgrun"))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        result = self.export("json", path)
        self.assertEqual((result.status, result.output), (NOT_FOUND, ""), result)
        self.assertIn("it holds more than 20000 files", result.errors)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 4)

    def test_tarball(self):
        self.crash()
        with tarfile.open(self.directory / "device.tar.gz", "w:gz") as tar:
            tar.add(self.state, "var/lib/notes")
        whole = self.exported("minidump", self.state)
        self.file.unlink()
        result = operator_case.run([operator_case.options.tool, "export", "--format", "minidump", "-o", "out", "device.tar.gz"], cwd=self.directory)
        self.assertEqual((result.status, self.file.read_bytes()), (0, whole), result)

    def test_wrong_words(self):
        self.crash()
        for words in [[], ["--format", "pdf"], ["--format", "json", "--all"], ["--format", "json", "--all", "--run", "1", "-o", self.file]]:
            self.assertEqual(self.tool("export", *words, self.state).status, USAGE, words)
        self.assertEqual(self.export("json", "--all", "-o", self.file, GOLDEN[0]).status, USAGE)
        self.assertFalse(self.file.exists())


class Output(ExportCase):
    def test_dash_is_standard_output(self):
        self.crash()
        result = operator_case.run([operator_case.options.tool, "export", "--format", "text", "-o", "-", self.state], cwd=self.directory)
        self.assertEqual((result.status, result.output), (0, self.export("text", self.state).output), result)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), ["state"])
        self.assertEqual(self.export("text", "--all", "-o", "-", self.state).status, USAGE)

    def test_longest_name(self):
        self.crash()
        path = self.directory / ("n" * 255)
        self.assertEqual(self.export("text", "-o", path, self.state).status, 0)
        self.assertEqual({entry.name for entry in self.directory.iterdir()}, {path.name, "state"})

    def test_no_binary_on_a_terminal(self):
        self.crash()
        for format, status in [("minidump", USAGE), ("text", 0)]:
            ours, theirs = pty.openpty()
            process = subprocess.Popen([operator_case.options.tool, "export", "--format", format, self.state], stdin=subprocess.DEVNULL, stdout=theirs,
                                       stderr=subprocess.PIPE)
            os.close(theirs)
            output = b""
            try:
                while more := os.read(ours, 65536):
                    output += more
            except OSError:
                pass  # the terminal has no writer any more
            os.close(ours)
            errors = process.communicate(timeout=LIMIT_S)[1]
            self.assertEqual(process.returncode, status)
            self.assertEqual((b"name a file with -o" in errors, b"MDMP" in output), (status == USAGE, False))

    def test_nothing_half_written(self):
        self.crash()
        self.file.write_text("before")

        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        result = operator_case.run([operator_case.options.tool, "export", "--format", "minidump", "-o", self.file, self.state], preexec_fn=limited)
        self.assertEqual(result.status, NOT_FOUND, result)
        self.assertIn("out: it cannot be written: File too large", result.errors)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), ["out", "state"])
        self.assertEqual(self.file.read_text(), "before")
        self.assertTrue(self.exported("minidump", self.state).startswith(b"MDMP"))
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)

    def test_full_disk(self):
        self.crash()
        script = 'mount -t tmpfs -o size=16k none "$2" || exit 77; "$0" export --format minidump -o "$2/out" "$1"; echo "status $?"; ls -A "$2"'
        folder = self.directory / "full"
        folder.mkdir()
        result = operator_case.run(["unshare", "-m", "sh", "-c", script, operator_case.options.tool, self.state, folder])
        if result.status != 0:
            self.leave_out(f"no small disk can be mounted, which needs root: {result.errors.strip()}")
        self.assertEqual(result.output, f"status {NOT_FOUND}\n", result)
        self.assertIn("No space left on device", result.errors)

    def test_devices_and_links(self):
        self.crash()
        for words in [["-o", "/dev/full"], []]:
            with open("/dev/full", "wb") as full:
                process = subprocess.run([operator_case.options.tool, "export", "--format", "json", *words, self.state], stdout=full, stderr=subprocess.PIPE,
                                         timeout=LIMIT_S, check=False)
            self.assertEqual((process.returncode, b"No space left on device" in process.stderr), (NOT_FOUND, True), process)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))
        self.file.write_text("before")
        (self.directory / "link").symlink_to("out")
        self.assertEqual(self.export("text", "-o", self.directory / "link", self.state).status, 0)
        self.assertTrue((self.directory / "link").is_symlink())
        self.assertNotEqual(self.file.read_text(), "before")


class Hostile(ExportCase):
    def check(self, path, name):
        for format in FORMATS:
            self.file.unlink(missing_ok=True)
            result = self.export(format, "--no-symbols", "-o", self.file, path) if format != "minidump" else self.export(format, "-o", self.file, path)
            self.assertIn(result.status, (0, NOT_FOUND, DAMAGED), f"{name} as {format}: {result}")
            self.assertEqual(self.file.exists(), result.errors == "", f"{name} as {format}: {result}")
            if format == "minidump" and self.file.exists():
                found = streams.streams(self.file.read_bytes())
                self.assertLessEqual({3, 4, 5, 7}, set(found), name)

    def test_golden_files(self):
        self.assertGreater(len(GOLDEN), 15)
        for path in GOLDEN:
            self.check(path, path)

    def test_damaged_files(self):
        path = self.directory / "damaged.lgrun"
        for draw, again in seeds.draws("export", "Hostile.test_damaged_files"):
            for count in range(15):
                whole = draw.choice(GOLDEN)
                data = bytearray(whole.read_bytes())
                for _ in range(draw.randrange(1, 200)):
                    data[draw.randrange(len(data) if draw.random() < .5 else 16384) % len(data)] = draw.randrange(256)
                path.write_bytes(data[:draw.randrange(len(data))] if draw.random() < .2 else data)
                self.check(path, f"{again}\n{count}: {whole}")

    def test_other_files(self):
        self.assertIn("a ledger where a run file is needed", self.export("json", ROOT / "Tests/Golden/ledger.lg").errors)
        for path in [ROOT / "Tests/Golden/ledger.lg", "/dev/null", self.directory, self.directory / "none", pathlib.Path(__file__)]:
            for format in FORMATS:
                result = self.export(format, "-o", self.file, path)
                self.assertIn(result.status, (NOT_FOUND, DAMAGED), result)
                self.assertNotEqual(result.errors, "")
                self.assertFalse(self.file.exists())


if __name__ == "__main__":
    operator_case.main()
