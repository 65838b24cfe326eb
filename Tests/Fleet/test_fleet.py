#!/usr/bin/env python3
"""`launchguard collect`, `top` and `show`: test_fleet.py --tool T --victim V --copies C [--long]

Short programs die, and their run files become the runs of many devices. SQLite's own reader, that
of Python, opens the database, and runs the queries of docs/FLEET.md. With --long: 10,000 runs, a
bomb, and an interrupt.
"""
import collections
import contextlib
import html.parser
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import stat
import struct
import subprocess
import sys
import tarfile
import time

import fleet_case
import operator_case
import readers
from fleet_case import DAMAGED, DAY_S, ENDS, NOT_FOUND, SECRET, START_S, USAGE, FleetCase
from operator_case import ROOT
from page import STRUCTURES, File, crc32c
from waiting import wait_until

PAGE = ROOT / "docs/FLEET.md"


class Collect(FleetCase):
    def fill(self):
        """Three devices, thirty runs each."""
        for device in range(3):
            for number in range(1, 31):
                end = list(ENDS)[number % len(ENDS)]
                self.copy(end, f"kiosk-{device}", number, day=number % 20, version=f"1.{number // 11}", machine=f"{device + 1:032x}")
        return self.write_copies()

    def test_rows_are_what_the_files_say(self):
        result = self.collect(self.fill(), symbols=True)
        self.assertIn("90 runs in 3 state directories, 90 of them new", result.output)
        self.check_database()
        listed = [json.loads(line) for line in self.tool("list", "--json", self.directory / "devices").output.splitlines()]
        rows = {row[0]: row[1:] for row in self.query("SELECT uuid, number, started, ending, path, place, is_damaged FROM run")}
        self.assertEqual(rows, {run["uuid"]: (run["ordinal"], run["started"], run["verdict"]["end"], run["path"], run.get("place"), 0) for run in listed})
        self.assertEqual(collections.Counter(row[2] for row in rows.values()), collections.Counter(run[0] for run in self.copied))
        self.assertEqual(self.query("SELECT DISTINCT app FROM run"), [("org.example.fleet",)])
        self.assertEqual(stat.S_IMODE(self.database.stat().st_mode), 0o600)
        self.assertNotIn(SECRET, self.database.read_bytes())

    def test_the_fingerprint_is_that_of_an_export(self):
        self.collect(self.fill())
        for end in "write", "abort":
            dump = self.directory / "dump"
            self.assertEqual(self.tool("export", "--format", "minidump", "-o", dump, self.files[end]).status, 0)
            found = self.query("SELECT DISTINCT fingerprint FROM run WHERE path LIKE ?", f"%/kiosk-0/runs/{list(ENDS).index(end):08}-%")
            self.assertIn(found[0][0].encode(), dump.read_bytes())

    def test_again_is_harmless(self):
        devices = self.fill()
        self.collect(devices)
        before = self.contents()
        result = self.collect(devices, devices / "kiosk-1")
        self.assertIn("120 runs in 4 state directories, 0 of them new", result.output)
        self.assertEqual(self.contents(), before)
        self.check_database()

    def test_pruned_runs_stay(self):
        devices = self.fill()
        self.collect(devices)
        before = self.contents()
        for path in devices.glob("*/runs/*.lgrun"):
            if "00000030" not in path.name:
                path.unlink()
        self.assertIn("3 runs in 3 state directories, 0 of them new", self.collect(devices).output)
        self.assertEqual(self.contents(), before)

    def test_a_run_that_lived_is_brought_up_to_date(self):
        process = subprocess.Popen([operator_case.options.victim, self.state, "1.0", "wait"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait, operator_case.LIMIT_S)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.assertIn(" has 1 of 1 device\n", self.collect(self.state).output)
        self.assertEqual(self.query("SELECT ending, certainty, fingerprint FROM run"), [("running", 0, None)])
        self.assertEqual(self.tool("top", self.database).status, NOT_FOUND)
        process.send_signal(signal.SIGSEGV)
        self.assertEqual(process.wait(operator_case.LIMIT_S), -signal.SIGSEGV)
        self.collect(self.state)
        self.assertEqual(self.query("SELECT ending, signal, certainty FROM run"), [("crash", "SIGSEGV", 2)])
        self.assertEqual(len(self.top()), 1)
        self.check_database()

    def test_the_end_after_a_survived_crash_is_a_conclusion(self):
        """The record shows no end, and no mark does."""
        process = subprocess.Popen([operator_case.options.victim, self.state, "1.0", "wait"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGSEGV)
        process.wait(operator_case.LIMIT_S)
        path = next((self.state / "runs").iterdir())
        content = bytearray(path.read_bytes())
        content[File(path).sections[4][0] + STRUCTURES["record"].at("outcome")] = 2  # handled
        path.write_bytes(content)
        self.collect(self.state)
        self.assertEqual(self.query("SELECT ending, certainty FROM run"), [("unknown", 1)])

    def test_a_recorded_end_counts_in_a_damaged_file_too(self):
        process = subprocess.Popen([operator_case.options.victim, self.state, "1.0", "wait"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait, operator_case.LIMIT_S)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.collect(self.state)
        process.send_signal(signal.SIGSEGV)
        process.wait(operator_case.LIMIT_S)
        path = next((self.state / "runs").iterdir())
        content = bytearray(path.read_bytes())
        content[content.index(os.uname().release.encode())] ^= 0xFF
        path.write_bytes(content)
        self.collect(self.state, status=DAMAGED)
        self.assertEqual(self.query("SELECT ending, signal, is_damaged FROM run"), [("crash", "SIGSEGV", 1)])

    def test_a_key_that_no_run_has_any_more(self):
        """As where a later version of LaunchGuard computes other ones."""
        devices = self.fill()
        self.collect(devices)
        whole = self.contents()
        (name,), (other,) = self.query("SELECT bug FROM ranking ORDER BY runs DESC LIMIT 2")
        with sqlite3.connect(self.database) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            for table, column in ("run", "key"), ("run", "bug"), ("bug", "key"), ("example", "key"):
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", ("f" * 32, name))
            # The other one has only the run that is its example.
            connection.execute("INSERT INTO bug SELECT ?, app, ending, kind, headline, place FROM bug WHERE key = ?", ("e" * 32, other))
            connection.execute("UPDATE run SET bug = ?1, key = ?1 WHERE uuid != (SELECT run_uuid FROM example WHERE key = ?2) AND bug = ?2", ("e" * 32, other))
            connection.execute("UPDATE example SET key = ? WHERE key = ?", ("e" * 32, other))
        connection.close()
        self.collect(devices)
        self.check_database()
        found = self.contents()
        self.assertEqual({table: rows for table, rows in found.items() if table != "example"}, {table: rows for table, rows in whole.items() if table != "example"})
        self.assertEqual([row[0] for row in found["example"]], [row[0] for row in whole["example"]])
        self.assertIn("no bug has a key", self.tool("show", "f" * 32, self.database).errors)

    def test_many_at_once(self):
        """Each begins with no database, and says what it alone added."""
        self.fill()
        for _ in range(5):
            self.database.unlink(missing_ok=True)
            words = [operator_case.options.tool, "collect", "--json", "--no-symbols", "--into", self.database]
            processes = [subprocess.Popen([*words, self.directory / "devices" / name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                         for name in ("", "kiosk-0", "kiosk-1", "kiosk-2")]
            for process in processes:
                self.addCleanup(process.kill)
            ends = [(process, *process.communicate(timeout=operator_case.LIMIT_S)) for process in processes]
            self.assertEqual([(process.returncode, errors) for process, _, errors in ends], [(0, "")] * len(processes))
            self.assertEqual(sum(json.loads(output)["newRuns"] for _, output, _ in ends), 90)
            self.check_database()

    def move_to_another_machine(self, path):
        """Another boot id in the identity, with its checksum."""
        content = bytearray(path.read_bytes())
        sections = [struct.unpack_from("<IIQQ", content, 64 + 24 * index) for index in range(struct.unpack_from("<I", content, 28)[0])]
        at = next(offset for kind, _, offset, _ in sections if kind == 1)
        content[at + 16:at + 32] = bytes(range(16))
        struct.pack_into("<I", content, at + 632, crc32c(bytes(content[at:at + 632])))
        path.write_bytes(content)

    def test_the_ledger_of_the_device_says_how_a_run_ended(self):
        operator_case.run([operator_case.options.victim, self.state, "1.0", "kill"])
        run = next((self.state / "runs").iterdir())
        there = json.loads(self.tool("inspect", "--json", run).output)
        operator_case.run([operator_case.options.victim, self.state, "1.0", "clean"])
        self.move_to_another_machine(run)
        early = self.tarball("early.tar.gz", (run, "state/runs/" + run.name))
        first = "SELECT ending, certainty, fingerprint FROM run WHERE number = 1"
        self.collect(early)
        self.assertEqual(self.query(first), [("reboot", 1, None)])
        self.collect(self.state)
        self.assertEqual(self.query(first), [("unknown", 3, there["fingerprint"])])
        before = self.contents()
        self.collect(early)
        self.assertEqual(self.contents(), before)

    def test_devices(self):
        self.copy("write", "a", 1, machine="1" * 32)
        self.copy("write", "b", 1, machine="2" * 32)
        self.copy("write", "c", 1)
        devices = self.write_copies()
        named = "SELECT d.name, count(r.uuid) FROM device d LEFT JOIN run r ON r.device_id = d.id GROUP BY d.id ORDER BY 1"
        self.collect(devices / "a", devices / "b")
        self.assertEqual(self.query(named), [("1" * 32, 1), ("2" * 32, 1)])
        # Without a machine id: the name of the tarball or of the folder.
        self.collect(self.tarball("kiosk-17.tar.gz", (devices / "c", "var/lib/c")), f"{devices}/c/")
        self.assertEqual(self.query(named), [("1" * 32, 1), ("2" * 32, 1), ("c", 0), ("kiosk-17", 1)])
        # A name takes the machine id over, for good.
        self.collect("--device", "Lobby", devices / "a")
        self.copy("abort", "a", 2, machine="1" * 32)
        self.write_copies()
        self.collect(devices / "a")
        self.assertEqual(self.query(named), [("2" * 32, 1), ("Lobby", 2), ("c", 0), ("kiosk-17", 1)])
        self.assertEqual(self.query("SELECT machine_id, name FROM machine m JOIN device d ON d.id = m.device_id ORDER BY 1"), [("1" * 32, "Lobby"), ("2" * 32, "2" * 32)])
        self.check_database()


    def names(self):
        return self.query("SELECT d.name, count(*) FROM device d JOIN run r ON r.device_id = d.id GROUP BY d.id ORDER BY 1")

    def test_devices_by_their_names(self):
        """Machines that were copied from one image."""
        for device in "one", "two":
            self.copy("write", f"{device}/var/lib/app", 1, machine="1" * 32)
            self.copy("exit", f"{device}/home/a/app", 1, machine="2" * 32)
        devices = self.write_copies()
        self.collect(devices)
        self.assertEqual(self.names(), [("1" * 32, 2), ("2" * 32, 2)])
        # A surer rule counts for what was collected before, too.
        self.collect("--device-from", "name", devices / "one", devices / "two")
        self.assertEqual(self.names(), [("one", 2), ("two", 2)])
        for pattern, names in ((f"{self.directory}/devices/{{device}}", ["one", "two"]), ("devices/{device}/*", ["one", "two"]), ("{device}/app", ["a", "lib"]),
                               ("dev*ces/x{device}y", None), ("/devices/{device}", None), ("t{device}o/var/lib/app", None)):
            self.database = self.directory / "by-pattern.db"
            self.database.unlink(missing_ok=True)
            result = self.collect("--device-from", pattern, devices, status=0 if names else NOT_FOUND)
            if names:
                self.assertEqual(self.names(), [(name, 2) for name in names], pattern)
            else:
                self.assertIn(f"--device-from {pattern} does not match this path", result.errors)
        for wrong in ["--device-from", "/srv/*"], ["--device-from", "{device}/{device}"], ["--device-from", "name", "--device", "x"], ["--device-from", ""]:
            self.assertEqual(self.tool("collect", "--into", self.database, *wrong, devices).status, USAGE, wrong)

    def test_cloned_machine_ids(self):
        boots = [f"{number:032x}" for number in range(1, 9)]
        app = "org.example.fleet"
        # One device with three boots, and two users of a machine, at once in the same boots.
        for day in range(6):
            self.copy("clean", "fine", day + 1, day, "1.0", "1" * 32, app, boots[day // 2])
            self.copy("clean", "users/alice", day + 1, day, "1.0", "2" * 32, app, boots[4 + day // 3])
            self.copy("clean", "users/bob", day + 1, day, "1.0", "2" * 32, app, boots[4 + day // 3])
        self.assertEqual(self.collect(self.write_copies()).errors, "")
        # Two boots that take turns, in one folder; and folders without a common boot.
        for day in range(4):
            self.copy("clean", "turns", day + 1, day, "1.0", "3" * 32, app, boots[day % 2])
        for day, folder, boot in (0, "copy-a", 0), (1, "copy-b", 1), (2, "copy-a", 2):
            self.copy("clean", folder, day + 1, day, "1.0", "4" * 32, app, boots[boot])
        devices = self.write_copies()
        result = self.collect("--json", devices)
        self.assertEqual(json.loads(result.output)["clonedMachines"], 2)
        said = result.errors.splitlines()
        self.assertEqual(len(said), 2, said)
        self.assertIn(f"machine id {'3' * 32} of {app}: boots that take turns, in {devices}/turns: more than one device has it", said[0])
        self.assertIn(f"in {devices}/copy-a, {devices}/copy-b: more than one device", said[1])
        self.assertEqual(self.query("SELECT machine_id FROM machine WHERE is_cloned ORDER BY 1"), [("3" * 32,), ("4" * 32,)])
        self.copy("write", "fine", 9, 6, "1.0", "1" * 32, app, boots[2])
        self.collect(self.write_copies())
        self.assertIn("2 machine ids are of more than one device each", self.tool("top", self.database).output)
        # By names they are what they are.
        self.database = self.directory / "names.db"
        self.assertEqual(self.collect("--device-from", "devices/{device}", devices).errors, "")
        self.assertEqual({name for name, _ in self.names()}, {"fine", "users", "turns", "copy-a", "copy-b"})


class Top(FleetCase):
    def test_groups(self):
        days = {"write": [0, 0, 0, 5, 13], "abort": [2, 13], "exit": [13, 12, 11], "clean": [13] * 4}
        numbers = collections.Counter()
        for end, those in days.items():
            for index, day in enumerate(those):
                device = f"d{index % 2}"
                numbers[device] += 1
                self.copy(end, device, numbers[device], day, version=f"1.{day}", machine=f"{index % 2 + 1:032x}")
        self.collect(self.write_copies(), symbols=True)
        groups = self.top()
        self.assertEqual([(group["runs"], group["devices"], group["ending"]) for group in groups], [(5, 2, "crash"), (3, 2, "exit"), (2, 2, "crash")])
        for group, end in zip(groups, ["write", "exit", "abort"]):
            self.assertEqual(group["trend"], [days[end].count(day) for day in range(14)], group)
            self.assertEqual([part["name"] for part in group["versions"]], [f"1.{day}" for day in sorted(set(days[end]))])
            self.assertEqual(group["trendEnd"], time.strftime("%Y-%m-%d", time.gmtime(START_S + 13 * DAY_S)))
        self.assertIn("fleet_victim_write", groups[0]["place"])
        text = self.tool("top", self.database).output
        self.assertIn("org.example.fleet: 10 of 14 runs on 2 devices died\n", text)
        self.assertIn(f"2 devices, 5×  {groups[0]['bug'][:12]}  45.5\u00a0%  █····▃·······▃  1.0 (3×), 1.5 (1×), 1.13 (1×)\n", text)
        self.assertIn("access through a NULL pointer in fleet_victim_write (victim.c:", text)
        narrow = self.on_terminal(["top", self.database], COLUMNS="36")[0].decode()
        self.assertIn(groups[0]["bug"][:12], narrow)
        self.assertLessEqual(max(len(re.sub(r"\x1b\[[\d;]*m", "", row)) for row in narrow.splitlines()), 36, narrow)
        self.assertEqual(len(self.top("-n", "1")), 1)
        self.assertEqual(self.top("--app", "org.example.other", status=NOT_FOUND), [])

    def test_share_of_runs(self):
        """A larger share of the runs is worse, on as many devices."""
        ends = ["write"] * 3 + ["clean"] * 20
        for number, end in enumerate(ends + ["abort"] * 2, 1):
            self.copy(end, "d", number, version="1.0" if number <= len(ends) else "2.0")
        self.collect(self.write_copies())
        self.assertEqual([(group["runs"], group["total"]) for group in self.top()], [(2, 2), (3, len(ends))])
        lines = self.tool("top", self.database).output.splitlines()
        self.assertEqual([line.split("  ")[2] for line in lines if "device," in line], ["100\u00a0%", "13\u00a0%"])

    def test_a_clock_in_the_future_spoils_no_trend(self):
        self.copy("write", "d", 1, day=0)
        self.copy("write", "d", 2, day=40000)
        self.collect(self.write_copies())
        self.assertEqual(self.top()[0]["trend"], [0] * 13 + [1])

    def test_versions(self):
        counts = {"write": (0, 4), "abort": (5, 0), "exit": (1, 40), "kill": (30, 2), "divide": (6, 6), "clean": (60, 60)}
        number = 0
        for end, pair in counts.items():
            for version, count in zip(("1.4.1", "1.4.2"), pair):
                for _ in range(count):
                    number += 1
                    self.copy(end, "d", number, version=version)
        self.collect(self.write_copies())
        groups = self.top("--version", "1.4.1..1.4.2")
        totals = tuple(map(sum, zip(*counts.values())))
        found = [(group["change"]["kind"], group["change"]["oldCount"], group["change"]["newCount"]) for group in groups]
        self.assertEqual(found, [("new", 0, 4), ("more", 1, 40), ("gone", 5, 0), ("less", 30, 2), ("same", 6, 6)])
        self.assertEqual({(group["change"]["oldTotal"], group["change"]["newTotal"]) for group in groups}, {totals})
        text = self.tool("top", "--version", "1.4.1..1.4.2", self.database).output
        self.assertRegex(text, f"1 of {totals[0]} runs of 1.4.1, 40 of {totals[1]} of 1.4.2: at least [0-9.]+ times as often\n")
        self.assertIn(f"30 of {totals[0]} runs of 1.4.1, 2 of {totals[1]} of 1.4.2: at most 0.3 times as often\n", text)
        self.assertIn(f"6 of {totals[0]} runs of 1.4.1, 6 of {totals[1]} of 1.4.2; chance may explain that\n", text)
        missing = self.tool("top", "--version", "1.4.1..9", self.database)
        self.assertEqual((missing.status, missing.output), (NOT_FOUND, ""))
        self.assertIn("no application has runs of both versions, 1.4.1 and 9; it has 1.4.2, 1.4.1\n", missing.errors)
        self.assertIn("org.example.fleet has no runs of both versions, 7 and 9; it has ",
                      self.tool("top", "--version", "7..9", "--app", "org.example.fleet", self.database).errors)
        self.assertIn("it has no run of org.nobody; it has org.example.fleet\n", self.tool("top", "--app", "org.nobody", self.database).errors)
        for wrong in "1.4.1", "..1.4.2", "1.4.1..":
            self.assertEqual(self.tool("top", "--version", wrong, self.database).status, USAGE)

    def test_what_was_said(self):
        """Two assertions of one function are two bugs, and a row has the sentence."""
        words = {"assert": "argc == 0 && \"no arguments\"", "assert-state": "!argv[1][0] && \"no state\""}
        for end in words:
            operator_case.run([operator_case.options.victim, self.sources / end, "1.0", end])
            self.files[end] = next((self.sources / end / "runs").glob("*.lgrun"))
            for number, app in enumerate(("org.alpha", "org.beta"), 1):
                ENDS[end] = "crash"
                self.copy(end, f"{app}/{end}", number, 0, "1.0", f"{number:032x}", app)
            del ENDS[end]
        self.collect(self.write_copies(), symbols=True)
        self.assertEqual(len(self.top()), 4)
        text = self.tool("top", self.database).output
        for said in words.values():
            for app in "org.alpha", "org.beta":
                self.assertRegex(text, re.escape(f"  assertion `{said}' failed in main (victim.c:") + rf"\d+\) of {app}\n")
        self.assertEqual(len(self.top("--app", "org.beta")), 2)

    def test_code_that_moved(self):
        """Without symbols a bug has a key in each build."""
        victim = pathlib.Path(operator_case.options.victim)
        folder = self.directory / "devices/m"
        for program, version in (victim, "1"), (victim.parent / "later" / victim.name, "2"):
            operator_case.run([program, folder, version, "divide"])
        self.collect(folder)
        places = {row[0] for row in self.query("SELECT place FROM run")}
        self.assertEqual(len(places), 2, places)  # addresses, as it moved
        self.assertEqual(sorted(group["change"]["kind"] for group in self.top("--version", "1..2")), ["gone", "new"])

    def test_code_that_changed(self):
        """The same crash in two builds is one, where the function is known."""
        victim = pathlib.Path(operator_case.options.victim)
        folder = self.directory / "devices/d"
        for program, version, ends in (victim, "1", ["write", "write", "clean", "divide"]), (victim.parent / "later" / victim.name, "2", ["write", "clean"]):
            for end in ends:
                operator_case.run([program, folder, version, end])
        self.collect(folder, symbols=True)
        groups = {group["place"]: group for group in self.top("--version", "1..2")}
        self.assertEqual(sorted(groups), ["in fleet_victim_divide", "in fleet_victim_write"])

        def change(place):
            return tuple(groups[place]["change"][name] for name in ("kind", "oldCount", "oldTotal", "newCount", "newTotal"))

        self.assertEqual(change("in fleet_victim_divide"), ("gone", 1, 4, 0, 2))
        self.assertEqual(change("in fleet_victim_write"), ("same", 2, 4, 1, 2))
        own = {row[0]: row[1] for row in self.query("SELECT version, fingerprint FROM run WHERE place = 'in fleet_victim_write'")}
        self.assertNotEqual(own["1"], own["2"])
        self.assertEqual(groups["in fleet_victim_write"]["fingerprints"], [own["1"], own["2"]])
        # Either fingerprint names it.
        shown = {self.tool("show", own[version], self.database).output for version in "12"}
        self.assertEqual(len(shown), 1)
        # Without symbols the places are addresses.
        self.database.unlink()
        self.collect(folder)
        kinds = sorted(group["change"]["kind"] for group in self.top("--version", "1..2"))
        self.assertEqual(kinds, ["gone", "gone", "new"])
        nameless = [group["bug"] for group in self.top()]
        # What was collected so goes with what is collected later, with what was decided of it.
        for bug in nameless:
            self.tool("mute", bug, self.database)
        self.collect(folder, symbols=True)
        self.assertEqual(sorted(group["place"] for group in self.top("--all")), sorted(groups))
        self.assertEqual(self.top(status=NOT_FOUND), [])
        for bug in nameless:
            self.assertEqual(self.tool("show", bug, self.database).status, 0)
        before = self.contents()
        self.collect(folder, symbols=True)
        self.assertEqual(self.contents(), before)
        self.check_database()


class Page(html.parser.HTMLParser):
    """A page without a script that loads nothing."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.words, self.seen = [], [], collections.Counter()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen[tag] += 1
        for name, value in attributes:
            assert name not in ("src", "srcset", "action", "style") and not name.startswith("on"), (tag, name)
            assert name != "href" or value.startswith("#"), value
        if tag not in ("meta", "input"):
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen[tag] += 1

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, tag

    def handle_data(self, data):
        self.words.append(data)


class Show(FleetCase):
    def setUp(self):
        super().setUp()
        for number, end in enumerate(["write", "write", "abort", "exit"], 1):
            self.copy(end, "d", number, version=f"1.{number}", machine="7" * 32)
        self.collect("--device", "<b>Lobby</b>", self.write_copies(), symbols=True)

    def test_example(self):
        name = self.bug("crash", "fleet_victim_write")
        shown = json.loads(self.tool("show", "--json", name, self.database).output)
        self.assertEqual((shown["group"]["bug"], shown["group"]["runs"], shown["device"]), (name, 2, "<b>Lobby</b>"))
        self.assertEqual([(part["name"], part["runs"]) for part in shown["group"]["versions"]], [("1.1", 1), ("1.2", 1)])
        inspected = json.loads(self.tool("inspect", "--json", shown["example"]["path"]).output)
        self.assertEqual(shown["example"], inspected)
        for digits in name[:8], name.upper(), shown["group"]["fingerprints"][0]:
            text = self.tool("show", digits, self.database)
            self.assertEqual(text.status, 0, text)
            self.assertIn("in fleet_victim_write + ", text.output)
            self.assertIn("The best example: run 1 of <b>Lobby</b>", text.output)
            self.assertNotIn(SECRET.decode(), text.output)

    def test_devices_are_known_by_what_was_collected(self):
        for device in "8", "9":
            self.copy("write", device, 1, machine=device * 32)
        devices = self.write_copies()
        tarball = self.tarball("kiosk-8.tar.gz", (devices / "8", "var/lib/8"))
        self.collect(tarball, symbols=True)
        name = self.bug("crash", "fleet_victim_write")
        shown = json.loads(self.tool("show", "--json", name, self.database).output)
        self.assertEqual({part["name"]: part.get("source") for part in shown["devices"]}, {"8" * 32: str(tarball), "<b>Lobby</b>": None})
        self.assertIn(f"  {'8' * 32} (kiosk-8.tar.gz)  1×", self.tool("show", name, self.database).output)
        # A folder of several is nobody's name.
        self.collect(devices)
        shown = json.loads(self.tool("show", "--json", name, self.database).output)
        self.assertEqual({part.get("source") for part in shown["devices"]}, {None})

    def test_the_most_complete_record_is_the_example(self):
        name = self.bug("crash", "fleet_victim_write")
        best = self.query("SELECT run_uuid FROM example WHERE key = ?", name)
        path = pathlib.Path(self.query("SELECT path FROM run WHERE uuid = ?", best[0][0])[0][0])
        # A checksum of what the run began on is wrong.
        content = bytearray(path.read_bytes())
        at = content.index(b"Linux") if b"Linux" in content else content.index(os.uname().release.encode())
        content[at] ^= 0xFF
        path.write_bytes(content)
        before = self.database
        self.database = self.directory / "other.db"
        self.collect(self.directory / "devices", status=DAMAGED)
        self.assertEqual(self.query("SELECT is_damaged FROM run WHERE uuid = ?", best[0][0]), [(1,)])
        self.assertNotEqual(self.query("SELECT run_uuid FROM example WHERE key = ?", name), best)
        # A damaged copy changes nothing where there was a whole one.
        self.database = before
        self.collect(self.directory / "devices", status=DAMAGED)
        self.assertEqual(self.query("SELECT is_damaged FROM run WHERE uuid = ?", best[0][0]), [(0,)])
        self.assertEqual(self.query("SELECT run_uuid FROM example WHERE key = ?", name), best)

    def test_no_such(self):
        for words, status in (["abcd"], NOT_FOUND), (["ab"], USAGE), (["xyzxyz"], USAGE), (["--html", "--json", "abcd"], USAGE):
            result = self.tool("show", *words, self.database)
            self.assertEqual((result.status, result.output), (status, ""), result)

    def test_pages(self):
        name = self.bug("crash", "fleet_victim_write")
        for words in ["top"], ["top", "--version", "1.1..1.3"], ["show", name]:
            result = self.tool(words[0], "--html", *words[1:], self.database)
            self.assertEqual((result.status, result.errors), (0, ""), result)
            page = Page(result.output)
            self.assertEqual((page.stack, page.seen["script"], page.seen["h1"]), ([], 0, 1))
            self.assertIn("default-src 'none'", result.output.replace("&#39;", "'"))
            self.assertNotIn("script-src", result.output)
            self.assertIn(name, page.words)
            self.assertNotIn("<b>Lobby", result.output)
            self.assertNotIn(SECRET.decode(), result.output)
        self.assertIn("<settings> & more", page.words)
        self.assertIn("<b>Lobby</b>", page.words)


class BadInput(FleetCase):
    def good(self):
        self.copy("write", "good", 1, machine="5" * 32)
        return self.write_copies() / "good"

    def test_one_damaged_file_hides_no_other(self):
        folder = self.good()
        for number in range(2, 6):
            self.copy("abort", "good", number, machine="5" * 32)
        self.write_copies()
        files = sorted((folder / "runs").iterdir())
        files[1].write_bytes(b"not a run file")
        files[2].write_bytes(files[2].read_bytes()[:1000])
        files[3].write_bytes(b"")
        (folder / "runs" / "00000099-link.lgrun").symlink_to("/etc/passwd")
        result = self.collect(folder, status=DAMAGED)
        for name in [file.name for file in files[1:4]] + ["00000099-link.lgrun"]:
            self.assertEqual(result.errors.count(name), 1, result)
        self.assertEqual(self.query("SELECT number FROM run ORDER BY 1"), [(1,), (5,)])
        self.check_database()

    def test_tarballs(self):
        good = self.good()
        run = next((good / "runs").iterdir())
        outside = self.directory / "outside.lgrun"
        links = []
        for name, target, kind in ("runs/00000002-x.lgrun", str(run), tarfile.SYMTYPE), ("runs/00000003-x.lgrun", "runs/../../x", tarfile.LNKTYPE):
            info = tarfile.TarInfo("links/" + name)
            info.type, info.linkname = kind, target
            links.append((info, None))
        content = run.read_bytes()

        def member(name):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            return info, content

        cut = self.tarball("cut.tar.gz", (good, "cut"))
        cut.write_bytes(cut.read_bytes()[:2000])
        (self.directory / "noise.tar").write_bytes(bytes(range(256)) * 16)
        sources = {
            "links.tar.gz": self.tarball("links.tar.gz", *links),
            "paths.tar.gz": self.tarball("paths.tar.gz", member(str(outside)), member("../../../" + outside.name), member("../outside.lgrun")),
            "cut.tar.gz": cut,
            "noise.tar": self.directory / "noise.tar",
            "empty.tar.gz": self.tarball("empty.tar.gz"),
            "missing.tar": self.directory / "missing.tar",
            "outside.txt": self.directory / "outside.txt",
        }
        sources["outside.txt"].write_text("a text\n")
        scratch = self.directory / "scratch"
        scratch.mkdir()
        last = self.tarball("kiosk-9.tar.gz", (good, "var/lib/notes"))
        result = self.collect(*sources.values(), last, status=DAMAGED, TMPDIR=str(scratch))
        for name in sources:
            self.assertIn(name, result.errors)
        self.assertFalse(outside.exists())
        self.assertIn(("kiosk-9.tar.gz/var/lib/notes/runs/" + run.name,), self.query("SELECT path FROM run"))
        self.assertEqual(list(scratch.iterdir()), [])
        self.check_database()

    def test_relative_paths_around_a_tarball(self):
        good = self.good()
        self.tarball("a.tar.gz", (good, "state"))
        result = operator_case.run([operator_case.options.tool, "collect", "--into", "fleet.db", "a.tar.gz", "devices/good"], cwd=self.directory)
        self.assertEqual((result.status, result.errors), (0, ""), result)
        self.assertIn("2 runs in 2 state directories, 1 of them new", result.output)

    def test_databases(self):
        good = self.good()
        self.collect(good)
        whole = self.database.read_bytes()

        def other(connection):
            connection.execute("CREATE TABLE mine (x)")

        def newer(connection):
            connection.execute("PRAGMA user_version = 99")

        def older(connection):
            connection.execute("PRAGMA user_version = 1")

        for change, words in ((newer, "a newer launchguard made it"), (older, "collect again into a new file"), (other, "not one of launchguard collect"),
                              (None, "no SQLite database")):
            self.database.write_bytes(whole if change in (newer, older) else b"")
            if change:
                with sqlite3.connect(self.database) as connection:
                    change(connection)
                connection.close()
            else:
                self.database.write_bytes(b"a text that is no database\n" * 100)
            before = self.database.read_bytes()
            for command in ["collect", "--into", self.database, good], ["top", self.database], ["show", "abcd", self.database]:
                result = self.tool(*command)
                self.assertEqual((result.status, result.output), (DAMAGED, ""), result)
                self.assertIn(words, result.errors)
            self.assertEqual(self.database.read_bytes(), before)
        # Values that no collect stores.
        for change in "bug SET headline = x'FF00'", "bug SET headline = NULL", "run SET app = NULL", "device SET name = NULL":
            self.database.write_bytes(whole)
            with sqlite3.connect(self.database) as connection:
                name = connection.execute("SELECT bug FROM run").fetchone()[0]
                connection.execute("PRAGMA writable_schema = 1")
                connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE type = 'table'")
            connection.close()
            with sqlite3.connect(self.database) as connection:
                connection.execute("UPDATE " + change)
            connection.close()
            result = self.tool("show", name, self.database)
            self.assertEqual((result.status, result.output), (DAMAGED, ""), result)
            self.assertIn("fleet.db: it is damaged", result.errors)
        # Pages in the middle are nonsense.
        self.database.write_bytes(whole[:4096] + b"\x55" * (len(whole) - 4096))
        for command in ["collect", "--into", self.database, good], ["top", self.database]:
            result = self.tool(*command)
            self.assertEqual(result.status, DAMAGED, result)
            self.assertIn("fleet.db: it is damaged", result.errors)
        self.database.write_bytes(b"")
        self.assertIn("fleet.db: it is empty; launchguard collect --into ", self.tool("top", self.database).errors)
        self.collect(good)
        self.database.unlink()
        for command in ["top", self.database], ["show", "abcd", self.database], ["collect", "--into", self.directory / "no/fleet.db", good]:
            result = self.tool(*command)
            self.assertEqual((result.status, result.output), (NOT_FOUND, ""), result)
            self.assertIn("fleet.db: ", result.errors)

    def test_no_database(self):
        for command in ["top"], ["show", "abcd"]:
            result = self.tool(*command, self.good())
            self.assertEqual((result.status, result.output), (NOT_FOUND, ""), result)
            self.assertIn(f"launchguard collect --into fleet.db {self.good()} makes one", result.errors)
            self.assertIn(f"collect --into {self.database} DIR makes it", self.tool(*command, self.database).errors)
        self.assertIn(f"{self.directory}: it is a folder; name a file in it", self.tool("collect", "--into", self.directory, self.good()).errors)

    def test_locked(self):
        good = self.good()
        self.collect(good)
        before = self.contents()
        connection = sqlite3.connect(self.database, isolation_level=None)
        connection.execute("BEGIN EXCLUSIVE")
        result = self.collect(good, status=NOT_FOUND)
        self.assertIn("another program writes to it; try again", result.errors)
        connection.close()
        self.assertEqual(self.contents(), before)
        self.collect(good)

    def small_disk(self, size):
        disk = self.directory / f"disk-{size}"
        disk.mkdir()
        mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], stderr=subprocess.DEVNULL, check=False).returncode == 0
        if not mounted:
            self.leave_out("a small disk needs root, and the right to mount one")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        return disk

    def test_no_room_for_a_tarball(self):
        """No file is called damaged of which the disk took only a part."""
        for number in range(1, 31):
            self.copy("write", "d", number)
        tarball = self.tarball("kiosk.tar.gz", (self.write_copies(), "state"))
        for size in "40k", "200k":
            disk = self.small_disk(size)
            result = self.collect(tarball, status=NOT_FOUND, TMPDIR=str(disk))
            self.assertEqual(result.errors.splitlines(), [f"launchguard: {tarball}: it cannot be unpacked: No space left on device; set TMPDIR to a folder with more room"])
            self.assertEqual((self.query("SELECT count(*) FROM run"), list(disk.iterdir())), ([(0,)], []))

    def test_a_collect_that_was_cut_short_where_nothing_may_be_written(self):
        disk = self.small_disk("16m")
        self.collect(self.good())
        shutil.copy(self.database, disk / "live.db")
        connection = sqlite3.connect(disk / "live.db", isolation_level=None)
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute("UPDATE example SET report = report || report")
        for end in "", "-journal":
            shutil.copy(f"{disk}/live.db{end}", f"{disk}/fleet.db{end}")
        connection.close()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        result = self.tool("top", disk / "fleet.db")
        self.assertEqual((result.status, result.output), (NOT_FOUND, ""), result)
        self.assertIn(f"a collect was cut short; let its owner open it once, or copy it together with {disk}/fleet.db-journal", result.errors)

    def test_output_that_cannot_be_written(self):
        self.collect(self.good())
        name = self.bug("crash")
        for words in ["top"], ["top", "--html"], ["top", "--json"], ["show", name], ["show", "--html", name]:
            with open("/dev/full", "wb") as full:
                result = subprocess.run([operator_case.options.tool, *words, self.database], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                        timeout=operator_case.LIMIT_S)
            self.assertEqual((result.returncode, result.stderr), (NOT_FOUND, "launchguard: standard output: it cannot be written: No space left on device\n"), words)

    def test_full_disk(self):
        disk = self.small_disk("256k")
        for number in range(1, 601):
            self.copy("abort" if number > 500 else "clean", "d", number, machine="6" * 32)
        devices = self.write_copies()
        self.database = disk / "fleet.db"
        result = self.collect(devices, status=NOT_FOUND)
        self.assertIn("fleet.db: there is no space left on the disk", result.errors)
        self.check_database()
        subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True)
        self.collect(devices)
        self.assertEqual(self.query("SELECT count(*) FROM run"), [(600,)])
        self.check_database()

    def test_words(self):
        for words in ([], ["--into", self.database], [self.directory], ["--into", self.database, "--device", "", self.directory], ["--into", "", self.directory],
                      ["--into", self.database, "--debug-dir", self.directory / "none", self.directory]):
            self.assertEqual(self.tool("collect", *words).status, USAGE, words)
        self.assertEqual(self.tool("top", "-n", "0", self.database).status, USAGE)
        self.assertFalse(self.database.exists())

    def test_the_program_beside(self):
        alone = self.directory / "launchguard"
        shutil.copy(operator_case.options.tool, alone)
        fleet = operator_case.options.tool.parent / "launchguard-fleet"
        for command in "collect", "top", "show", "resolve", "mute", "merge":
            self.assertIn(f"USAGE: launchguard {command}", operator_case.run([alone, command, "--help"]).output)
            both = [operator_case.run([program, command, "--help"]).output for program in (fleet, alone)]
            self.assertEqual(both[0], both[1])
            self.assertEqual(len(re.findall(r"^  --version", both[0], re.M)), 1 if command == "top" else 0, both[0])
        for folder in "/usr/libexec/launchguard", "/usr/local/libexec/launchguard":
            if os.path.exists(folder + "/launchguard-fleet"):
                self.leave_out(f"{folder} has launchguard-fleet")
        result = operator_case.run([alone, "top", self.database])
        self.assertEqual((result.status, result.output), (NOT_FOUND, ""), result)
        self.assertIn("launchguard-fleet is not installed", result.errors)


class Documentation(FleetCase):
    def setUp(self):
        super().setUp()
        for number, end in enumerate(ENDS, 1):
            self.copy(end, "d", number, version=f"1.{number}", machine="7" * 32)
        self.collect(self.write_copies())
        self.page = PAGE.read_text(encoding="utf-8")

    def columns(self, name):
        return [row[1] for row in self.query(f"PRAGMA table_info({name})")]

    def test_tables_and_columns(self):
        parts = re.split(r"^### ", self.page, flags=re.MULTILINE)
        named = {}
        for part in parts:
            title = part.split("\n", 1)[0]
            cells = re.findall(r"^\| (`[^|]*) \|", part, flags=re.MULTILINE)
            named[title] = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
        tables = {name for (name,) in self.query("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in tables:
            self.assertEqual(sorted(named[table]), sorted(self.columns(table)), table)
        views = {name for (name,) in self.query("SELECT name FROM sqlite_master WHERE type = 'view'")}
        self.assertEqual(set(named["Views"]), views)
        for view in views:
            row = re.search(rf"^\| `{view}` \| (.*) \|$", self.page, flags=re.MULTILINE).group(1)
            self.assertEqual(re.findall(r"`(\w+)`", row.split(": ", 1)[1]), self.columns(view), view)

    def test_json(self):
        lines = self.tool("top", "--json", self.database).output + self.tool("top", "--json", "--version", "1.2..1.3", self.database).output
        lines += self.tool("show", "--json", self.top()[0]["bug"], self.database).output
        lines += self.tool("collect", "--json", "--into", self.directory / "again.db", self.directory / "devices").output
        (self.directory / "lines").write_text(lines, encoding="utf-8")
        # Where the tests of the other commands have it too.
        folder = operator_case.options.tool.parent / "schema-validator"
        result = operator_case.run([sys.executable, "-B", ROOT / "Tests/Schema/validate.py", folder, self.directory / "lines"])
        if result.status == 77:
            self.leave_out(result.output)
        self.assertEqual(result.status, 0, result)

    def test_a_line_of_json_to_the_byte(self):
        """Fields stand by name, and nothing in the line is a command of a terminal."""
        odd = 'é "\\ / \b\f\n\r\t \x1b\x7f\x85 \u202e \U0001f600'
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute("UPDATE bug SET place = ?", (odd,))
        lines = [line for words in (["top"], ["top", "--version", "1.2..1.3"], ["show", self.top()[0]["bug"]])
                 for line in self.tool(words[0], "--json", *words[1:], self.database).output.splitlines()]
        self.assertEqual({json.loads(line)["type"] for line in lines}, {"fleet-bug", "fleet-example"})
        for line in lines:
            text = json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            for unsafe in "\x7f\x85\u202e":
                text = text.replace(unsafe, f"\\u{ord(unsafe):04x}")
            self.assertEqual(line, text)
            self.assertIn(r'"é \"\\ / \b\f\n\r\t \u001b\u007f\u0085 \u202e 😀"', line)

    def test_versions(self):
        self.assertIn(f"`PRAGMA application_id` is {self.query('PRAGMA application_id')[0][0]} ", self.page.replace("\n", " "))
        self.assertEqual(self.query("PRAGMA user_version"), [(2,)])

    def quotes(self, language):
        return re.findall(rf"^```{language}\n(.*?)^```", self.page, flags=re.MULTILINE | re.DOTALL)

    def test_queries(self):
        self.assertGreater(len(self.quotes("sql")), 3)
        for query in self.quotes("sql"):
            self.assertGreater(len(self.query(query)), 0, query)

    def test_datasette(self):
        python, reason = readers.install(operator_case.options.tool.parent / "export-readers", "datasette")
        if not python:
            self.leave_out(f"datasette cannot be installed: {reason}")
        (metadata,) = self.quotes("json")
        (self.directory / "datasette.json").write_text(metadata)
        (self.directory / "queries.json").write_text(json.dumps(self.quotes("sql")))
        found, complaint = readers.read(python, "datasette", self.database)
        self.assertIsNone(complaint)
        self.assertEqual((set(found["tables"]), set(found["views"])), ({"annotation", "bug", "decision", "device", "example", "machine", "merge", "run"}, {"bug_version", "day", "ranking", "version"}))
        self.assertEqual(set(found["statuses"].values()), {200}, found["statuses"])
        names = found["run"]["columns"]
        runs = [dict(zip(names, row)) if isinstance(row, list) else row for row in found["run"]["rows"]]
        self.assertEqual([run["started"] for run in runs], sorted((run["started"] for run in runs), reverse=True))
        headlines, devices = dict(self.query("SELECT key, headline FROM bug")), dict(self.query("SELECT id, name FROM device"))
        for run in runs:
            self.assertEqual(run["device_id"]["label"], devices[run["device_id"]["value"]])
            if run["bug"]:
                self.assertEqual(run["bug"]["label"], headlines[run["bug"]["value"]])
        facets = {name: {facet["value"]: facet["count"] for facet in facets["results"]} for name, facets in found["run"]["facet_results"].items()}
        self.assertEqual(set(facets), {"app", "ending", "version", "device_id"})
        self.assertEqual(facets["ending"], dict(self.query("SELECT ending, count(*) FROM run GROUP BY 1")))
        for query, answer in zip(self.quotes("sql"), found["answers"]):
            self.assertEqual([tuple(row) for row in answer["rows"]], self.query(query), query)


class Long(FleetCase):
    COUNT = 10_000

    def setUp(self):
        super().setUp()
        if not operator_case.options.long:
            self.leave_out("only in make long")

    def test_many_runs(self):
        ends = list(ENDS)
        for index in range(self.COUNT):
            self.copy(ends[index * 7 % 11 % len(ends)], f"d{index // 100}", index % 100 + 1, index % 30, f"1.{index % 5}", f"{index // 100 + 1:032x}")
        devices = self.write_copies()
        self.interrupt(devices)
        self.collect(devices)
        self.assertEqual(self.query("SELECT count(*) FROM run"), [(self.COUNT,)])
        self.check_database()
        self.database.unlink()
        shown, seconds = self.collect_on_terminal(devices)
        print(f"collect of {self.COUNT} runs: {seconds:.1f} s")
        self.assertIn(b" runs collected", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)
        self.check_database()
        start = time.monotonic()
        groups = self.top()
        print(f"top: {time.monotonic() - start:.2f} s")
        self.assertEqual(sum(group["runs"] for group in groups), sum(end != "clean" for end, *_ in self.copied))
        # Nothing of the progress where standard error is no terminal.
        self.assertEqual(self.collect(devices).errors, "")

    def collect_on_terminal(self, devices):
        start = time.monotonic()
        shown, status = self.on_terminal(["collect", "--into", self.database, devices])
        shown, words, rest = shown.partition(f"{self.COUNT} runs in ".encode())
        self.assertEqual((status, rest.count(f"{self.COUNT} of them new".encode())), (0, 1), words + rest)
        return shown, time.monotonic() - start

    def interrupt(self, devices):
        """Ctrl-C while runs are collected."""
        process = subprocess.Popen([operator_case.options.tool, "collect", "--into", self.database, devices], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate, timeout=operator_case.LIMIT_S)
        self.addCleanup(process.kill)

        def has_runs():
            with contextlib.suppress(sqlite3.Error):
                return self.query("SELECT count(*) FROM run")[0][0]
        wait_until(has_runs, "a run is in the database")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(operator_case.LIMIT_S), -signal.SIGINT)
        # A program that may write takes back what was under way.
        connection = sqlite3.connect(self.database)
        connection.execute("SELECT count(*) FROM run").fetchall()
        connection.close()
        self.check_database()
        kept = self.query("SELECT count(*) FROM run")[0][0]
        self.assertTrue(0 < kept < self.COUNT, kept)

    def test_bomb(self):
        for number in range(1, 4):
            self.copy("write", "d", number)
        devices = self.write_copies()
        bomb = self.directory / "bomb.tar.gz"
        with tarfile.open(bomb, "w:gz", compresslevel=1) as tar, open("/dev/zero", "rb") as zeros:
            for number in range(3):
                info = tarfile.TarInfo(f"state/runs/0000000{number}-x.lgrun")
                info.size = 250 << 20
                tar.addfile(info, zeros)
        scratch = self.directory / "scratch"
        scratch.mkdir()
        result = self.collect(bomb, devices, status=NOT_FOUND, TMPDIR=str(scratch))
        self.assertIn("bomb.tar.gz: it holds more than", result.errors)
        self.assertEqual(self.query("SELECT count(*) FROM run"), [(3,)])
        self.assertEqual(list(scratch.iterdir()), [])


if __name__ == "__main__":
    fleet_case.main()
