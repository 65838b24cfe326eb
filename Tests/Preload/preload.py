"""A program with the library preloaded and without it."""
import argparse
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests/Faults"), str(ROOT / "Tests/Support")]
from case import Dump, status_name
from children import prepare
from loadable import loadable
from waiting import wait_until

LIMIT_S = 60

# As in include/launchguard/end.h.
EXEC, EXIT_MARK, TERMINATE_MARK, NO_MARK = 12, 4, 6, 8


def kill_group(number):
    try:
        os.killpg(number, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-preload-"))
        os.chmod(self.directory, 0o755)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.state = self.directory / "state"
        self.log = self.directory / "log"

    def environment(self, preloaded, **more):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("LAUNCHGUARD_", "LD_PRELOAD"))}
        environment.update(PYTHONDONTWRITEBYTECODE="1", LC_ALL="C", TMPDIR=str(self.directory), **more)
        if preloaded:
            environment.update(LD_PRELOAD=options.library, LAUNCHGUARD_DIRECTORY=str(self.state), LAUNCHGUARD_LOG=str(self.log))
        return environment

    def run_one(self, command, preloaded, kills=True, **more):
        """Status and output of both streams. A program that hangs has the status None. What is left
        of it is killed, unless it ends by itself."""
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                       env=self.environment(preloaded, **more), cwd=self.directory, start_new_session=True, preexec_fn=prepare)
            try:
                status = process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                if kills or status is None:
                    kill_group(process.pid)
                process.wait()
            out.seek(0)
            return status, out.read().decode(errors="replace")

    def same(self, *command, status=0, change=lambda text: text, **more):
        """The program ends as without the library, with the same output. Returns that output."""
        bare, preloaded = self.run_one(command, False, **more), self.run_one(command, True, **more)
        self.assertEqual(status_name(bare[0]), status_name(status), bare[1])
        self.assertEqual((status_name(preloaded[0]), change(preloaded[1])), (status_name(bare[0]), change(bare[1])))
        self.assertEqual(self.log.read_text() if self.log.exists() else "", "")
        return preloaded[1]

    def runs(self, name):
        """The runs of a program, in their order, when all have ended."""
        files = sorted((self.state / name / "runs").glob("*.lgrun")) if self.state.is_dir() else []
        return [run for run in map(dump.ended, files) if run]

    def one(self, name):
        runs = self.runs(name)
        self.assertEqual(len(runs), 1, runs and [run["verdict"] for run in runs])
        return runs[0]

    def end(self, run):
        return dump.end(run)

    def expect(self, run, end, evidence=None, **verdict):
        self.assertEqual(dump.end(run), end, run["verdict"])
        if evidence is not None:
            self.assertEqual(run["verdict"]["evidence"], evidence, run["verdict"])
        for key, value in verdict.items():
            self.assertEqual(run["verdict"][key], value, run["verdict"])

    def await_runs(self, name, count):
        wait_until(lambda: len(self.runs(name)) >= count, f"{count} runs end")
        runs = self.runs(name)
        self.assertEqual(len(runs), count)
        return runs


def main(doc):
    global options, dump
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("ways", help="the program ways.c")
    parser.add_argument("--library", required=True, help="the library that is preloaded")
    parser.add_argument("--dump", required=True, help="the program that prints a file as JSON (Tests/Format/dump.c)")
    options, rest = parser.parse_known_args()
    options.ways, options.library = os.path.abspath(options.ways), str(loadable(options.library))
    dump = Dump(os.path.abspath(options.dump))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    Case.ways = options.ways
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)  # says why a test is left out
