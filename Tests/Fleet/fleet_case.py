"""Shared by the tests of a fleet: a real run of each end, and copies of it for many devices."""
import argparse
import io
import json
import os
import pathlib
import pty
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / folder) for folder in ("Operator", "Format", "Export")]

import operator_case
from operator_case import ROOT, OperatorCase

NOT_FOUND, USAGE, DAMAGED = 1, 2, 3
SECRET = b"correct-horse-battery-staple"
ENDS = {"clean": "clean", "write": "crash", "divide": "crash", "abort": "crash", "exit": "exit", "kill": "unknown"}
DAY_S = 86400
START_S = 1_760_000_000 // DAY_S * DAY_S  # in October 2025
# Columns that a later collect changes though it finds nothing new.
OF_THE_COLLECT = ("last_collected", "source")


class FleetCase(OperatorCase):
    """One real run of each end, and copies of them."""

    @classmethod
    def setUpClass(cls):
        cls.sources = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-fleet-"))
        cls.addClassCleanup(shutil.rmtree, cls.sources, ignore_errors=True)
        for end in ENDS:
            operator_case.run([operator_case.options.victim, cls.sources / end, "1.0", end])
        cls.files = {end: next((cls.sources / end / "runs").glob("*.lgrun")) for end in ENDS}

    def setUp(self):
        super().setUp()
        self.database = self.directory / "fleet.db"
        self.lines, self.copied = [], []

    def copy(self, end, device, number, day=0, version="1.0", machine=None, *more):
        """A run that began some days after START_S; more: the further words of a copy."""
        folder = self.directory / "devices" / device
        (folder / "runs").mkdir(parents=True, exist_ok=True)
        self.lines.append(" ".join(map(str, [self.files[end], folder, number, START_S + day * DAY_S + number, version, machine or 0, *more])) + "\n")
        self.copied.append((ENDS[end], end, device, day, version))
        return folder

    def write_copies(self):
        lines, self.lines = sorted(self.lines), []
        subprocess.run([operator_case.options.copies], input="".join(lines), text=True, check=True, timeout=operator_case.LIMIT_S)
        return self.directory / "devices"

    def collect(self, *sources, status=0, symbols=False, **variables):
        # To look symbols up takes most of the time.
        result = self.tool("collect", "--into", self.database, *([] if symbols else ["--no-symbols"]), *sources, **variables)
        self.assertEqual(result.status, status, result)
        return result

    def top(self, *arguments, status=0):
        result = self.tool("top", "--json", *arguments, self.database)
        self.assertEqual(result.status, status, result)
        return [json.loads(line) for line in result.output.splitlines()]

    def query(self, sql, *values):
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=operator_case.LIMIT_S) as connection:
            rows = connection.execute(sql, values).fetchall()
        connection.close()
        return rows

    def check_database(self):
        self.assertEqual(self.query("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.query("PRAGMA foreign_key_check"), [])

    def contents(self):
        """All rows of all tables, but for when and from where they were collected last."""
        tables = {}
        for (name,) in self.query("SELECT name FROM sqlite_master WHERE type = 'table'"):
            columns = [row[1] for row in self.query(f"PRAGMA table_info({name})") if row[1] not in OF_THE_COLLECT]
            tables[name] = sorted(self.query(f"SELECT {', '.join(columns)} FROM {name}"), key=repr)
        return tables

    def check_contents(self, before):
        """They are the same; a difference of thousands of rows is not worth a minute."""
        after = self.contents()
        self.assertEqual(set(after), set(before))
        for table, rows in after.items():
            changed = [pair for pair in zip(before[table], rows) if pair[0] != pair[1]]
            self.assertEqual((len(before[table]), changed[:2]), (len(rows), []), table)

    def bug(self, ending, headline=""):
        found = [group["bug"] for group in self.top() if group["ending"] == ending and headline in group["headline"]]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def tarball(self, name, *members):
        path = self.directory / name
        with tarfile.open(path, "w:gz") as tar:
            for member, inside in members:
                if isinstance(member, tarfile.TarInfo):
                    tar.addfile(member, io.BytesIO(inside) if inside else None)
                else:
                    tar.add(member, inside)
        return path

    def on_terminal(self, words, **variables):
        """The tool's output on a terminal, and its exit status."""
        master, terminal = pty.openpty()
        process = subprocess.Popen([operator_case.options.tool, *words], stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, env={**os.environ, **variables})
        self.addCleanup(process.kill)
        os.close(terminal)
        shown = b""
        try:
            while part := os.read(master, 4096):
                shown += part
        except OSError:
            pass  # the terminal is closed
        os.close(master)
        return shown, process.wait(operator_case.LIMIT_S)

    def leave_out(self, reason):
        print(f"{self.id()} is left out: {reason}")
        self.skipTest(reason)


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--copies", required=True, type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    known, rest = parser.parse_known_args()
    operator_case.options.copies, operator_case.options.long = known.copies.resolve(), known.long
    if known.long:
        # A debug build, on a busy machine.
        operator_case.LIMIT_S = 1200
    sys.argv[1:] = rest
    operator_case.main()
