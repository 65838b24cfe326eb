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
SECRETS = os.environ["SECRETS"]
TOOL = os.environ.get("TOOL", os.path.join(ROOT, "Tools/.build/debug/launchguard"))
GOLDEN = sorted(glob.glob(os.path.join(ROOT, "Tests/Golden/*.lgrun")))
BRIEF_MAX, FULL_MAX, BREADCRUMBS_MAX, FRAMES_MAX = 4096, 4 << 20, 200, 24
INTEGER_MAX = (1 << 63) - 1  # of a number that a damaged file has

FRESH = [
    ("null-write", "--idle-threads", "4"), ("breakpoint",), ("stack-overflow",), ("assert",), ("uncaught-exception",), ("two-threads-abort",),
    ("external-segv",), ("sigterm",), ("abort", "--phase", "task", "--thread", "pthread"), ("null-read", "--own-handler", "before"),
]

# Fields that the full part leaves out, or has in another form (compose_full.c).
LEFT_OUT = {"standardError"}
IN_REPORT = {"fingerprint"}
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
    """The parts of this report that are in the full part."""
    report = {key: value for key, value in report.items() if key not in LEFT_OUT | IN_REPORT | OWN_FORM}
    for crash in [report.get("crash")] + report.get("otherCrashes", []):
        for key in LEFT_OUT_OF_CRASH & set(crash or {}):
            del crash[key]
    if "breadcrumbs" in report:
        report["breadcrumbs"]["entries"] = report["breadcrumbs"]["entries"][-BREADCRUMBS_MAX:]
    return report


