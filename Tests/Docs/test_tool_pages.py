"""docs/man/*.1 are what scripts/tool-pages makes of the help of the tool; each command is there.

test_tool_pages.py TOOL; where the test fails, `scripts/tool-pages TOOL docs/man` makes them anew.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/man"
TOOL = sys.argv.pop()


class ToolPages(unittest.TestCase):
    maxDiff = None

    def test_pages_are_made_of_the_help(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([ROOT / "scripts/tool-pages", TOOL, folder], check=True, timeout=300)
            made = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
        self.assertEqual(set(made), {"launchguard.1", "launchguard-run.1"})
        for name, text in made.items():
            self.assertEqual((PAGES / name).read_text(), text, name)

    def test_every_command_has_its_section_and_its_options(self):
        said = subprocess.run([TOOL, "--help"], check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout
        shown = re.findall(r"^  ([a-z]+) ", said.split("SUBCOMMANDS:")[1], re.M)
        self.assertGreater(len(shown), 12)
        asked = "".join(path.read_text() for path in PAGES.glob("*.in"))
        for name in shown:
            for word in ("usage", "about", "options"):
                self.assertTrue(f"@{word} {name}\n" in asked, f"@{word} {name}")


if __name__ == "__main__":
    unittest.main()
