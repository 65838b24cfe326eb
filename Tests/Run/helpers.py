"""Programs that the program starts: those that end well leave no run, whoever started them."""
import json
import pathlib
import subprocess

from children import LIMIT_S
from records import Recorded

DIES = "sh -c 'kill -SEGV $$'; sh -c 'exit 3'; /bin/true"


class Helpers(Recorded):
    def listed(self):
        """The runs, by their directories: what `list` shows."""
        done = subprocess.run([self.options.tool, "list", self.records], stdout=subprocess.PIPE, timeout=LIMIT_S)
        found, name = {}, None
        for text in done.stdout.decode().splitlines():
            if text.endswith(":"):
                name = pathlib.Path(text[:-1]).name
                found[name] = []
            elif text.startswith("#"):
                found[name].append(text.split()[5])
        return found

    def counted(self, name):
        """Ends in the ledger: a run that is gone is no death without a trace."""
        done = subprocess.run([self.options.tool, "inspect", "--json", self.records / name / "ledger.lg"], stdout=subprocess.PIPE, timeout=LIMIT_S)
        return {entry["verdict"]["end"] for entry in json.loads(done.stdout)["timeline"]}

    def test_those_that_end_well(self):
        for number in range(1, 4):
            self.ends(3, [*self.under("--name", "program"), "sh", "-c", "%s; /bin/true | cat; exit 3" % DIES])
            found = self.listed()
            self.assertEqual({name: len(ends) for name, ends in found.items()}, {"program": number, "sh": 2 * number})
            self.assertEqual((set(found["program"]), set(found["sh"])), ({"exit"}, {"exit", "crash"}))
        self.assertEqual((self.counted("true"), self.counted("cat")), ({"clean"}, {"clean"}))

    def test_only_the_program(self):
        self.ends(3, [*self.under("--only-program"), "perl", "-e", 'system("sh", "-c", "kill -SEGV \\$\\$"); if (!fork) { exit 5 } wait; exit 3'])
        self.assertEqual([path.name for path in self.records.iterdir()], ["perl"])
        self.assertEqual(sorted(run["verdict"]["exitCode"] for run in self.runs("perl")), [3, 5])

    def test_stages_of_a_program(self):
        """A wrapper that executes the program is not listed beside it."""
        wrapper = self.directory / "wrapper"
        wrapper.write_text("#!/bin/sh\n/bin/true\nexec perl -e 'exit 3'\n")
        wrapper.chmod(0o755)
        for _ in range(2):
            self.ends(3, [*self.under("--only-program"), "sh", "-c", "exec %s" % wrapper])
        self.assertEqual({path.parents[1].name for path in self.records.glob("*/runs/*.lgrun")}, {"perl"})
        self.assertEqual([run["verdict"]["end"] for run in self.runs("perl")], ["exit", "exit"])
        self.assertEqual((self.counted("sh"), self.counted("wrapper")), ({"clean"}, {"clean"}))

    def test_an_execution_that_fails(self):
        """The program goes on, and is recorded."""
        broken = self.directory / "broken"
        broken.write_text("#!/does/not/exist\n")
        broken.chmod(0o755)
        self.ends(-11, [*self.under(), "perl", "-e", "exec '%s'; kill SEGV => $$; sleep 60" % broken])
        self.assertEqual([run["verdict"]["end"] for run in self.runs("perl")], ["crash"])
