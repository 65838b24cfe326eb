#!/usr/bin/env python3
"""The counts of a fleet against a plan: test_truth.py --tool T --victim V --copies C

Two applications on 200 devices, in twelve versions, die as the plan below says. What `top`, `top
--app`, `top --version` and `show` count equals what Python counts in the plan, and the intervals
are those that Python computes with whole numbers.
"""
import collections
import fractions
import json
import math
import random
import re
import shutil
import sqlite3
import subprocess

import fleet_case
import operator_case
from fleet_case import DAY_S, NOT_FOUND, START_S, FleetCase

ALPHA, BETA = "org.alpha", "org.beta"
DEVICES, DAYS = 200, 14
VERSIONS = [f"2.{number}" for number in range(12)]
WORDS = {"write": "NULL pointer in fleet_victim_write", "divide": "division by zero in fleet_victim_divide", "abort": "abort() in main",
         "exit": "exit status 3", "kill": "ended without a trace"}
Run = collections.namedtuple("Run", "app end device number day version kernel")
TAIL = fractions.Fraction(5, 1000)  # of an interval of 99 %


def plan():
    """The runs. Each device has both applications, each some clean runs."""
    draw, runs, numbers = random.Random(20261130), [], collections.Counter()

    def add(app, end, device, day, version):
        numbers[app, device] += 1
        runs.append(Run(app, end, device, numbers[app, device], day, version, f"6.{device % 4}"))

    for device in range(DEVICES):
        for app in ALPHA, BETA:
            for day in range(0, DAYS, 3):
                add(app, "clean", device, day, VERSIONS[min(11, day)])
    # On many devices, once each: the trouble of most.
    for device in range(0, 180, 3):
        add(ALPHA, "write", device, draw.randrange(DAYS), draw.choice(VERSIONS))
    # A crash loop on one device has more runs, in the last week alone.
    for number in range(150):
        add(ALPHA, "abort", 7, 10 + number % 3, "2.11")
    # From the map, on one kernel, and nearly all in the last week.
    for device in range(2, DEVICES, 8):
        add(ALPHA, "divide", device, 7 + device % 7, "2.9" if device < 100 else "2.10")
    add(ALPHA, "divide", 2, 1, "2.3")
    # Three against five is chance.
    for day in 1, 2, 3, 8, 9, 10, 11:
        add(BETA, "kill", day, day, "2.4")
    add(BETA, "kill", 50, 12, "2.5")
    # The same fingerprints in the other application.
    for device in range(40):
        add(BETA, "write", device, 13, "2.10" if device % 2 else "2.9")
    for device in range(17):
        add(BETA, "exit", device, device % 2, "2.0")
    for device in range(5):
        add(ALPHA, "exit", device, 5, "2.1")
    return runs


def counts(runs):
    """By application and end: devices and runs, in the order of `top`."""
    bugs = collections.defaultdict(list)
    for run in runs:
        if run.end != "clean":
            bugs[run.app, run.end].append(run)
    return sorted(((key, len({run.device for run in of}), len(of)) for key, of in bugs.items()), key=lambda row: (-row[1], -row[2]))


def interval(count, total):
    """Clopper's and Pearson's, by halving, with the tails as exact sums."""
    def tail(share, counted):
        return sum(math.comb(total, k) * share**k * (1 - share)**(total - k) for k in counted)

    def solve(holds):
        low, high = fractions.Fraction(0), fractions.Fraction(1)
        for _ in range(24):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low

    low = solve(lambda share: tail(share, range(count, total + 1)) < TAIL) if count else fractions.Fraction(0)
    high = solve(lambda share: tail(share, range(count + 1)) > TAIL) if count < total else fractions.Fraction(1)
    return low, high


