"""Every status that a public call can return stands in its documentation.

What a call can return is read from the source: the statuses that the function returns or assigns,
and those of the functions whose result it passes on. That is sometimes more than can really come;
IMPOSSIBLE has those, each with its reason.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTION = re.compile(r"^((?:\w+ )*?)lg_status (\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.M | re.S)
PUBLIC = re.compile(r"/\*\*((?:(?!\*/).)*)\*/\nLG_API lg_status (\w+)\(", re.S)
STATUS = r"LG_(?:OK|ERR_\w+)"

IMPOSSIBLE = {
    # it sets no lists
    "lg_guard_start": {"LG_ERR_LIMIT"},
    # a folder of this application's own is not another one's
    "lg_start": {"LG_ERR_STATE"},
    # an open() that makes no file
    "lg_witness": {"LG_ERR_LIMIT", "LG_ERR_NO_SPACE"},
    "lg_witness_stderr": {"LG_ERR_LIMIT", "LG_ERR_NO_SPACE"},
    "lg_witness_finished": {"LG_ERR_LIMIT", "LG_ERR_NO_SPACE"},
    # a run without a crash record has its verdict
    "lg_reader_verdict": {"LG_ERR_NOT_FOUND"},
}


def end_of_call(text, at):
    depth = 0
    for at in range(at, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at + 1
    return len(text)


SHELL_IMPOSSIBLE = {
    # the wait has no limit
    "lg_launch_begin": {"LG_ERR_TIMEOUT"},
}


class Source:
    def __init__(self, *folders):
        self.bodies = {}
        for path in sorted(path for folder in folders or ("CLaunchGuard", "CLaunchGuardGuards") for path in (ROOT / "Sources" / folder).rglob("*.c")):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            for match in FUNCTION.finditer(text):
                self.bodies[match[2]] = match[3]

    def statuses(self, name, seen=None):
        seen = seen if seen is not None else set()
        if name in seen or name not in self.bodies:
            return set()
        seen.add(name)
        body, found = self.bodies[name], set()
        for match in re.finditer(STATUS, body):
            if not re.search(r"(==|!=|case)\s*$", body[:match.start()]):
                found.add(match[0])
        for match in re.finditer(r"\b(lg_\w+|lg__\w+|\w+)\(", body):
            passed_on = re.search(r"(return|=|\?|:|&&|,)\s*$", body[:match.start()])
            compared = re.match(r"\s*[=!]=", body[end_of_call(body, match.end() - 1):])
            if match[1] in self.bodies and passed_on and not compared:
                found |= self.statuses(match[1], seen)
        if "return host->problem.status" in body:  # noted by functions that return a descriptor
            found |= self.statuses("lg__problem_from_errno", seen) | {"LG_ERR_OWNER"}
        # "status == LG_ERR_INCOMPLETE ? LG_ERR_NOT_FOUND : status"
        return found - set(re.findall(r"\w+ == (%s) \?" % STATUS, body))


class Headers:
    def __init__(self):
        self.comments, self.shared = {}, {}
        reader = (ROOT / "include/launchguard/reader.h").read_text()
        rule = set(re.findall(STATUS, re.search(r"Every call returns ([^.]*)\.", reader)[1]))
        for path in sorted((ROOT / "include/launchguard").glob("*.h")):
            text = path.read_text()
            holds = path.name == "reader.h" or "The rules of reader.h hold here as well" in text
            for match in PUBLIC.finditer(text):
                self.comments[match[2]] = match[1]
                self.shared[match[2]] = rule if holds else set()

    def statuses(self, name):
        """Those that the comment names, and those of the calls that it refers to: "as lg_x()"."""
        comment = self.comments[name]
        found = set(re.findall(STATUS, comment)) | self.shared[name]
        for other in re.findall(r"\bas\s+(?:\*\s+)?(lg_\w+)\(\)", comment):
            found |= self.statuses(other) if other in self.comments and other != name else set()
        return found


class Statuses(unittest.TestCase):
    def test_every_status_is_documented(self):
        source, headers = Source(), Headers()
        self.assertGreater(len(headers.comments), 60)
        for name in headers.comments:
            with self.subTest(name):
                self.assertIn(name, source.bodies)
                returned, said = source.statuses(name), headers.statuses(name)
                self.assertEqual(returned - said - IMPOSSIBLE.get(name, set()), set(), "returned, but not in the header")
                self.assertEqual(IMPOSSIBLE.get(name, set()) - returned, set(), "the source cannot return it any more: take it from IMPOSSIBLE")

    def test_the_shell_returns_nothing_else(self):
        shell, headers = Source("CLaunchGuardShell", "CLaunchGuardGuardsShell"), Headers()
        for name in headers.comments:
            with self.subTest(name):
                self.assertIn(name, shell.bodies)
                self.assertEqual(shell.statuses(name) - headers.statuses(name) - SHELL_IMPOSSIBLE.get(name, set()), set(), "returned, but not in the header")

    def test_the_source_is_understood(self):
        """The statuses of these calls have every form that the search has to find."""
        source = Source()
        self.assertLess({"LG_OK", "LG_ERR_ARGUMENT", "LG_ERR_ALREADY", "LG_ERR_LINK", "LG_ERR_NO_SPACE"}, source.statuses("lg_start"))
        self.assertLess({"LG_ERR_FORKED", "LG_ERR_LIMIT"}, source.statuses("lg_log"))
        self.assertNotIn("LG_ERR_SECONDARY", source.statuses("lg_log"))


if __name__ == "__main__":
    unittest.main()
