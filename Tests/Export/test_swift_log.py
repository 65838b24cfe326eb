#!/usr/bin/env python3
"""`launchguard export --format swift`: the log says what the Swift runtime's own log says.

A Swift program crashes twice, without and with optimisation: once under the runtime's backtracer,
which writes its JSON log, and once under `launchguard run`.
"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "Operator")]

import operator_case
from operator_case import LIMIT_S, ROOT, run
from test_export import DAMAGED, GOLDEN, NOT_FOUND, SECRET, ExportCase, number

SOURCE = pathlib.Path(__file__).resolve().parent / "game.swift"
# Keys of the runtime alone, as docs/EXPORT.md says.
THEIRS = {"backtraceTime", "frame.thunk", "frame.system"}
SEGMENTS = {"cs", "fs", "gs"}


def backtracer():
    """The program beside the toolchain."""
    swift = shutil.which("swiftc")
    found = pathlib.Path(swift).resolve().parents[1] / "libexec/swift/linux/swift-backtrace" if swift else None
    return found if found and found.exists() else None


def places(log):
    """The functions of the crashed thread: name, offset, image, and the place in it."""
    bases = {image["name"]: number(image["baseAddress"]) for image in log["images"]}
    crashed = next(thread for thread in log["threads"] if thread.get("crashed"))
    return [(frame["kind"], frame["symbol"], frame["offset"], frame["description"], frame["image"], number(frame["address"]) - bases[frame["image"]],
             frame.get("inlined")) for frame in crashed["frames"] if "symbol" in frame]


def types(log):
    """The types of all keys, by the place of the key."""
    found = {}

    def add(prefix, values):
        for value in values:
            for key, part in value.items():
                found.setdefault(prefix + key, set()).add(type(part))

    frames = [frame for thread in log["threads"] for frame in thread["frames"]]
    add("", [log])
    add("thread.", log["threads"])
    add("frame.", frames)
    add("location.", [frame["sourceLocation"] for frame in frames if "sourceLocation" in frame])
    add("register.", [thread["registers"] for thread in log["threads"] if "registers" in thread])
    add("image.", log["images"])
    return found


class Runtime(ExportCase):
    def crash_twice(self, optimisation):
        """The runtime's log and ours."""
        program, theirs = self.directory / "game", self.directory / "theirs.json"
        if not backtracer():
            self.leave_out("there is no swift-backtrace beside swiftc")
        built = run(["swiftc", "-parse-as-library", "-g", optimisation, SOURCE, "-o", program])
        self.assertEqual(built.status, 0, built)
        settings = f"enable=yes,format=json,interactive=no,color=no,preset=full,images=all,registers=all,limit=none,output-to={theirs},swift-backtrace={backtracer()}"
        self.assertEqual(run([program], {"SWIFT_BACKTRACE": settings}).status, -signal.SIGILL)
        result = run([operator_case.options.tool, "run", "--directory", self.state, "--", program],
                     {"SWIFT_BACKTRACE": "enable=no", "LAUNCHGUARD_PRELOAD": str(operator_case.options.preload)})
        self.assertEqual(result.status, -signal.SIGILL, result)
        return json.loads(theirs.read_text()), json.loads(self.exported("swift", *self.state.glob("*/runs/*.lgrun")))

    def compare(self, theirs, ours):
        # Every image of theirs is one of ours, with its build id and its path.
        images = {(image["name"], image["buildId"], image["path"]) for image in theirs["images"]}
        more = {(image["name"], image.get("buildId"), image["path"]) for image in ours["images"]} - images
        self.assertEqual({name for name, _, _ in more}, {"linux-vdso.so.1", "launchguard-preload.so"})
        self.assertEqual(len(ours["images"]), len(images) + 2)
        for image in ours["images"]:
            self.assertLess(number(image["baseAddress"]), number(image["endOfText"]))
        ends = {image["name"]: number(image["endOfText"]) - number(image["baseAddress"]) for image in ours["images"]}
        for image in theirs["images"]:
            beyond = ends[image["name"]] - (number(image["endOfText"]) - number(image["baseAddress"]))
            self.assertTrue(0 <= beyond < 4096, (image, beyond))
        # A key that both have is of one type, and only what the page names is missing.
        mine, other = types(ours), types(theirs)
        for key in mine.keys() & other.keys():
            self.assertEqual(mine[key], other[key], key)
        self.assertEqual(mine.keys() - other.keys(), {"launchguard"})
        self.assertLessEqual(other.keys() - mine.keys(), THEIRS | {f"register.{name}" for name in SEGMENTS})
        for name in "kind", "architecture":
            self.assertEqual(ours[name], theirs[name])
        form = {name: re.compile(re.sub("[0-9a-f]", "[0-9a-f]", theirs[name])) for name in ("timestamp", "faultAddress")}
        for name, pattern in form.items():
            self.assertRegex(ours[name], pattern)
        registers = [next(thread["registers"] for thread in log["threads"] if thread.get("crashed")) for log in (ours, theirs)]
        self.assertEqual(registers[0].keys(), registers[1].keys() - SEGMENTS)
        # The instruction that trapped is the same.
        self.assertEqual(ours["capturedMemory"][registers[0]["rip"]], theirs["capturedMemory"][registers[1]["rip"]])
        self.assertEqual({len(bytes) for bytes in ours["capturedMemory"].values()}, {32})

    def sources(self, log):
        crashed = next(thread for thread in log["threads"] if thread.get("crashed"))
        return [tuple(frame["sourceLocation"][key] for key in ("file", "line", "column")) for frame in crashed["frames"]
                if frame.get("sourceLocation", {}).get("file") == str(SOURCE) and frame["sourceLocation"]["line"]]

    def test_debug(self):
        theirs, ours = self.crash_twice("-Onone")
        self.compare(theirs, ours)
        wanted = places(theirs)
        self.assertGreater(len(wanted), 9)
        self.assertEqual(places(ours)[:len(wanted)], wanted)
        self.assertEqual(self.sources(ours), self.sources(theirs))
        self.assertGreater(len(self.sources(ours)), 4)
        self.assertEqual(ours["description"], theirs["description"])
        others = [[thread for thread in log["threads"] if not thread.get("crashed")] for log in (ours, theirs)]
        self.assertEqual([len(threads) for threads in others], [1, 1])
        self.assertIn("$s4game4waitySvSgACF", [frame.get("symbol") for frame in others[0][0]["frames"]])
        self.assertIn("Index out of range", ours["launchguard"]["messages"][0]["text"])

    def test_optimised(self):
        """The runtime walks by frame pointers, of which there are none: it sees the first ones."""
        theirs, ours = self.crash_twice("-O")
        self.compare(theirs, ours)
        wanted, found = places(theirs), places(ours)
        self.assertGreater(len(wanted), 1)
        self.assertTrue(any(inlined for *_, inlined in wanted))
        # A symboliser may know more inlined functions; the functions proper are the same.
        rest = iter(found)
        self.assertTrue(all(place in rest for place in wanted), (wanted, found))
        proper = [[place for place in list if not place[-1]] for list in (found, wanted)]
        self.assertEqual(proper[0][:len(proper[1])], proper[1])
        self.assertEqual([symbol for _, symbol, *_ in proper[0]][1:3], ["$s4game4GameC4drawySSSiF", "$s4game4GameC4play6roundsS2i_tF"])
        self.assertEqual(ours["description"], "Index out of range")
        self.assertIn(theirs["description"], ("Index out of range", "Illegal instruction"))


