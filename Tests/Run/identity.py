"""Whose record it is: scripts of one interpreter, programs of one name, a given name."""
import itertools
import os
import pathlib
import re
import subprocess
import sys

from children import LIMIT_S
from programs import Run, line
from records import Recorded

PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
LIVES = "echo alive; read line || true"
DIES = "kill -SEGV $$"


class Identity(Recorded):
    def script(self, path, text, interpreter=None):
        path = self.directory / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(("#!%s\n" % interpreter if interpreter else "") + text + "\n")
        path.chmod(0o755)
        return path

    def folders(self):
        return sorted(path.name for path in self.records.iterdir())

    def ends_of(self, name):
        return [run["verdict"]["end"] for run in self.runs(name)]

    def again(self, *command):
        return self.under("--restart", "--restart-delay", "0.02", *command)

    def beside(self, living, command, status):
        """Runs a command beside a process that lives; the lines of its standard error."""
        run = Run([str(part) for part in living], stdin=subprocess.PIPE)
        try:
            self.assertEqual(line(run.process.stdout), b"alive\n")
            return self.ends(status, command)[1].decode().splitlines()
        finally:
            run.process.stdin.close()
            self.assertEqual(run.process.wait(LIMIT_S), 0)
            run.kill()

    def test_scripts_of_one_interpreter(self):
        """The second one is protected as the first one: its launches count until it is given up."""
        lives, dies = self.script("lives.sh", LIVES), self.script("dies.sh", DIES)
        said = self.beside(self.under("sh", lives), self.again("sh", dies), 78)
        self.assertIn("neither repairs nor safe mode helped", said[-1])
        self.assertEqual(self.ends_of("lives.sh"), ["clean"])
        self.assertEqual(set(self.ends_of("dies.sh")), {"crash"})

    def test_programs_of_one_name(self):
        """The second one has a directory of its own, which is the same at each start."""
        one, two = self.script("one/server", LIVES, "/bin/sh"), self.script("two/server", DIES, "/bin/sh")
        for _ in range(2):
            said = self.beside(self.under(one), self.again(two), 78)
            self.assertNotIn("no ledger", said[-1])
        first, second = self.folders()
        self.assertEqual(first, "server")
        self.assertRegex(second, "^server-[0-9a-f]{8}$")
        self.assertEqual((set(self.ends_of(first)), set(self.ends_of(second))), ({"clean"}, {"crash"}))
        for name, path in (first, one), (second, two):
            done = subprocess.run([self.options.tool, "list", self.records / name], stdout=subprocess.PIPE, timeout=LIMIT_S)
            self.assertRegex(done.stdout.decode().splitlines()[0], "^%s .*%s$" % (name, re.escape(str(path))))

    def test_a_program_in_another_place(self):
        """The directory of a program that is gone is that of the next one of its name."""
        old, new = self.script("1.0/server", "exit 3", "/bin/sh"), self.script("1.1/server", "exit 4", "/bin/sh")
        self.ends(3, [*self.under(), old])
        old.unlink()
        self.ends(4, [*self.under(), new])
        self.assertEqual((self.folders(), self.ends_of("server")), (["server"], ["exit", "exit"]))
        self.assertEqual(os.readlink(self.records / "server/.program"), str(new))

    def test_two_paths_of_one_program(self):
        """The same file; and the same link, whatever it leads to."""
        self.script("releases/1/server", "exit 3", "/bin/sh")
        self.script("releases/2/server", "exit 3", "/bin/sh")
        link = self.directory / "current"
        link.symlink_to("releases/1")
        self.ends(3, [*self.under(), link / "server"])
        self.ends(3, [*self.under(), self.directory / "releases/1/server"])
        link.unlink()
        link.symlink_to("releases/2")
        self.ends(3, [*self.under(), link / "server"])
        self.assertEqual((self.folders(), len(self.runs("server"))), (["server"], 3))

    def test_names(self):
        self.script("app/tasks.py", "raise SystemExit(3)")
        self.script("app/__init__.py", "")
        direct = self.script("direct", "raise SystemExit(3)", PYTHON)
        by_env = self.script("by-env", "exit 3", "/usr/bin/env sh")
        rows = [
            ([PYTHON, "-I", direct], {"direct"}), ([direct], {"direct"}), ([by_env], {"env", "by-env"}),
            ([PYTHON, "-m", "app.tasks"], {"app.tasks"}), ([PYTHON, "-c", "raise SystemExit(3)"], {pathlib.Path(PYTHON).name}),
            (["sh", "-e", "./by-env"], {"by-env"}), (["sh", "-c", "exit 3"], {"sh"}),
        ]
        for number, (command, names) in enumerate(rows):
            with self.subTest(command):
                self.records = self.directory / ("records%d" % number)
                self.ends(3, [*self.under(), *command], cwd=self.directory)
                self.assertEqual(set(self.folders()), names)

    def test_modules_of_two_folders(self):
        for place in "one", "two":
            self.script(place + "/app.py", "raise SystemExit(3)")
            self.ends(3, [*self.under(), PYTHON, "-m", "app"], cwd=self.directory / place)
        self.assertEqual(len(self.folders()), 2)

    def test_a_given_name(self):
        """Two instances of one program; what they start keeps its name."""
        work = "sh -c 'exit 4'; %s"
        lives, dies = self.script("lives", work % LIVES, "/bin/sh"), self.script("dies", work % DIES, "/bin/sh")
        said = self.beside(self.under("--name", "worker-1", lives), self.again("--name", "worker-2", dies), 78)
        self.assertNotIn("no ledger", said[-1])
        self.assertEqual(self.folders(), ["sh", "worker-1", "worker-2"])
        self.assertEqual((self.runs("worker-1")[0]["app"], set(self.ends_of("sh"))), ("worker-1", {"exit"}))
        # The name says that it is one program, wherever it lies.
        self.ends(3, [*self.under("--name", "worker-1"), "sh", "-c", "exit 3"])
        self.assertEqual(len(self.runs("worker-1")), 2)

    def test_names_that_cannot_be(self):
        for name in "", ".x", "a/b", "runs", "ledger.lg.new", "x" * 64, "ä":
            with self.subTest(name):
                _, said = self.ends(125, [*self.under("--name", name), "true"])
                self.assertIn(b"--name takes", said)

    def test_with_and_without_the_parser(self):
        """Options as words of their own are read without the parser; with = it reads them."""
        log = self.directory / "log"
        settings = [("--name", "worker"), ("--directory", self.directory / "others"), ("--log", log)]
        flags = ["--only-program", "--no-keep-stderr", "--quiet", "--witness-only"]
        environment = {**os.environ, "LAUNCHGUARD_DIRECTORY": str(self.directory / "usual")}
        for count in range(1, len(settings) + 1):
            for chosen in itertools.combinations(settings, count):
                for flag in [[], *([flag] for flag in flags)]:
                    with self.subTest(chosen=chosen, flag=flag):
                        said = [self.ends(0, [self.options.tool, "run", *flag, *words, "--", "env"], env=environment)
                                for words in ([word for pair in chosen for word in pair], ["%s=%s" % pair for pair in chosen])]
                        self.assertEqual(*[[re.sub(rb"\b\d+\b", b"N", text) for text in both] for both in said])

    def test_the_usual_folder(self):
        """That of a service is shared by all its programs."""
        one, two = self.script("one/server", "sh -c 'exit 3'; %s; exit 3" % self.script("two/server", "exit 4", "/bin/sh"), "/bin/sh"), "server-"
        environment = {key: value for key, value in os.environ.items() if key != "XDG_STATE_HOME"}
        for _ in range(2):
            self.ends(3, [self.options.tool, "run", one], env={**environment, "STATE_DIRECTORY": str(self.records)})
        found = {path.relative_to(self.records).parts[0] for path in self.records.glob("*/runs/*")}
        self.assertEqual(len(found), 2, found)
        self.assertEqual({name for name in found if not name.startswith(two)}, {"sh"})
        self.assertEqual((self.ends_of("."), self.ends_of("sh")), (["exit"] * 2, ["exit"] * 2))

    # ---- without a ledger ----

    def test_instances_of_one_program(self):
        """The second one has no ledger; the tool itself waits longer each time, and gives up."""
        both = self.script("server", '[ -n "$1" ] || { %s; exit 0; }; %s' % (LIVES, DIES), "/bin/sh")
        self.uncounted(self.beside(self.under(both), self.again(both, "dies"), 78))

    def test_nothing_can_be_written(self):
        (self.directory / "file").write_text("")
        self.records = self.directory / "file/below"
        self.uncounted(self.ends(78, self.again("sh", "-c", DIES))[1].decode().splitlines())

    def uncounted(self, said):
        pauses = [float(found[1]) for found in (re.search(r"started again in ([0-9.]+) s", text) for text in said) if found]
        self.assertEqual(len(pauses), 7, said)
        self.assertGreater(min(pauses[5:]), 0.5)
        self.assertIn("it failed 8 times in a row, and no ledger could count its launches", said[-1])
