#!/usr/bin/env python3
"""The recipes of docs/COOKBOOK.md: test_cookbook.py --tool T --programs BUILD/Examples [--server]

Each program has its worst day, as the page says, and the tool then prints what the page shows. With
--server also the one in Swift, which a package of its own builds in a minute or two."""
import argparse
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests/Support"))
import blanks
from waiting import wait_until

LIMIT_S = 120
PR_SET_CHILD_SUBREAPER = 36
options = argparse.Namespace()


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", (ROOT / "docs/COOKBOOK.md").read_text(), re.S | re.M)[1]


def as_pattern(lines):
    """What the page shows: a line of … alone is any number of lines, … in a line is any text, and
    blanks are any number of them."""
    parts = []
    for line in lines:
        words = r"[^\n]*".join(re.sub(r"(?:\\ )+", " +", re.escape(part)) for part in line.split("…"))
        parts.append(r"(?:[^\n]*\n)*?" if line == "…" else words + r" *\n")
    return "".join(parts)


class Recipe(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-cookbook-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.environment = {"PATH": f"{options.tool.parent}:/usr/bin:/bin:{os.environ['PATH']}", "HOME": str(self.directory), "LC_ALL": "C.UTF-8",
                            "SWIFT_BACKTRACE": "enable=no"}

    def start(self, *command, **variables):
        """A program, which is killed after a while, and at the end of the test."""
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env=self.environment | variables)
        timer = threading.Timer(LIMIT_S, child.kill)
        timer.start()
        self.addCleanup(lambda: (timer.cancel(), child.kill(), child.wait(), child.stdout.close()))
        return child

    def lines_until(self, child, wanted):
        """The output of a program, up to a line or to its end."""
        lines = []
        for line in child.stdout:
            lines.append(line.rstrip("\n"))
            if line == wanted + "\n":
                break
        return lines

    def until_logged(self, child, text, place):
        """Until a living program has this breadcrumb."""
        def is_logged():
            self.assertIsNone(child.poll(), "it ended")
            return text in subprocess.run([options.tool, "log", place], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S).stdout
        wait_until(is_logged, f"somebody logs: {text}")

    def page_is_right(self, title, place, folder):
        """Every command of the recipe, with this folder in the place of the one on the page."""
        blocks = "".join(re.findall(r"^```console\n(.*?)^```$", section(title), re.S | re.M))
        commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", blocks, re.M)
        self.assertTrue(commands, f"no command in the recipe: {title}")
        for command, shown in commands:
            self.assertIn(place, command)
            done = subprocess.run(["sh", "-c", command.replace(place, str(folder))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=LIMIT_S, env=self.environment)
            self.assertEqual(done.stderr, "", command)
            self.assertRegex(done.stdout if done.stdout.endswith("\n") else done.stdout + "\n", rf"\A{as_pattern(shown.splitlines())}\Z", command)


class Kiosk(Recipe):
    def test_worst_day(self):
        page, state = self.directory / "page.html", self.directory / "state"
        page.write_text("<h1>A page without a title</h1>\n")
        shown = []
        for _ in range(7):
            child = self.start(options.programs / "cookbook/kiosk", page, STATE_DIRECTORY=str(state))
            lines = self.lines_until(child, "on")
            if "on" in lines:
                child.kill()
            shown.append((child.wait(), [line.split(":")[0] for line in lines]))
        crashed, noticed = (-signal.SIGSEGV, []), (-signal.SIGKILL, ["notice", "on"])
        self.assertEqual(shown, [crashed, crashed, noticed, crashed, crashed, (-signal.SIGSEGV, ["repair"]), noticed])
        self.page_is_right("A kiosk", "/var/lib/kiosk", state)

    def test_good_day(self):
        page = self.directory / "page.html"
        page.write_text("<title>Departures</title>\n")
        child = self.start(options.programs / "cookbook/kiosk", page, STATE_DIRECTORY=str(self.directory / "state"))
        self.assertEqual(self.lines_until(child, "on"), ["page: Departures", "on"])

    def test_unit(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze, of Debian's package systemd: the unit is not looked through")
        text = (ROOT / "Examples/cookbook/kiosk.service").read_text()
        unit = self.directory / "kiosk.service"
        for wrong in ("", "Restart=sometimes\n"):
            unit.write_text(text.replace("User=kiosk", "User=root").replace("/usr/bin/kiosk", "/bin/true").replace("/usr/bin/launchguard", "/bin/true")
                            .replace("RestartSec=1\n", "RestartSec=1\n" + wrong))
            done = subprocess.run(["systemd-analyze", "verify", unit], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
            self.assertEqual("kiosk.service" in done.stdout, bool(wrong), done.stdout)


class MainLoop(Recipe):
    def test_worst_day(self):
        program = options.programs / "cookbook/glib_loop"
        if not program.exists():
            self.skipTest("glib_loop is not built: install libglib2.0-dev, and build again")
        state = self.directory / "state"
        child = self.start(program, STATE_DIRECTORY=str(state))
        self.until_logged(child, "it hangs", state)
        child.kill()
        self.assertEqual(child.wait(), -signal.SIGKILL)
        self.page_is_right("A program with a main loop", "/var/lib/editor", state)


class Daemon(Recipe):
    @contextlib.contextmanager
    def daemon(self):
        """The number of a daemon that has served a request. This process is the one that it is left
        to."""
        child = self.start(options.programs / "cookbook/echod", self.directory)
        self.assertEqual(child.wait(), 0, child.stdout.read())
        number = int((self.directory / "pid").read_text())
        try:
            run = sorted((self.directory / "state/runs").iterdir())[-1]
            wait_until(lambda: b"request 3" in run.read_bytes(), "it serves requests")
            yield number
        finally:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(number, signal.SIGKILL)
                os.waitpid(number, 0)

    def end(self, number, by):
        """The wait status of the daemon that this signal ends."""
        os.kill(number, by)
        def status():
            process, value = os.waitpid(number, os.WNOHANG)
            return (value,) if process else None
        return wait_until(status, "it ends")[0]

    def test_worst_day(self):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        with self.daemon() as number:
            self.assertEqual(os.waitstatus_to_exitcode(self.end(number, signal.SIGKILL)), -signal.SIGKILL)
        with self.daemon() as number:
            self.assertEqual(os.waitstatus_to_exitcode(self.end(number, signal.SIGTERM)), 0)
        self.page_is_right("A daemon", "/var/lib/echod", self.directory)

    def test_no_directory(self):
        """Nothing is started then."""
        done = subprocess.run([options.programs / "cookbook/echod"], timeout=LIMIT_S)
        self.assertEqual(done.returncode, 2)


class PluginHost(Recipe):
    def test_worst_day(self):
        program = options.programs / "plugin-host-c/plugin-host"
        well = self.start(program, self.directory / "state")
        self.assertEqual(self.lines_until(well, "the host is well")[-1], "the host is well")
        self.assertEqual(well.wait(), 0)
        dead = self.start(program, self.directory / "state", "--no-guards", "null-call")
        self.assertEqual((self.lines_until(dead, "the host is well"), dead.wait()), ([], -signal.SIGSEGV))
        self.page_is_right("A host of plugins", "/var/lib/host", self.directory / "state")


class Server(Recipe):
    def test_worst_day(self):
        if not options.server:
            self.skipTest("without --server the program in Swift is not built")
        os.environ.update(BUILD=str(options.programs.parent), CONSUMER_CC="cc")
        sys.path.insert(0, str(ROOT / "Tests/Consumer"))
        from consumer import SwiftConsumer
        consumer = SwiftConsumer("traits", "Examples/served-swift")
        consumer.build()
        for number, status in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 0)):
            child = self.start(consumer.scratch / "debug/served-swift", STATE_DIRECTORY=str(self.directory / "state"))
            self.assertTrue(any("listening" in line for line in child.stdout), "it ended early")
            self.until_logged(child, "listening", sorted((self.directory / "state/runs").iterdir())[-1])
            child.send_signal(number)
            self.assertEqual(child.wait(), status)
        self.page_is_right("A server", "/var/lib/served", self.directory / "state")


class Page(unittest.TestCase):
    def test_patterns(self):
        """No other output matches the pattern of a page."""
        pattern = rf"\A{as_pattern(['…', 'one … two', '…', 'end'])}\Z"
        self.assertRegex("x\none 1  two\nend\n", pattern)
        for wrong in ("one 1\ntwo\nend\n", "one two\nend\n", "one 1 two\nend\nmore\n"):
            self.assertNotRegex(wrong, pattern)

    def test_every_recipe_is_tried(self):
        titles = re.findall(r"^## (.*)$", (ROOT / "docs/COOKBOOK.md").read_text(), re.M)
        tried = re.findall(r'page_is_right\("(.*?)",', pathlib.Path(__file__).read_text())
        self.assertEqual(sorted(titles), sorted(tried))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--programs", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--server", action="store_true")
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], "-v", *rest])
