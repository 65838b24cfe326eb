#!/usr/bin/env python3
"""`launchguard export --format journal`: systemd makes a journal of it, and its own programs read
from that what the record holds.

systemd-journal-remote, journalctl and coredumpctl do so. They look at that journal alone.
"""
import json
import pathlib
import re
import shutil
import signal
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("Operator", "Support")]

import journal_tools
import operator_case
import seeds
from operator_case import ROOT, run
from test_export import DAMAGED, GOLDEN, ExportCase, number

SECRET = "correct-horse-battery-staple"
COREDUMP, END = "fc2e22bc6ee647b6b90729ab34a250b1", "e1fc1ec7a0b74fb08a0a046ac66e8aa8"
BREADCRUMBS = 12000
PRIORITIES = {"trace": 7, "debug": 7, "info": 6, "notice": 5, "45": 5, "warning": 4, "error": 3, "critical": 2}


def parse(data):
    """The entries of an export: each a list of names and values."""
    entries, entry = [], []
    while data:
        line, end, data = data.partition(b"\n")
        assert end, "the last line has no end"
        if not line:
            entries.append(entry)
            entry = []
            continue
        name, mark, value = line.partition(b"=")
        if not mark:
            size = int.from_bytes(data[:8], "little")
            value, data = data[8:8 + size], data[8 + size:]
            assert len(value) == size and data[:1] == b"\n", f"{name}: {size} bytes"
            data = data[1:]
        assert re.fullmatch(rb"(?:__)?_?[A-Z][A-Z0-9_]{0,61}", name), name
        entry.append((name.decode(), value))
    assert not entry, "the last entry has no end"
    return entries


class JournalCase(ExportCase):
    def entries(self, *arguments):
        return parse(self.exported("journal", *arguments))

    def crashed(self, count=20, action="crash", status=-signal.SIGSEGV):
        self.assertEqual(self.victim(action, count), status)
        return json.loads(self.tool("inspect", "--json", "--last", self.state).output)

    def program(self, name):
        command, reason = journal_tools.find(name, operator_case.options.tool.parent / "export-readers")
        if reason:
            self.leave_out(f"there is no {name}: {reason}")
        return command

    def journal(self, *files):
        """A journal of these exports, by systemd, and its entries."""
        remote = self.program("systemd-journal-remote")
        if not shutil.which("journalctl"):
            self.leave_out("there is no journalctl here (Debian: systemd)")
        journal = self.directory / "x.journal"
        journal.unlink(missing_ok=True)
        whole = self.directory / "whole"
        whole.write_bytes(b"".join(file.read_bytes() for file in files or [self.file]))
        result = run([*remote, "-o", journal, whole])
        self.assertEqual(result.status, 0, result)
        result = run(["journalctl", f"--file={journal}", "--no-pager", "--all", "--output=json"])
        self.assertEqual(result.status, 0, result)
        return journal, [json.loads(line) for line in result.output.splitlines()]

    def coredumpctl(self, journal, *words):
        result = run([*self.program("coredumpctl"), f"--file={journal}", "--no-pager", *words])
        return result.status, result.output


def text(value):
    """journalctl shows what is no text as numbers, and fields of one name as a list."""
    return bytes(value).decode() if isinstance(value, list) and value and isinstance(value[0], int) else value


