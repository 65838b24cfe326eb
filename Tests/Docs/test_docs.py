"""The documents are true: quoted programs are the real ones, every public function carries its
contract."""
import pathlib
import re
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "Tests"
TEST_PROGRAMS = ["Core/*/test_*.c", "Core/*/mutate_*.py", "*/test_*.c", "Years/mutate_*.py", "*/test_*.py", "Faults/run_*.py", "Faults/asan_*.c", "Fuzz/mutate*.c", "Fuzz/fuzz_*.c",
                 "Delivery/Report/test_*.*",
                 "LaunchGuard*Tests/*Tests.swift"]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), TESTS / "README.md", TESTS / "Golden/README.md"]
KEYS = ["Threads:", "Signals:", "After fork:", "Allocates:", "Durable:"]


def rules_of_ends():
    """The columns of each rule in docs/ENDS.md."""
    return [re.split(" {2,}", row) for row in re.findall(r"^E\d+ .*", (ROOT / "docs/ENDS.md").read_text(), re.M)]


class Documents(unittest.TestCase):
    def test_readme_quotes_the_examples(self):
        """Whole. Each has the lines that its heading promises; blank ones do not count."""
        quotes = re.findall(r"## (\d+) lines of [^#]*?<!-- (\S+) -->\n```\w+\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
        self.assertEqual(len(quotes), 2)
        for most, path, text in quotes:
            self.assertEqual(text, (ROOT / path).read_text(), f"README.md quotes {path} as it is not")
            self.assertLessEqual(sum(map(bool, text.splitlines())), int(most), path)

    def test_the_pages_of_the_modules_quote_what_is_built(self):
        """Every block of a language stands in the file that the comment above it names, where the
        block may be indented."""
        quotes = 0
        for page in sorted([*ROOT.glob("Sources/*/*.docc/**/*.md"), *ROOT.glob("docs/*.docc/*.md"), ROOT / "docs/COOKBOOK.md", ROOT / "docs/GUIDE.md"]):
            for path, language, text in re.findall(r"(?:<!-- (\S+) -->\n)?```(\w*)\n(.*?)```\n", page.read_text(), re.S):
                if language and language != "console":  # what commands print: test_cookbook.py
                    quotes += 1
                    self.assertTrue(path, f"{page.name}: no file is named for:\n{text}")
                    file = (ROOT / path).read_text()
                    self.assertTrue(text in file or textwrap.indent(text, "    ") in file, f"{page.name} quotes {path} as it is not:\n{text}")
        self.assertGreaterEqual(quotes, 10)

    def test_every_product_has_pages(self):
        """scripts/build-docs makes those of each library that a package can import."""
        products = set(re.findall(r"\.library\(name: \"([A-Z]\w+)\"", (ROOT / "Package.swift").read_text()))
        script = (ROOT / "scripts/build-docs").read_text()
        self.assertGreater(len(products), 5)
        self.assertEqual(products, set(re.findall(r'"(\w+)"', re.search(r"^CORE = .*\nMODULES = .*", script, re.M)[0])))

    def test_every_public_type_stands_on_the_page_of_its_module(self):
        """What scripts/build-docs says at its end, of types alone, in no time."""
        types = 0
        for page in sorted(ROOT.glob("Sources/*/*.docc/*.md")):
            listed = set(re.findall(r"^- ``(?:\w+/)*(\w+)``$", page.read_text(), re.M))
            for file in sorted(page.parents[1].rglob("*.swift")):
                for name in re.findall(r"^public (?:final )?(?:struct|class|enum|actor) (\w+)", file.read_text(), re.M):
                    types += 1
                    self.assertTrue(name in listed or file.stem == "SwitchedOff", f"{file.name}: {name} stands in no group of {page.name}")
        self.assertGreater(types, 25)

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
        """docs/ENDS.md names a test for each rule and each death: "file: `test_name`"."""
        rows = rules_of_ends() + [[cell.strip() for cell in row.strip("|").split("|")] for row in (ROOT / "docs/ENDS.md").read_text().splitlines()
                                  if row.startswith("|")]
        rows = [row for row in rows if len(row) == 9 and row[0] not in ("death", "---")]
        self.assertGreater(len(rows), 50)
        for row in rows:
            if row[-1] != "survives":
                self.check_tests(row[-1], lambda file: (*TESTS.glob(f"Core/*/test_{file}.c"), *TESTS.glob(f"Preload/test_{file}.py")))

    def check_tests(self, cell, files):
        """`cell` names tests as "file: `test_name`, `test_name`"; `files`: where a name of a file
        leads to."""
        found = re.findall(r"([\w/]+): ((?:`?\w+`?(?:, )?)+)", cell)
        self.assertTrue(found, f"no test: {cell}")
        for file, names in found:
            text = "".join(path.read_text() for path in files(file))
            for name in re.findall(r"\w+", names):
                self.assertRegex(text, rf"void {name}\(|def {name}\(|func {name}\(", f"{file} has no {name}")

    def test_each_threat_has_its_tests(self):
        """SECURITY.md: as above, or a test of ctest alone, which has no functions."""
        lists = "".join(path.read_text() for path in TESTS.rglob("CMakeLists.txt"))
        rows = re.findall(r"^\| .* \| (.*) \|$", (ROOT / "SECURITY.md").read_text(), re.M)[1:]
        self.assertGreater(len(rows), 10)
        def files(file):
            folder, _, name = file.rpartition("/")
            found = (*TESTS.rglob(f"test_{name}.*"), *(ROOT / "Tools/Tests").rglob(f"{name}.swift"))
            return [path for path in found if folder in ("", path.parent.name)]
        for part in "; ".join(rows).split("; "):
            if ":" in part:
                self.check_tests(part, files)
            else:
                for name in re.findall(r"[\w-]+", part):
                    self.assertIn(f"add_test(NAME {name} ", lists)

    def test_the_pages_for_those_from_elsewhere_name_what_is_there(self):
        """docs/FROM-*.md: every function, constant, option, method and command of ours."""
        headers = "".join(path.read_text() for path in (ROOT / "include/launchguard").glob("*.h"))
        swift = "".join(path.read_text() for path in (ROOT / "Sources/LaunchGuard").glob("*.swift"))
        manual = "".join(path.read_text() for path in (ROOT / "docs/man").glob("*")).replace("\\", "")
        options = {"OTHERS": ["state_directory", "app_version", "keep_first", "keep_stderr", "on_report", "capture"],
                   "PHONES": ["on_report", "report_after", "repair_after", "window_ms", "in_launch"]}
        for name, ours in options.items():
            page = (ROOT / f"docs/FROM-{name}.md").read_text()
            named = re.findall(r"`(lg_\w+)\(\)|`(lg_\w+)\.|`(LG_\w+)`", page)
            self.assertGreater(len(named), 10)
            for word in {"".join(words) for words in named} | set(ours):
                self.assertRegex(headers, r"\b%s\b" % word)
                self.assertIn(word, page)
            for method in re.findall(r"`(?:launch|session)\.(\w+)", page):
                self.assertRegex(swift, r"public [^\n]*(?:func|var|let) %s\b" % method)
            for command in set(re.findall(r"`launchguard ([a-z]+)", page)):
                self.assertRegex(manual, r"\b%s\b" % command)
            for form in set(re.findall(r"export --format (\w+)", page)):
                self.assertIn("| `%s` |" % form, (ROOT / "docs/EXPORT.md").read_text())

    def test_the_tests_of_the_limits_of_guards_are_there(self):
        """docs/GUARDS.md names a test for every limit: `test_program`, `test_name` or a suite."""
        page = (ROOT / "docs/GUARDS.md").read_text().split("does not\n", 1)[1].split("## What is left out")[0]
        programs = "".join(path.stem + "\n" + path.read_text() for path in (TESTS / "Core/guard").glob("*.c"))
        suites = {path.stem for path in (TESTS / "LaunchGuardGuardsTests").glob("*.swift")}
        for limit in re.split(r"\n(?=- |\n)", page):
            named = re.findall(r"`(test_\w+|\w+Tests)`", limit)
            if limit.startswith("- "):
                self.assertTrue(named, limit)
            for name in named:
                self.assertTrue(name in suites or re.search(r"\b%s\b" % name, programs), name)

    def test_the_rows_of_a_crash_are_those_of_the_code(self):
        """docs/CRASH.md, section 3, and Sources/CLaunchGuard/capture/crash_next.c."""
        section = (ROOT / "docs/CRASH.md").read_text().split("## 3. Rows")[1].split("\n## ")[0]
        when = {"–": "ALWAYS", "no": "SEEN", "yes": "UNSEEN"}
        page = [(source, event, when[unseen], to)
                for source, event, unseen, to in re.findall(r"^(\w+) +(\w+) +(–|no|yes) +(\w+) ", section.split("```")[1], re.M)]
        code = re.findall(r"\{ LG__CRASH_(\w+), LG__CRASH_(\w+), (\w+), LG__CRASH_(\w+) \}",
                          (ROOT / "Sources/CLaunchGuard/capture/crash_next.c").read_text())
        self.assertGreater(len(code), 15)
        self.assertEqual(page, [(source.lower(), event.lower(), case, to.lower()) for source, event, case, to in code])

    def test_the_rules_of_an_end_are_those_of_the_code(self):
        """docs/ENDS.md, Rules, and Sources/CLaunchGuard/read/judge.c; the facts and what goes with
        an end have the same names in docs/FORMAT.md."""
        core = ROOT / "Sources/CLaunchGuard/read"
        def words(of):
            return "–" if of in ("NO", "NOTHING") else ", ".join(name.lower().replace("_", " ") for name in of.split(" | "))
        table = re.search(r"rows\[\] = \{\n(.*?)\n\};", (core / "judge.c").read_text(), re.S)[1].splitlines()
        code = [re.fullmatch(r" +ROW\((.+), (.+), (\w+), (\w+), (\w+), (\w+), (true|false)\),", line).groups() for line in table]
        self.assertGreater(len(code), 30)
        self.assertEqual([row[:-1] for row in rules_of_ends()],
                         [[f"E{number}", *map(words, row[:-1]), "yes" if row[-1] == "true" else "–"] for number, row in enumerate(code, 1)])
        section = (ROOT / "docs/FORMAT.md").read_text().split("\n## 11. ")[1].split("\n## ")[0]
        def column(head):
            return {name for row in re.findall(r"^- ([a-z0-9, ]+):", section.split(head)[1].split("\n\n")[1], re.M) for name in row.split(", ")}
        header = (core / "judge.h").read_text()
        self.assertEqual(column("`witnessed` of 1."), {words(name) for name in re.findall(r" X\(([A-Z_\d]+)\)", header)})
        for head, prefix in (("*With* the end", "WITH"), ("The time of the end", "AT")):
            self.assertEqual(column(head), {words(name) for name in re.findall(rf"^    LG__{prefix}_(\w+)", header, re.M)} - {"–"})

    def test_the_page_of_orders_names_what_is_there(self):
        """docs/CONCURRENCY.md: every file with an atomic is named, and what is named exists."""
        core, page = ROOT / "Sources/CLaunchGuard", (ROOT / "docs/CONCURRENCY.md").read_text()
        sources = {str(path.relative_to(core)): path.read_text() for path in sorted(core.glob("*/*.[ch]"))}
        sources |= {path.name: path.read_text() for path in sorted((ROOT / "Sources/CLaunchGuardGuards").glob("*.[ch]"))}
        named = {name for name, _ in re.findall(r"\[([\w/]+\.[ch])\]\(\.\./Sources/CLaunchGuard(Guards)?/\1\)", page)}
        self.assertEqual(named - set(sources), set())
        atomic = {name for name, text in sources.items() if re.search(r"\b(_Atomic|__atomic_\w+|atomic_\w+)\b", text)}
        self.assertGreater(len(atomic), 50)
        self.assertEqual(atomic - named, set())
        whole = "".join(sources.values())
        functions = set(re.findall(r"`(\w+)\(\)`", page)) - {"pread", "atomic_signal_fence"}
        self.assertGreater(len(functions), 80)
        for function in functions:
            self.assertRegex(whole, r"(?m)^[a-zA-Z_][^;=\n]*[ *(]%s\)?\(" % function, f"{function}() is not there")

    def test_the_page_of_orders_names_its_scenarios(self):
        """docs/CONCURRENCY.md: which program of Tests/Orders/ explores a section."""
        page, found = (ROOT / "docs/CONCURRENCY.md").read_text(), {}
        for path in (TESTS / "Orders").glob("test_*.c"):
            text = path.read_text()
            names = dict(re.findall(r'#define (\w+) "([^"]+)"', text))
            for value in re.findall(r"\.sections = ([^,]+),", text):
                whole = re.sub(r"\w+|\"[^\"]*\"", lambda part: part[0].strip('"') if part[0][0] == '"' else names[part[0]], value)
                for section in re.split(r" *;", whole):
                    found.setdefault(section, set()).add(path.stem[len("test_"):])
        table = re.search(r"\| section \| program \|\n\|---\|---\|\n((?:\|.*\n)+)", page)[1]
        rows = {section: set(programs.split(", ")) for section, programs in re.findall(r"\| (.+?) \| (.+?) \|", table)}
        self.assertGreater(len(rows), 5)
        self.assertEqual(rows, found)
        self.assertLessEqual(set(rows), set(re.findall(r"(?m)^##+ (.+)$", page)))
        self.assertRegex((TESTS / "Orders/CMakeLists.txt").read_text(), " ".join(sorted(set().union(*rows.values()))))

    def test_internal_names_are_there(self):
        there = {name for path in (ROOT / "Sources/CLaunchGuard").glob("*/*.[ch]") for name in re.findall(r"\blg__\w+", path.read_text())}
        for document in DOCUMENTS:
            self.assertLessEqual(set(re.findall(r"`(lg__[a-z_]+)\b", document.read_text())), there, document.name)

    def test_every_test_program_has_its_line(self):
        """Tests/README.md names each program once, and nothing else."""
        listed, folder = [], ""
        for line in (TESTS / "README.md").read_text().splitlines():
            if heading := re.match(r"### (.+)", line):
                folder = "" if " " in heading[1] else heading[1] + "/"
            elif row := re.match(r"\| ([\w/]+\.\w+) \| .+\. \|$", line):
                listed.append(folder + row[1])
        programs = {path.relative_to(folder).as_posix() for folder in (TESTS, ROOT / "Tools/Tests") for pattern in TEST_PROGRAMS for path in folder.glob(pattern)}
        self.assertEqual(sorted(listed), sorted(programs))

    def test_paths_of_tests_are_there(self):
        for document in DOCUMENTS:
            for path in re.findall(r"\bTests(?:/\w+)*(?:/[\w.]*\w)", document.read_text()):
                built = re.search(r"build/\w+/" + re.escape(path), document.read_text())
                self.assertTrue(built or (ROOT / path).exists(), f"{document.name}: {path}")

    def test_links_lead_somewhere(self):
        for document in DOCUMENTS:
            for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)", document.read_text()):
                if not target.startswith("http"):
                    page = document.parent / target if target else document
                    self.assertTrue(page.exists(), f"{document.name}: {target}")
                    heads = re.findall(r"^#+ (.*)", page.read_text(), re.M) if anchor else []
                    self.assertTrue(not anchor or anchor in [re.sub(r"[^\w\- ]", "", head).lower().replace(" ", "-") for head in heads],
                                    f"{document.name}: {target}#{anchor}")

    def test_every_page_can_be_found(self):
        """From README.md or docs/GUIDE.md."""
        found = (ROOT / "README.md").read_text() + (ROOT / "docs/GUIDE.md").read_text()
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
            self.assertTrue(page.name == "README.md" or re.search(r"\]\((?:\w*/|\.\./)?%s\b" % re.escape(page.name), found), page.name)


if __name__ == "__main__":
    unittest.main()