class Log(ExportCase):
    def test_all_parts(self):
        self.assertEqual(self.victim("crash", 12000), -signal.SIGSEGV)
        run_ = json.loads(self.tool("inspect", "--json", "--memory", "--last", self.state).output)
        data = self.exported("swift", self.state)
        log, crash = json.loads(data), run_["crash"]
        self.assertEqual(data.count(b"\n"), 1)
        self.assertEqual((log["description"], log["faultAddress"], log["kind"]), ("Bad pointer dereference", crash["address"], "crashReport"))
        self.assertEqual(log["timestamp"], crash["time"][:26] + "Z")
        self.assertEqual([thread.get("name") for thread in log["threads"]], [crash["threadName"]] + [thread["name"] for thread in crash["threads"]])
        self.assertEqual([thread.get("crashed") for thread in log["threads"]], [True] + [None] * len(crash["threads"]))
        self.assertEqual({image["buildId"] for image in log["images"]}, {module["buildID"] for module in run_["modules"]})
        own = log["launchguard"]
        for key in "identity", "verdict", "annotations", "breadcrumbs":
            self.assertEqual(own[key], run_[key])
        self.assertEqual((own["signal"], own["kind"]), (crash["signal"], crash["kind"]))
        self.assertEqual(own["fingerprint"], run_["fingerprint"])
        # The secret is on the stack where a register points, and is blanked.
        register = next(r["value"] for r in crash["registers"] if r["name"] in ("rsi", "x1"))
        stack = next(chunk for chunk in crash["memory"] if number(chunk["start"]) <= number(register) < number(chunk["start"]) + chunk["size"])
        place = number(register) - number(stack["start"])
        self.assertEqual(bytes.fromhex(stack["bytes"])[place:place + 16], SECRET[:16])
        self.assertEqual(log["capturedMemory"][register], b"*".hex() * 16)
        self.assertNotIn(SECRET, data)
        for start in range(len(SECRET) - 7):
            self.assertNotIn(SECRET[start:start + 8].hex().encode(), data)

    def test_runs_without_a_crash(self):
        self.assertEqual(self.victim("exit", 3), 3)
        result = self.export("swift", "-o", self.file, self.state)
        self.assertEqual((result.status, self.file.exists()), (NOT_FOUND, False))
        self.assertIn("a crash log is of a crash", result.errors)

    def test_golden_files(self):
        logs = 0
        for path in GOLDEN:
            self.file.unlink(missing_ok=True)
            result = self.export("swift", "--no-symbols", "-o", self.file, path)
            self.assertIn(result.status, (0, NOT_FOUND, DAMAGED), result)
            if self.file.exists():
                log = json.loads(self.file.read_bytes())
                self.assertEqual((log["kind"], len([thread for thread in log["threads"] if thread.get("crashed")])), ("crashReport", 1), path)
                logs += 1
        self.assertGreater(logs, 8)


if __name__ == "__main__":
    operator_case.main()
