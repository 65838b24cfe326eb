"""The manual: every public function has a page, whose text is that of its header, and no page has a
fault that mandoc or man finds."""
import collections
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include/launchguard").glob("*.h"))
WRITTEN = sorted((ROOT / "docs/man").glob("*.[1-8]"))
KEYS = "Threads|Signals|After fork|Allocates|Durable"


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **options)


def words(text):
    return re.findall(r"[^\W_][\w.]*|[^\w\s]", text)


def of_comment(text):
    """The words of a comment, without the marks that the pages have others for."""
    text = re.sub(r"^ \*", "", text, flags=re.M).replace("`", "").replace("@return", "Returns:")
    text = re.sub(r"^ *- ", "", re.sub(r"@param\s+", "", text), flags=re.M)
    return words(re.sub(r"(?<![/\w])([a-z_]+)\.h\b", lambda found: "lg_%s(3)" % found[1], text))


def of_page(roff):
    """The words of a page that its reader sees."""
    roff = re.sub(r"^\.(?:PP|TP|br|nf|fi|sp|IP.*)\n", "", roff, flags=re.M)
    roff = re.sub(r"\\f[BIP]|\\&", "", roff).replace("\\-", "-").replace("\\e", "\\")
    return words(re.sub(r"\\\[u([0-9A-F]+)\]", lambda found: chr(int(found[1], 16)), roff))


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.root = pathlib.Path(directory.name)
        cls.pages = cls.root / "man3"
        done = run(ROOT / "scripts/man-pages", ROOT / "include/launchguard", cls.pages)
        assert done.returncode == 0, done.stdout

    def page(self, name):
        """The text of a page, after its link."""
        text = (self.pages / (name + ".3")).read_text()
        link = re.fullmatch(r"\.so man3/(\w+)\.3\n", text)
        return (self.pages / (link[1] + ".3")).read_text() if link else text

    def test_every_function_has_a_page(self):
        """Also those that a macro makes: the compiler says which there are."""
        source = self.root / "all.c"
        source.write_text("".join('#include "%s"\n' % header for header in HEADERS))
        functions = set(re.findall(r"\b(lg_\w+)\(", run("cc", "-E", "-P", "-I", ROOT / "include", source).stdout))
        self.assertGreater(len(functions), 150)
        there = {page.stem for page in self.pages.iterdir()}
        self.assertEqual(functions - there, set())
        concerns = {"launchguard"} | {"lg_" + header.stem for header in HEADERS if header.stem != "launchguard"}
        self.assertEqual(there - functions, concerns - functions | {"lg_guard_working"})
        for name in there:
            self.assertIn(".SH NAME", self.page(name), name)

    def test_a_page_says_what_the_header_says(self):
        functions = 0
        for header in HEADERS:
            text = header.read_text()
            for comment, name in re.findall(r"^/\*\*((?:(?!\*/).)*)\*/\nLG_API [^;{]*?\b(lg_\w+)\(", text, re.S | re.M):
                functions += 1
                part = re.search(r"^\.SS %s\(\)\n\.nf\n(.*?)\.fi\n(.*?)(?=^\.S[SH] )" % name, self.page(name), re.S | re.M)
                self.assertEqual(of_comment(comment), of_page(part[2]), name)
                declared = re.search(r"^LG_API ([^;]*?\b%s\([^;]*;)" % name, text, re.M)[1]
                self.assertEqual(words(re.sub(r"LG_PRINTF\(.*\)", "", declared)), of_page(part[1]), name)
            comments = [comment for comment in re.findall(r"/\*\*<?(.*?)\*/", text, re.S)]
            wanted = collections.Counter(word.lower() for comment in comments for word in of_comment(re.sub(r"^ X\(.*?\)", "", comment)))
            shown = collections.Counter(word.lower() for word in of_page(self.page("launchguard" if header.stem == "launchguard" else "lg_" + header.stem)))
            lost = {word for word in wanted - shown if word.isalpha()}
            self.assertEqual(lost - {"launchguard"}, set(), header.name)
        self.assertGreater(functions, 100)

    def test_sizes_of_the_format(self):
        """Figures of launchguard(5) are those of docs/FORMAT.md or of the headers."""
        known = (ROOT / "docs/FORMAT.md").read_text() + "".join(header.read_text() for header in HEADERS)
        figures = re.findall(r"\b\d{3,}\b", (ROOT / "docs/man/launchguard.5").read_text())
        self.assertGreater(len(figures), 4)
        self.assertEqual([figure for figure in figures if not re.search(r"\b%s\b" % figure, known)], [])

    def faults(self, page):
        """Complaints of mandoc and man about a page. Lines end as in the tree, and a page is as
        old as its release."""
        said = run("mandoc", "-T", "lint", "-W", "warning", page).stdout.splitlines()
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l", page], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              timeout=120, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        return [line for line in said + done.stderr.splitlines() if "missing date" not in line]

    def test_no_fault(self):
        for tool in ("mandoc", "man"):
            if not shutil.which(tool):
                self.skipTest("no %s in PATH: the pages are not looked through" % tool)
        whole = [page for page in sorted(self.pages.iterdir()) if not page.read_text().startswith(".so ")]
        self.assertEqual(len(whole), len(HEADERS))
        for page in [*WRITTEN, *whole]:
            self.assertEqual(self.faults(page), [], page.name)
        wrong = self.root / "wrong.3"
        wrong.write_text('.TH WRONG 3 ""\n.SH NAME\nwrong \\- page\n.nosuchrequest\n')
        self.assertNotEqual(self.faults(wrong), [])

    def test_man_finds_a_function(self):
        if not shutil.which("man"):
            self.skipTest("no man in PATH: no page is asked for")
        done = run("man", "-M", self.root, "-E", "UTF-8", "lg_launch_begin", env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("lg_status lg_launch_begin(lg_launch *launch);", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
