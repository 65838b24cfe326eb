"""What prose says of a measurement stands in docs/BENCHMARKS.md; that page and the budget of
`make bench` are what was measured.

A figure with a unit is one of three things. It is measured: then it is a link to its table, whose
title is the row, `[18 µs](BENCHMARKS.md#launch "lg_launch_begin(), a healthy program")`. The figure
is the row's median, or what the budget says, rounded as the writer likes; "ROW: COLUMN" names
another column. Or code, a format or somebody else sets it: then its words stand in SET. Or it
stands in a fence.
"""
import importlib.util
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/BENCHMARKS.md"
DOCUMENTS = [path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*.docc/*.md"), *ROOT.glob("Sources/*/*.docc/**/*.md"),
                               ROOT / "Benchmarks/README.md") if path != PAGE]

UNIT = r"ns|µs|us|ms|s|seconds?|minutes?|[KMG]iB|[kMG]B|×|times|instructions|system calls|page faults|wake-ups"
FIGURE = re.compile(rf"(?<![\w.,×])(\d[\d,]*(?:\.\d+)?) ?({UNIT})(?!\w)")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)BENCHMARKS\.md(#[^)\s\"]*)?(?: \"([^\"]*)\")?\)")

# What nobody measured: limits and defaults of the code, sizes of formats, how a measurement is
# made, and the patience of the commands of CONTRIBUTING.md.
SET = {
    "SECURITY.md": ["registers, 128 KiB of the stacks"],
    "ARCHITECTURE.md": ["the deadline of a record: 3 s, and 30 s for an earlier handler", "A start waits at most 20 ms"],
    "CHANGELOG.md": ["keeps the last 16 KiB of standard error"],
    "CONTRIBUTING.md": ["under 60 s once built", "under 10 minutes once built"],
    "docs/GUIDE.md": ["All run files together take at most 64 MiB", "the new file shrinks, down to 36 KiB"],
    "docs/CRASH.md": ["A handler that has recovered 64 times", "comes within 50 µs after the handler"],
    "docs/DELIVERY.md": ["waits up to 20 ms", "The first has at most 4 KiB", "has what the agent did, in 256 KiB", "one JSON object of at most 4 KiB",
                         "The waits are random, up to 2 s, 4 s, 8 s and so on", "within 5 s, takes at most 30 s for a request", "for each 8 KiB of it",
                         "reads at most 64 KiB of an answer", "a JSON object of at most 1 KiB", "A second part above 128 KiB", "it waits at most 5 s"],
    "docs/ENDS.md": ["it goes on for 100 s", "a run loop stands still for (2 s), for (5 s) after"],
    "docs/SYMBOLS.md": ["and 64 MiB decompressed", "a process of its own for at most 60 seconds", "at most 60 seconds each"],
    "docs/FROM-PHONES.md": ["with a window of 5 s", "BugSnag: (5 s)"],
    "docs/LAUNCH.md": ["(2 × repair_after; 0 never)", "(60 s; 0 never)", "min(2 × retry_runs"],
    "docs/SMALL.md": ["with blocks of 4 KiB"],
    "docs/FORMAT.md": ["within its capacity and at most 1 MiB", "24 + 8 × stored", "The section has at most 64 MiB", "has at most 256 MiB", "at most 1 s and a thousandth", "(at most 4 MiB)"],
    "docs/SIGNAL-SAFETY.md": ["questions a crash, in 0.2 s", "(500 ms at most)"],
    "docs/EXPORT.md": ["above 1 MiB, Sentry's limit", "The attachment has at most 4 MiB"],
    "Benchmarks/README.md": ["for a log of 16 MiB", "live 50 ms longer", "both files with , 64 KiB each", "4 KiB of stack from the crashed frame", "warm up for 2 ms, then append for 10 ms",
                             "up to 20,000 times singly", "into 256 KiB of a mapped file", "4 MiB for each CPU"],
    "Sources/LaunchGuard/LaunchGuard.docc/Articles/ServiceLifecycle.md": ["the window of 5 s"],
    "Sources/LaunchGuard/LaunchGuard.docc/Articles/Desktops.md": ["every 10 ms for example"],
    "Sources/LaunchGuard/LaunchGuard.docc/Articles/SwiftLog.md": ["keeps the newest 256 KiB"],
    "Sources/LaunchGuard/LaunchGuard.docc/Articles/TheFirstHour.md": ["5 s after it began"],
}


def prose(text):
    """Without fences and code in lines; each run of white space is one blank."""
    text = re.sub(r"(?ms)^ *(```|~~~).*?^ *\1", "", text)
    return re.sub(r"\s+", " ", re.sub(r"`[^`\n]*`", "", text))


def sections(page):
    """Anchor → the tables below the heading, each a list of lines."""
    found = {}
    for heading, text in re.findall(r"(?ms)^##+ ([^\n]*)\n(.*?)(?=^##|\Z)", page):
        anchor = "#" + re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-")
        found[anchor] = [block.splitlines() for fence in re.findall(r"(?ms)^```\n(.*?)^```", text) for block in re.split(r"\n\n+", fence)]
    return found


def cells(line):
    """The words at the left, and the columns."""
    label, _, rest = line.strip().partition("  ")
    return label, rest.split()


def quoted_wrongly(figure, unit, title, tables):
    """Why a row does not say what prose says; None where it does."""
    row, _, column = title.partition(": ")
    for head, *lines in tables:
        named, columns = cells(head)
        for line in lines:
            label, values = cells(line)
            if label != row or not values:
                continue
            wanted = column or ("ratio" if unit == "×" and "ratio" in columns else "measured" if "measured" in columns else "median")
            if wanted not in columns:
                return f"the table has no column {wanted!r}"
            if "measured" in columns and values[0] == "-":
                return f"{row!r} was not measured"
            value = values[columns.index(wanted)]
            own = values[2] if "measured" in columns else "×" if wanted == "ratio" else named.rpartition(", ")[2]
            own = {"us": "µs", "x": "×"}.get(own, own)
            if own != unit:
                return f"{row!r} has the unit {own!r}"
            digits = len(figure.partition(".")[2])
            if f"{float(value.replace(',', '')):.{digits}f}" != figure.replace(",", ""):
                return f"{row!r} has {value} {own} now"
            return None
    return f"no row of the section is {row!r}"


def defects(text, fixed, found):
    """Of a document: each figure that is neither a right quotation nor set."""
    text = prose(text)
    said, explained = [], []
    for link in LINK.finditer(text):
        for figure, unit in FIGURE.findall(link[1]):
            explained.append(link.span())
            why = "the link names no section and row" if not link[3] or not link[4] else quoted_wrongly(figure, unit.replace("us", "µs"), link[4], found.get(link[3], []))
            if why:
                said.append(f"{figure} {unit}: {why}")
    for phrase in fixed:
        places = [match.span() for match in re.finditer(re.escape(phrase), text)]
        if not places:
            said.append(f"SET has {phrase!r}, which the document does not say any more")
        explained += places
    for figure in FIGURE.finditer(text):
        if not any(begin <= figure.start() and figure.end() <= end for begin, end in explained):
            around = text[max(0, figure.start() - 40):figure.end() + 20]
            said.append(f"“…{around}…”: link {figure[0]} to its row, [{figure[0]}](BENCHMARKS.md#section \"row\"), leave it out, or, if code sets it, name it in SET of {__file__}")
    return said


def benchmark(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"Benchmarks/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Figures(unittest.TestCase):
    PAGE = """## Launch\n\n```\nwhen\n\nA launch, us       least    median   ratio\n  by hand   2.7   2.7\n  lg_launch_begin(), healthy      13.3      1,017.6    2.95   2.64-5.02\n```
## Budget\n\n```\nwhen\n\nBudget    measured    target\nswift\n  String of 40 bytes    37.5   <=35 ns   no\n  fields    -   <=120 ns   not measured: no Swift\n```\n"""

    def test_what_prose_says_was_measured(self):
        found = sections(PAGE.read_text())
        documents = {path.relative_to(ROOT).as_posix(): path.read_text() for path in DOCUMENTS}
        self.assertLessEqual(set(SET), set(documents))
        said = [f"{name}: {defect}" for name, text in documents.items() for defect in defects(text, SET.get(name, []), found)]
        self.assertFalse(said, "\n" + "\n".join(said))

    def defects(self, text, fixed=()):
        return defects(text, fixed, sections(self.PAGE))

    def test_a_quotation_is_that_of_its_row(self):
        row = '"lg_launch_begin(), healthy"'
        self.assertEqual(self.defects(f"takes [1018 µs](docs/BENCHMARKS.md#launch {row}), [2.95 ×](BENCHMARKS.md#launch {row})"), [])
        self.assertEqual(self.defects('[13.3 µs](BENCHMARKS.md#launch "lg_launch_begin(), healthy: least"), [38 ns](BENCHMARKS.md#budget "String of 40 bytes")'), [])
        for wrong, why in ((f"[13.3 µs](BENCHMARKS.md#launch {row})", "has 1,017.6 µs now"), (f"[1018 ns](BENCHMARKS.md#launch {row})", "has the unit 'µs'"),
                           (f"[1018 µs](BENCHMARKS.md#crash {row})", "no row"), ("[1018 µs](BENCHMARKS.md#launch)", "names no section and row"),
                           ('[1018 µs](BENCHMARKS.md#launch "lg_launch")', "no row"), ('[120 ns](BENCHMARKS.md#budget "fields")', "was not measured"),
                           ('[1018 µs](BENCHMARKS.md#launch "lg_launch_begin(), healthy: most")', "no column")):
            self.assertRegex("\n".join(self.defects(wrong)), re.escape(why), wrong)

    def test_a_figure_without_a_row_is_found(self):
        for text in ("takes 15 ns.", "takes 1.5 ×", "makes 97 system\ncalls", "| a | 58 ms |", "[BENCHMARKS.md](BENCHMARKS.md#launch) has 18 µs"):
            self.assertRegex("\n".join(self.defects(text)), "name it in SET", text)
        self.assertEqual(self.defects("waits at most 20 ms", ["at most 20 ms"]), [])
        self.assertRegex(self.defects("waits", ["at most 20 ms"])[0], "does not say")
        self.assertEqual(self.defects("```\n15 ns\n```\nand `15 ns`, 4 KiB-blocks", ["4 KiB"]), [])

    def test_the_budget_says_yes_only_of_what_was_measured(self):
        budget = benchmark("budget")
        targets = budget.rows("a", ("low", "low", 2, "x"), ("high", "high", 10, "", True), ("gone", "gone", 1), ("none", "none", 1)) + budget.rows("b", ("low", "low", 2))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.figures").write_text("low\t2\nhigh\t9.9\nnone\t-\tno compiler\n")
            pathlib.Path(folder, "b.figures").write_text("low\t1\n")
            lines = [" ".join(line.split()) for line in budget.lines(folder, ["a"], targets)]
            pathlib.Path(folder, "a.figures").write_text("low\t1\n*\t-\tit did not finish\n")
            late = " ".join(budget.lines(folder, ["a"], targets))
        self.assertEqual(lines[1:], ["a", "low 2 <=2 x yes", "high 9.90 >=10 no", "gone - <=1 not measured: the table printed no such figure", "none - <=1 not measured: no compiler",
                                     "b not measured, 1: the table was not part of this run", "1 yes, 1 no, 3 not measured"])
        self.assertEqual(late.count("not measured: it did not finish"), 3)

    def test_every_target_is_put_by_its_table(self):
        """By the name of the figure, in the sources of the benchmarks."""
        sources = "".join(path.read_text() for pattern in ("Benchmarks/*.[cps]*", "Benchmarks/log/*.[cs]*", "Tools/Benchmarks/*/*.swift") for path in ROOT.glob(pattern)
                          if path.name not in ("budget.py", "write_figures.py"))
        targets = benchmark("budget").TARGETS
        self.assertGreater(len(targets), 50)
        self.assertEqual(len({target[:2] for target in targets}), len(targets))
        for target in targets:
            self.assertRegex(sources, rf"""put\w*\("{target.figure.partition('.')[0]}"|"{target.figure}"[,:\]]|\b{target.figure}\\t|\({target.figure}\\\)""", target)

    def test_the_page_has_what_the_tables_print(self):
        """Its titles are those that the benchmarks print, and a run of some tables writes those."""
        writer = benchmark("write_figures")
        text = PAGE.read_text()
        marked = re.findall(r"<!-- ([\w-]+):? ?(.*?) -->", text)
        self.assertGreater(len(marked), 5)
        self.assertEqual(len(writer.MARKED.findall(text)), len(marked))
        known = (ROOT / "Benchmarks/run.sh").read_text()
        for table, titles in marked:
            self.assertTrue(table == "budget" or re.search(rf"(?m)^ +(?:\w+ \| )*{table}(?: \| \w+)*\)", known), table)
        page = "<!-- a: One | Two -->\n```\nold\n```\nprose\n<!-- b -->\n```\nold b\n```\n"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "a.txt").write_text("when\n\n\nOne, us  least\n  row  1\n\nThree\n  row  3\n\nTwo\n  row  2\n")
            once, said = writer.write(page, folder)
            self.assertEqual(once, page.replace("```\nold\n", "```\nwhen\n\nOne, us  least\n  row  1\n\nTwo\n  row  2\n"))
            self.assertEqual(len(said), 2)
            self.assertEqual(writer.write(once, folder)[0], once)
            for text in ("when\n\nOne\n  row  4\n", "when\n\nOne\n  row  4\n\nTwo\n  row  5\n\nnot measured: the table did not finish\n"):
                (folder / "a.txt").write_text(text)
                self.assertEqual(writer.write(once, folder)[0], once)


if __name__ == "__main__":
    unittest.main()