class Truth(FleetCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.runs = plan()
        operator_case.run([operator_case.options.victim, cls.sources / "map", "1.0", "divide", "map"])
        cls.files["divide"] = next((cls.sources / "map" / "runs").glob("*.lgrun"))
        cls.devices = cls.sources / "devices"
        # Another boot would be the end of a run without a mark.
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip().replace("-", "")
        lines = []
        for run in cls.runs:
            folder = cls.devices / run.app / f"k{run.device}"
            (folder / "runs").mkdir(parents=True, exist_ok=True)
            start = START_S + run.day * DAY_S + run.number
            lines.append(f"{cls.files[run.end]} {folder} {run.number} {start} {run.version} {run.device + 1:032x} {run.app} {boot} {run.kernel}\n")
        subprocess.run([operator_case.options.copies], input="".join(lines), text=True, check=True, timeout=operator_case.LIMIT_S)
        result = operator_case.run([operator_case.options.tool, "collect", "--into", cls.sources / "fleet.db", cls.devices])
        assert (result.status, result.errors) == (0, ""), result

    def setUp(self):
        super().setUp()
        shutil.copy(self.sources / "fleet.db", self.database)

    def found(self, *words, status=0):
        """The rows as the plan names them."""
        rows = []
        for group in self.top(*words, status=status):
            (end,) = [end for end, said in WORDS.items() if said in group["headline"]]
            rows.append(((group["app"], end), group))
        return rows

    def name(self, app, end):
        (group,) = [group for key, group in self.found("--all") if key == (app, end)]
        return group["bug"]

    def test_top(self):
        wanted = counts(self.runs)
        self.assertEqual(wanted[0][0], (ALPHA, "write"))
        rows = self.found()
        self.assertEqual(sorted((key, group["devices"], group["runs"]) for key, group in rows), sorted(wanted))
        self.assertEqual([(group["devices"], group["runs"]) for _, group in rows], [row[1:] for row in wanted])
        for (app, end), group in rows:
            own = [run for run in self.runs if (run.app, run.end) == (app, end)]
            self.assertEqual({part["name"]: (part["runs"], part["devices"]) for part in group["versions"]},
                             {version: (sum(run.version == version for run in own), len({run.device for run in own if run.version == version}))
                              for version in {run.version for run in own}}, group)
            self.assertEqual(group["trend"], [sum(run.day == day for run in own) for day in range(DAYS)])
            self.assertEqual(group["firstStarted"], min(part["firstStarted"] for part in group["versions"]))
        # The same code in two applications is two bugs, for a device too.
        writes = [group for (_, end), group in rows if end == "write"]
        self.assertFalse(set(writes[0]["fingerprints"]) & set(writes[1]["fingerprints"]))
        self.assertNotEqual(writes[0]["bug"], writes[1]["bug"])

    def test_one_application(self):
        for app in ALPHA, BETA:
            wanted = [row for row in counts(self.runs) if row[0][0] == app]
            self.assertEqual([(key, group["devices"], group["runs"]) for key, group in self.found("--app", app)], wanted)
            text = self.tool("top", "--app", app, self.database).output
            own = [run for run in self.runs if run.app == app]
            self.assertIn(f"{app}: {sum(run.end != 'clean' for run in own)} of {len(own)} runs on {DEVICES} devices died\n", text)
            for version in sorted({run.version for run in own}, key=VERSIONS.index)[-3:]:
                of = [run for run in own if run.version == version]
                crashed = sum(run.end in ("write", "divide", "abort") for run in of)
                self.assertRegex(text, rf"[:,] {re.escape(version)} {round(100 * (1 - crashed / len(of)), 1):g} % \([\d.]+ to [\d.]+\) of {len(of)} runs?")

    def test_intervals(self):
        """Those of the weeks, as Python computes them; no word where chance explains it."""
        for (app, end), group in self.found():
            weeks = [len({(run.device, run.day) for run in self.runs if (run.app, run.end) == (app, end) and run.day // 7 == week}) for week in (0, 1)]
            totals = [len({(run.device, run.day) for run in self.runs if run.app == app and run.day // 7 == week}) for week in (0, 1)]
            recent = group["recent"]
            self.assertEqual((recent["oldCount"], recent["newCount"], recent["oldTotal"], recent["newTotal"]), (*weeks, *totals))
            low, high = interval(weeks[1], sum(weeks))
            scale = fractions.Fraction(totals[0], totals[1])
            self.assertAlmostEqual(recent["ratioLow"], float(100 * low / (1 - low) * scale), delta=1)
            self.assertAlmostEqual(recent["ratioHigh"], float(100 * high / (1 - high) * scale) if high < 1 else 0, delta=1 + recent["ratioHigh"] / 1000)
            if (app, end) == (BETA, "kill"):
                self.assertEqual((weeks, recent["kind"]), ([3, 5], "same"))
        text = self.tool("top", self.database).output
        said = [line for line in text.splitlines() if "this week" in line]
        self.assertEqual([line.split(":")[0].strip() for line in said], ["more this week", "more this week", "less this week"], text)

    def test_versions(self):
        for app in ALPHA, BETA:
            rows = {key: group["change"] for key, group in self.found("--version", "2.9..2.10", "--app", app)}
            of = {version: [run for run in self.runs if run.app == app and run.version == version] for version in ("2.9", "2.10")}
            wanted = {}
            for end in WORDS:
                pair = tuple(sum(run.end == end for run in of[version]) for version in ("2.9", "2.10"))
                if any(pair):
                    wanted[app, end] = (*pair, len(of["2.9"]), len(of["2.10"]))
            self.assertEqual({key: (change["oldCount"], change["newCount"], change["oldTotal"], change["newTotal"]) for key, change in rows.items()}, wanted)

    def test_show(self):
        shown = json.loads(self.tool("show", "--json", self.name(ALPHA, "divide"), self.database).output)
        own = [run for run in self.runs if (run.app, run.end) == (ALPHA, "divide")]
        others = [run for run in self.runs if run.app == ALPHA and run.end != "divide"]
        self.assertEqual({trait["name"]: (trait["value"], trait["runs"], trait["total"], trait["otherRuns"], trait["otherTotal"]) for trait in shown["traits"]},
                         {"screen": ("map", len(own), len(own), 0, len(others)),
                          "kernel": ("6.2", len(own), len(own), sum(run.kernel == "6.2" for run in others), len(others))})
        self.assertEqual({part["name"]: part["runs"] for part in shown["devices"]},
                         collections.Counter(f"{run.device + 1:032x}" for run in own))
        self.assertEqual(shown["example"]["identity"]["appID"], ALPHA)
        text = self.tool("show", self.name(ALPHA, "divide"), self.database).output
        self.assertIn(f"  screen map: all {len(own)} runs, and 0 of the {len(others)} others\n", text)
        self.assertIn("a short life", text)  # its breadcrumb
        with sqlite3.connect(self.database) as connection:
            connection.execute("UPDATE run SET is_short_of_memory = 1 WHERE bug = ?", (shown["group"]["bug"],))
        connection.close()
        text = self.tool("show", self.name(ALPHA, "divide"), self.database).output
        self.assertIn(f"  memory near its limit: all {len(own)} runs, and 0 of the {len(others)} others\n", text)
        # A bug that has nothing of its own.
        shown = json.loads(self.tool("show", "--json", self.name(ALPHA, "write"), self.database).output)
        self.assertEqual(shown["traits"], [])

    def test_decisions_are_kept(self):
        divide, write, exits = self.name(ALPHA, "divide"), self.name(ALPHA, "write"), self.name(ALPHA, "exit")
        for words in ["resolve", divide[:10], "--in", "2.10"], ["mute", write], ["resolve", "--in", "2.2", exits], ["merge", divide, self.name(ALPHA, "abort")]:
            result = self.tool(*words, self.database)
            self.assertEqual((result.status, result.errors), (0, ""), result)

        def check():
            rows = dict(self.found("--app", ALPHA))
            self.assertEqual(set(rows), {(ALPHA, "divide")})
            group = rows[ALPHA, "divide"]
            self.assertEqual((group["state"], group["resolvedIn"], group["againIn"]), ("again", "2.10", "2.10"))
            self.assertEqual((group["runs"], group["devices"]), (26 + 150, 26))
            text = self.tool("top", "--app", ALPHA, self.database).output
            self.assertIn("  resolved in 2.10, seen again in 2.10\n", text)
            self.assertIn("1 muted and 1 resolved; --all shows them\n", text)
            self.assertEqual({group.get("state") for _, group in self.found("--app", ALPHA, "--all")}, {"again", "muted", "resolved"})

        check()
        before = self.contents()
        self.collect(self.devices, symbols=True)
        self.check_contents(before)
        check()
        # A new device with a later version.
        self.copy("exit", f"{ALPHA}/k900", 1, 13, "2.2.1", f"{900:032x}", ALPHA)
        self.collect(self.write_copies(), symbols=True)
        rows = dict(self.found("--app", ALPHA))
        self.assertEqual((rows[ALPHA, "exit"]["state"], rows[ALPHA, "exit"]["againIn"]), ("again", "2.2.1"))
        for words in ["resolve", "--undo", divide], ["resolve", "--undo", exits], ["mute", "--undo", write], ["merge", "--undo", divide, self.bug_of_abort()]:
            self.assertEqual(self.tool(*words, self.database).status, 0, words)
        self.assertEqual({(key, group["devices"], group["runs"]) for key, group in self.found() if key != (ALPHA, "exit")},
                         {row for row in counts(self.runs) if row[0] != (ALPHA, "exit")})
        self.assertEqual(self.query("SELECT count(*) FROM decision")[0][0] + self.query("SELECT count(*) FROM merge WHERE is_by_hand")[0][0], 0)
        self.check_database()

    def bug_of_abort(self):
        return self.query("SELECT key FROM merge WHERE is_by_hand")[0][0]

    def test_decisions_that_cannot_be(self):
        divide, other = self.name(ALPHA, "divide"), self.name(BETA, "write")
        before = self.contents()
        for words, said in ((["merge", divide, other], "these are bugs of two applications"), (["merge", divide, divide], "are one bug already"),
                            (["mute", "--undo", divide], "is not muted"), (["merge", "--undo", divide, other], "nobody merged"),
                            (["resolve", "0123456789abcdef"], "no bug has a key or a fingerprint")):
            result = self.tool(*words, self.database)
            self.assertEqual((result.status, result.output), (NOT_FOUND, ""), result)
            self.assertIn(said, result.errors)
        for words in ["mute", "xyz"], ["resolve", divide, "--in", ""], ["resolve", "--undo", "--in", "2", divide], ["merge", divide]:
            self.assertEqual(self.tool(*words, *([self.database] if words[0] != "merge" else [])).status, fleet_case.USAGE, words)
        self.check_contents(before)

    def test_hostile_rows(self):
        """What no collect stores: names outside of the folder, merges in a circle, other words."""
        bug = self.name(ALPHA, "exit")
        with sqlite3.connect(self.database) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            for table, column in ("run", "key"), ("run", "bug"), ("bug", "key"), ("example", "key"):
                connection.execute(f"UPDATE {table} SET {column} = '../../x' WHERE {column} = ?", (self.name(ALPHA, "abort"),))
            report = json.loads(connection.execute("SELECT report FROM example WHERE key = ?", (bug,)).fetchone()[0])
            report["identity"]["uuid"] = "../../../y"
            connection.execute("UPDATE example SET report = ? WHERE key = ?", (json.dumps(report), bug))
            connection.execute("UPDATE run SET version = '<i>9' WHERE bug = ?", (bug,))
            connection.execute("INSERT INTO merge VALUES (?1, ?2, 1), (?2, ?1, 1)", (bug, self.name(ALPHA, "write")))
            connection.execute("INSERT INTO decision VALUES (?, 'no state', NULL, 'never')", (bug,))
        connection.close()
        before = set(self.directory.rglob("*"))
        result = self.tool("top", "--pages", self.directory / "pages", self.database)
        self.assertEqual((result.status, result.errors), (0, ""), result)
        made = {path.name for path in set(self.directory.rglob("*")) - before}
        self.assertEqual(made, {path.name for path in (self.directory / "pages").iterdir()} | {"pages"})
        self.assertNotIn("<i>", (self.directory / "pages" / f"bug-{bug}.html").read_text("utf-8"))
        self.assertNotIn("href=\"../", "".join(path.read_text("utf-8") for path in (self.directory / "pages").iterdir()))
        self.assertEqual(self.tool("show", bug, self.database).status, 0)
        self.collect(self.devices, symbols=True)
        self.check_database()
        self.assertEqual(sum(group["runs"] for group in self.top("--all")), sum(run.end != "clean" for run in self.runs))

    def test_rows_as_files(self):
        self.collect("--to", self.directory / "rows", self.devices, symbols=True)
        for (table,) in self.query("SELECT name FROM sqlite_master WHERE type = 'table'"):
            columns = [row[1] for row in self.query(f"PRAGMA table_info({table})")]
            lines = [json.loads(line) for line in (self.directory / "rows" / f"{table}.jsonl").read_text("utf-8").splitlines()]
            self.assertEqual(sorted(tuple(line[name] for name in columns) for line in lines), sorted(self.query(f"SELECT * FROM {table}")), table)


if __name__ == "__main__":
    fleet_case.main()
