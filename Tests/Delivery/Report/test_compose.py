"""The two parts of a report say of each run file what `launchguard inspect --json` says.

TOOL names the Swift tool; without it the comparison is skipped, and says so.
"""

import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DUMP = os.environ["COMPOSE_DUMP"]
FAULTS = os.environ["FAULTS"]
TOOL = os.environ.get("TOOL", os.path.join(ROOT, ".build/debug/launchguard"))
GOLDEN = sorted(glob.glob(os.path.join(ROOT, "Tests/Golden/*/*.lgrun")))
BRIEF_MAX, FULL_MAX, BREADCRUMBS_MAX = 4096, 4 << 20, 200
INTEGER_MAX = (1 << 63) - 1  # of a number that a damaged file has

FRESH = [
    ("null-write", "--idle-threads", "4"), ("breakpoint",), ("stack-overflow",), ("assert",), ("uncaught-exception",), ("two-threads-abort",),
    ("external-segv",), ("sigterm",), ("abort", "--phase", "task", "--thread", "pthread"), ("null-read", "--own-handler", "before"),
]

# What the full part leaves out, or has in another form (compose_full.c).
LEFT_OUT = {"standardError"}
LEFT_OUT_OF_CRASH = {"stackMemory", "codeMemory", "memory", "memoryMap", "addressMapping", "addressPlace", "possibleFrames", "message", "reason"}
OWN_FORM = {"path", "report", "problems"}


def compose(*arguments):
    return subprocess.run([DUMP, *arguments], check=True, capture_output=True, timeout=60).stdout


def inspect(path):
    result = subprocess.run([TOOL, "inspect", "--json", "--no-symbols", path], capture_output=True, timeout=60)
    if not result.stdout:
        raise AssertionError(f"{path}: {result.stderr}")
    return json.loads(result.stdout)


def expected(report):
    """What of this report the full part says."""
    report = {key: value for key, value in report.items() if key not in LEFT_OUT | OWN_FORM}
    for crash in [report.get("crash")] + report.get("otherCrashes", []):
        for key in LEFT_OUT_OF_CRASH & set(crash or {}):
            del crash[key]
    if "breadcrumbs" in report:
        report["breadcrumbs"]["entries"] = report["breadcrumbs"]["entries"][-BREADCRUMBS_MAX:]
    return report


def differences(ours, theirs, place=""):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            if key not in ours and isinstance(theirs[key], int) and theirs[key] > INTEGER_MAX:
                continue
            if key not in ours or key not in theirs:
                yield f"{place}.{key}: only in the {'report' if key in ours else 'tool'}"
            else:
                yield from differences(ours[key], theirs[key], f"{place}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, pair in enumerate(zip(ours, theirs)):
            yield from differences(*pair, f"{place}[{index}]")
    elif ours != theirs:
        yield f"{place}: {str(ours)[:200]!r}, the tool has {str(theirs)[:200]!r}"


class Compose(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def fresh(self, *arguments):
        """The run file of a program that died a moment ago."""
        state = tempfile.mkdtemp(dir=self.folder)
        environment = {**os.environ, "LAUNCHGUARD_NO_DELIVERY": "1"}
        subprocess.run([FAULTS, "--state", state, *arguments], capture_output=True, timeout=60, check=False, env=environment)
        files = glob.glob(os.path.join(state, "**/*.lgrun"), recursive=True)
        self.assertTrue(files, f"{arguments}: no run file")
        return files[0]

    def check(self, path):
        ours = json.loads(compose(path))
        theirs = inspect(path)
        theirs_problems = theirs["problems"]
        found = list(differences({key: value for key, value in ours.items() if key not in OWN_FORM}, expected(theirs)))
        self.assertFalse(found, "\n".join(found[:20]))
        for problem in ours["problems"]:
            self.assertIn(problem, theirs_problems)

    @unittest.skipUnless(os.access(TOOL, os.X_OK), f"{TOOL} is not built: swift build --product launchguard")
    def test_golden_files_read_as_the_tool_reads_them(self):
        self.assertGreater(len(GOLDEN), 10)
        for path in GOLDEN:
            with self.subTest(path):
                self.check(path)

    @unittest.skipUnless(os.access(TOOL, os.X_OK), f"{TOOL} is not built: swift build --product launchguard")
    def test_fresh_crashes_read_as_the_tool_reads_them(self):
        for arguments in FRESH:
            with self.subTest(arguments):
                self.check(self.fresh(*arguments))

    def test_sizes(self):
        for path in GOLDEN:
            with self.subTest(path):
                brief, full = compose("--brief", path), compose(path)
                self.assertLessEqual(len(brief), BRIEF_MAX)
                self.assertLessEqual(len(full), FULL_MAX)
                self.assertEqual(json.loads(brief)["schema"], "launchguard-report/1")


if __name__ == "__main__":
    unittest.main()
