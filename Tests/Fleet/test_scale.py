#!/usr/bin/env python3
"""docs/FLEET-AT-SCALE.md in PostgreSQL and in DuckDB: test_scale.py --tool T --victim V --copies C

A server of its own, on a socket in a folder that the test removes, loads what `collect --to`
writes, as the page says, and its queries count as `top` and `show` do. Benchmarks/scale.py does the
same with many runs. Left out where there is no PostgreSQL, or no DuckDB.
"""
import json
import pathlib
import subprocess
import sys

import fleet_case
import operator_case
import page_at_scale
from fleet_case import HERE, FleetCase

sys.path.append(str(HERE.parent / "PyPI"))
import pypi

OLD, NEW = "1.0", "1.1"
DAYS = 3
# As the page has it.
IN_DUCKDB = """
import duckdb, json, sys
steps = json.load(sys.stdin)
engine = duckdb.connect()
print(json.dumps([[[str(value) if value is not None else "" for value in row] for row in engine.execute(step).fetchall()] for step in steps]))
"""


class Scale(FleetCase):
    def setUp(self):
        super().setUp()
        for device in range(8):
            for number, end in enumerate(["clean", "write", "abort", "exit", "write"][:device + 1], 1):
                # On one kernel only, and more often in the new version.
                for version in [OLD, NEW, NEW] if end == "write" else [OLD, NEW]:
                    for again in range(DAYS):
                        kernel = "6.1.0-99" if end == "write" else "6.1.0-1"
                        ordinal = number * 100 + again * 10 + len(self.lines) % 7
                        self.copy(end, f"d{device}", ordinal + (1000 if version == NEW else 0), again, version, f"{device + 1:032x}", "org.example.fleet", "0", kernel)
        self.collect("--to", self.directory / "rows", self.write_copies(), symbols=True)
        self.bugs = {group["bug"]: group for group in self.top()}
        self.crash = next(bug for bug, group in self.bugs.items() if group["ending"] == "crash" and group["runs"] > max(
            other["runs"] for other in self.bugs.values() if other is not group))

    def check_answers(self, ranking, shares, change, traits):
        wanted = [[group["bug"], group["app"], str(group["devices"]), str(group["runs"]), group["headline"]] for group in self.bugs.values()]
        self.assertEqual(len(wanted), 3)
        self.assertEqual(sorted(ranking), sorted(wanted))
        self.assertEqual(ranking[0], wanted[0])

        self.assertEqual([row[:3] for row in shares], [list(map(str, row)) for row in self.query(
            "SELECT app, version, runs FROM version ORDER BY app, version")])
        page = self.tool("top", self.database).output
        for _, version, runs, percent, low, high in shares:
            words = page.split(f"{version} ")[1].split(" of ")[0]
            self.assertRegex(words, rf"^{percent.removesuffix('.0')} %")
            # Another interval than the exact one of the tool, and close to it.
            exact = [float(word) for word in words.split("(")[1].rstrip(")").split(" to ")]
            self.assertLess(max(abs(exact[0] - float(low)), abs(exact[1] - float(high))), 300 / float(runs) + 1)

        changed = {group["bug"]: group for group in self.top("--version", f"{OLD}..{NEW}")}
        self.assertEqual({row[0]: row[1:5] for row in change}, {bug: [str(group["change"][name]) for name in ("oldCount", "oldTotal", "newCount", "newTotal")]
                                                               for bug, group in changed.items()})
        self.assertEqual(change[0][0], self.crash)
        for bug, *_, least, most in change:
            is_more = changed[bug]["change"]["kind"] == "more"
            self.assertEqual((float(least) > 1, float(most) > 1), (is_more, True), bug)

        shown = json.loads(self.tool("show", "--json", self.crash, self.database).output)["traits"]
        self.assertEqual(sorted(traits), sorted([[trait["name"], trait["value"]] + [str(trait[name]) for name in ("runs", "total", "otherRuns", "otherTotal")]
                                                 for trait in shown]))
        self.assertEqual([row[:2] for row in traits], [["kernel", "6.1.0-99"]])

    def test_postgresql(self):
        try:
            server = page_at_scale.Server(operator_case.LIMIT_S)
        except page_at_scale.Missing as missing:
            self.leave_out(str(missing))
        self.addCleanup(server.stop)
        for _ in "the first time", "again":
            self.collect("--to", server.address, self.directory / "devices", symbols=True)
        refused = self.tool("collect", "--no-symbols", "--into", self.database, "--to", server.address + "&dbname=absent", self.directory / "devices")
        self.assertEqual(refused.status, fleet_case.NOT_FOUND, refused)
        self.assertRegex(refused.errors, "absent(.|\n)*psql: it could not load the rows")
        self.check_answers(*[server.rows(query, old=OLD, new=NEW, bug=self.crash) for query in map(page_at_scale.statements, page_at_scale.QUERIES)])

    def test_duckdb(self):
        python, reason = pypi.install(pathlib.Path(operator_case.options.tool).parent / "export-readers/duckdb", "duckdb")
        if not python:
            self.leave_out(f"duckdb cannot be installed: {reason}")
        values = {"old": OLD, "new": NEW, "bug": self.crash}
        queries = [page_at_scale.statements(name) for name in page_at_scale.QUERIES]
        for name, value in values.items():
            queries = [query.replace(f":'{name}'", f"'{value}'") for query in queries]
        result = subprocess.run([python, "-c", IN_DUCKDB], input=json.dumps([page_at_scale.statements("duckdb"), *queries]), text=True, cwd=self.directory,
                                capture_output=True, check=False, timeout=operator_case.LIMIT_S)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.directory / "rows/run.parquet").read_bytes()[:4], b"PAR1")
        self.check_answers(*json.loads(result.stdout)[-len(queries):])


if __name__ == "__main__":
    fleet_case.main()
