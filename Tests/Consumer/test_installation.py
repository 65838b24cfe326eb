"""Building, installing by root and by a user, and uninstalling."""
import os
import pathlib
import re
import shutil
import signal
import tempfile
import unittest

from consumer import BUILD, CC, HERE, ROOT, needed, run

TREE = ROOT / "scripts/install-tree"
HEADERS = {"include/launchguard/" + path.name for path in (ROOT / "include/launchguard").iterdir()}
# The pages of section 3: one for each header and one for each function.
DECLARED = "".join(path.read_text() for path in (ROOT / "include/launchguard").glob("*.h"))
FUNCTIONS = set(re.findall(r"^LG_API [^;(]*?\b(lg_\w+)[(;]", DECLARED, re.M)) | set(re.findall(r"^(?:static inline|LG_GUARD_INLINE) [^(]*\b(lg_\w+)\(", DECLARED, re.M)) | {
    "lg_guard_%s_%s" % (verb, kind) for verb in ("add", "sub", "mul", "div", "rem", "neg", "shl", "shr") for kind in ("int32", "int64", "uint32", "uint64", "size")}
MANUAL = {"share/man/man3/%s.3" % name for name in FUNCTIONS | {"launchguard"} | {"lg_" + name.rpartition("/")[2][:-2] for name in HEADERS if name.endswith(".h")}
          - {"lg_launchguard"}} | {"share/man/man5/launchguard.5", "share/man/man7/launchguard.7"}
LIBRARY = {"lib/liblaunchguard.so", "lib/liblaunchguard.so.0", "lib/liblaunchguard.so.0.1.0", "lib/liblaunchguard.a", "lib/pkgconfig/launchguard.pc",
           "lib/liblaunchguard-guards.so", "lib/liblaunchguard-guards.so.0", "lib/liblaunchguard-guards.so.0.1.0", "lib/liblaunchguard-guards.a",
           "lib/pkgconfig/launchguard-guards.pc",
           "lib/liblaunchguard-reader.so", "lib/liblaunchguard-reader.so.0", "lib/liblaunchguard-reader.so.0.1.0", "lib/liblaunchguard-reader.a",
           "lib/pkgconfig/launchguard-reader.pc",
           "lib/cmake/LaunchGuard/LaunchGuardConfig.cmake", "lib/cmake/LaunchGuard/LaunchGuardConfigVersion.cmake",
           "lib/cmake/LaunchGuard/LaunchGuardTargets.cmake", "lib/cmake/LaunchGuard/LaunchGuardTargets-relwithdebinfo.cmake"} | HEADERS | MANUAL
FAULTS = {"bin/launchguard-faults", "share/man/man1/launchguard-faults.1"}
AGENT = {"libexec/launchguard/launchguard-agent", "share/man/man8/launchguard-agent.8"}
PRELOAD = {"lib/launchguard/launchguard-preload.so"}
TOOL = {"share/man/man1/" + path.name for path in (ROOT / "docs/man").glob("*.1")} - FAULTS | {
        "bin/launchguard", "libexec/launchguard/launchguard", "libexec/launchguard/launchguard-fleet", "share/bash-completion/completions/launchguard", "share/zsh/site-functions/_launchguard",
        "share/fish/vendor_completions.d/launchguard.fish", "share/launchguard/launchguard.schema.json"}
LIST = {"share/launchguard/installed"}
WHOLE = LIBRARY | FAULTS | AGENT | PRELOAD | LIST


