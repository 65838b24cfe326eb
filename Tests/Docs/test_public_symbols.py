"""What a program sees of the Swift modules. LaunchGuardReports stays small, and every word of it is
explained; docs/swift-c.txt has what a name of the other modules is in C, which their comments leave
out."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 200
TABLE = "docs/swift-c.txt"
HEADERS = {path.name: path.read_text() for path in (ROOT / "include/launchguard").glob("*.h")}
# What is for readers of files, and the typed guards, has another shape in Swift.
OTHER_SHAPE = re.compile(r"(reader|record|report|ledger|snapshot|guard_\w+)\.h")
NOT_IN_SWIFT = {
    "a closure returns, throws or is cancelled": {"lg_complete", "lg_complete_text", "lg_completion_wait_unwanted", "lg_completion_wanted"},
    "the raw value of an enumeration": {"lg_crash_kind_name", "lg_end_name", "lg_evidence_sentence", "lg_guard_action_name", "lg_guard_class_name", "lg_launch_mode_name",
                                        "lg_launch_status_name"},
    "literals and interpolation": {"lg_log", "lg_logv", "lg_log_slices"},
    "the guarded operations": {"lg_guard_claim"},
    "the library sees each thread": {"lg_thread_register"},
}


def symbols(module):
    """The public symbols of a module, by their place."""
    target = json.loads(subprocess.check_output([arguments.swift, "-print-target-info"], timeout=60))["target"]["triple"]
    extract = pathlib.Path(shutil.which(arguments.swift)).resolve().parent / "swift-symbolgraph-extract"
    with tempfile.TemporaryDirectory() as graphs:
        includes = [word for folder in ("include", "Sources/CThread", "Sources/CCallSite") for word in ("-I", ROOT / folder)]
        subprocess.run([extract, "-module-name", module, "-target", target, "-I", arguments.modules, *includes, "-output-dir", graphs,
                        "-minimum-access-level", "public", "-skip-synthesized-members"], check=True, timeout=300)
        return [symbol for graph in pathlib.Path(graphs).glob("*.json") for symbol in json.loads(graph.read_text())["symbols"]]


class Reports(unittest.TestCase):
    def test_few_symbols_each_explained(self):
        found = symbols("LaunchGuardReports")
        self.assertGreater(len(found), 100)
        self.assertLessEqual(len(found), MOST)
        # The compiler makes this one for each enumeration.
        bare = [symbol["pathComponents"] for symbol in found if "docComment" not in symbol and symbol["pathComponents"][-1] != "init(rawValue:)"]
        self.assertEqual(bare, [], "these say nothing about themselves")
        self.assertEqual({symbol["pathComponents"][0] for symbol in found}, {"RunReport", "LedgerReport"}, "all other names are free for the program")


class NamesInC(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = [re.split(r" {2,}|, ", line) for line in (ROOT / TABLE).read_text().splitlines() if not line.startswith("#")]

    def test_every_name_of_swift_is_there(self):
        there = {".".join(symbol["pathComponents"]) for module in ("LaunchGuard", "LaunchGuardGuards") for symbol in symbols(module)}
        names = [row[0] for row in self.rows]
        self.assertGreater(len(names), 200)
        self.assertEqual(names, sorted(names))
        self.assertEqual([name for name in names if name not in there], [], f"{TABLE} names what no module has")

    def test_every_name_of_c_is_there(self):
        text = "".join(HEADERS.values())
        for row in self.rows:
            for name in row[1:]:
                with self.subTest(name, swift=row[0]):
                    structure, dot, field = name.partition(".")
                    if name.startswith("launchguard/"):
                        self.assertIn(name.partition("/")[2], HEADERS)
                    elif dot:
                        body = re.search(r"^typedef struct %s \{\n(.*?)^\} %s;" % (structure, structure), text, re.M | re.S)
                        self.assertRegex(body[1] if body else "", r"\b%s\b" % field)
                    elif name.endswith("()"):
                        self.assertRegex(text, r"\b%s\(" % name[:-2])
                    else:
                        self.assertRegex(text, r"\b%s" % name[:-1] if name.endswith("…") else r"\b%s\b" % name)

    def test_every_function_has_a_name_in_swift(self):
        functions = {name for file, text in HEADERS.items() if not OTHER_SHAPE.fullmatch(file) for name in re.findall(r"^LG_API[^;(]*?\b(lg_\w+)\(", text, re.M)}
        self.assertGreater(len(functions), 60)
        named = {name[:-2] for row in self.rows for name in row[1:] if name.endswith("()")}
        self.assertEqual(functions - named, set().union(*NOT_IN_SWIFT.values()), f"add a row to {TABLE}, or say in NOT_IN_SWIFT why there is none")

    def test_comments_leave_c_out(self):
        for path in [*(ROOT / "Sources/LaunchGuard").glob("*.swift"), ROOT / "Sources/LaunchGuard/Internals/StatusTable.swift",
                     *(ROOT / "Sources/LaunchGuardGuards").glob("*.swift")]:
            self.assertNotRegex(path.read_text(), r"///.*\bC:(?: `|\n)", f"{path.name}: its row is in {TABLE}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--swift", default="swift", help="the compiler driver")
    parser.add_argument("--modules", default=ROOT / ".build/debug/Modules", help="the folder of the compiled modules")
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
