"""What a program sees of LaunchGuardReports stays small, and every word of it is explained."""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 200


class PublicSymbols(unittest.TestCase):
    def test_reports(self):
        target = json.loads(subprocess.check_output([arguments.swift, "-print-target-info"], timeout=60))["target"]["triple"]
        with tempfile.TemporaryDirectory() as graphs:
            subprocess.run([pathlib.Path(shutil.which(arguments.swift)).resolve().parent / "swift-symbolgraph-extract", "-module-name", "LaunchGuardReports", "-target", target,
                            "-I", arguments.modules, "-I", ROOT / "include", "-output-dir", graphs, "-minimum-access-level", "public",
                            "-skip-synthesized-members"], check=True, timeout=300)
            symbols = [symbol for graph in pathlib.Path(graphs).glob("*.json") for symbol in json.loads(graph.read_text())["symbols"]]
        self.assertGreater(len(symbols), 100)
        self.assertLessEqual(len(symbols), MOST)
        # The compiler makes this one for each enumeration.
        bare = [symbol["pathComponents"] for symbol in symbols if "docComment" not in symbol and symbol["pathComponents"][-1] != "init(rawValue:)"]
        self.assertEqual(bare, [], "these say nothing about themselves")
        self.assertEqual({symbol["pathComponents"][0] for symbol in symbols}, {"RunReport", "LedgerReport"}, "all other names are free for the program")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--swift", default="swift", help="the compiler driver")
    parser.add_argument("--modules", default=ROOT / ".build/debug/Modules", help="the folder of the compiled modules")
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
