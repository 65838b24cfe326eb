#!/usr/bin/env python3
"""Programs of many shapes, built in many ways, crash; the tool shows the stack that a debugger
shows, and says where it is not sure."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE.parent / "Support"))
import seeds  # noqa: E402

LIMIT_S = 120
INNERMOST = 12
options = argparse.Namespace()
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD_")}

NO_TABLES = ["-fno-asynchronous-unwind-tables"]
# How it is compiled, and how it is linked.
BUILDS = {
    "O0": (["-O0"], []),
    "O2": (["-O2"], []),
    "O2-frame-pointers": (["-O2", "-fno-omit-frame-pointer"], []),
    "O0-debug-frame": (["-O0", *NO_TABLES], []),
    "O2-debug-frame": (["-O2", *NO_TABLES], []),
    "O2-split": (["-O2", *NO_TABLES], []),  # stripped, with a separate debug file
    "O0-nothing": (["-O0", "-g0", *NO_TABLES], []),
    "O2-nothing": (["-O2", "-g0", *NO_TABLES], []),
    "static": (["-O2"], ["-static", "-Wl,--no-eh-frame-hdr"]),
    "static-pie": (["-O2", "-fPIE", *NO_TABLES], ["-static-pie", "-Wl,--no-eh-frame-hdr"]),
}
SHAPES = ["plain", "tail", "large", "grown", "recursive", "sorted", "call_null", "noreturn", "handler", "first_instruction", "thread", "no_frame",
          "bare_leaf", "throw"]
ALL = [(build, shape) for build in ("O0-debug-frame", "O2-debug-frame", "static", "O2") for shape in SHAPES] + [
    ("O0", "no_frame"), ("O0", "bare_leaf"), ("O2-frame-pointers", "tail"), ("O2-frame-pointers", "bare_leaf"), ("O2-split", "handler"),
    ("O2-split", "recursive"), ("static-pie", "plain"), ("static-pie", "sorted")]
assert len(ALL) == 64

CALLS = ["crash", "inner", "middle"]
# The functions of the program, and whether a frame is assumed.
EXPECTED = {
    ("O2-debug-frame", "plain"): ([*CALLS, "plain", "main"], False),
    ("O0-debug-frame", "thread"): ([*CALLS, "work"], False),
    ("O2-debug-frame", "handler"): ([*CALLS, "on_signal", None, "interrupted", "in_handler", "main"], False),
    ("O2-debug-frame", "first_instruction"): ([*CALLS, "on_trap", None, "first_instruction", "at_first_instruction", "main"], False),
    ("O2-debug-frame", "call_null"): (["call_null", "main"], False),
    ("O2-split", "sorted"): ([*CALLS, "compare", "sorted", "main"], False),
    ("static", "no_frame"): ([*CALLS, "asm_no_frame", "no_frame", "main"], False),
    ("O0", "plain"): ([*CALLS, "plain", "main"], False),
    ("O0", "expression"): ([*CALLS, "asm_expression", "expression", "main"], False),
    ("O0-debug-frame", "expression"): ([*CALLS, "asm_expression", "expression", "main"], False),
    ("O0", "no_frame"): ([*CALLS, "asm_no_frame", "no_frame", "main"], False),
    ("O0", "bare_leaf"): (["asm_bare_leaf", "bare_leaf", "main"], True),
}
# The whole stacks of programs without any table.
NEVER_ANOTHER = {
    "plain": [*CALLS, "plain", "main"], "grown": [*CALLS, "grown", "main"], "bare_leaf": ["asm_bare_leaf", "bare_leaf", "main"],
    "no_frame": [*CALLS, "asm_no_frame", "no_frame", "main"], "first_instruction": [*CALLS, "on_trap", None, "first_instruction", "at_first_instruction", "main"],
}


def run(command, **more):
    return subprocess.run([str(word) for word in command], check=True, timeout=LIMIT_S, capture_output=True, text=True, **more).stdout


def build(folder, name):
    flags, link = BUILDS[name]
    parts = [folder / f"{name}-{part}.o" for part in ("shapes", "thrown", "bare", "expression")]
    run(["gcc", "-g", "-D_GNU_SOURCE", f"-I{ROOT}/include", *flags, "-c", HERE / "shapes.c", "-o", parts[0]])
    run(["g++", "-g", "-O2", *(flag for flag in flags if flag == "-fPIE"), "-c", HERE / "thrown.cpp", "-o", parts[1]])
    run(["gcc", "-g", "-c", HERE / "bare.S", "-o", parts[2]])
    run(["gcc", "-g", "-c", HERE / "expression.S", "-o", parts[3]])
    run(["g++", *link, *parts, options.library, "-pthread", "-o", folder / name])
    if name == "O2-split":
        build_id = re.search(r"Build ID: (..)(\w+)", run(["readelf", "-n", folder / name]))
        debug = folder / "debug" / ".build-id" / build_id[1] / f"{build_id[2]}.debug"
        debug.parent.mkdir(parents=True)
        run(["objcopy", "--only-keep-debug", folder / name, debug])
        run(["strip", folder / name])


def shown(crash):
    """The walk that the tool shows, by the rule of `Crash.stack`."""
    tables, pointers = crash.get("dwarfStack"), crash.get("framePointerStack")
    if not tables or not tables["frames"]:
        return pointers
    return pointers if pointers and tables["isTruncated"] and tables["total"] < pointers["total"] else tables


def lies(stack):
    return [int(frame["address"], 16) for frame in stack["frames"]]


class WalkCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-walks-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda name: build(cls.folder, name), cls.builds()))

    def died(self, build, shape):
        """The state directory of a program that crashed, once for each test."""
        state = self.folder / f"{build}-{shape}-{self.id()}"
        process = subprocess.run([self.folder / build, state, shape], timeout=LIMIT_S, capture_output=True, start_new_session=True)
        self.assertIn(process.returncode, (-signal.SIGSEGV, -signal.SIGABRT), (build, shape))
        return state

    def tool(self, state, *arguments, **variables):
        return subprocess.run([options.tool, "inspect", "--last", *arguments, "--debug-dir", self.folder / "debug" if (self.folder / "debug").is_dir() else "/",
                               state], env={**CLEAN, **variables}, timeout=LIMIT_S, capture_output=True, text=True)

    def crash(self, state, *arguments, **variables):
        result = self.tool(state, "--json", "--symbolizer", "builtin", *arguments, **variables)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)["crash"]


class KnownStacks(WalkCase):
    @staticmethod
    def builds():
        return dict.fromkeys([*(build for build, _ in EXPECTED), "O0-nothing", "O2-nothing"])

    def functions(self, stack):
        """Those of the program; None: the kernel's call of a signal handler."""
        own = [frame for frame in stack["frames"] if frame.get("module", "").startswith(str(self.folder)) or frame.get("isSignalHandlerCall")]
        return [None if frame.get("isSignalHandlerCall") else frame.get("symbols", [{}])[-1].get("name") for frame in own]

    def test_stacks(self):
        """The functions from the crash to main, a signal handler's call among them."""
        for (build, shape), (functions, is_assumed) in EXPECTED.items():
            with self.subTest(build=build, shape=shape):
                crash = self.crash(self.died(build, shape))
                stack = shown(crash)
                # A static program has libc's frames too.
                names = [name for name in self.functions(stack) if name is None or name in functions]
                self.assertEqual(names, functions)
                self.assertEqual("assumedFrames" in stack, is_assumed)
                self.assertEqual("possibleFrames" in crash, is_assumed)
                self.assertNotIn("stackDisagreement", crash)

    def test_never_another(self):
        """Without any table a caller may be missing, and none is a wrong one."""
        for shape, functions in NEVER_ANOTHER.items():
            with self.subTest(shape=shape):
                names = self.functions(shown(self.crash(self.died("O0-nothing", shape))))
                self.assertEqual(names, [*functions, "_start"])
                names = self.functions(shown(self.crash(self.died("O2-nothing", shape))))
                self.assertGreaterEqual(len(names), 2)
                self.assertEqual(names, functions[:len(names)])

    def test_walked_again(self):
        """What was walked again says so; the handler's walk stays in the JSON, and begins alike."""
        state = self.died("O2-debug-frame", "plain")
        crash = self.crash(state)
        self.assertEqual(crash["dwarfStack"]["walkedAgainWith"], ".eh_frame and .debug_frame")
        self.assertLess(len(crash["storedStack"]["frames"]), len(crash["dwarfStack"]["frames"]))
        self.assertEqual(lies(crash["storedStack"])[0], lies(crash["dwarfStack"])[0])
        text = self.tool(state).stdout
        self.assertIn("walked again with .eh_frame and .debug_frame: the handler had stored", text)
        page = self.folder / "page.html"
        run([options.tool, "export", "--format", "html", "-o", page, state], env=CLEAN)
        self.assertIn("Walked again with .eh_frame and .debug_frame", page.read_text())

    def test_other_threads(self):
        """A thread that waits in libc has its callers too."""
        threads = self.crash(self.died("O2-debug-frame", "thread"))["threads"]
        first = next(thread for thread in threads if "storedStack" in thread)
        names = [frame.get("symbols", [{}])[-1].get("name") for frame in first["stack"]["frames"]]
        self.assertLess(names.index("threaded"), names.index("main"))
        self.assertNotIn("assumedFrames", first["stack"])

    def test_one_place(self):
        """A line about a run and the whole report name one place, also where the handler's walk
        ended in the program's own copy of a library."""
        for build, shape, place in ("static", "noreturn", "in give_up"), ("static", "throw", "in inner()"), ("O2-debug-frame", "plain", "in crash"):
            with self.subTest(build=build, shape=shape):
                state = self.died(build, shape)
                line, verdict = (json.loads(subprocess.run([options.tool, command, "--json", state], env=CLEAN, timeout=LIMIT_S, capture_output=True, text=True).stdout)
                                 for command in ("list", "verdict"))
                fleet = self.folder / f"{build}-{shape}.db"
                run([options.tool, "collect", "--into", fleet, state], env=CLEAN)
                group = json.loads(run([options.tool, "top", "--json", fleet], env=CLEAN))
                sentence = self.tool(state).stdout.splitlines()[0]
                self.assertIn(place.removesuffix("()"), sentence)
                for reader in line, verdict, group:
                    self.assertEqual((reader["headline"], reader["place"]), (sentence, place))

    def test_tail_calls(self):
        """A stack says where the caller called another function, and nothing where a function was
        only split."""
        for build, shape, expected in [("O2-debug-frame", "tailed", ["tail_last"]), ("O2-split", "tailed", ["tail_last"]), ("static", "tailed", ["tail_last"]),
                                       ("O0", "tailed", []), ("O2-debug-frame", "throw", []), ("O2-debug-frame", "plain", [])]:
            with self.subTest(build=build, shape=shape):
                state = self.died(build, shape)
                frames = [frame for frame in shown(self.crash(state))["frames"] if frame.get("module", "").startswith(str(self.folder))]
                self.assertEqual([frame["symbols"][-1]["name"] for frame in frames if frame.get("isTailCalled")], expected)
                text = self.tool(state, "--symbolizer", "builtin").stdout
                self.assertEqual(re.findall(r" in (\w+) .*\n    … tail calls left out …\n#\d+ .* in tailed ", text), expected)
        page = self.folder / "tail.html"
        run([options.tool, "export", "--format", "html", "-o", page, self.died("O2-debug-frame", "tailed")], env=CLEAN)
        self.assertIn("… tail calls left out …", page.read_text())

    def test_nothing_is_said_where_nothing_differs(self):
        self.assertNotIn("walked again", self.tool(self.died("O0", "bare_leaf"), "--no-symbols").stdout)
        for shape in "plain", "expression":
            self.assertNotIn("walked again", self.tool(self.died("O0", shape)).stdout)

    def test_signal_handler(self):
        """Text and page say where the kernel called the handler; what was interrupted is looked up
        at its own address."""
        state = self.died("O2-debug-frame", "first_instruction")
        frames = shown(self.crash(state))["frames"]
        call = next(number for number, frame in enumerate(frames) if frame.get("isSignalHandlerCall"))
        self.assertEqual(frames[call + 1]["address"], frames[call + 1]["lookup"])
        self.assertNotEqual(frames[call + 2]["address"], frames[call + 2]["lookup"])
        self.assertRegex(self.tool(state).stdout, rf"#{call} +0x[0-9a-f]+ signal handler called\n")
        page = self.folder / "handler.html"
        run([options.tool, "export", "--format", "html", "-o", page, state], env=CLEAN)
        self.assertIn("<b>signal handler called</b>", page.read_text())

    def test_without_library(self):
        """Without libdw the handler's walk is shown."""
        state = self.died("O2-debug-frame", "plain")
        (self.folder / "broken").mkdir()
        (self.folder / "broken" / "libdw.so.1").write_text("no library")
        crash = self.crash(state, LD_LIBRARY_PATH=str(self.folder / "broken"))
        self.assertNotIn("storedStack", crash)
        self.assertNotIn("walkedAgainWith", crash["dwarfStack"])
        self.assertIn("libdw.so.1 cannot be loaded", self.tool(state, LD_LIBRARY_PATH=str(self.folder / "broken")).stdout)

    def test_hostile_tables(self):
        """Debug files with damaged tables: the tool lives, and shows a stack that begins right."""
        state = self.died("O2-split", "sorted")
        debug = next((self.folder / "debug").glob(".build-id/*/*.debug"))
        whole = debug.read_bytes()
        self.addCleanup(debug.write_bytes, whole)
        place = re.search(r"\.debug_frame +PROGBITS +\w+ (\w+) (\w+)", run(["readelf", "-SW", debug]))
        start, size = (int(digits, 16) for digits in place.groups())
        right = lies(shown(self.crash(state)))
        for draw, command in seeds.draws("walks"):
            for _ in range(options.damages):
                copy = bytearray(whole)
                for _ in range(draw.randrange(1, 40)):
                    copy[start + draw.randrange(size)] = draw.randrange(256)
                debug.write_bytes(copy)
                self.assertEqual(lies(shown(self.crash(state)))[0], right[0], command)


