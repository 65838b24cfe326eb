"""The steps of a release, on a copy of the repository, and a Swift package that asks for it."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from consumer import ROOT, run, swift

VERSION = "7.8.9"
MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "consumer",
    dependencies: [.package(url: "file://%s", from: "7.0.0")],
    targets: [.executableTarget(name: "App", dependencies: [.product(name: "LaunchGuard", package: "LaunchGuard")])]
)
"""
PROGRAM = """import LaunchGuard

print(Session.libraryVersion)
"""


class Released(unittest.TestCase):
    """The committed tree, released as 7.8.9."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("git") or not (ROOT / ".git").exists():
            raise unittest.SkipTest("no git repository: the steps of a release are not tried")
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.work = pathlib.Path(directory.name).resolve()
        cls.copy = cls.work / "LaunchGuard"
        run("git", "clone", "--quiet", "--no-hardlinks", "--depth=1", "file://%s" % ROOT, cls.copy)
        for name, value in (("user.name", "t"), ("user.email", "t@example.org")):
            cls.git("config", name, value)
        changelog = cls.copy / "CHANGELOG.md"
        changelog.write_text(changelog.read_text().replace("## ", "## %s (unreleased)\n\nA line.\n\n## " % VERSION, 1))
        cls.git("commit", "--quiet", "--all", "--message=changelog: what is new")
        cls.before = cls.git("rev-parse", "HEAD")
        cls.said = run(cls.copy / "scripts/release", VERSION, limit=60).stdout

    @classmethod
    def git(cls, *command):
        return run("git", "-C", cls.copy, *command, limit=60).stdout.strip()

    def consumer(self):
        """A package that depends on the release by its version, in a fresh folder."""
        if not shutil.which("swift"):
            self.skipTest("no swift in PATH: no Swift package asks for the release")
        package = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        (package / "Package.swift").write_text(MANIFEST % self.copy)
        (package / "Sources/App").mkdir(parents=True)
        (package / "Sources/App/main.swift").write_text(PROGRAM)
        return package


class Release(Released):
    def refused(self, *arguments):
        done = subprocess.run([self.copy / "scripts/release", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        return done.stdout

    def test_the_steps(self):
        self.assertEqual(self.said, "Released 7.8.9. It goes out with: git push origin HEAD 7.8.9\n")
        self.assertEqual(self.git("tag", "--points-at", "HEAD"), VERSION)
        self.assertEqual(self.git("cat-file", "-t", VERSION), "tag")
        self.assertEqual(self.git("diff", "--name-only", self.before, "HEAD").split(), ["CHANGELOG.md", "include/launchguard/base.h"])
        self.assertRegex((self.copy / "CHANGELOG.md").read_text(), r"(?m)^## 7\.8\.9 \(\d{4}-\d\d-\d\d\)$")
        self.assertEqual(re.findall(r'^#define LG_VERSION_(\w+) "?([\d.]+)"?$', (self.copy / "include/launchguard/base.h").read_text(), re.M),
                         [("MAJOR", "7"), ("MINOR", "8"), ("PATCH", "9"), ("STRING", VERSION)])
        self.assertEqual(self.git("status", "--porcelain"), "")

    def test_cmake_takes_the_version(self):
        run("cmake", "-S", self.copy, "-B", self.work / "build", *("-DLAUNCHGUARD_%s=OFF" % part for part in ("TESTS", "EXAMPLES", "BENCHMARKS", "FAULTS")))
        self.assertIn('set(PACKAGE_VERSION "7.8.9")', (self.work / "build/LaunchGuardConfigVersion.cmake").read_text())

    def test_what_stands_in_the_way_is_named(self):
        self.assertIn("usage: ", self.refused())
        self.assertIn("usage: ", self.refused("v8.0.0"))
        self.assertIn("released already", self.refused(VERSION))
        self.assertIn("CHANGELOG.md has no line '## 8.0.0 (unreleased)'", self.refused("8.0.0"))
        changelog = self.copy / "CHANGELOG.md"
        text = changelog.read_text()
        try:
            changelog.write_text(text.replace("## ", "## 7.8.8 (unreleased)\n\n## ", 1))
            self.assertIn("Commit or remove what git status shows", self.refused("7.8.8"))
            self.git("stash", "--quiet")
            self.git("checkout", "--quiet", "--detach")
            self.git("stash", "pop", "--quiet")
            self.git("commit", "--quiet", "--all", "--message=changelog: an older version")
            self.assertIn("The version 7.8.9 is newer", self.refused("7.8.8"))
        finally:
            self.git("checkout", "--quiet", "--force", VERSION)

    def test_a_swift_package_resolves_it(self):
        package = self.consumer()
        swift("package", package, package / ".build", "resolve")
        pins = json.loads((package / "Package.resolved").read_text())["pins"]
        self.assertEqual([(pin["identity"], pin["state"]["version"]) for pin in pins], [("launchguard", VERSION)], "and fetches nothing else")


class Used(Released):
    def test_a_swift_program(self):
        package = self.consumer()
        swift("build", package, package / ".build", "--jobs", "2")
        self.assertEqual(run(package / ".build/debug/App", limit=60).stdout, VERSION + "\n")


if __name__ == "__main__":
    unittest.main()