def files(folder):
    """The names of all files below the folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


class InFolder(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = pathlib.Path(directory.name).resolve()
        self.prefix = self.work / "some where/prefix"

    def refused(self, *command, **options):
        """The text with which a command fails."""
        with self.assertRaises(AssertionError) as failure:
            run(*command, **options)
        return str(failure.exception)


class Installation(InFolder):
    """The C part, as `make install` installs it and `make uninstall` removes it."""

    def test_all_in_c(self):
        said = run(TREE, "install", BUILD, self.prefix).stdout
        kind = "relwithdebinfo" if (self.prefix / "lib/cmake/LaunchGuard/LaunchGuardTargets-relwithdebinfo.cmake").exists() else "debug"
        whole = {name.replace("relwithdebinfo", kind) for name in WHOLE}
        self.assertEqual(files(self.prefix), whole)
        self.assertIn("Installed in %s: %d files" % (self.prefix, len(whole)), said)
        self.assertIn("null-write", run(self.prefix / "bin/launchguard-faults", "--list", limit=60, env={}).stdout)
        self.assertRegex(run(self.prefix / "libexec/launchguard/launchguard-agent", "--version", limit=60, env={}).stdout, r"^launchguard-agent \d")

    def test_all_of_it_goes(self):
        """Also the folders that were made, also after two installations, and nothing else."""
        self.prefix.mkdir(parents=True)
        (self.prefix / "lib").mkdir()
        (self.prefix / "bin").mkdir()
        (self.prefix / "bin/other").write_text("kept")
        (self.prefix / "share").symlink_to(self.work)
        for _ in range(2):
            run(TREE, "install", BUILD, self.prefix)
        (self.prefix / "include/launchguard/own.h").write_text("kept")
        (self.prefix / "lib/liblaunchguard.a").unlink()
        said = run(TREE, "uninstall", self.prefix).stdout
        self.assertRegex(said, r"^Removed from %s: %d files\n$" % (re.escape(str(self.prefix)), len(WHOLE) - 1))
        self.assertEqual(files(self.prefix) - {"share"}, {"bin/other", "include/launchguard/own.h"})
        self.assertEqual(sorted(path.name for path in self.prefix.iterdir()), ["bin", "include", "lib", "share"])
        self.assertEqual([path.name for path in self.work.iterdir()], ["some where"])

    def test_nothing_is_left_of_a_prefix_of_our_own(self):
        run(TREE, "install", BUILD, self.prefix)
        run(TREE, "uninstall", self.prefix)
        self.assertEqual(list(self.work.iterdir()), [])

    def test_destdir(self):
        root = self.work / "root"
        root.mkdir()
        environment = os.environ | {"DESTDIR": str(root)}
        run(TREE, "install", BUILD, "/opt/launchguard", env=environment)
        self.assertIn("bin/launchguard-faults", files(root / "opt/launchguard"))
        self.assertFalse(pathlib.Path("/opt/launchguard").exists())
        run(TREE, "uninstall", "/opt/launchguard", env=environment)
        self.assertEqual(list(root.iterdir()), [])

    def test_what_cannot_be_done_is_named(self):
        self.assertIn("installed, the list of what was installed, is not there", self.refused(TREE, "uninstall", self.prefix))
        self.assertIn("Nothing is built in %s: make install builds it" % self.work, self.refused(TREE, "install", self.work, self.prefix))
        self.assertIn("usage: ", self.refused(TREE))
        (self.work / "file").touch()
        self.assertIn("name a folder of your own", self.refused(TREE, "install", BUILD, self.work / "file/prefix"))
        run(TREE, "install", BUILD, self.prefix)
        with open(self.prefix / "share/launchguard/installed", "a") as added:
            added.write(str(self.work / "file") + "\n")
        self.assertIn("is damaged", self.refused(TREE, "uninstall", self.prefix))
        self.assertTrue((self.work / "file").exists())


class Parts(InFolder):
    """One option for each part, alone and as a part of another project."""
    PARTS = {"SHARED": "lib/liblaunchguard.so.0.1.0", "STATIC": "lib/liblaunchguard.a", "AGENT": "libexec/launchguard/launchguard-agent",
             "PRELOAD": "lib/launchguard/launchguard-preload.so", "FAULTS": "bin/launchguard-faults"}

    def configure(self, source, *options, environment=None):
        run("cmake", "-G", "Ninja", "-S", source, "-B", self.work / "build", "-DCMAKE_C_COMPILER=" + CC, *("-D" + option for option in options),
            env=os.environ | (environment or {}))

    def built(self):
        """The libraries and programs that a build of all makes, without making them."""
        made = {pathlib.Path(name).name for name in run("ninja", "-C", self.work / "build", "-t", "commands", "all").stdout.split()}
        return made & {pathlib.Path(name).name for name in (*self.PARTS.values(), "app")}

    def test_each_option(self):
        off = {part + "=OFF" for part in (*self.PARTS, "TESTS", "EXAMPLES", "BENCHMARKS")}
        for part in self.PARTS:
            with self.subTest(part):
                self.configure(ROOT, *("LAUNCHGUARD_" + option for option in off - {part + "=OFF"}), "LAUNCHGUARD_%s=ON" % part)
                needs = {"AGENT": {"liblaunchguard.a"}, "FAULTS": {"liblaunchguard.so.0.1.0"}, "PRELOAD": {"liblaunchguard.so.0.1.0"}}.get(part, set())
                self.assertEqual(self.built(), {pathlib.Path(self.PARTS[part]).name} | needs)

    def test_a_library_for_another_project(self):
        """That is all that is built, with a C compiler alone; warnings are the other project's
        matter, and its prefix gets its own files only."""
        self.configure(HERE / "subproject", "LAUNCHGUARD=%s" % ROOT, "CMAKE_INSTALL_PREFIX=%s" % self.prefix, environment={"CXX": "/bin/false"})
        commands = [line for line in (self.work / "build/compile_commands.json").read_text().splitlines() if "launchguard_static.dir" in line]
        self.assertEqual([line for line in commands if "-Werror" in line or "LG_LIBUNWIND" in line], [])
        self.assertGreater(len(commands), 50)
        self.assertEqual(self.built(), {"liblaunchguard.a", "app"})
        run("cmake", "--build", self.work / "build", "--parallel", "2", limit=3000)
        run("cmake", "--install", self.work / "build")
        self.assertEqual(files(self.prefix), {"bin/app"})
        self.assertEqual(run(self.prefix / "bin/app", self.work / "state", "crash", limit=60).returncode, -signal.SIGSEGV)
        self.assertIn("last run: crash, fault.null_write", run(self.prefix / "bin/app", self.work / "state", "check", limit=60).stdout)
        # Unless it asks for more.
        self.configure(HERE / "subproject", "LAUNCHGUARD_INSTALL=ON", "LAUNCHGUARD_SHARED=OFF", environment={"CXX": "/bin/false"})
        run("cmake", "--build", self.work / "build", "--parallel", "2", limit=3000)
        run("cmake", "--install", self.work / "build")
        self.assertEqual({name.replace("-noconfig", "-relwithdebinfo") for name in files(self.prefix)},
                         {name for name in LIBRARY if ".so" not in name} | {"bin/app"})
        flags = run("pkg-config", "--cflags", "--libs", "launchguard", env={"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")})
        self.assertIn("--eh-frame-hdr", flags.stdout, "a program needs it of the static library, and there is no other")


class WithTheTool(InFolder):
    """`make install` as a newcomer runs it, and the tool that it installs."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("swift"):
            raise unittest.SkipTest("no swift in PATH: the installed tool is not tried")
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.installed = pathlib.Path(directory.name).resolve() / "prefix"
        run("make", "-C", ROOT, "install", "PREFIX=%s" % cls.installed, limit=2400)

    def test_all_of_it(self):
        self.assertEqual(files(self.installed), WHOLE | TOOL)
        tool = self.installed / "bin/launchguard"
        self.assertEqual(needed(tool), [], "nothing is loaded before a program of its user")
        own = needed(self.installed / "libexec/launchguard/launchguard")
        self.assertEqual([name for name in own if re.search("swift|unwind|launchguard", name, re.I)], [], "it brings them along")
        self.assertRegex(run(tool, "--version", limit=60, env={}).stdout, r"^\d+\.\d+\.\d+\n$")
        self.assertRegex(run("readelf", "-lW", tool).stdout, r"GNU_STACK .* RW +0x", "its stack is not executable")

    def test_a_death_and_its_report(self):
        flags = run("pkg-config", "--cflags", "--libs", "launchguard-reader",
                    env={"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": str(self.installed / "lib/pkgconfig")}).stdout.split()
        run(CC, "-g", HERE / "app.c", "-o", self.work / "app", "-Wl,-rpath,%s" % (self.installed / "lib"), *flags)
        self.assertEqual(run(self.work / "app", self.work / "state", "crash", limit=60, env={}).returncode, -signal.SIGSEGV)
        run_file = next((self.work / "state/runs").iterdir())
        self.assertRegex(run(self.installed / "bin/launchguard", "inspect", run_file, limit=60, env={}).stdout, "(?i)null pointer|fault.null_write")

    def test_a_program_that_it_runs(self):
        tool, state = self.installed / "bin/launchguard", self.work / "state"
        ended = run(tool, "run", "--directory", state, "--", "/bin/sh", "-c", "kill -SEGV $$", limit=60, env={"PATH": os.environ["PATH"]})
        self.assertEqual(ended.returncode, -signal.SIGSEGV)
        self.assertRegex(run(tool, "list", state / "sh", limit=60, env={}).stdout, "SIGSEGV")
        self.assertEqual(run(tool, "run", "--restart", "--directory", state, "--", "/bin/true", limit=60, env={}).returncode, 0)
        self.assertIn("--wrong", self.refused(tool, "run", "--wrong", "--", "/bin/true", limit=60, env={}))

    def test_without_swift(self):
        path = os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if not (pathlib.Path(folder) / "swift").exists())
        build = self.work / "build"
        run("cmake", "--preset", "release", "-B", build, cwd=ROOT, env=os.environ | {"PATH": path})
        run("cmake", "--build", build, "--parallel", "2", limit=3000)
        done = run(TREE, "install", build, self.prefix)
        self.assertRegex(done.stderr, r"^launchguard, the tool, is left out: install Swift \d\.\d or newer, https://\S+, then run this again\n$")
        self.assertEqual(files(self.prefix), WHOLE)

    def test_completions(self):
        share, environment = self.installed / "share", {"PATH": "%s:%s" % (self.installed / "bin", os.environ["PATH"]), "HOME": str(self.work),
                                                        "TERM": "dumb", "XDG_DATA_DIRS": str(self.installed / "share")}
        ways = {
            "bash": ["bash", "-c", '. "$0"; COMP_WORDS=(launchguard insp); COMP_CWORD=1 COMP_LINE="launchguard insp" COMP_POINT=16; '
                     '_launchguard launchguard insp launchguard; echo "${COMPREPLY[@]}"', share / "bash-completion/completions/launchguard"],
            "zsh": ["zsh", "-f", HERE / "complete.zsh", share / "zsh/site-functions", "launchguard insp"],
            "fish": ["fish", "-c", "complete -C 'launchguard insp'"],
        }
        for shell, command in ways.items():
            with self.subTest(shell):
                if not shutil.which(shell):
                    self.skipTest("no %s in PATH: its completions are not tried" % shell)
                self.assertIn("inspect", run(*command, limit=60, env=environment).stdout)


if __name__ == "__main__":
    unittest.main()
