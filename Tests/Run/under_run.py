"""Shared by the tests of `launchguard run`: the tool, the probe, and a folder of their own."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from programs import Run


class UnderRun(unittest.TestCase):
    options = None  # set before the tests: tool, probe, preload, build
    is_recorded = False

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-run-"))
        self.records = self.directory / "records"
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def under(self, *arguments):
        """The begin of a command line."""
        how = ["--directory", str(self.records)] if self.is_recorded else ["--witness-only"]
        return [self.options.tool, "run", *how, *map(str, arguments)]

    def ends(self, status, command, data=None, errors=None, **how):
        """Runs a command to its end. The result is standard output and standard error."""
        how.setdefault("stdin", subprocess.PIPE if data is not None else subprocess.DEVNULL)
        result, output, words = Run([str(part) if isinstance(part, pathlib.Path) else part for part in command], **how).end(data)
        self.assertEqual(result, status, (command, output[-500:], words[-500:]))
        if errors is not None:
            self.assertEqual(words, errors)
        return output, words
