"""docs/FORMAT.md against the code: its offsets, and a reader written from it against the C reader, on real files."""
import difflib
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import tempfile
import unittest

import page
import reader

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITER, DUMP = os.environ["WRITER"], os.environ["DUMP"]
LIMIT = 20  # seconds for any child


def write(directory, how):
    """One run that ends as `how` says: its file and its wait status."""
    made = subprocess.run([WRITER, directory, how], stdout=subprocess.PIPE, timeout=LIMIT, text=True)
    return made.stdout.strip(), made.returncode


def c_reader(path):
    dumped = subprocess.run([DUMP, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=LIMIT)
    return json.loads(dumped.stdout) if dumped.returncode == 0 else "damaged"


def python_reader(path):
    return page.part(reader.read, path)


class Page(unittest.TestCase):
    def test_offsets_and_sizes_are_those_of_the_code(self):
        code = (ROOT / "Sources/CLaunchGuard/store/format.h").read_text()
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
        rows = set(re.findall(r"\| (\d+) \| ([\w. -]+) (?=\|)", page.PAGE.read_text(encoding="utf-8")))
        for header, table in (("end.h", "LG_END_TABLE"), ("reader.h", "LG_CRASH_TABLE")):
            text = (ROOT / "include/launchguard" / header).read_text()
            values = re.findall(r"X\(LG_\w+, (\d+), \"([^\"]+)\"\)", text.split("#define " + table)[1].split("typedef")[0])
            self.assertGreater(len(values), 10)
            self.assertEqual(set(values) - rows, set(), table)
        code = (ROOT / "Sources/CLaunchGuard/store/format.h").read_text()
        reasons = re.findall(r"X\(LG__WALK_\w+, (\d+), \"([^\"]+)\"\)", code)
        self.assertGreater(len(reasons), 7)
        self.assertEqual(set(reasons) - rows, set())

    def test_checksum(self):
        self.assertEqual(page.crc32c(b"123456789"), 0xe3069283)
        self.assertEqual(page.crc32c(), 0)


class RealFiles(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.state = directory.name + "/state"

    def both(self, path):
        """What both readers say."""
        said, other = python_reader(path), c_reader(path)
        if said != other:
            texts = [json.dumps(one, indent=0, sort_keys=True).splitlines() for one in (said, other)]
            self.fail("\n".join(["the readers differ:", *difflib.unified_diff(*texts, "reader.py", "C reader", n=3, lineterm="")]))
        return said

    def run_of(self, how):
        path, status = write(self.state, how)
        said = self.both(path)
        self.both(self.state + "/ledger.lg")
        self.assertEqual(said["run"]["started"], 1)
        self.assertEqual([c["name"] for c in said["contexts"]], ["main", "second"])
        self.assertEqual([c["phase"] for c in said["contexts"]], [3, 4])
        self.assertEqual(said["log"]["torn"], 0)
        self.assertEqual(said["log"]["entries"][-1]["text"], "70 entries, then " + how)
        self.assertIn("\"quoted\"\\ \x01\xff \n", [entry["text"] for entry in said["log"]["entries"]])
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
        for how, wait, end, evidence in (("abort", -signal.SIGABRT, 3, 3), ("exit", 3, 7, 4), ("kill", -signal.SIGKILL, 11, 8),
                                         ("terminate", -signal.SIGTERM, 2, 6), ("stop", 0, 1, 5), ("return", 0, 1, 4)):
            with self.subTest(how):
                said, status = self.run_of(how)
                self.assertEqual((status, said["verdict"]["end"], said["verdict"]["evidence"]), (wait, end, evidence))
                self.assertEqual(said["crash"] is not None, how == "abort")

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
        self.assertEqual((main["name"], main["launches"], main["crashes"], main["rung_name"]), ("main", 5, 2, "mend it"))
        self.assertEqual((said["slots_valid"], said["last_ordinal"]), (3, 5))

    def test_living_process(self):
        child = subprocess.Popen([WRITER, self.state, "wait"], stdout=subprocess.PIPE, text=True)
        try:
            said = self.both(child.stdout.readline().strip())
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
        self.assertTrue(all(kinds.values()), kinds)  # else the test shows nothing


class Lanes(unittest.TestCase):
    def test_several_lanes_and_a_cycle_counter(self):
        """What the format allows and version 1.0 does not write: two ticks a nanosecond; a lane with a torn entry, one that
        has wrapped, one that is empty."""
        cells, expected = 32, []
        header = struct.pack("<4I3QIIQ", 3, cells, 32, 2, 1000, 5000, 1, 1, 0, 0)
        ring = header + struct.pack("<II", page.crc32c(header), 0)
        for lane, count in enumerate((10, 40, 0)):
            body = bytearray(32 * cells)
            for number in range(count):
                sequence, text = 2 * number, b"entry %d" % number  # two cells each
                entry = struct.pack("<QQiHBB", sequence, 1000 + 20 * number + 2 * lane, 77, len(text), 30, 0) + text
                torn = lane == 0 and number == 4
                commit = 0 if torn else page.crc32c(entry) << 32 | sequence + 1
                at = sequence % cells * 32
                body[at:at + 64] = (struct.pack("<Q", commit) + entry).ljust(64, b"\0")
                if not torn and number >= count - cells // 2:
                    expected.append((5000 + 10 * number + lane, lane, sequence, text.decode()))
            ring += struct.pack("<Qi52x", 2 * count, 77) + body
        with tempfile.TemporaryDirectory() as directory:
            content = bytearray((ROOT / "Tests/Golden/v1.0/crash.lgrun").read_bytes())
            content[90112:90112 + len(ring)] = ring
            path = directory + "/lanes.lgrun"
            pathlib.Path(path).write_bytes(content)
            log = python_reader(path)["log"]
            self.assertEqual(log, c_reader(path)["log"])
        self.assertEqual([(e["monotonic_ns"], e["lane"], e["sequence"], e["text"]) for e in log["entries"]], sorted(expected))
        self.assertEqual((log["torn"], log["overwritten_bytes"]), (1, 32 * (80 - cells)))


class Golden(unittest.TestCase):
    """Files of every version ever shipped stay readable, and say what they always said."""
    maxDiff = 4000

    def test_golden(self):
        files = [path for path in ROOT.glob("Tests/Golden/v*/*") if path.suffix in (".lgrun", ".lg")]
        self.assertGreaterEqual(len(files), 2)
        for path in files:
            with self.subTest(path.name):
                expected = json.loads(pathlib.Path(str(path) + ".json").read_text())
                self.assertEqual(python_reader(path), expected)
                self.assertEqual(c_reader(path), expected)


if __name__ == "__main__":
    unittest.main()
