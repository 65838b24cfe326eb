"""The documents keep their word: quoted programs are the real ones, every public function carries its contract."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
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

    def test_links_lead_somewhere(self):
        for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
            for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
                if not target.startswith("http"):
                    self.assertTrue((document.parent / target).exists(), f"{document.name}: {target}")


if __name__ == "__main__":
    unittest.main()
