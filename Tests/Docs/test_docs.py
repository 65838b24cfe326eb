"""The documents keep their word: quoted programs are the real ones, every public function carries
its contract."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORE_TESTS = ROOT / "Tests/Core"
KEYS = ["Threads:", "Signals:", "After fork:", "Allocates:", "Durable:"]


class Documents(unittest.TestCase):
    def test_readme_quotes_the_examples(self):
        readme = (ROOT / "README.md").read_text()
        quotes = re.findall(r"<!-- (\S+) -->\n```\w+\n(.*?)```", readme, re.S)
        self.assertGreaterEqual(len(quotes), 2)
        for path, text in quotes:
            self.assertEqual(text, (ROOT / path).read_text(), f"README.md quotes {path} as it is not")

    def test_every_public_function_has_its_contract(self):
        functions = 0
        for header in sorted((ROOT / "include/launchguard").glob("*.h")):
            text = header.read_text()
            for match in re.finditer(r"(/\*\*(?:(?!\*/).)*\*/\n)?^LG_API [^;]*?(lg_\w+)\(", text, re.S | re.M):
                functions += 1
                comment, name = match.group(1) or "", match.group(2)
                places = [comment.find(key) for key in KEYS]
                self.assertNotIn(-1, places, f"{header.name}: {name} lacks one of {KEYS}")
                self.assertEqual(places, sorted(places), f"{header.name}: {name}: the keys stand in another order")
        self.assertGreater(functions, 30)

    def test_the_tests_of_the_ways_to_end_are_there(self):
        """docs/ENDS.md names a test for every way: "file or room: `test_name`, `test_name`"."""
        named = 0
        for row in (ROOT / "docs/ENDS.md").read_text().splitlines():
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            if not row.startswith("|") or len(cells) != 6 or cells[0] in ("way", "---"):
                continue
            found = re.findall(r"(\w+): ((?:`test_\w+`(?:, )?)+)", cells[5])
            self.assertTrue(found or re.fullmatch(r"[a-z, ]+", cells[5]), f"no test: {row}")
            for file, names in found:
                paths = [*CORE_TESTS.glob(f"*/test_{file}.c")] or [*CORE_TESTS.glob(f"{file}/test_*.c")]
                text = "".join(path.read_text() for path in paths)
                for name in re.findall(r"test_\w+", names):
                    named += 1
                    self.assertIn(f"({name})", text, f"{file} has no {name}")
        self.assertGreater(named, 30)

    def test_links_lead_somewhere(self):
        for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
            for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
                if not target.startswith("http"):
                    self.assertTrue((document.parent / target).exists(), f"{document.name}: {target}")


if __name__ == "__main__":
    unittest.main()