def without_symbols(value):
    """The same, without what only the device's files tell."""
    if isinstance(value, dict):
        return {key: without_symbols(member) for key, member in value.items() if key != "symbols"}
    return [without_symbols(member) for member in value] if isinstance(value, list) else value


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
        ours = without_symbols(json.loads(compose(path)))
        theirs = inspect(path)
        theirs_problems = theirs["problems"]
        found = list(differences({key: value for key, value in ours.items() if key not in OWN_FORM}, expected(theirs)))
        self.assertFalse(found, "\n".join(found[:20]))
        for problem in ours["problems"]:
            self.assertIn(problem, theirs_problems)

    @unittest.skipUnless(os.access(TOOL, os.X_OK), f"{TOOL} is not built: swift build --package-path Tools --product launchguard")
    def test_golden_files_read_as_the_tool_reads_them(self):
        self.assertGreater(len(GOLDEN), 10)
        for path in GOLDEN:
            with self.subTest(path):
                self.check(path)

    @unittest.skipUnless(os.access(TOOL, os.X_OK), f"{TOOL} is not built: swift build --package-path Tools --product launchguard")
    def test_fresh_crashes_read_as_the_tool_reads_them(self):
        for arguments in FRESH:
            with self.subTest(arguments):
                self.check(self.fresh(*arguments))

    def functions(self, module, dynamic):
        """(Start, size, name) of each function of a file, as nm finds them."""
        lines = subprocess.run(["nm", "-S", *(["-D"] if dynamic else []), module], capture_output=True, text=True, timeout=60).stdout.splitlines()
        return [(int(words[0], 16), int(words[1], 16), words[3].split("@")[0]) for words in (line.split() for line in lines) if len(words) == 4 and words[2] in "TtWwi"]

    def test_frames_have_the_functions_of_the_files(self):
        named = 0
        for arguments in ("null-write",), ("uncaught-exception",), ("abort", "--phase", "task", "--thread", "pthread"):
            crash = json.loads(compose(self.fresh(*arguments)))["crash"]
            frames = crash["dwarfStack"]["frames"] + [frame for thread in crash.get("threads", []) for frame in thread.get("stack", {}).get("frames", [])]
            for frame in frames:
                if not os.path.exists(frame.get("module", "")):
                    continue
                address = int(frame["fileAddress"], 16)
                there = [(start, name) for dynamic in (False, True) for start, size, name in self.functions(frame["module"], dynamic) if start <= address < start + size]
                self.assertEqual("symbols" in frame, bool(there), frame)
                if there:
                    (symbol,) = frame["symbols"]
                    self.assertIn((address - symbol["offset"], symbol.get("mangledName", symbol["name"])), there)
                    named += 1
        self.assertGreater(named, 20)

    def check_brief(self, path):
        """Check that the full part contains the brief one. Returns the number of the brief part's
        frames, and of all frames."""
        text = compose("--brief", path)
        self.assertLessEqual(len(text), BRIEF_MAX)
        brief, full = json.loads(text), json.loads(compose(path))
        identity, verdict, system = full["identity"], full["verdict"], full.get("system", {})
        self.assertEqual(brief["schema"], "launchguard-report/1")
        self.assertEqual((brief["uuid"], brief["runUUID"]), (full["report"]["uuid"], identity["uuid"]))
        self.assertEqual((brief["end"], brief["evidence"]), (verdict["end"], verdict["evidence"]))
        self.assertEqual(brief.get("survivedFaults", 0), full.get("guards", {}).get("survived", 0))
        self.assertEqual(brief.get("signal"), verdict.get("signal", {}).get("name"))
        for key in ("appID", "appVersion", "buildID", "ordinal", "started"):
            self.assertEqual(brief.get(key), identity.get(key))
        for key, value in brief.get("system", {}).items():
            self.assertEqual(value, system[key])
        for key in ("context", "task", "streak", "launching", "made", "fingerprint"):
            self.assertEqual(brief.get(key), full["report"].get(key))
        if verdict["end"] != "crash" or "crash" not in full:
            return 0, 0
        crash, modules = full["crash"], {module["path"]: module for module in full.get("modules", [])}
        self.assertEqual((brief["kind"], brief["signalCode"], brief["thread"]["id"]), (crash["kind"], crash["code"], crash["threadID"]))
        for message in crash.get("messages", []):
            if message["source"] == "libc" and "what" not in str(crash["messages"]):
                self.assertTrue(message["text"].strip().startswith(brief["message"]))
        frames = [(int(frame["address"], 16), frame.get("module"), frame.get("buildID"), int(frame.get("offset", "0"), 16),
                   int(frame.get("start", "0"), 16)) for frame in brief.get("frames", [])]
        walks = [crash[name] for name in ("dwarfStack", "framePointerStack") if name in crash]
        theirs = []
        for walk in walks:
            theirs.append([])
            for frame in walk["frames"][: walk["innermost"]]:
                module = modules.get(frame.get("module"), {})
                name = os.path.basename(module["path"]) if module else None
                start = int(module["start"], 16) if module and module["start"] != module["bias"] else 0
                theirs[-1].append((int(frame["lookup"], 16), name, module.get("buildID"), int(frame.get("fileAddress", "0"), 16), start))
        if walks and frames:
            self.assertIn(frames, [walk[: len(frames)] for walk in theirs])
        return len(frames), max(map(len, theirs), default=0)

    def test_the_brief_part_says_what_the_full_one_says(self):
        for path in GOLDEN + [self.fresh(*arguments) for arguments in FRESH]:
            with self.subTest(path):
                have, there_are = self.check_brief(path)
                self.assertEqual(have, min(there_are, FRAMES_MAX))
                self.assertLessEqual(len(compose(path)), FULL_MAX)

    def test_the_brief_part_leaves_out_outer_frames_first(self):
        state = os.path.join(self.folder, "long")
        subprocess.run([SECRETS, state, "long"], capture_output=True, timeout=60, check=False)
        (path,) = glob.glob(os.path.join(state, "**/*.lgrun"), recursive=True)
        have, there_are = self.check_brief(path)
        # the program stands at a fixed address
        frames = json.loads(compose("--brief", path))["frames"]
        self.assertEqual([frame["module"] for frame in frames if "start" not in frame and frame["module"] == "report-secrets"], [])
        self.assertIn("start", frames[-1])
        self.assertTrue(0 < have < FRAMES_MAX <= there_are, f"{have} of {there_are} frames")
        # Characters that take six bytes each leave room for none; on a machine without an id, for
        # one.
        state = os.path.join(self.folder, "longer")
        subprocess.run([SECRETS, state, "longer"], capture_output=True, timeout=60, check=False)
        (path,) = glob.glob(os.path.join(state, "**/*.lgrun"), recursive=True)
        have, there_are = self.check_brief(path)
        self.assertLessEqual(have, 1)
        self.assertGreaterEqual(there_are, FRAMES_MAX)
        self.assertGreater(len(json.loads(compose("--brief", path))["message"]), 200)


if __name__ == "__main__":
    unittest.main()
