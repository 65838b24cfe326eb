#!/usr/bin/env python3
"""Many processes with the library preloaded: all are recorded, and few files stay."""
import signal
import subprocess
import tempfile
import unittest

from preload import EXIT_MARK, LIMIT_S, Case, main

KEPT = 32            # ended runs, as documented for keep_runs
NEXT_LOOK = 16       # children between two looks at what is too many
FILE_BYTES = 200_000 # of a clean run


class Many(Case):
    def test_at_once(self):
        with tempfile.TemporaryFile() as out:
            children = [subprocess.Popen([self.ways, "exit", str(i)], env=self.environment(True), stdout=out, stderr=out) for i in range(1, 25)]
            self.assertEqual([child.wait(LIMIT_S) for child in children], list(range(1, 25)))
            self.assertEqual(out.tell(), 0)
        runs = self.runs("preload-ways")
        self.assertEqual(sorted(run["verdict"]["code"] for run in runs), list(range(1, 25)))
        self.assertEqual(sorted(run["run"]["pid"] for run in runs), sorted(child.pid for child in children))

    def test_one_after_the_other(self):
        """A shell with many short commands leaves a few of them, and nothing of its helpers."""
        self.same("bash", "-c", "for i in {1..150}; do /bin/true; (:); done")
        self.expect(self.one("bash"), "clean", EXIT_MARK)
        files = list(self.state.rglob("true/runs/*"))
        self.assertLessEqual(len(files), KEPT + 1)
        self.assertLess(sum(file.stat().st_blocks * 512 for file in files), len(files) * FILE_BYTES)

    def test_file_of_a_helper(self):
        """A helper that left nothing leaves its file to the next process of the program."""
        spare = self.state / "bash/runs/spare"
        self.same("bash", "-c", "(:)")
        left = spare.stat().st_ino
        first = self.one("bash")
        self.same("bash", "-c", "exit 3", status=3)
        self.assertFalse(spare.exists())
        taken, = [file for file in (self.state / "bash/runs").iterdir() if file.stat().st_ino == left]
        second = self.runs("bash")[1]
        self.assertIn(second["run"]["uuid"], taken.name)
        self.expect(second, "exit", EXIT_MARK, code=3)
        self.assertNotEqual(first["run"]["pid"], second["run"]["pid"])

    def test_children_of_a_server(self):
        """A parent that lives, as a server does, and children that end badly."""
        self.same("bash", "-c", "for i in {1..100}; do (exit 3); done; (kill -SEGV $BASHPID); exit 0",
                  change=lambda text: "Segmentation fault" in text)
        runs = self.runs("bash")
        self.assertLessEqual(len(runs), KEPT + NEXT_LOOK + 1)
        self.expect(runs[0], "clean", EXIT_MARK)
        self.expect(runs[-1], "crash", signal=signal.SIGSEGV)


if __name__ == "__main__":
    main(__doc__)
