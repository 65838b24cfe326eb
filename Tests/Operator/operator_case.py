"""A state directory, a program that ends in it, and the tool."""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "Tests/Support"), str(ROOT / "Tests/Preload")]
import blanks
from loadable import loadable
from waiting import LIMIT_S

# Variables that systemd or another test may have set, and that would count as an answer.
FOREIGN = ("STATE_DIRECTORY", "EXIT_CODE", "EXIT_STATUS", "SERVICE_RESULT", "INVOCATION_ID", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
options = argparse.Namespace()


class Result:
    def __init__(self, status, output, errors):
        self.status, self.output, self.errors = status, output, errors

    def __repr__(self):
        return f"status {self.status}, output {self.output!r}, errors {self.errors!r}"


def run(command, variables={}, **more):
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    environment.update(variables)
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment, start_new_session=True, **more)
    try:
        output, errors = process.communicate(timeout=LIMIT_S)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return Result(process.returncode, output, errors)


class OperatorCase(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-operator-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.state = self.directory / "state"

    def tool(self, *arguments, **variables):
        return run([options.tool, *arguments], variables)

    def shell(self, script, *arguments, shell="/bin/sh", **variables):
        """The script's $0 is the tool, $1 the victim, $2 the state directory."""
        return run([shell, "-c", script, options.tool, options.victim, self.state, *arguments], variables)

    def victim(self, *action):
        return run([options.victim, self.state, *action]).status

    def verdict(self):
        return self.tool("verdict", self.state)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--victim", required=True, type=pathlib.Path)
    parser.add_argument("--preload", type=pathlib.Path, help="launchguard-preload.so")
    parser.add_argument("--agent", type=pathlib.Path, help="launchguard-agent")
    parser.parse_known_args(namespace=options)
    for name, resolve in ("tool", pathlib.Path.resolve), ("victim", pathlib.Path.resolve), ("preload", loadable), ("agent", pathlib.Path.resolve):
        if path := getattr(options, name):
            setattr(options, name, resolve(path))
    rest = parser.parse_known_args()[1]
    # says why a test is left out
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)
