#!/usr/bin/env python3
"""A program under `launchguard run` is given what it is given without it, gets each signal once,
ends as without it, and is recorded."""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import programs  # finds the modules of the other tests
from loadable import loadable
from under_run import UnderRun

HERE = pathlib.Path(__file__).parent
SUPPORT = HERE.parent / "Support"
MODULES = ["ends", "signals", "records", "words", "descendants", "helpers", "identity", "restart"]
SERVICES = ["services", "services_runtimes", "services_postgres", "services_gtk"]


def build(source, *options):
    """A program of this folder."""
    path = pathlib.Path(folder.name) / (pathlib.Path(source).stem + "".join(options))
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-pthread", *options, "-I", SUPPORT, "-o", path, HERE / source], check=True)
    return str(path)


def heed_signals():
    """As if from a terminal: what is ignored here would be ignored in every program, and a shell
    cannot trap what was ignored when it began."""
    for number in signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    heed_signals()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("preload", type=lambda path: str(loadable(path)))
    parser.add_argument("--filter", help="names of tests that contain this")
    parser.add_argument("--services", action="store_true", help="with those of installed services, which take longer")
    UnderRun.options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="launchguard-run-") as name:
        folder = argparse.Namespace(name=name)
        UnderRun.options.build = build
        os.environ["LAUNCHGUARD_PRELOAD"] = UnderRun.options.preload
        UnderRun.options.probe = build("probe.c")
        loader = unittest.TestLoader()
        if UnderRun.options.filter:
            loader.testNamePatterns = ["*%s*" % UnderRun.options.filter]
        suite = unittest.TestSuite(loader.loadTestsFromName(module) for module in MODULES + SERVICES * UnderRun.options.services)
        result = unittest.TextTestRunner(verbosity=1).run(suite)
        for test, reason in result.skipped:
            print("left out: %s: %s" % (test.id(), reason))
    sys.exit(not result.wasSuccessful())
