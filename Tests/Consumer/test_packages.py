"""scripts/install-packages beside an apt-get that refuses, in a system that is made up: PATH leads
to a folder of commands, `gcc` finds the headers that are written there, and nothing of this machine
is changed."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/install-packages"
PROBES = re.findall(r'"(cmd|hdr|file):(\S+) ([\w+.-]+)', SCRIPT.read_text())
OF_THE_SYSTEM = ["bash", "cat", "chmod", "dirname", "env", "find", "flock", "mkdir", "rmdir", "sleep", "touch", "true"]
LIMIT_S = 120

# Writes each call down. As the real one it installs nothing where it must refuse one package, and
# ends where another one runs.
APT_GET = """#!/usr/bin/env bash
echo "$*" >>"$SYSTEM/calls"
mkdir "$SYSTEM/running" || exit 100
[ -z "${SLOW:-}" ] || sleep 1
status=0 words=" $* "
[[ $words != *" install "* || $words == *" --no-remove "* ]] || echo "a package is removed" >>"$SYSTEM/calls"
for package in $REFUSED; do
    if [[ $words == *" $package "* ]]; then
        echo "E: Packages need to be removed but remove is disabled." >&2
        status=100
    fi
done
if [[ $status = 0 && $words == *" install "* ]]; then
    while read -r file package; do
        [[ $words == *" $package "* ]] || continue
        mkdir -p "$(dirname "$SYSTEM/$file")"
        touch "$SYSTEM/$file"
        chmod +x "$SYSTEM/$file"
    done <"$SYSTEM/packages"
fi
rmdir "$SYSTEM/running"
exit $status
"""

# `echo '#include "x.h"' | gcc -E … -`, and nothing else.
GCC = """#!/usr/bin/env bash
read -r _ name
name=${name%\\"}
[ -e "$SYSTEM/include/${name#\\"}" ]
"""

# The sudo of a user with a password.
SUDO = """#!/usr/bin/env bash
echo "sudo $*" >>"$SYSTEM/calls"
exit 1
"""


class Packages(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="launchguard packages ")
        self.addCleanup(directory.cleanup)
        self.system = pathlib.Path(directory.name).resolve() / "system"
        self.commands = self.system / "bin"
        self.commands.mkdir(parents=True)
        for name in OF_THE_SYSTEM:
            (self.commands / name).symlink_to(shutil.which(name))
        for name, text in {"apt-get": APT_GET, "gcc": GCC, "sudo": SUDO, "id": "#!/bin/sh\necho ${USER_ID:-0}\n"}.items():
            (self.commands / name).write_text(text)
            (self.commands / name).chmod(0o755)
        folders = {"cmd": "bin", "hdr": "include"}
        self.files = {package: [f"{folders[kind]}/{name}" for kind, name, of in PROBES if of == package and kind in folders] for _, _, package in PROBES}
        (self.system / "packages").write_text("".join(f"{file} {package}\n" for package, files in self.files.items() for file in files))
        self.clone = self.new_clone("a clone")

    def new_clone(self, name):
        (self.system.parent / name / "scripts").mkdir(parents=True)
        return shutil.copy(SCRIPT, self.system.parent / name / "scripts")

    def environment(self, refused="", **variables):
        return {"PATH": str(self.commands), "SYSTEM": str(self.system), "REFUSED": refused, **variables}

    def install(self, *arguments, **variables):
        return subprocess.run([self.clone, *arguments], capture_output=True, text=True, timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL,
                              env=self.environment(**variables))

    def calls(self):
        """The calls of apt-get and sudo since the last time."""
        path = self.system / "calls"
        text = path.read_text() if path.exists() else ""
        path.unlink(missing_ok=True)
        self.assertNotIn("removed", text)
        return text.splitlines()

    def lacking(self):
        return {package for package, files in self.files.items() if not all((self.system / file).exists() for file in files)}

    def test_all_is_there(self):
        self.assertEqual(self.install().returncode, 0)
        self.assertTrue(self.calls())
        again = self.install(USER_ID="1000")
        self.assertEqual((again.returncode, again.stdout, again.stderr, self.calls()), (0, "", "", []), "an ordinary user needs no sudo")

    def test_optional(self):
        """One that cannot be installed beside others is named once, the others come, and the next
        run does not ask."""
        first = self.install(refused="libunwind-dev")
        line = "left out, as libunwind-dev cannot be installed here: the spare walk of a crash, option spare_walk\n"
        self.assertEqual((first.returncode, first.stderr), (0, line))
        self.assertIn("libunwind-dev", self.lacking())
        self.assertEqual(self.lacking() & {"g++", "cmake", "libcmocka-dev", "valgrind", "libcurl4-openssl-dev", "musl-tools"}, set())
        self.assertTrue(self.calls())
        again = self.install(refused="libunwind-dev")
        self.assertEqual((again.returncode, again.stdout, again.stderr, self.calls()), (0, "", line, []))
        # Once it can be had, it is asked for after a while.
        stamp = self.system.parent / "a clone/build/packages-all"
        os.utime(stamp, (time.time() - 7200, time.time() - 7200))
        later = self.install()
        self.assertEqual((later.returncode, later.stderr), (0, ""))
        self.assertNotIn("libunwind-dev", self.lacking())

    def test_needed(self):
        for arguments, package in [((), "libcmocka-dev"), (("build",), "cmake"), (("deb",), "lintian")]:
            with self.subTest(package=package):
                for file in self.files[package]:
                    (self.system / file).unlink(missing_ok=True)
                done = self.install(*arguments, refused=package)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, rf"(?m)^{package} is needed, and cannot be installed here$")
                self.assertIn("remove is disabled", done.stderr, "the words of apt-get")
                self.calls()
                self.assertEqual(self.install(*arguments, refused=package).returncode, 1)
                self.assertTrue(self.calls(), "one that is needed is asked for each time")

    def test_no_rights(self):
        """A user with a password is not asked for it."""
        done = self.install("build", USER_ID="1000")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"(?m)^cmake is needed, and is not installed$")
        self.assertRegex(done.stderr, r"(?m)^As root: apt-get install .*\bcmake\b")
        self.assertEqual(self.calls(), ["sudo -n env true"])
        self.install("build", refused="libunwind-dev")
        done = self.install("build", USER_ID="1000")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (0, "", 1))
        self.assertIn("libunwind-dev", done.stderr)

    def test_at_the_same_time(self):
        """Two clones: the second waits, and finds what the first has installed."""
        both = [self.clone, self.new_clone("another clone")]
        runs = [subprocess.Popen([script], env=self.environment(SLOW="yes"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for script in both]
        for run in runs:
            self.assertEqual(run.communicate(timeout=LIMIT_S)[1], "")
            self.assertEqual(run.returncode, 0)
        self.assertEqual(len([call for call in self.calls() if " install " in call]), 1)


if __name__ == "__main__":
    unittest.main()