class Systemd(JournalCase):
    def test_coredumpctl(self):
        """The crash is listed, with its signal, its program and all frames of all threads."""
        run_ = self.crashed()
        self.exported("journal", self.state)
        journal, _ = self.journal()
        status, output = self.coredumpctl(journal, "list", "--json=short")
        self.assertEqual(status, 0)
        listed = json.loads(output)
        self.assertEqual(len(listed), 1)
        identity, crash = run_["identity"], run_["crash"]
        self.assertEqual({name: listed[0].get(name) for name in ("pid", "uid", "sig", "corefile", "exe")},
                         {"pid": identity["processID"], "uid": identity["userID"], "sig": signal.SIGSEGV, "corefile": "none", "exe": identity["executable"]})
        for match in str(identity["processID"]), "journal-victim", identity["executable"]:
            status, info = self.coredumpctl(journal, "info", match)
            self.assertEqual(status, 0, match)
        self.assertRegex(info, rf"PID: {identity['processID']} \(journal-victim\)\n")
        self.assertRegex(info, r"Signal: 11 \(SEGV\)\n")
        self.assertIn(f"Executable: {identity['executable']}\n", info)
        self.assertIn(f"build-id: {identity['buildID']}\n", info)
        self.assertIn("access through a NULL pointer at address 0x1234 in journal_victim_crash", info)
        for module in run_["modules"]:
            self.assertIn(f"Module {module['path'].rsplit('/')[-1]}, build-id={module['buildID']}\n", info)
        stacks = {int(tid): re.findall(r"#(\d+) +(0x[0-9a-f]+) (.*) \((.*) \+ (0x[0-9a-f]+)\)\n", lines)
                  for tid, lines in re.findall(r"Stack trace of thread (\d+):\n((?: +#.*\n)+)", info)}
        starts = {module["path"]: number(module["start"]) for module in run_["modules"]}
        wanted = {crash["threadID"]: crash["dwarfStack"]} | {thread["threadID"]: thread["stack"] for thread in crash["threads"] if "stack" in thread}
        self.assertEqual(stacks, {tid: [(str(index), frame["address"], frame.get("symbols", [{"name": "n/a"}])[0]["name"], frame["module"].rsplit("/")[-1],
                                         hex(number(frame["address"]) - starts[frame["module"]])) for index, frame in enumerate(stack["frames"])]
                                  for tid, stack in wanted.items()})
        self.assertEqual(stacks[crash["threadID"]][0][2:4], ("journal_victim_crash", "journal-victim"))
        self.assertEqual(next(iter(stacks)), crash["threadID"])
        # LaunchGuard's own thread may block every signal, and have no stack then.
        other = next(thread["threadID"] for thread in crash["threads"] if thread["name"].startswith("other"))
        self.assertIn("wait_for_ever", [name for _, _, name, _, _ in stacks[other]])
        # The name of a thread and the command line hold nothing that a terminal obeys.
        self.assertNotIn("\x1b", info)

    def test_journalctl(self):
        """All fields, and the log up to the crash in its order."""
        run_ = self.crashed(BREADCRUMBS)
        self.assertEqual(len(run_["breadcrumbs"]["entries"]) > BREADCRUMBS, True)
        data = self.exported("journal", self.state)
        self.assertNotIn(SECRET.encode(), data)
        _, entries = self.journal()
        self.assertEqual(len(entries), len(run_["breadcrumbs"]["entries"]) + 1)
        identity, crash = run_["identity"], run_["crash"]
        for found, entry in zip(entries, run_["breadcrumbs"]["entries"]):
            self.assertEqual(text(found["MESSAGE"]), entry["text"])
            self.assertEqual((found["TID"], found["PRIORITY"]), (str(entry["threadID"]), str(PRIORITIES[entry["level"]])))
            self.assertEqual(found["__MONOTONIC_TIMESTAMP"], str(entry["monotonicNanoseconds"] // 1000))
            self.assertEqual((found["_PID"], found["_BOOT_ID"], found["LAUNCHGUARD_RUN"]),
                             (str(identity["processID"]), identity["bootID"].replace("-", ""), identity["uuid"]))
            self.assertEqual(found.get("LAUNCHGUARD_CATEGORY"), entry.get("category"))
            if "fields" in entry:
                self.assertEqual((found["LAUNCHGUARD_FIELD"], found["LAUNCHGUARD_REDACTED"]), (['"a=b \\"c\\""=1\n2', "tries=3"], "token"))
        said = {text(found["MESSAGE"]) for found in entries}
        self.assertLessEqual({"two\nlines", "\x1b[31mred\x1b[0m\x07", "\ufffd\ufffd no text \ufffd", "", f"breadcrumb number {BREADCRUMBS - 1}"}, said)
        self.assertIn("first\n\nMESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1\nCOREDUMP_PID=1\n__REALTIME_TIMESTAMP=7\n\n", said)
        end = {name: text(value) for name, value in entries[-1].items()}
        self.assertEqual([found["MESSAGE_ID"] for found in entries if "MESSAGE_ID" in found], [COREDUMP])
        wanted = {
            "PRIORITY": "2", "COREDUMP_PID": str(identity["processID"]), "COREDUMP_UID": str(identity["userID"]), "COREDUMP_GID": str(2**32 - 1),
            "COREDUMP_SIGNAL": "11", "COREDUMP_SIGNAL_NAME": "SIGSEGV", "COREDUMP_EXE": identity["executable"], "COREDUMP_COMM": "journal-victim",
            "COREDUMP_TIMESTAMP": end["__REALTIME_TIMESTAMP"], "LAUNCHGUARD_APP": "org.example.journal", "LAUNCHGUARD_VERSION": "1.2",
            "LAUNCHGUARD_END": "crash", "LAUNCHGUARD_KIND": crash["kind"], "LAUNCHGUARD_SIGNAL_CODE": "SEGV_MAPERR", "LAUNCHGUARD_ADDRESS": crash["address"],
            "LAUNCHGUARD_REDACTED": "token", "LAUNCHGUARD_BUILD_ID": identity["buildID"], "TID": str(crash["threadID"]),
            # A thread copies what is written; it may be late.
            "LAUNCHGUARD_STANDARD_ERROR": run_.get("standardError", {}).get("text"),
            "LAUNCHGUARD_REGISTERS": "\n".join(f"{register['name']}={register['value']}" for register in crash["registers"]),
        }
        self.assertEqual({name: end.get(name) for name in wanted}, wanted)
        self.assertEqual(sorted(end["LAUNCHGUARD_ANNOTATION"]), ['"a=b"=\n\nMESSAGE=not a message\n', "screen=settings"])
        self.assertEqual(json.loads(end["COREDUMP_PACKAGE_JSON"]), {module["path"]: {"buildId": module["buildID"]} for module in run_["modules"]})
        self.assertEqual(end["LAUNCHGUARD_THREADS"].split("\n"), [f"{crash['threadID']} {crash['threadName']}"] +
                         [f"{thread['threadID']} {thread['name']}" for thread in crash["threads"]])
        self.assertIn("other\x1b]0;", end["LAUNCHGUARD_THREADS"])
        self.assertIn("[stack]\n", end["COREDUMP_PROC_MAPS"])
        self.assertIn(f"Threads:\t{crash['resources']['threads']['value']}\n", end["COREDUMP_PROC_STATUS"])
        self.assertRegex(end["LAUNCHGUARD_FINGERPRINT"], "^[0-9a-f]{32}$")
        self.assertEqual(end["COREDUMP_CMDLINE"].split(" ")[-2:], ["crash", str(BREADCRUMBS)])

    def test_many_runs(self):
        """Exports one after the other are one; a run that left no signal is no coredump."""
        for action, status in [("crash", -signal.SIGSEGV), ("exit", 3), ("kill", -signal.SIGKILL), ("crash", -signal.SIGSEGV)]:
            self.crashed(3, action, status)
        folder = self.directory / "all"
        self.assertEqual(self.export("journal", "--all", "-o", folder, self.state).status, 0)
        files = sorted(folder.iterdir())
        self.assertEqual([file.suffix for file in files], [".export"] * 4)
        journal, entries = self.journal(*files)
        ends = [found for found in entries if "MESSAGE_ID" in found]
        self.assertEqual([(found["MESSAGE_ID"], found["LAUNCHGUARD_END"]) for found in ends],
                         [(COREDUMP, "crash"), (END, "exit"), (END, "unknown"), (COREDUMP, "crash")])
        self.assertEqual([found["PRIORITY"] for found in ends], ["2", "3", "3", "2"])
        self.assertEqual((ends[1]["LAUNCHGUARD_EXIT_CODE"], [name for name in ends[1] if name.startswith("COREDUMP")]), ("3", []))
        status, output = self.coredumpctl(journal, "list", "--json=short")
        self.assertEqual((status, len(json.loads(output))), (0, 2))


class Entries(JournalCase):
    def test_ends_without_a_crash(self):
        """Stacks of a hang are shown, and nothing calls it a coredump."""
        entries = self.entries(ROOT / "Tests/Golden/live.lgrun")
        end = dict(entries[-1])
        self.assertEqual(end["MESSAGE_ID"].decode(), END)
        self.assertIn(b"\nStack trace of thread ", end["MESSAGE"])
        self.assertFalse([name for name in end if name.startswith("COREDUMP")])
        # A crash that the program reported itself has no signal that coredumpctl could show.
        end = dict(self.entries(ROOT / "Tests/Golden/noted.lgrun")[-1])
        self.assertEqual((end["MESSAGE_ID"].decode(), end["LAUNCHGUARD_END"]), (END, b"crash"))

    def test_golden_files(self):
        """Each is one journal for systemd, whatever is in it."""
        files = []
        for index, path in enumerate(GOLDEN):
            files.append(self.directory / f"{index}.export")
            self.assertIn(self.export("journal", "-o", files[-1], path).status, (0, DAMAGED))
        _, entries = self.journal(*files)
        self.assertEqual(len([found for found in entries if found.get("MESSAGE_ID") in (COREDUMP, END)]), len(GOLDEN))
        self.assertEqual(len(entries), sum(len(parse(file.read_bytes())) for file in files))

    def test_damaged_files(self):
        """Bytes of the texts, names and times are anything, and systemd still takes every entry."""
        self.crashed(50)
        whole = next((self.state / "runs").iterdir()).read_bytes()
        path = self.directory / "damaged.lgrun"
        for draw, again in seeds.draws("journal", "Entries.test_damaged_files"):
            files, wanted = [], 0
            for index in range(12):
                data = bytearray(whole)
                for _ in range(draw.randrange(1, 300)):
                    data[draw.randrange(4096, len(data) if draw.random() < .3 else 65536)] = draw.randrange(256)
                path.write_bytes(data)
                files.append(self.directory / f"{index}.export")
                self.assertIn(self.export("journal", "--no-symbols", "-o", files[-1], path).status, (0, DAMAGED), again)
                wanted += len(parse(files[-1].read_bytes()))
            _, entries = self.journal(*files)
            self.assertEqual(len(entries), wanted, again)


if __name__ == "__main__":
    operator_case.main()