class AgainstDebugger(WalkCase):
    @staticmethod
    def builds():
        return BUILDS

    def one(self, case):
        build, shape = case
        state = self.folder / f"gdb-{build}-{shape}"
        output = subprocess.run(["gdb", "-nx", "-q", "-batch", "-iex", f"set debug-file-directory {self.folder}/debug:/usr/lib/debug", "-x", HERE / "frames_of.py", "--args", self.folder / build, state, shape],
                                env=CLEAN, timeout=LIMIT_S, capture_output=True, text=True)
        said = re.search(r"FRAMES (.*)", output.stdout)
        self.assertTrue(said, (case, output.stdout, output.stderr))
        theirs = json.loads(said[1])[:INNERMOST]
        stack = shown(self.crash(state))
        ours = lies(stack)[:INNERMOST]
        equal = next((i for i, (one, other) in enumerate(zip(ours, theirs)) if one != other), min(len(ours), len(theirs)))
        # After the first difference nothing can be compared.
        return equal, len(theirs) - equal if len(ours) == equal else 0, len(ours) - equal if len(ours) > equal and len(theirs) > equal else 0, theirs, stack

    def test_against_gdb(self):
        """At least 97 of 100 of the innermost frames are gdb's, and none is another one."""
        if not shutil.which("gdb"):
            self.skipTest("gdb is missing: scripts/install-packages long")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = dict(zip(ALL, pool.map(self.one, ALL)))
        print(f"{'build':<18} {'shape':<18} equal missing wrong  walked again with")
        for (build, shape), (equal, missing, wrong, theirs, stack) in results.items():
            more = f" ({stack['assumedFrames']} assumed)" if "assumedFrames" in stack else ""
            print(f"{build:<18} {shape:<18} {equal:>5} {missing:>7} {wrong:>5}  {stack.get('walkedAgainWith', '')}{more}")
            if wrong or missing:
                print("   gdb:", " ".join(map(hex, theirs)), "\n  ours:", " ".join(map(hex, lies(stack))), stack.get("reason", ""))
        equal, missing, wrong = (sum(result[i] for result in results.values()) for i in range(3))
        total = equal + missing + wrong
        print(f"{len(results)} programs, {total} frames: {equal} equal ({100 * equal / total:.1f} %), {missing} missing, {wrong} wrong")
        self.assertEqual(wrong, 0)
        self.assertGreaterEqual(equal, 0.97 * total)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--damages", type=int, default=20)
    parser.add_argument("rest", nargs="*")
    options = parser.parse_args()
    options.tool = pathlib.Path(options.tool).resolve()
    unittest.main(argv=[sys.argv[0], *options.rest], verbosity=2)
