"""docs/FORMAT.md against the code: its offsets, and a reader written from it against the C reader,
on real files."""
import difflib
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import page
import reader

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests/Support"))
from waiting import wait_until

WRITER, DUMP, PARTS, LEDGERS = (os.environ[name] for name in ("WRITER", "DUMP", "PARTS", "LEDGERS"))
LIMIT = 120  # seconds for any child: it hangs


def write(directory, how):
    """One run that ends as `how` says: its file and its wait status."""
    made = subprocess.run([WRITER, directory, how], stdout=subprocess.PIPE, timeout=LIMIT, text=True)
    return made.stdout.strip(), made.returncode


def c_reader(path):
    dumped = subprocess.run([DUMP, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=LIMIT)
    return json.loads(dumped.stdout) if dumped.returncode == 0 else "damaged"


def python_reader(path):
    return page.part(reader.read, path)


def layouts():
    return "".join(path.read_text() for path in sorted((ROOT / "Sources/CLaunchGuard/store").glob("format*.h")))


def headers():
    return "".join(path.read_text() for path in sorted((ROOT / "include/launchguard").glob("*.h")))


class Page(unittest.TestCase):
    def test_offsets_and_sizes_are_those_of_the_code(self):
        code = layouts()
        offsets = re.findall(r"static_assert\(offsetof\(struct lg__(\w+), (\w+)\) == (\d+)", code)
        sizes = re.findall(r"static_assert\(sizeof\(struct lg__(\w+)\) == (\w+)", code)
        self.assertGreater(len(offsets), 80)
        for name, field, offset in offsets:
            self.assertEqual(page.STRUCTURES[name].fields.get(field, (None,))[0], int(offset), "%s.%s" % (name, field))
        self.assertEqual({name for name, _ in sizes}, set(page.STRUCTURES))
        for name, size in sizes:
            if size.isdigit():
                self.assertEqual(page.STRUCTURES[name].size, int(size), name)

    def test_every_value_has_its_name(self):
        def said(head):
            return page.names(page.TEXT, head)
        def numbered(pattern, text):
            return sorted((int(number), name) for number, name in re.findall(pattern, text))
        text = headers()
        for table, head in (("LG_END_TABLE", "end"), ("LG_CRASH_TABLE", "kind of a crash")):
            values = numbered(r"X\(LG_\w+, (\d+), \"([^\"]+)\"[,)]", text.split("#define " + table)[1].split("typedef")[0])
            self.assertGreater(len(values), 10)
            self.assertEqual(set(values) - set(said(head)), set(), table)
        classes = numbered(r"X\(LG_GUARD_\w+, (\d+), \"([^\"]+)\", \"", text)
        self.assertGreater(len(classes), 9)
        self.assertEqual(classes, said("class name guards against"))
        figures = re.findall(r"X\(LG_RESOURCE_\w+, (\d+), \"([^\"]+)\", +\"([^\"]*)\"\)", text)
        self.assertGreater(len(figures), 20)
        self.assertEqual({int(number): [name, unit] for number, name, unit in figures}, page.RESOURCES)
        events = [int(number) for number in re.findall(r"#define LG_EVENT_\w+ (\d+)u", text)]
        self.assertGreater(len(events), 13)
        self.assertEqual(events, [number for number, _ in said("event the launch")])
        evidence = [(int(number), name.lower().replace("_", " ")) for name, number in re.findall(r"X\(LG_EVIDENCE_(\w+), (\d+), ", text)]
        self.assertGreater(len(evidence), 20)
        self.assertEqual(sorted(evidence), said("evidence"))
        reasons = numbered(r"X\(LG__WALK_\w+, (\d+), \"([^\"]+)\"\)", layouts())
        self.assertGreater(len(reasons), 7)
        self.assertEqual(set(reasons) - set(said("reason the walk ended because")), set())

    def test_checksum(self):
        self.assertEqual(page.crc32c(b"123456789"), 0xe3069283)
        self.assertEqual(page.crc32c(), 0)


class BothReaders(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.state = directory.name + "/state"

    def both(self, path):
        """The results of both readers."""
        said, other = python_reader(path), c_reader(path)
        if said != other:
            texts = [json.dumps(one, indent=0, sort_keys=True).splitlines() for one in (said, other)]
            self.fail("\n".join(["the readers differ:", *difflib.unified_diff(*texts, "reader.py", "C reader", n=3, lineterm="")]))
        return said


class RealFiles(BothReaders):
    def run_of(self, how):
        path, status = write(self.state, how)
        said = self.both(path)
        self.both(self.state + "/ledger.lg")
        self.assertEqual(said["run"]["started"], 1)
        self.assertEqual([c["name"] for c in said["contexts"]], ["main", "second"])
        self.assertEqual([c["phase"] for c in said["contexts"]], [7 if how in ("stop", "announce") else 3, 4])
        self.assertEqual(said["log"]["torn"], 0)
        self.assertIn("70 entries, then " + how, [entry["text"] for entry in said["log"]["entries"][-2:]])
        self.assertIn("\"quoted\"\\ \x01\xff \n", [entry["text"] for entry in said["log"]["entries"]])
        with_fields = [entry for entry in said["log"]["entries"] if "fields" in entry]
        self.assertEqual([(entry["category"], entry["text"], entry["cut"]) for entry in with_fields], [("network", "request failed", 0)])
        self.assertEqual(with_fields[0]["fields"], [["url", "https://example.org/a b"], ["code", "503"], ["note", ""]])
        self.assertGreater(said["log"]["overwritten_bytes"], 0)
        return said, status

    def test_crash(self):
        said, status = self.run_of("crash")
        self.assertEqual(status, -signal.SIGSEGV)
        self.assertEqual((said["verdict"]["end"], said["verdict"]["evidence"], said["verdict"]["kind"]), (3, 3, 2))
        self.assertEqual((said["crash"]["signal"], said["crash"]["address"], said["crash"]["handled"]), (signal.SIGSEGV, 0, 0))
        self.assertEqual(said["crash"]["stages"], 0b1_1111_1110)
        self.assertEqual(said["crash"]["cpu"]["thread_name"], os.path.basename(WRITER)[:15])
        executable = said["modules"][0]
        self.assertEqual(executable["path"], os.path.realpath(WRITER))
        for walk in said["crash"]["frames"]:
            self.assertEqual(walk["pcs"][0], said["crash"]["pc"])
            own = [pc for pc in walk["pcs"] if executable["start"] <= pc < executable["end"]]
            self.assertGreaterEqual(len(own), 11)  # ten calls deep, and main

    def test_every_other_end(self):
        for how, wait, end, evidence in (("abort", -signal.SIGABRT, 3, 3), ("late", -signal.SIGABRT, 3, 3), ("exit", 3, 7, 4), ("kill", -signal.SIGKILL, 11, 8),
                                         ("terminate", -signal.SIGTERM, 2, 6), ("stop", 0, 1, 5), ("return", 0, 1, 4),
                                         ("announce", -signal.SIGKILL, 1, 17)):
            with self.subTest(how):
                said, status = self.run_of(how)
                self.assertEqual((status, said["verdict"]["end"], said["verdict"]["evidence"]), (wait, end, evidence))
                self.assertEqual(said["crash"] is not None, how in ("abort", "late"))
                self.assertEqual((said["crash"] or {}).get("exiting", 0), int(how == "late"))

    def test_system(self):
        """Against the same files, read by a second hand; the digest by that of Python. The second
        run has them from the ledger."""
        def text_of(path):
            try:
                return pathlib.Path(path).read_text(errors="replace")
            except OSError:
                return ""
        release = dict(line.split("=", 1) for line in shlex.split(text_of("/etc/os-release")) if "=" in line)
        machine = text_of("/etc/machine-id").strip()
        units = re.findall(r"[^/]+\.(?:service|scope)(?=/|$)", "".join(
            line.split(":", 2)[2] + "\n" for line in text_of("/proc/self/cgroup").splitlines() if line.split(":")[1] in ("", "name=systemd")), re.M)
        for _ in range(2):
            said = self.both(write(self.state, "kill")[0])["system"]
            self.assertEqual((said["kernel"], said["hardware"]), (os.uname().release, os.uname().machine))
            self.assertEqual((said["os_id"], said["os_version"]), (release.get("ID", ""), release.get("VERSION_ID", "")))
            self.assertEqual(said["machine"], hashlib.blake2s(
                b"org.example.writer", key=bytes.fromhex(machine), digest_size=16).hexdigest() if machine else "")
            self.assertEqual(said["parent_pid"], os.getpid())
            self.assertEqual((said["unit"], said["parent_name"]), (units[-1], "") if units else ("", text_of("/proc/self/comm").strip()))
            self.assertEqual((said["command_line"], said["command_line_cut"]), ("", 0))
            if os.uname().machine == "x86_64":
                self.assertEqual(said["model"], text_of("/sys/class/dmi/id/product_name").rstrip()[:63])

    def test_smallest_file(self):
        said, status = self.run_of("least")
        self.assertEqual(status, -signal.SIGSEGV)
        self.assertEqual((said["verdict"]["end"], said["verdict"]["kind"]), (3, 2))
        self.assertEqual(said["crash"]["stages"], 0b1_0011_1110)
        self.assertEqual(said["modules"], [])
        self.assertGreater(len(said["crash"]["frames"][0]["pcs"]), 11)

    def test_huge_page(self):
        path, status = write(self.state, "huge")
        if status == 77:
            self.skipTest("no huge pages, or some to spare")
        self.assertEqual(self.both(path)["crash"]["kind"], 48)

    def test_lanes(self):
        path, _ = write(self.state, "lanes")
        log = self.both(path)["log"]
        self.assertEqual(log["torn"], 0)
        self.assertEqual({entry["lane"] for entry in log["entries"]}, {0, 1, 2, 3})
        times = [entry["monotonic_ns"] for entry in log["entries"]]
        self.assertEqual(times, sorted(times))
        for number in range(1, 5):
            said = [int(entry["text"].split()[-1]) for entry in log["entries"] if entry["text"].startswith("thread %d," % number)]
            self.assertEqual(said, list(range(100 * number - len(said) + 1, 100 * number + 1)))
            self.assertTrue(said)

    def test_cut_entry(self):
        path, _ = write(self.state, "long")
        self.assertEqual(self.both(path)["log"]["torn"], 0)

    def test_ledger(self):
        for how in ("crash", "crash", "exit", "kill"):
            write(self.state, how)
        write(self.state, "stop")
        said = self.both(self.state + "/ledger.lg")
        self.assertEqual([run["verdict"]["end"] for run in said["timeline"]], [3, 3, 7, 11])
        self.assertEqual([run["ordinal"] for run in said["timeline"]], [1, 2, 3, 4])
        main = said["contexts"][0]
        self.assertEqual((main["name"], main["launches"], main["crashes"], main["repairs"]), ("main", 5, 2, 1))
        self.assertEqual([rung["name"] for rung in main["rungs"]][1:], ["mend it", "reset it", "delete it"])
        self.assertEqual([rung["series_wall_ns"] > 0 for rung in main["rungs"]], [False, True, False, False])
        self.assertEqual([run["events"][0] for run in said["timeline"]], [0, 1, 1 | 2 | 4, 0])
        self.assertEqual((said["slots_valid"], said["last_ordinal"]), (3, 5))

    def test_task_and_ladder(self):
        """Crashes in a task, repairs that fail, safe mode: their traces in the ledger and in the
        run file."""
        for _ in range(2):
            path, status = write(self.state, "task")
            self.assertEqual(status, -signal.SIGSEGV)
            context = self.both(path)["contexts"][0]
            self.assertEqual((context["phase"], context["task"], context["modules"]), (3, "work", ["libnone.so"]))
            self.assertEqual(context["task_tid"], self.both(path)["crash"]["tid"])
        write(self.state, "fail")
        main = self.both(self.state + "/ledger.lg")["contexts"][0]
        self.assertEqual(([s["key"] for s in main["suspects"]], main["last_task"], main["suspects"][0]["crashes"]), (["work"], "work", 2))

    def test_living_process(self):
        child = subprocess.Popen([WRITER, self.state, "wait"], stdout=subprocess.PIPE, text=True)
        try:
            path = child.stdout.readline().strip()
            def same():
                said = python_reader(path)
                return said if said == c_reader(path) else None
            # other threads of the process write in between
            said = wait_until(same, "both readers say the same")
            self.assertEqual((said["run"]["alive"], said["verdict"]["end"], said["verdict"]["evidence"]), (1, 12, 1))
        finally:
            child.kill()
            child.wait(LIMIT)
            child.stdout.close()

    def test_both_readers_agree_on_damage(self):
        path, _ = write(self.state, "crash")
        chance, kinds = random.Random(1), {"same": 0, "part": 0, "all": 0}
        for original in (path, self.state + "/ledger.lg"):
            whole = pathlib.Path(original).read_bytes()
            clean = python_reader(original)
            written = [at for at in range(0, len(whole), 8) if any(whole[at:at + 8])]
            for i in range(120):
                damaged = bytearray(whole)
                if i % 10 == 0:
                    damaged = damaged[:chance.randrange(len(damaged))]
                else:
                    damaged[chance.choice(written) + chance.randrange(8)] ^= 1 << chance.randrange(8)
                copy = self.state + "/copy"
                pathlib.Path(copy).write_bytes(damaged)
                said = self.both(copy)
                kinds["all" if said == "damaged" else "same" if said == clean else "part"] += 1
        self.assertTrue(all(kinds.values()), kinds)  # else the test proves nothing


class Parts(BothReaders):
    """The parts that a crash leaves beside the crashed thread, made by hand: whole, of the greatest
    size, empty, missing, damaged."""

    def made(self, how):
        os.makedirs(self.state, exist_ok=True)
        return subprocess.run([PARTS, self.state, how], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip()

    def test_every_part(self):
        said = self.both(self.made("some"))
        crash = said["crash"]
        self.assertEqual((crash["kind"], said["verdict"]["kind"], said["verdict"]["end"]), (29, 29, 3))
        self.assertEqual([(m["source"], m["cut"]) for m in crash["messages"]], [(1, 0), (3, 0), (4, 1)])
        self.assertEqual(crash["messages"][2]["text"], "no room for \"notes\" \x1b[31m\xff")
        self.assertEqual(crash["frames"][1]["assumed"], 1)
        threads = crash["threads"]
        self.assertEqual([thread and thread["tid"] for thread in threads["threads"]], [4712, 4713, 4714, None, 4716])
        self.assertEqual((threads["complete"], threads["listed"], threads["omitted"]), (1, 7, 2))
        self.assertEqual(threads["threads"][0]["walk"]["method"], 4)
        self.assertEqual(threads["threads"][0]["registers"][16], ["rip", 16])
        self.assertIsNone(threads["threads"][2]["walk"])
        figures = {name: (known, value) for name, _, known, value in crash["process"]["resources"]}
        self.assertEqual((figures["resident"], figures["virtual_limit"]), ((1, 1000003), (1, 2**64 - 1)))
        self.assertEqual((figures["cgroup_memory"], figures["tracer_pid"]), ((0, 0), (1, 0)))
        self.assertTrue(crash["process"]["map"].endswith("[stack]\n"))
        self.assertEqual([(chunk["tid"], len(chunk["bytes"])) for chunk in crash["memory"]], [(4711, 400), (4712, 0), (4713, 128)])
        self.assertEqual((said["stderr"]["total"], len(said["stderr"]["text"])), (100, 100))

    def test_as_large_as_can_be(self):
        said = self.both(self.made("full"))
        crash = said["crash"]
        self.assertEqual([len(message["text"]) for message in crash["messages"]], [6000, 0, 0, 1, 20, 20, 5999, 1])
        self.assertEqual((len(crash["process"]["map"]), crash["process"]["map_cut"]), (48864, 1))
        self.assertEqual([(len(t["walk"]["pcs"]), len(t["registers"]), t["name"]) for t in crash["threads"]["threads"]],
                         [(96, 40, "sixteen letters!")] * 6)
        self.assertEqual((len(crash["memory"]), len(crash["memory"][0]["bytes"])), (1, 2 * 4064))
        self.assertEqual(len(said["stderr"]["text"]), 16320)
        first = 2**40 + 17 - 16320
        self.assertEqual(said["stderr"]["text"][0], chr(ord("a") + first % 26))

    def test_nothing_in_it(self):
        said = self.both(self.made("empty"))
        self.assertEqual((said["crash"]["messages"], said["crash"]["process"]["map"], said["crash"]["kind"]), ([], "", 18))
        self.assertEqual(said["crash"]["threads"]["threads"], [])
        self.assertNotIn("memory", said["crash"])
        self.assertNotIn("stderr", said)

    def test_a_handler_that_was_killed(self):
        crash = self.both(self.made("bare"))["crash"]
        self.assertEqual((crash["threads"]["complete"], len(crash["threads"]["threads"])), (0, 5))
        self.assertNotIn("process", crash)
        self.assertEqual(len(crash["memory"]), 3)

    def test_torn(self):
        said = self.both(self.made("torn"))
        self.assertEqual((said["stderr"]["total"], len(said["stderr"]["text"])), (17320, 16320 - 256))
        self.assertEqual(said["stderr"]["text"][0], chr(ord("a") + 1256 % 26))
        self.assertNotIn("#", said["stderr"]["text"])
        self.assertEqual([thread and thread["tid"] for thread in said["crash"]["threads"]["threads"]], [4712, 4713, None, None, 4716])

    def test_siginfo_lost(self):
        crash = self.both(self.made("lost"))["crash"]
        self.assertEqual((crash["siginfo_lost"], crash["kind"], crash["address"]), (1, 77, None))

    def test_a_requested_dump_is_no_crash(self):
        said = self.both(self.made("quit"))
        self.assertEqual((said["verdict"]["end"], said["verdict"]["evidence"], said["verdict"]["signal"]), (2, 13, signal.SIGQUIT))
        self.assertEqual(said["crash"]["kind"], 44)

    def test_sections_are_where_the_page_says(self):
        """The last column of the sections, for what a program makes with default
        options."""
        rows = re.findall(r"^(\d+) +run .* (\d+)$", page.TEXT, re.M)
        run = self.made("some")
        sections = page.File(run).sections
        self.assertEqual({int(kind): int(at) for kind, at in rows}, {int(kind): sections[int(kind)][0] for kind, _ in rows})
        self.assertGreater(len(rows), 3)
        version = re.search(r"This page describes version \*\*(\d+)\.(\d+)\*\* of both", page.TEXT)
        ledger = pathlib.Path(subprocess.run([LEDGERS, self.state, "story"], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip())
        for path in (run, ledger):
            self.assertEqual(struct.unpack_from("<2H", pathlib.Path(path).read_bytes(), 12), tuple(map(int, version.groups())))

    def test_both_readers_agree_on_damage(self):
        """Each byte of a new part, changed. Checked data is not shown, and the rest stays as it
        was."""
        chance = random.Random(2)
        for how in ("some", "full"):
            path = self.made(how)
            whole, clean = pathlib.Path(path).read_bytes(), python_reader(path)
            record, threads, stacks = (page.File(path).sections[kind] for kind in (4, 6, 7))
            stages = {stage: record[0] + struct.unpack_from("<I", whole, record[0] + 24 * stage)[0] for stage in (5, 6, 7, 9)}
            regions = [(stages[9], 300, "async" if how == "full" else ""), (record[0] + 24 * 5, 72, ""), (stages[5], 160, "messages"), (stages[6], 32, ""), (stages[7], 600, "process"),
                       (threads[0], 64, ""), (threads[0] + 64, 500, ""), (threads[0] + 64 + 1232, 1232, ""), (stacks[0], 300, "memory")]
            kinds = {"same": 0, "part": 0, "all": 0}
            for start, size, name in regions:
                written = [at for at in range(start, start + size) if whole[at]]
                for at in chance.sample(written, min(len(written), 25)):
                    copy = bytearray(whole)
                    copy[at] ^= 1 << chance.randrange(8)
                    pathlib.Path(self.state + "/copy").write_bytes(copy)
                    said = self.both(self.state + "/copy")
                    kinds["all" if said == "damaged" else "same" if said == clean else "part"] += 1
                    if name:
                        found = said["crash"].get(name)
                        self.assertIn("damaged", (found, *(found if name == "memory" and found else ())), "%s at %d" % (name, at - start))
            self.assertGreater(kinds["part"], 50, kinds)
            for cut in (threads[0] + 10, threads[0] + 2000, stacks[0] + 10, stacks[0] + 100, record[0] + 21000):
                pathlib.Path(self.state + "/copy").write_bytes(whole[:cut])
                self.both(self.state + "/copy")

    def test_hostile_numbers(self):
        """Numbers out of bounds with right checksums."""
        path = self.made("some")
        whole = pathlib.Path(path).read_bytes()
        record, threads, stacks = (page.File(path).sections[kind][0] for kind in (4, 6, 7))
        blocks = {stage: record + struct.unpack_from("<I", whole, record + 24 * stage)[0] for stage in (5, 7)}
        for at, value, where in (
                (blocks[5] + 4, 9, 5), (blocks[5] + 8, 6001, 5), (blocks[5] + 20, 2**32 - 1, 5), (blocks[5] + 24, 2**32 - 1, 5),
                (blocks[7] + 256, 48865, 7), (blocks[7] + 256, 2**32 - 1, 7), (blocks[7] + 256, 2000, 7),
                (threads, 2**32 - 1, 0), (threads, 7, 0), (threads, 0, 0), (threads + 4, 1231, 0), (threads + 4, 2**32 - 1, 0), (threads + 4, 0, 0),
                (threads + 4, 1240, 0), (threads + 64 + 20, 41, "slot"), (threads + 64 + 12, 9, "slot"), (threads + 64 + 16, 7, "slot"),
                (threads + 64 + 16, 0x153, "slot"), (threads + 64 + 440, 97, "slot"), (threads + 64 + 444, 6, "slot"),
                (threads + 64 + 456, 99, "slot"), (stacks + 16, 2**32 - 1, "chunk"), (stacks + 16, 5000, "chunk"), (stacks + 16, 0, "chunk")):
            copy = bytearray(whole)
            struct.pack_into("<I", copy, at, value)
            if where in blocks:
                entry = record + 24 * where
                size = struct.unpack_from("<I", copy, entry + 8)[0]
                struct.pack_into("<I", copy, entry + 12, page.crc32c(copy[blocks[where]:blocks[where] + size]))
            elif where == "slot":
                slot = threads + 64
                struct.pack_into("<I", copy, slot + 4, page.crc32c(copy[slot + 8:slot + 424]))
                stored = struct.unpack_from("<H", copy, slot + 440)[0]
                struct.pack_into("<I", copy, slot + 428, page.crc32c(copy[slot + 432:slot + 464 + 8 * stored]))
            elif where == "chunk":
                size = struct.unpack_from("<I", copy, stacks + 16)[0]
                struct.pack_into("<I", copy, stacks + 4, page.crc32c(copy[stacks + 8:stacks + 32 + size]))
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            with self.subTest(at=at, value=value):
                said = self.both(self.state + "/copy")
                if where in blocks:
                    self.assertEqual(said["crash"]["messages" if where == 5 else "process"], "damaged")
                    self.assertEqual(said["crash"]["kind"], 18 if where == 5 else 29)


class Briefs(BothReaders):
    """Several crashes, and which of them counts."""
    HEADER, CONTEXT, FRAMES = ((0, 64), (16, 256), (32, 1200))  # commit and block in a brief record

    def setUp(self):
        super().setUp()
        os.makedirs(self.state)
        self.path = subprocess.run([PARTS, self.state, "briefs"], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip()
        self.whole = pathlib.Path(self.path).read_bytes()
        self.record, self.section = (page.File(self.path).sections[kind][0] for kind in (4, 13))

    def brief(self, index):
        return self.section + 64 + 2304 * index

    def changed(self, *changes, seal=()):
        """The results of both readers for a copy. The parts in `seal` (place, part) get the right
        checksums."""
        copy = bytearray(self.whole)
        for at, kind, value in changes:
            struct.pack_into(kind, copy, at, value)
        for place, (commit, block) in seal:
            commit, block = self.brief(place) + commit, self.brief(place) + block
            size = struct.unpack_from("<I", copy, commit)[0]
            struct.pack_into("<I", copy, commit + 4, page.crc32c(copy[block:block + size]))
        pathlib.Path(self.state + "/copy").write_bytes(copy)
        return self.both(self.state + "/copy")

    def test_every_crash(self):
        said = self.both(self.path)
        damaged, main, nested, other = said["crashes"]
        self.assertEqual(damaged, "damaged")
        self.assertEqual([[crash.get(name, 0) for name in ("sequence", "signal", "tid", "brief", "within", "handled", "is_end", "stages")]
                          for crash in (main, nested, other)],
                         [[1, 6, 4711, 0, 0, 0, 0, 0b1_1111_1110], [2, 11, 4711, 1, 1, 0, 0, 0b110], [3, 7, 4712, 1, 0, 0, 1, 0b1110]])
        self.assertEqual(said["crash"] | {"is_end": 1}, other)
        self.assertEqual([said["verdict"][name] for name in ("end", "evidence", "signal", "kind", "monotonic_ns")], [3, 3, 7, 17, 3000003000])
        self.assertEqual((nested["frames"], nested["cpu"]["thread_name"]), ([None, None], "loader"))
        walk = other["frames"][0]
        self.assertEqual((len(walk["pcs"]), walk["first"], walk["total"], other["frames"][1]), (128, 112, 300, None))
        for name in ("messages", "process", "threads", "memory"):
            self.assertIn(name, main)
            self.assertNotIn(name, other)

    def test_the_crash_that_counts(self):
        # of the crashes 1, 2 and 3
        outcomes = [self.record + 384, self.brief(1) + 48, self.brief(0) + 48]
        withins = [self.record + 392, self.brief(1) + 52, self.brief(0) + 52]
        signals = [None, self.brief(1) + 64, self.brief(0) + 64]
        for outcome, within, dumps, end in (
                ((1, 1, 0), (0, 1, 0), (), 3), ((1, 1, 2), (0, 1, 0), (), 1), ((1, 0, 2), (0, 0, 0), (), 2), ((2, 0, 2), (0, 1, 0), (), 2),
                ((2, 2, 2), (0, 1, 0), (), 3), ((2, 2, 2), (0, 0, 2), (), 3), ((1, 1, 0), (0, 1, 2), (), 1), ((0, 2, 0), (0, 1, 2), (), 3),
                ((0, 2, 2), (0, 1, 0), (), 1), ((7, 2, 2), (0, 1, 0), (), 1),
                # a dump hides no crash, and no crash that was survived hides a dump
                ((1, 1, 0), (0, 1, 0), (3,), 1), ((2, 2, 0), (0, 0, 0), (3,), 3), ((2, 0, 2), (0, 1, 0), (2,), 2), ((2, 1, 0), (0, 0, 2), (2,), 3),
                ((2, 0, 0), (0, 0, 0), (2, 3), 3), ((2, 0, 0), (0, 0, 2), (2, 3), 3), ((2, 2, 2), (0, 0, 0), (3,), 3),
                # numbers that no writer stores
                ((1, 1, 0), (3, 1, 3), (), 3), ((1, 1, 0), (2, 3, 2), (), 2), ((1, 1, 0), (0, 0, 9), (), 3), ((1, 1, 0), (3, 3, 2**32 - 1), (), 3)):
            changes = [(at, "<I", value) for places, values in ((outcomes, outcome), (withins, within)) for at, value in zip(places, values)]
            changes += [(signals[number - 1], "<i", 3) for number in dumps]
            with self.subTest(outcome=outcome, within=within, dumps=dumps):
                said = self.changed(*changes, seal=[(0, self.HEADER), (1, self.HEADER)])
                self.assertEqual(said["crash"]["sequence"], end)
                self.assertEqual([crash["sequence"] for crash in said["crashes"][1:] if crash.get("is_end")], [end])
                handled = outcome[end - 1] == 2
                self.assertEqual(said["crash"]["handled"], int(handled))
                self.assertEqual(said["verdict"]["end"], 8 if handled else 2 if end in dumps else 3)

    def test_order(self):
        said = self.changed((self.brief(0) + 64 + 128, "<I", 1), (self.brief(1) + 64 + 128, "<I", 0), seal=[(0, self.HEADER), (1, self.HEADER)])
        self.assertEqual([(crash["sequence"], crash["tid"]) for crash in said["crashes"][1:]], [(0, 4711), (1, 4711), (1, 4712)])
        self.assertEqual(said["crash"]["tid"], 4712)
        # The record may hold a later crash than a brief record, or none, or a damaged one.
        for commit, others in ((0, 2), (0x4547415453474c02, 2)):
            said = self.changed((self.record + 24 + 16, "<Q", commit))
            self.assertEqual([crash if crash == "damaged" else crash["sequence"] for crash in said["crashes"]], ["damaged"] * (2 if commit else 1) + [2, 3])
        copy = bytearray(self.whole)
        for place in (0, 1, 2):
            copy[self.brief(place):self.brief(place) + 48] = bytes(48)
        pathlib.Path(self.state + "/copy").write_bytes(copy)
        said = self.both(self.state + "/copy")
        self.assertEqual((said["crash"]["sequence"], "crashes" in said), (1, False))

    def test_hostile_numbers(self):
        for at, value in ((0, 65), (0, 2**32 - 1), (0, 5), (4, 2303), (4, 0), (4, 2**32 - 1), (4, 2305)):
            with self.subTest(at=at, value=value):
                said = self.changed((self.section + at, "<I", value))
                self.assertEqual((said["crashes"], said["crash"]["sequence"]), ("damaged", 1))
        self.assertEqual(self.changed((self.section, "<I", 0))["crash"]["sequence"], 1)
        said = self.changed((self.section, "<I", 1))
        self.assertEqual([crash["sequence"] for crash in said["crashes"]], [1, 3])
        said = self.changed((self.section, "<I", 2), (self.section + 4, "<I", 2304 * 2))
        self.assertEqual([crash if crash == "damaged" else crash["sequence"] for crash in said["crashes"]], ["damaged", 1, 3])
        frames = self.brief(0) + self.FRAMES[0]
        stored, first = self.brief(0) + 1200, self.brief(0) + 1202
        for at, form, value in ((stored, "<H", 129), (stored, "<H", 2**16 - 1), (first, "<H", 129), (frames, "<I", 24 + 8 * 127), (frames, "<I", 23),
                                (frames, "<I", 1049), (frames, "<I", 2**32 - 1), (frames, "<I", 0)):
            with self.subTest(frames=at, value=value):
                self.assertEqual(self.changed((at, form, value), seal=[(0, self.FRAMES)])["crash"]["frames"], ["damaged", None])
        self.assertEqual(self.changed((stored, "<H", 100), (first, "<H", 100), seal=[(0, self.FRAMES)])["crash"]["frames"][0]["total"], 300)
        context = self.brief(0) + self.CONTEXT[0]
        self.assertEqual(self.changed((context, "<I", 945), seal=[(0, self.CONTEXT)])["crash"]["cpu"], "damaged")
        self.assertEqual(self.changed((context, "<I", 328), seal=[(0, self.CONTEXT)])["crash"]["cpu"]["thread_name"], "")
        self.assertEqual(self.changed((self.brief(0) + self.HEADER[0], "<I", 193), seal=[(0, self.HEADER)])["crash"]["sequence"], 1)

    def test_both_readers_agree_on_damage(self):
        chance, clean, kinds = random.Random(3), python_reader(self.path), {"same": 0, "part": 0}
        written = [at for at in range(self.section, self.section + 64 + 3 * 2304) if self.whole[at]]
        head = [at for at in written if (at - self.section - 64) % 2304 < 256]
        for at in chance.sample(written, 60) + chance.sample(head, 60):
            copy = bytearray(self.whole)
            copy[at] ^= 1 << chance.randrange(8)
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            kinds["same" if self.both(self.state + "/copy") == clean else "part"] += 1
        self.assertGreater(min(kinds.values()), 10, kinds)
        for length in (0, 3, 63, 64, 64 + 47, 64 + 300, 64 + 2304, 64 + 4 * 2304 - 1, 64 + 4 * 2304):
            pathlib.Path(self.state + "/copy").write_bytes(self.whole[:self.section + length])
            self.both(self.state + "/copy")


class Ledgers(BothReaders):
    """Ledgers made by hand: states that many runs would lead to, and numbers that no writer
    stores."""

    def made(self, how):
        os.makedirs(self.state)
        return subprocess.run([LEDGERS, self.state, how], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip()

    def test_hint(self):
        said = self.both(self.made("hint"))
        self.assertEqual(said["hint"], {"serial": 8, "kind": 4, "expires_ns": 1767225600000000000, "context": "main", "name": "2.4"})
        self.assertEqual([run["events"][0] for run in said["timeline"]], [131072 | 262144, 524288 | 1048576])

    def test_start_faults(self):
        said = self.both(self.made("faults"))
        self.assertEqual((said["start_faults"], said["starts_left"], said["start_fault_wall_ns"]), (300, 63, 1700000000000000001))

    def test_every_field_has_its_own_value(self):
        said = self.both(self.made("story"))
        main, sync = said["contexts"]
        numbers = ("streak unknown reported rung attempts interruptions skips good_runs safe_crashes retry_runs crashes repairs "
                   "launches").split()
        self.assertEqual([main[name] for name in numbers], [1, 2, 3, 2, 1, 5, 6, 8, 9, 10, 12, 13, 15])
        self.assertEqual((main["status"], main["mode"], main["last_task"], sync["mode"]), (0, 0, "open-documents", 1))
        self.assertEqual([(rung["name"], rung["impact"], rung["attempts"], rung["flags"], rung["built_in"]) for rung in main["rungs"]],
                         [("leave out the suspect task", 0, 1, 0, 1), ("clear-cache", 10, 2, 0, 0), ("reset-settings", 50, 3, 6, 0),
                          ("delete-database", 90, 1, 3, 0)])
        self.assertEqual([(one["crashes"], one["left_out"]) for one in main["suspects"]], [(2, 1), (1, 0)])
        self.assertEqual((sync["rungs"], sync["suspects"]), ([], []))
        self.assertEqual([run["verdict"]["end"] for run in said["timeline"]], [1, 3, 3, 3, 1, 4, 5, 1, 10, 11, 2, 6, 77, 7])
        self.assertEqual(said["timeline"][3]["events"][:2], [1 | 2 | 8 | 512, 0])
        self.assertEqual((said["timeline"][1]["attributed"], said["timeline"][3]["repairing"]), (1, 1))

    def test_late(self):
        said = self.both(self.made("late"))
        self.assertEqual([said["contexts"][0].get(name) for name in ("window_ms", "finish")], [70, 3])
        self.assertEqual([[run.get(name) for name in ("late", "told", "reason")] for run in said["timeline"]],
                         [[None, 1, "settings.db: no space"], [1, None, None]])

    def test_status_and_halted(self):
        self.assertEqual([context["halted"] for context in self.both(self.made("halted"))["contexts"]], [1, 0])
        for phase, status, halted in ((0, 0, 1), (1, 1, 0), (2, 3, 0), (3, 1, 0), (4, 0, 0), (5, 2, 0), (6, 2, 1), (7, 0, 0)):
            context = self.both(self.with_number(16 + 4352 + 64, phase))["contexts"][0]
            self.assertEqual((context["status"], context["halted"]), (status, halted), phase)

    def test_untried_rung_is_offered(self):
        self.made("halted")
        rung = 16 + 4352 + 960 + 96  # the second one
        self.assertEqual([self.both(self.with_number(rung + 88, fate))["contexts"][0]["halted"] for fate in (0, 1, 2, 3)], [0, 1, 1, 1])

    def test_as_large_as_can_be_and_empty(self):
        said = self.both(self.made("full"))
        self.assertEqual({(len(c["rungs"]), len(c["suspects"]), len(c["name"]), len(c["last_task"])) for c in said["contexts"]}, {(17, 8, 63, 63)})
        self.assertEqual((len(said["contexts"]), [run["ordinal"] for run in said["timeline"]]), (16, list(range(4, 20))))
        os.unlink(self.state + "/ledger.lg")
        os.rmdir(self.state)
        said = self.both(self.made("empty"))
        self.assertEqual((said["contexts"], said["timeline"]), ([], []))

    def with_number(self, at, value, kind="<I"):
        """A copy with this number in both slots, their checksums right."""
        copy = bytearray(pathlib.Path(self.state + "/ledger.lg").read_bytes())
        for slot in (8192, 57344):
            struct.pack_into(kind, copy, slot + at, value)
            size = min(struct.unpack_from("<I", copy, slot + 8)[0], 45824)
            struct.pack_into("<I", copy, slot + 12, page.crc32c(copy[slot:slot + 12], copy[slot + 16:slot + 16 + size]))
        path = self.state + "/copy"
        pathlib.Path(path).write_bytes(copy)
        return path

    def test_hostile_numbers(self):
        """Out of bounds with right checksums: no part of such a book is shown."""
        self.made("story")
        book, first, second = 16, 16 + 4352, 16 + 4352 + 2592
        for at, value in ((8, 0), (8, 4352), (8, 4351), (8, 2**32 - 1), (8, 45824), (8, 45825), (8, 4352 + 2592), (8, 4352 + 2 * 2592 - 8),
                          (book + 160, 33), (book + 164, 17), (book + 164, 1), (book + 164, 3), (book + 164, 2**32 - 1), (book + 168, 17),
                          (book + 168, 2**32 - 1), (first + 64, 8), (first + 68, 4), (first + 92, 5), (first + 92, 2**32 - 1), (first + 96, 18),
                          (first + 96, 1), (first + 168, 9), (second + 64, 2**32 - 1), (second + 92, 1), (second + 96, 2**31)):
            with self.subTest(at=at, value=value):
                self.assertEqual(self.both(self.with_number(at, value)), "damaged")
        for at in (book, book + 64, book + 256 + 72, book + 256 + 15 * 256 + 72, first, first + 280, first + 384, first + 384 + 7 * 72, first + 960,
                   first + 960 + 16 * 96, second + 280):
            with self.subTest(text=at):
                whole = pathlib.Path(self.state + "/ledger.lg").read_bytes()
                slot = 8192 if struct.unpack_from("<Q", whole, 8192) > struct.unpack_from("<Q", whole, 57344) else 57344
                copy = bytearray(whole)
                copy[slot + at:slot + at + 64] = b"x" * 64
                size = struct.unpack_from("<I", copy, slot + 8)[0]
                struct.pack_into("<I", copy, slot + 12, page.crc32c(copy[slot:slot + 12], copy[slot + 16:slot + 16 + size]))
                pathlib.Path(self.state + "/copy").write_bytes(copy)
                said = self.both(self.state + "/copy")
                self.assertEqual(said["slots_valid"].bit_count(), 1)
        for at, value in ((first + 64, 7), (first + 68, 3), (first + 92, 4), (first + 76, 2**32 - 1), (book + 160, 32), (book + 168, 16),
                          (first + 168, 8)):
            with self.subTest(right=at):
                self.assertNotEqual(self.both(self.with_number(at, value)), "damaged")

    def test_what_is_behind_the_used_bytes_means_nothing(self):
        whole = pathlib.Path(self.made("story")).read_bytes()
        clean, copy = self.both(self.state + "/ledger.lg"), bytearray(whole)
        for slot in (8192, 57344):
            end = slot + 16 + struct.unpack_from("<I", copy, slot + 8)[0]
            copy[end:slot + 49152] = b"\xff" * (slot + 49152 - end)
        pathlib.Path(self.state + "/copy").write_bytes(copy)
        self.assertEqual(self.both(self.state + "/copy"), clean)


class Versions(BothReaders):
    """Files of versions that do not exist yet, made from those of today."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.state)
        self.files = [pathlib.Path(subprocess.run([program, self.state, how], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip())
                      for program, how in ((PARTS, "some"), (LEDGERS, "story"))]

    def changed(self, path, changes, more=b""):
        """Results and status of a copy with other fields of the header."""
        copy = bytearray(path.read_bytes()) + more
        for name, value in changes.items():
            at, kind = page.HEADER.fields[name]
            struct.pack_into("<" + page.NUMBERS[kind], copy, at, value)
        if more:  # a section of an unknown kind holds it
            count = page.HEADER.get(copy, "section_count")
            struct.pack_into("<I4xQQ", copy, page.HEADER.at("sections") + page.SECTION.size * count, 99, len(copy) - len(more), len(more))
            struct.pack_into("<IQ", copy, page.HEADER.at("section_count"), count + 1, len(copy))
        crc = page.HEADER.at("crc")
        struct.pack_into("<I", copy, crc, page.crc32c(copy[:crc]))
        pathlib.Path(self.state + "/copy").write_bytes(copy)
        dumped = subprocess.run([DUMP, self.state + "/copy"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT, text=True)
        return self.both(self.state + "/copy"), dumped.stderr

    def test_a_newer_minor_version_is_read(self):
        """With a flag, a section and a larger header that only its writer knows."""
        for path in self.files:
            with self.subTest(path.name):
                self.assertEqual(self.changed(path, {"minor": 1, "compat_flags": 1 << 31, "header_bytes": 512}, bytes(64)), (self.both(path), ""))

    def test_a_newer_major_version_is_refused(self):
        for path in self.files:
            for changes, status in (({"major": 2}, "newer"), ({"major": 2**16 - 1}, "newer"), ({"incompat_flags": 1}, "newer"), ({"major": 0}, "damaged"),
                                    ({"header_bytes": 503}, "damaged"), ({"header_bytes": 4097}, "damaged"), ({"section_count": 19}, "damaged")):
                with self.subTest(path.name, changes=changes):
                    self.assertEqual(self.changed(path, changes), ("damaged", "dump: %s\n" % status))

    def test_stages_that_grow(self):
        """A stage that is not used today is counted and else passed over, and the known part of a
        longer block is read."""
        path = self.files[0]
        clean, copy, (record, _) = self.both(path), bytearray(path.read_bytes()), page.File(path).sections[4]
        stage, done = page.STRUCTURES["stage"], record + 11008
        copy[done + 16:done + 24] = b"\1" * 8
        for number, at, size, capacity in ((8, 11008, 24, 64), (10, 11008, 16, 16)):
            struct.pack_into("<4IQ", copy, record + stage.size * number, at, capacity, size, page.crc32c(copy[done:done + size]), 0x4547415453474c00 + number)
        pathlib.Path(self.state + "/copy").write_bytes(copy)
        clean["crash"]["stages"] |= 1 << 10
        self.assertEqual(self.both(self.state + "/copy"), clean)


class Later(BothReaders):
    """The parts that most runs do not have."""

    def made(self, how="later"):
        os.makedirs(self.state, exist_ok=True)
        return subprocess.run([PARTS, self.state, how], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip()

    def changes(self, path):
        """A function that changes the state in a copy of a run file further and further, and
        returns run and verdict. The run did not end with another boot, and its process has a number
        that the kernel's log cannot name."""
        copy, state = bytearray(pathlib.Path(path).read_bytes()), page.File(path).sections[2][0]
        with open("/proc/sys/kernel/random/boot_id") as file:
            copy[512 + 16:512 + 32] = bytes.fromhex(file.read().strip().replace("-", ""))
        struct.pack_into("<i", copy, 512 + 72, 2**30)
        copy[512 + 632:512 + 636] = struct.pack("<I", page.crc32c(bytes(copy[512:512 + 632])))

        def said(*changes):
            for kind, at, *values in changes:
                struct.pack_into("<" + kind, copy, state + at, *values)
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            found = self.both(self.state + "/copy")
            return found["run"], [found["verdict"][name] for name in ("end", "evidence", "signal", "monotonic_ns")]
        return said

    def test_marks_of_any_end(self):
        """Marks and times that are near each other, as no life would leave them: both readers find
        the same facts, and many ends."""
        chance, found, state = random.Random(4), set(), page.STRUCTURES["state"]
        near = [0, *(second * 10**9 + more for second in (5, 6, 105, 106) for more in (0, 1)), 300 * 10**9]
        words = {"ended": (0, 0, 0, 1, 2, 3), "exit_code": (0, 7), "announced": (0, 0, 0, 1, 2), "witnessed": (0, 1), "term_signal": (0, 0, 15, 2, 1, 13),
                 "witness_status": (0, 7 << 8, 15, 13, 3, 9, 9, 11, 0x8b, 0x137f)}
        rare = ("hang_ns", "hung_alive_ns", "witnessed_ns", "cpu_near_ns", "forked_ns", "memory_near_ns", "crash_noted_ns")
        for how in ("later", "some"):
            said = self.changes(self.made(how))
            for _ in range(100):
                marks = {name: chance.choice(values) for name, values in words.items()}
                marks |= {name: chance.choice(near) for name in ("ended_ns", "term_ns", "term_alive_ns", "announced_ns")}
                marks |= {name: chance.choice(near) if chance.random() < 0.25 else 0 for name in rare}
                _, verdict = said(*((page.NUMBERS[state.fields[name][1]], state.at(name), value) for name, value in marks.items()))
                found.add(tuple(verdict[:2]))
        self.assertGreater(len(found), 15, found)  # else the test proves nothing

    def test_state_and_owners(self):
        said = self.both(self.made())
        run, contexts = said["run"], said["contexts"]
        self.assertEqual([run[name] for name in ("announced", "announced_ns", "witnessed", "witness_status", "oom_kills", "oom_cgroup",
                                                 "hang_ns", "hung_alive_ns", "witnessed_ns", "boottime_ns")],
                         [2, 9 * 10**9, 1, 9, 3, 4242, 8 * 10**9, 88 * 10**8, 97 * 10**8, 10**9 + 1])
        self.assertEqual([context["phase"] for context in contexts], [7, 5, 6])
        self.assertEqual((contexts[0]["task_tid"], contexts[0]["modules"]), (4712, ["libplayer.so", "libcodec.so.2"]))
        self.assertNotIn("modules", contexts[1])
        self.assertEqual(contexts[2]["modules"], ["m" * 238])

    def test_what_does_not_count(self):
        """Words that mark other fields as valid. Any other value marks them as invalid."""
        path = self.made()
        whole, state = pathlib.Path(path).read_bytes(), page.File(path).sections[2][0]
        for at, value, gone in ((56, 0, "announced_ns"), (56, 3, "announced_ns"), (60, 2, "witness_status"), (68, 0, "oom_kills"),
                                (68, 2**32 - 1, "oom_cgroup")):
            copy = bytearray(whole)
            struct.pack_into("<I", copy, state + at, value)
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            self.assertNotIn(gone, self.both(self.state + "/copy")["run"])

    def test_figures_of_a_program_that_is_about_to_be_ended(self):
        """The facts of section 11 that use them. Each row changes the file of the row before."""
        second, alive, seen = 10**9, 88 * 10**8, 97 * 10**8
        path = self.made()
        said = self.changes(path)
        self.assertEqual(said()[1], [6, 15, 9, seen])  # the program hung while it was about to end
        self.assertEqual(said(("Q", 88, 8 * second - 1))[1], [4, 18, 9, seen])
        # no witness, no announced end
        self.assertEqual(said(("I", 56, 0), ("I", 60, 0))[1], [4, 18, 0, alive])
        self.assertEqual(said(("I", 116, 1), ("i", 32, 15), ("Q", 24, 9 * second))[1], [2, 6, 15, 9 * second])
        self.assertEqual(said(("Q", 120, 9 * second))[1], [2, 6, 15, 9 * second])
        run, verdict = said(("Q", 120, 19 * second))
        self.assertEqual((run["term_kept"], run["term_alive_ns"], verdict), (1, 19 * second, [4, 18, 0, alive]))
        self.assertEqual(said(("Q", 88, 109 * second))[1], [2, 20, 15, 19 * second])
        # the program used the signal for something else
        self.assertEqual(said(("Q", 88, 109 * second + 1))[1], [4, 18, 0, 109 * second + 1])
        self.assertEqual(said(("Q", 88, 8 * second))[1], [2, 20, 15, 19 * second])
        # the program went on after SIGHUP; after SIGINT only if that took longer than a stop
        self.assertEqual(said(("i", 32, 1))[1], [4, 18, 0, alive])
        self.assertEqual(said(("i", 32, 2))[1], [2, 20, 2, 19 * second])
        self.assertEqual(said(("Q", 120, 110 * second))[1], [4, 18, 0, alive])
        self.assertEqual(said(("Q", 120, 19 * second), ("i", 32, 15))[1], [2, 20, 15, 19 * second])
        self.assertEqual(said(("I", 56, 1))[1], [2, 20, 15, 19 * second])
        self.assertEqual(said(("I", 56, 2))[1], [1, 17, 0, 9 * second])
        run, verdict = said(("I", 56, 0), ("3Q", 128, 0, 5, 6), ("3Q", 152, 0, 7, 8), ("I", 116, 2))
        self.assertEqual({"cpu_used_ns", "cpu_limit_s", "memory_used", "memory_limit", "term_kept"} & set(run), set())
        run, verdict = said(("Q", 128, 11 * second))
        self.assertEqual((run["cpu_used_ns"], run["cpu_limit_s"], verdict), (5, 6, [2, 20, 15, 19 * second]))
        self.assertEqual(said(("I", 60, 1))[1], [6, 21, 9, 11 * second])
        self.assertEqual(said(("Q", 128, 0))[1], [2, 20, 15, 19 * second])
        self.assertEqual(said(("Q", 120, 0))[1], [2, 20, 15, seen])
        self.assertEqual(said(("i", 32, 0), ("Q", 88, 0))[1], [6, 15, 9, seen])
        run, verdict = said(("I", 60, 0), ("Q", 152, 13 * second))
        self.assertEqual((run["memory_used"], run["memory_limit"], verdict), (7, 8, [11, 23, 0, 13 * second]))
        run, verdict = said(("Q", 176, 5))
        self.assertEqual((run["memory_own"], verdict), (5, [11, 23, 0, 13 * second]))
        self.assertEqual(said(("Q", 152, 0))[1], [11, 8, 0, 0])

    def test_memory_of_its_own_and_a_fork(self):
        second = 10**9
        said = self.changes(self.made("near"))
        run, verdict = said()
        self.assertEqual((run["memory_own"], run["forked_ns"]), (33554432, 4 * second))
        self.assertEqual(verdict, [11, 26, 0, 4 * second])  # no count of this group
        self.assertEqual(said(("Q", 184, 0))[1], [11, 23, 0, 3 * second])
        self.assertNotIn("memory_own", said(("Q", 152, 0))[0])
        self.assertEqual(said()[1], [11, 8, 0, 0])

    def test_a_crash_by_the_word_of_the_program(self):
        second = 10**9
        said = self.changes(self.made("noted"))
        run, verdict = said(("2I", 60, 1, 11))
        self.assertEqual((run["crash_noted_ns"], run["crash_type"]), (5 * second, "T" * 48))
        self.assertEqual(verdict, [3, 2, 0, 5 * second])  # not its exit, nor the witness
        run, verdict = said(("Q", 192, 0), ("I", 60, 0))
        self.assertNotIn("crash_type", run)
        self.assertEqual(verdict, [1, 4, 0, 6 * second])

    def test_words_of_an_agent(self):
        said = self.changes(self.made("agent"))
        run, verdict = said()
        self.assertEqual((run["attached"], run["reported"]), (1, 2))
        self.assertEqual(verdict, [11, 8, 0, 0])
        run, verdict = said(("2I", 248, 2, 7))
        self.assertNotIn("attached", run)
        self.assertNotIn("reported", run)
        for kind in 1, 3, 4, 5, 6:
            run, verdict = said(("I", 252, kind))
            self.assertEqual(run["reported"], kind)
        own = run["ordinal"]
        for other in own + 1, own + (1 << 23) - 1:
            run, verdict = said(("I", 252, 3 | (other & 0xffffff) << 8))
            self.assertEqual((run["reported"], run["counted_in"]), (3, other))

    def test_executed(self):
        """This word stands before that of the witness, and after a crash."""
        second = 1000000000
        said = self.changes(self.made("executed"))
        run, verdict = said()
        self.assertEqual(run["ended"], 3)
        self.assertEqual(verdict, [1, 12, 0, 7 * second])
        run, verdict = said(("2I", 60, 1, 9))
        self.assertEqual(verdict, [1, 12, 0, 7 * second])
        run, verdict = said(("I", 4, 4))
        self.assertEqual((run["ended"], verdict), (0, [6, 15, 9, 0]))

    def test_functions(self):
        """A function whose size is not above the offset is not known."""
        path = self.made("functions")
        crash = self.both(path)["crash"]
        self.assertEqual(crash["frames"][1]["functions"], [[0, 0x10, 0x1000]])
        walks = [thread and thread["walk"] for thread in crash["threads"]["threads"]]
        self.assertEqual(walks[0]["functions"], [[0, 0x10, 0x1000], [3, 0x13, 0x4000], [4, 0x14, 0x5000]])
        self.assertNotIn("functions", walks[4])  # a walk by frame pointers has none
        self.assertNotIn("functions", self.both(self.made("some"))["crash"]["frames"][1])
        at = pathlib.Path(path).read_bytes().index(struct.pack("<2I", 0x13, 0x4000))
        with open(path, "r+b") as file:  # the checksum is wrong then
            file.seek(at)
            file.write(b"\x15")
        walks = [thread and thread["walk"] for thread in self.both(path)["crash"]["threads"]["threads"]]
        self.assertEqual([walk and "functions" in walk for walk in walks[:2]], [False, True])

    def test_async(self):
        """Chains of asynchronous callers, and numbers out of bounds with a right checksum."""
        path = self.made("async")
        program, library = 0x555500000000, 0x7f0000100000
        self.assertEqual(self.both(path)["crash"]["async"], {"async_omitted": 2, "chains": [
            [1, program + 0x1010, 0, program + 0x2000, program + 0x2010, program + 0x2020], [70000, library + 0x1234, 1, program + 0x4000],
            [4, program, 0, program + 0x6000, program + 0x6010]]})
        self.assertNotIn("async", self.both(self.made("some"))["crash"])
        whole, record = pathlib.Path(path).read_bytes(), page.File(path).sections[4][0]
        entry = record + 24 * 9
        block, _, size = struct.unpack_from("<3I", whole, entry)
        block += record
        for at, kind, value, is_right in (
                (block, "<I", 17, False), (block, "<I", 2**32 - 1, False), (block, "<I", 4, False), (block, "<I", 2, True), (block, "<I", 0, True),
                (block + 20, "<H", 4, False), (block + 20, "<H", 2**16 - 1, False), (entry + 8, "<I", size - 8, False), (entry + 8, "<I", size - 1, False),
                (entry + 8, "<I", 7, False), (entry + 8, "<I", size + 8, True), (entry + 8, "<I", 3200, True)):
            copy = bytearray(whole)
            struct.pack_into(kind, copy, at, value)
            now = struct.unpack_from("<I", copy, entry + 8)[0]
            struct.pack_into("<I", copy, entry + 12, page.crc32c(copy[block:block + now]))
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            with self.subTest(at=at - block, value=value):
                self.assertEqual(self.both(self.state + "/copy")["crash"]["async"] != "damaged", is_right)

    def test_async_of_other_threads(self):
        path, program = self.made("async"), 0x555500000000
        threads = self.both(path)["crash"]["threads"]["threads"]
        self.assertEqual(threads[0]["walk"]["chains"], [
            [2, program + 0x2020, 0, program + 0x2000, program + 0x2010, program + 0x2020], [3, program + 0x2030, 1, program + 0x4000]])
        self.assertEqual([len(chain) for chain in threads[4]["walk"]["chains"]], [95])
        self.assertEqual([thread and thread.get("async_omitted") for thread in threads], [7, None, None, None, 65535])
        busy = self.both(self.made("busy"))["memory_snapshot"]["threads"]
        self.assertEqual([thread["walk"] and thread["walk"].get("chains") for thread in busy], [None, [[1, program + 0x2010, 0, program + 0x2000, program + 0x2010]], None])
        whole, thread = pathlib.Path(path).read_bytes(), page.STRUCTURES["thread"]
        for number, name, at, kind, value, is_right in (
                (0, "async_words", 0, "<B", 97, False), (0, "async_words", 0, "<B", 255, False), (0, "async_words", 0, "<B", 7, False),
                (0, "async_words", 0, "<B", 92, False), (0, "async_chains", 0, "<B", 3, False), (0, "async_chains", 0, "<B", 255, False),
                (0, "async_chains", 0, "<B", 1, True), (0, "pcs", 8 * 88 + 12, "<H", 6, False), (0, "async_omitted", 0, "<H", 0, True),
                (0, "pcs", 8 * 88 + 12, "<H", 2**16 - 1, False), (4, "async_words", 0, "<B", 95, False), (4, "head", 0, "<H", 3, False)):
            copy, slot = bytearray(whole), page.File(path).sections[6][0] + 64 + thread.size * number
            struct.pack_into(kind, copy, slot + thread.at(name) + at, value)
            now = copy[slot:slot + thread.size]
            chains = now[thread.size - 8 * min(thread.get(now, "async_words"), 96):]
            crc = page.crc32c(now[432:][:32 + 8 * struct.unpack_from("<H", now, thread.at("head"))[0]], chains)
            struct.pack_into("<I", copy, slot + thread.at("walk_crc"), crc)
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            with self.subTest(number=number, name=name, value=value):
                self.assertEqual(self.both(self.state + "/copy")["crash"]["threads"]["threads"][number]["walk"] != "damaged", is_right)

    def test_system(self):
        said = self.both(self.made("system"))["system"]
        self.assertEqual((said["kernel"], said["parent_name"], said["os_version"]), ("k" * 64, "p" * 16, "1" * 32))
        self.assertEqual((said["model"], said["container"], said["machine"]), ("Kiosk \"4\" \x1b[31m\xff", "podman", bytes(range(0xa0, 0xb0)).hex()))
        self.assertEqual((said["command_line"], said["command_line_cut"], said["invocation"]), ("player\0--file\0a \"b\"\0", 0, ""))
        path = self.made("system-full")
        said = self.both(path)["system"]
        self.assertEqual((said["unit"], said["invocation"], said["parent_pid"]), ("player@1.service", bytes(range(16)).hex(), 4700))
        self.assertEqual((len(said["command_line"]), said["command_line_cut"]), (968, 1))
        whole, (at, size) = pathlib.Path(path).read_bytes(), page.File(path).sections[14]
        self.assertEqual(size, 1408)
        for offset, kind, value, expected in ((0, "<I", 0, None), (0, "<I", 1, "damaged"), (28, "<I", 969, "damaged"), (28, "<I", 2**32 - 1, "damaged"),
                                              (28, "<I", 967, "damaged"), (168, "<B", 1, "damaged"), (1407, "<B", 1, "damaged")):
            copy = bytearray(whole)
            struct.pack_into(kind, copy, at + offset, value)
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            self.assertEqual(self.both(self.state + "/copy")["system"], expected, (offset, value))

    def test_cpu_times_and_memory_snapshot(self):
        threads = self.both(self.made("cpu"))["crash"]["threads"]
        self.assertEqual([thread and thread["cpu_ns"] for thread in threads["threads"]], [10**9, 2 * 10**9, 3 * 10**9, None, 5 * 10**9])
        self.assertEqual(threads["crashed_cpu_ns"], 12345678901)
        path = self.made("busy")
        said = self.both(path)
        memory = said["memory_snapshot"]
        self.assertNotIn("snapshots", said)
        self.assertEqual((memory["kind"], memory["tid"], memory["name"], memory["since_ns"], memory["resolved_ns"]), (3, 0, "", 5 * 10**9, 9 * 10**9))
        self.assertEqual([(thread["tid"], thread.get("cpu_ns")) for thread in memory["threads"]], [(4712, 10**9), (4809, 98 * 10**9), (4714, None)])
        whole, (at, size) = pathlib.Path(path).read_bytes(), page.File(path).sections[15]
        self.assertEqual(size, 320 + 6 * 1232)
        for offset, kind, value, damaged in ((0, "<I", 7, True), (0, "<I", 4097, True), (0, "<I", 2**32 - 1, True), (4, "<I", 1231, True),
                                             (64, "<I", 7, True), (68, "<I", 7, True), (64 + 16, "<I", 1, True), (64 + 12, "<I", 1, True),
                                             (64 + 72, "<I", 5, True), (0, "<I", 6, False), (64 + 8, "<I", 0, None)):
            copy = bytearray(whole)
            struct.pack_into(kind, copy, at + offset, value)
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            said = self.both(self.state + "/copy").get("memory_snapshot")
            self.assertEqual(None if said is None else said == "damaged", damaged, (offset, value))

    def test_owners_that_are_damaged(self):
        path = self.made()
        whole, (at, size) = pathlib.Path(path).read_bytes(), page.File(path).sections[9]
        self.assertEqual(size, 4096)
        for what in ("no end", "no end after a name", "phase", "cut"):
            copy = bytearray(whole)
            if what == "no end":
                copy[at + 16:at + 256] = b"x" * 240
            elif what == "no end after a name":
                copy[at + 16:at + 256] = b"x\0" + b"y" * 237 + b"\0"
            elif what == "phase":
                struct.pack_into("<I", copy, page.File(path).sections[2][0] + page.STRUCTURES["state"].at("contexts") + 68, 8)
            else:
                del copy[at + 16:]
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            said = self.both(self.state + "/copy")
            with self.subTest(what):
                if what == "phase":
                    self.assertIsNone(said["contexts"][0])
                    continue
                self.assertEqual((said["contexts"][0]["phase"], said["contexts"][0].get("modules")), (7, None))
                self.assertNotIn("task_tid", said["contexts"][0])


class Fields(BothReaders):
    """Entries of the ring log with a category and fields, made by hand: whole, damaged
    inside, of unknown kinds."""

    def made(self):
        os.makedirs(self.state, exist_ok=True)
        return subprocess.run([PARTS, self.state, "fields"], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip()

    def test_every_entry(self):
        log = self.both(self.made())["log"]
        self.assertEqual((log["torn"], log["unknown"], len(log["entries"])), (0, 2, 14))
        entries = log["entries"]
        self.assertEqual([(e["text"], e.get("category"), len(e.get("fields", ""))) for e in entries[:6]],
                         [("only text", None, 0), ("request failed", "network", 2), ("text", None, 2),
                          ("", "the longest category there is, just as long as a name may be :)", 0), ("", None, 0), ("", None, 255)])
        self.assertEqual(entries[1]["fields"], [["url", "https://example.org"], ["code", "503"]])
        self.assertEqual((entries[2]["fields"], entries[2]["cut"]), ([["", ""], ["a key", "\"\x1b[m\xff\n"]], 1))
        self.assertEqual(entries[5]["fields"], [[chr(ord("a") + i % 26), ""] for i in range(255)])
        self.assertEqual([e.get("damaged") for e in entries], 6 * [None] + 7 * [1] + [None])
        for entry in entries[6:13]:
            self.assertEqual((entry["text"], entry.get("category"), entry.get("fields"), entry["tid"]), ("", None, None, entries[0]["tid"]))
        self.assertEqual((entries[12]["cut"], entries[13]["text"]), (1, "the last one"))

    def test_both_readers_agree_on_damage(self):
        """Every byte of the first entries with fields, changed to values that break careless
        arithmetic, with a right checksum."""
        path = self.made()
        whole, (at, _) = pathlib.Path(path).read_bytes(), page.File(path).sections[5]
        entry = at + 64 + 64 + 2 * 32  # ring header, lane header, the entry of text
        size, kinds = struct.unpack_from("<H", whole, entry + 28)[0], set()
        for byte in range(size):
            for value in (0, 1, 2, 5, 63, 64, 127, 255):
                copy = bytearray(whole)
                copy[entry + 32 + byte] = value
                struct.pack_into("<I", copy, entry + 4, page.crc32c(copy[entry + 8:entry + 32 + size]))
                pathlib.Path(self.state + "/copy").write_bytes(copy)
                log = python_reader(self.state + "/copy")["log"]
                self.assertEqual(log["entries"][0]["text"], "only text")
                kinds.add(log["entries"][1].get("damaged", 0))
                if byte < 4 or value == 255:
                    self.both(self.state + "/copy")
        self.assertEqual(kinds, {0, 1})


class Annotations(BothReaders):
    """Keys with their last values."""

    def made(self, how="annotated"):
        os.makedirs(self.state, exist_ok=True)
        return subprocess.run([PARTS, self.state, how], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip()

    def test_every_kind(self):
        said = self.both(self.made())["annotations"]
        self.assertEqual([one["key"] for one in said], ["screen", "password", "document \x1b[31m\xff", "empty", "token", "cut", "secret", "taken"])
        found = {one["key"]: (one["value"], one["cut"], one["redacted"]) for one in said}
        self.assertEqual(found["screen"], ("settings", 0, 0))
        self.assertEqual((found["empty"], found["cut"]), (("", 0, 0), ("v" * 495, 1, 0)))
        self.assertEqual((found["token"], found["secret"]), (("swordfish", 0, 1), ("tuna fish", 0, 1)))
        self.assertEqual((found["password"], found["taken"]), ((None, 0, 1), (None, 0, 1)))

    def test_as_many_as_there_can_be(self):
        said = self.both(self.made("annotated-full"))["annotations"]
        self.assertEqual({(len(one["key"]), one["value"], one["cut"], one["redacted"]) for one in said}, {(63, "v" * 495, 0, 0)})
        self.assertEqual(len({one["key"] for one in said}), 64)

    def test_a_file_without_them(self):
        self.assertNotIn("annotations", self.both(self.made("later")))
        path = ROOT / "Tests/Golden/least.lgrun"
        self.assertNotIn(12, page.File(path).sections)  # there was no space for them
        self.assertNotIn("annotations", self.both(path))

    def test_hostile_numbers(self):
        """A part that is not whole is damaged and hides no other. A part that is only unusual is
        shown."""
        path = self.made()
        whole, clean = pathlib.Path(path).read_bytes(), self.both(path)["annotations"]
        at, size = page.File(path).sections[12]
        self.assertEqual(size, 76800)
        current = struct.unpack_from("<Q", whole, at)[0]
        self.assertEqual((current & 255, current >> 8), (3, 3))
        value = at + 1024 + 592 * 2

        def changed(*changes, seal=True):
            copy = bytearray(whole)
            for where, kind, what in changes:
                struct.pack_into(kind, copy, where, what)
            if seal:
                length = struct.unpack_from("<I", copy, value + 16)[0]
                struct.pack_into("<I", copy, value + 584, page.crc32c(copy[value + 8:value + 88], copy[value + 88:value + 88 + length], copy[value:value + 8]))
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            return self.both(self.state + "/copy").get("annotations")
        self.assertEqual(changed(), clean)
        for what in ((at, "<B", 129), (at, "<B", 255), (at, "<B", 4), (at, "<Q", 4 << 8 | 3), (at, "<Q", 2**64 - 1), (value, "<Q", 4), (value + 16, "<I", 496),
                     (value + 16, "<I", 2**32 - 1), (value + 24, "<B", 0), (value + 24, "<64s", b"x" * 64)):
            with self.subTest(damaged=what):
                self.assertEqual(changed(what), ["damaged"] + clean[1:])
        for what in ((value + 8, "<Q", 1), (value + 16, "<I", 9), (value + 20, "<I", 1), (value + 24, "<B", 1), (value + 88, "<B", 1), (value + 584, "<I", 1)):
            with self.subTest(unsealed=what):
                self.assertEqual(changed(what, seal=False), ["damaged"] + clean[1:])
        self.assertEqual(changed((at, "<B", 0), (at + 8, "<I", 1)), clean[1:])
        self.assertEqual(changed((at + 8, "<I", 2**31))[0]["redacted"], 1)
        self.assertEqual(changed((value + 16, "<I", 495))[0]["value"], "settings" + "\0" * 487)
        self.assertEqual(changed((value + 20, "<I", 2**32 - 1))[0] | {"monotonic_ns": 0}, {"key": "screen", "value": None, "cut": 0, "redacted": 0, "monotonic_ns": 0})
        # the same twice: shown as it stands
        self.assertEqual(changed((at + 16, "<Q", current))[:2], [clean[0], clean[0] | {"redacted": 1}])

    def test_section_that_is_cut(self):
        path = self.made()
        whole, (at, _) = pathlib.Path(path).read_bytes(), page.File(path).sections[12]
        for length in (at, at + 16, at + 1023, at + 1024, at + 1024 + 592):
            pathlib.Path(self.state + "/copy").write_bytes(whole[:length])
            self.assertEqual(self.both(self.state + "/copy")["annotations"][:3], ["damaged"] * 3, length)


class Live(BothReaders):
    """The data that a living program writes."""

    def made(self, how="live"):
        os.makedirs(self.state, exist_ok=True)
        return subprocess.run([PARTS, self.state, how], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip()

    def test_every_field(self):
        said = self.both(self.made())
        self.assertEqual([(heartbeat["tid"], heartbeat["paused"], heartbeat["name"]) for heartbeat in said["pulse"]["heartbeats"]],
                         [(4711, 0, "player"), (4799, 1, "sixteen letters!"), (-1, 0, "\x1b[31m")])
        self.assertEqual(said["pulse"]["heartbeats"][0]["hang_ns"], said["run"]["hang_ns"])
        self.assertEqual([(one["name"], one["limit_ms"], one["near_ns"], one["tid"]) for one in said["pulse"]["deadlines"]],
                         [('upload "notes"', 30000, 3 * 10**10, 4713), ("nightly", 86400000, 0, 4744)])
        hang, deadline = said["snapshots"]
        self.assertEqual([hang[name] for name in "sequence tid name listed captured masked silent omitted error given_up took_ns complete resolved_ns".split()],
                         [7, 4711, "player", 5, 1, 1, 2, 1, 24, 0, 500123456, 1, 0])
        self.assertEqual([thread and (thread["tid"], thread["how"], bool(thread["walk"])) for thread in hang["threads"]],
                         [(4711, 1, True), (4713, 2, True), None, (4715, 3, False)])
        self.assertEqual((deadline["given_up"], deadline["resolved_ns"], len(deadline["threads"][0]["walk"]["pcs"])), (1, 31 * 10**9, 96))

    def test_killed_in_between(self):
        said = self.both(self.made("hung"))
        self.assertEqual((said["snapshots"][0]["complete"], len(said["snapshots"][0]["threads"]), said["snapshots"][1]), (0, 1, None))

    def test_damage(self):
        path = self.made()
        whole, (at, _) = pathlib.Path(path).read_bytes(), page.File(path).sections[11]
        hang, second = at + 64, at + 64 + 256
        for where, value, wanted in (
                (at, 2**32 - 1, "both"), (at, 8, "both"), (at, 6, "deadline"), (at + 4, 1231, "both"), (at + 4, 2**32 - 1, "both"), (at + 4, 0, "both"),
                (hang, 7, "hang"), (hang, 2**32 - 1, "hang"), (hang + 4, 8, "hang"), (second, 8, "deadline"), (hang + 8, 1, "hang"), (hang + 12, 0, "hang"),
                (hang + 16, 2, "hang"), (second + 16, 1, "deadline"), (hang + 32, 0x61626364, "hang"), (hang + 128, 1, "counts"), (hang + 140, 9, "counts"),
                (hang + 176, 9, None), (hang + 4, 2, "fewer")):
            copy = bytearray(whole)
            struct.pack_into("<I", copy, where, value)
            if where in (hang + 16, second + 16):
                struct.pack_into("<I", copy, where - 4, page.crc32c(copy[where:where + 112]))
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            with self.subTest(at=where - at, value=value):
                said = self.both(self.state + "/copy")["snapshots"]
                self.assertEqual([one == "damaged" for one in said], [wanted in ("hang", "both"), wanted in ("deadline", "both")])
                if wanted in ("counts", None):
                    self.assertEqual(said[0]["complete"], int(wanted is None))
                if wanted == "fewer":
                    self.assertEqual(len(said[0]["threads"]), 2)


class Guards(BothReaders):
    """The findings of guards."""

    def made(self):
        os.makedirs(self.state, exist_ok=True)
        return subprocess.run([PARTS, self.state, "guards"], stdout=subprocess.PIPE, timeout=LIMIT, text=True, check=True).stdout.strip()

    def test_every_kind(self):
        guards = self.both(self.made())["guards"]
        self.assertEqual((guards["events"], guards["survived"]), (1065, 1024))
        self.assertEqual([(one["place"], one["guard_class"], one["action"], one["count"], one["survived"]) for one in guards["sites"]],
                         [(0, 0, 1, 1000, 999), (1, 6, 1, 11, 11), (2, 1, 4, 12, 2), (3, 8, 2, 13, 3), (4, 10, 3, 14, 4), (5, 99, 77, 15, 5), (6, 5, 0, 0, 0)])
        first, longest = (guards["sites"][place]["description"] for place in (1, 2))
        self.assertEqual((first["text"], first["fields"], first["frames"]),
                         ("index 9 of 3 \x1b[31m\xff", [["index", "9"], ["count", "3"]], [guards["sites"][1]["site"]]))
        self.assertEqual((len(longest["frames"]), longest["fields"][3][1][:2], longest["thread_name"]), (32, "33", "sixteen letters!"))
        self.assertEqual([one["description"] if one["place"] in (0, 3, 4, 6) else "" for one in guards["sites"]], [None, "", "", None, "damaged", "", None])

    def test_files_without_them(self):
        small = ROOT / "Tests/Golden/least.lgrun"
        self.assertNotIn(19, page.File(small).sections)  # there was no space
        self.assertNotIn("guards", self.both(small))
        path, _ = write(self.state, "kill")
        self.assertIn(19, page.File(path).sections)
        self.assertNotIn("guards", self.both(path))  # the program has not started guards

    def test_damage(self):
        """Counts are believed without a checksum. A description that is not whole hides no count, a
        head that is wrong hides all."""
        path = self.made()
        whole, clean = pathlib.Path(path).read_bytes(), self.both(path)["guards"]
        at, size = page.File(path).sections[19]
        site = at + 64 + 1024

        def changed(*changes, seal=False):
            copy = bytearray(whole)
            for where, kind, what in changes:
                struct.pack_into(kind, copy, where, what)
            if seal:
                struct.pack_into("<I", copy, site + 40, page.crc32c(copy[site + 44:site + 1024]))
            pathlib.Path(self.state + "/copy").write_bytes(copy)
            return self.both(self.state + "/copy").get("guards")

        def second(guards):
            return guards["sites"][1]
        self.assertEqual(changed(), clean)
        for where, what in ((16, 1023), (16, 2**32 - 1), (20, 33), (20, 2**32 - 1), (16, 1088)):
            with self.subTest(head=where, what=what):
                self.assertEqual(changed((at + where, "<I", what)), "damaged")
        self.assertIsNone(changed((at + 16, "<I", 0)))
        self.assertEqual(changed((at + 20, "<I", 0))["sites"], [])
        self.assertEqual(changed((at, "<Q", 2**64 - 1))["events"], 2**64 - 1)
        self.assertEqual(changed((site, "<Q", 0))["sites"], clean["sites"][:1] + clean["sites"][2:])
        for name, place in (("count", 8), ("survived", 16), ("last_ns", 24)):
            self.assertEqual(second(changed((site + place, "<Q", 2**64 - 1))), second(clean) | {name: 2**64 - 1})
        for what in ((36, 1), (40, 0), (44, 7), (48, 1), (60, 2), (80, 3), (84, 1), (96, 1), (256, 1), (768, 1), (1020, 1)):
            with self.subTest(unsealed=what):
                self.assertEqual(second(changed((site + what[0], "<I", what[1]))), second(clean) | {"description": "damaged"})
        for what in ((44, 7), (60, 33), (60, 2**32 - 1), (80, 5), (80, 2**32 - 1)):
            with self.subTest(sealed=what):
                self.assertEqual(second(changed((site + what[0], "<I", what[1]), seal=True)), second(clean) | {"description": "damaged"})
        self.assertEqual(second(changed((site + 60, "<I", 32), seal=True))["description"]["frames"][1:], 31 * [0])
        self.assertEqual(second(changed((site + 84, "<I", 9), seal=True)), second(clean))

    def test_section_that_is_cut(self):
        path = self.made()
        whole, (at, size) = pathlib.Path(path).read_bytes(), page.File(path).sections[19]
        for length in (at, at + 63, at + 64, at + size - 1):
            pathlib.Path(self.state + "/copy").write_bytes(whole[:length])
            self.assertEqual(self.both(self.state + "/copy")["guards"], "damaged", length)


class Lanes(unittest.TestCase):
    """Ring logs made by hand, with everything that the format allows, whether a version writes it
    or not. Two counts a nanosecond. Entries of two cells each. A lane with a torn entry and with
    cells that were reserved and not written, a lane that has wrapped, a lane that is empty."""
    CELLS = 32

    def make(self, kind=lambda number: 0, time=lambda lane, number: 1000 + 20 * number + 2 * lane, mult=1):
        cells, self.whole = self.CELLS, []
        header = struct.pack("<4I3QIIQ", 3, cells, 32, 2, 1000, 5000, mult, 1, 0, 0)
        ring = header + struct.pack("<II", page.crc32c(header), 0)
        for lane, count in enumerate((10, 40, 0)):
            body = bytearray(32 * cells)
            for number in range(count):
                sequence, text = 2 * number, b"entry %d" % number
                entry = struct.pack("<QQiHBB", sequence, time(lane, number), 77, len(text), 30, kind(number)) + text
                torn, skipped = lane == 0 and number == 4, lane == 0 and number == 6
                commit = 0 if torn else page.crc32c(entry) << 32 | sequence + 1
                if not skipped:
                    at = sequence % cells * 32
                    body[at:at + 64] = (struct.pack("<Q", commit) + entry).ljust(64, b"\0")
                if not torn and not skipped and number >= count - cells // 2:
                    self.whole.append((lane, number, sequence, text.decode()))
            ring += struct.pack("<QiiQ40x", 2 * count, 77, 0, count) + body
        return ring

    def read(self, ring, later=(0, 0, 0)):
        with tempfile.TemporaryDirectory() as directory:
            golden = ROOT / "Tests/Golden/crash.lgrun"
            content, sections = bytearray(golden.read_bytes()), page.File(golden).sections
            content[sections[5][0]:sections[5][0] + len(ring)] = ring
            struct.pack_into("<QQI", content, sections[2][0] + 96, *(value % 2**64 for value in later))
            path = directory + "/lanes.lgrun"
            pathlib.Path(path).write_bytes(content)
            log = python_reader(path)["log"]
            self.assertEqual(log, c_reader(path)["log"])
        return log

    def times(self, log):
        return {(entry["lane"], entry["sequence"] // 2): entry["monotonic_ns"] for entry in log["entries"]}

    def test_several_lanes_and_a_counter(self):
        log = self.read(self.make())
        self.assertEqual([(e["monotonic_ns"], e["lane"], e["sequence"], e["text"]) for e in log["entries"]],
                         sorted((5000 + 10 * number + lane, lane, sequence, text) for lane, number, sequence, text in self.whole))
        self.assertEqual((log["torn"], log["overwritten_bytes"], log["overwritten_entries"]), (1, 32 * (80 - self.CELLS), 40 - self.CELLS // 2))

    def test_a_later_point_gives_the_rate(self):
        # The header says 2 counts a nanosecond. The later point, 2,000,000 counts on, says a
        # hundredth more nanoseconds.
        log = self.read(self.make(time=lambda lane, number: 1000 + 20000 * number), (2001000, 5000 + 1010000, 4))
        self.assertEqual(self.times(log)[0, 9], 5000 + 90900)

    def test_a_point_that_cannot_be_one(self):
        for later in ((2001000, 1015000, 3), (2001000, 1015000, 0), (1000, 1015000, 2), (2001000, 5000, 2), (500, 1015000, 2), (2001000, 4000, 2),
                      (2001000, 5000 + 1070000, 2), (2001000, 5000 + 930000, 2), (2**64 - 1, 2**64 - 1, 2), (0, 0, 2)):
            with self.subTest(later):
                log = self.read(self.make(time=lambda lane, number: 1000 + 20000 * number), later)
                self.assertEqual(self.times(log)[0, 9], 5000 + 90000)

    def test_monotonic_between_counts(self):
        # Every third entry has the other clock, which is 7 ns after. No time goes back.
        log = self.read(self.make(kind=lambda number: 0x40 if number % 3 == 0 else 0,
                                  time=lambda lane, number: 4993 + 10 * number if number % 3 == 0 else 1000 + 20 * number))
        times = self.times(log)
        for lane, first, last in ((0, 0, 9), (1, 24, 39)):
            of = [times[lane, number] for number in range(first, last + 1) if (lane, number) in times]
            self.assertEqual(of, sorted(of))
        self.assertEqual([times[0, number] for number in (0, 1, 2, 3)], [4993, 5010, 5020, 5023])
        log = self.read(self.make(kind=lambda number: 0x40 if number % 3 == 0 else 0,
                                  time=lambda lane, number: 4973 + 10 * number if number % 3 == 0 else 1000 + 20 * number))
        self.assertEqual([self.times(log)[0, number] for number in (1, 2, 3)], [5010, 5020, 5020])

    def test_hostile_numbers(self):
        for mult in (0, 1, 2**64 - 1):
            for later in ((0, 0, 0), (2**64 - 1, 2**64 - 1, 2**32 - 2), (1000 + 2**63 - 1, 5000 + 2**63 - 1, 2), (2**63, 1, 2)):
                with self.subTest(mult=mult, later=later):
                    self.assertEqual(len(self.read(self.make(time=lambda lane, number: 2**64 - 1 - 10**17 * number, mult=mult), later)["entries"]), len(self.whole))
        # of lane 1: none counted, fewer than there are, as many as fit a number
        for entries in (0, 15, 2**64 - 1):
            ring = bytearray(self.make())
            struct.pack_into("<Q", ring, 64 + (64 + 32 * self.CELLS) + 16, entries)
            self.assertEqual(self.read(ring)["overwritten_entries"], 0 if entries < 2**64 - 1 else 80 - self.CELLS)


class Golden(unittest.TestCase):
    """Files of every shipped version are read with the same results as ever."""
    maxDiff = 4000

    def test_golden(self):
        files = [path for path in ROOT.glob("Tests/Golden/*") if path.suffix in (".lgrun", ".lg")]
        self.assertGreaterEqual(len(files), 30)
        for path in files:
            with self.subTest(path.name):
                expected = json.loads(pathlib.Path(str(path) + ".json").read_text())
                said, other = python_reader(path), c_reader(path)
                self.assertEqual(said, other)
                self.assertEqual(said, expected)


if __name__ == "__main__":
    unittest.main()
