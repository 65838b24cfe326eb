"""Shared by the tests of ways to install LaunchGuard."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "Format"), str(HERE.parent / "Support")]
import reader  # noqa: E402

BUILD = os.environ["BUILD"]
CC = os.environ["CONSUMER_CC"]
LIMIT = 300  # seconds for building, a fraction of it for running


def run(*command, limit=LIMIT, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=limit,
                          **options)
    if done.returncode > 0:
        raise AssertionError("%s: %d\n%s%s" % (" ".join(map(str, command)), done.returncode, done.stdout, done.stderr))
    return done


def swift(command, package, scratch, *arguments, **variables):
    with tempfile.TemporaryDirectory() as directory:
        # SwiftPM has a compiler of its own, and leaves locks in the temporary directory.
        environment = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX")} | {"TMPDIR": directory} | variables
        done = run("swift", command, "--package-path", package, "--scratch-path", scratch, *arguments, limit=900, env=environment)
        assert done.returncode == 0, "swift %s: signal %d\n%s%s" % (command, -done.returncode, done.stdout, done.stderr)
        return done


def needed(program):
    """The shared libraries that the program cannot start without."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", program).stdout)


class SwiftConsumer:
    """Tests/Consumer/NAME, or the package in another folder, with these folders of examples.

    What it builds stays in .build, so that the next build is short. SwiftPM does not look into that
    folder for sources, where the link to this package would lead it round in circles."""

    def __init__(self, name, *examples, source=None):
        work = ROOT / ".build/consumers" / name
        self.package, self.scratch = work / "consumer", work / "scratch"
        shutil.rmtree(self.package, ignore_errors=True)
        shutil.copytree(source or HERE / name, self.package, ignore=shutil.ignore_patterns(".build*"))
        for example in examples:
            shutil.copytree(ROOT / example, self.package / pathlib.Path(example).name)
        if not (work / "LaunchGuard").is_symlink():
            (work / "LaunchGuard").symlink_to(ROOT)  # the folder's name is the package's identity
        if not source:
            (self.package / "Package.swift.in").rename(self.package / "Package.swift")
        self.change("../.." if source else "@LAUNCHGUARD@", str(work / "LaunchGuard"))

    def change(self, old, new):
        """Replace a part of the manifest."""
        manifest = self.package / "Package.swift"
        text = manifest.read_text()
        if old not in text:
            raise AssertionError("the manifest has no %s" % old)
        manifest.write_text(text.replace(old, new))

    def swift(self, command, scratch, *arguments, **variables):
        return swift(command, self.package, scratch, *arguments, **variables)

    def build(self, *what):
        self.swift("build", self.scratch, "--jobs", "2", *what)

    def program(self, name):
        self.build("--product", name)
        return self.scratch / "debug" / name

    def fetched(self):
        """The packages that the first build of this one fetches."""
        with tempfile.TemporaryDirectory() as scratch:
            self.swift("package", scratch, "resolve")
            return {entry.name for entry in pathlib.Path(scratch, "checkouts").glob("*")}
