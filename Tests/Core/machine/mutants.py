"""Break a machine on purpose, one place at a time, and see its tests fail: mutate_decide.py and
mutate_judge.py name the machine, its mutants and its tests.

Each mutant is compiled into a library that takes the place of the right one in tests that are built
once. Without --all a sample is drawn."""
import argparse
import concurrent.futures
import dataclasses
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "Tests/Support"))
import seeds

HERE = Path(__file__).resolve().parent
MEMORY_BYTES = 3 << 30


@dataclasses.dataclass
class Machine:
    seeds: str      # the name of the test in seeds.txt
    sources: list   # paths
    mutants: object  # of a text: number of the first line, the lines as they are, as they become
    # Name, arguments, seconds of CPU time, sources; the cheapest test first: the first failure ends
    # the run of a mutant. There is a limit because some mutants never end.
    tests: list
    # Mutants that no test can tell from the right machine: the lines, the replacement, and why the
    # replacement makes no difference.
    equivalent: dict
    prepare: object = lambda directory: None  # makes what the tests include


def code_lines(text):
    """Numbers and texts of the lines that are code, their comments blanked."""
    blanked = re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S)
    return [(number, line.rstrip()) for number, line in enumerate(blanked.split("\n")) if line.strip() and not line.startswith("#")]


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Bench:
    def __init__(self, machine, compiler, cmocka, directory):
        self.machine = machine
        self.compiler, self.cmocka, self.directory = compiler.split(), cmocka, Path(directory)
        # A function that ends without returning its value is no mutant: it may return any value,
        # the right one too.
        self.flags = ["-std=c11", "-Werror=return-type", "-O1", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", f"-I{ROOT / 'Sources/CLaunchGuard'}", f"-I{HERE}", f"-I{directory}"]
        machine.prepare(self.directory)

    def compile(self, output, *arguments):
        return run([*self.compiler, *self.flags, "-o", str(output), *map(str, arguments)])

    def library(self, name, texts):
        """The folder of a library of these texts, or None where one does not compile."""
        folder = self.directory / name
        folder.mkdir()
        for source, text in texts.items():
            (folder / source.name).write_text(text)
        # A bound that is one too far often meets only zeros.
        done = self.compile(folder / "libmachine.so", "-shared", "-fPIC", "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error", *(folder / source.name for source in texts))
        return None if done.returncode else folder

    def build(self, texts):
        right = self.library("right", texts)
        assert right, "the machine does not compile"
        for name, _, _, sources in self.machine.tests:
            done = self.compile(self.directory / name, *(HERE / source for source in sources), f"-L{right}", "-lmachine", self.cmocka)
            assert done.returncode == 0, done.stdout
        return right

    def failing(self, folder):
        """Name of the test that fails, or None."""
        for name, arguments, seconds, _ in self.machine.tests:
            done = run([str(self.directory / name), *arguments], preexec_fn=lambda: limit(seconds),
                       env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
            if done.returncode:
                return name
        return None

    def try_mutant(self, index, texts, mutant):
        source, number, lines, mutated = mutant
        changed = texts[source].split("\n")
        changed[number:number + len(lines.split("\n"))] = [mutated]
        folder = self.library(f"mutant-{index}", {**texts, source: "\n".join(changed)})
        return "does not compile" if folder is None else self.failing(folder) or "survives"


def main(machine, description):
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--all", action="store_true", help="every mutant; some minutes")
    arguments.add_argument("--limit", type=int, default=40, help="without --all: how many")
    arguments.add_argument("--compiler", default="cc")
    arguments.add_argument("--cmocka", default="-lcmocka", help="how to link it")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    options = arguments.parse_args()
    texts = {source: source.read_text() for source in machine.sources}
    found = [(source, *mutant) for source in machine.sources for mutant in machine.mutants(texts[source])]
    stale = set(machine.equivalent) - {(line.strip(), mutated.strip()) for _, _, line, mutated in found}
    chosen = [mutant for mutant in found if (mutant[2].strip(), mutant[3].strip()) not in machine.equivalent]
    if not options.all and len(chosen) > options.limit:
        samples = [draw.sample(range(len(chosen)), options.limit) for draw, _ in seeds.draws(machine.seeds)]
        chosen = [chosen[i] for i in sorted(set().union(*samples))]
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(machine, options.compiler, options.cmocka, directory)
        right = bench.build(texts)
        assert bench.failing(right) is None, "the right machine fails its tests"
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = []
            for result in pool.map(lambda i: bench.try_mutant(i, texts, chosen[i]), range(len(chosen))):
                results.append(result)
                if len(results) % 100 == 0:
                    print(f"{len(results)} of {len(chosen)} mutants", flush=True)
    for (source, number, line, mutated), result in zip(chosen, results):
        if result == "survives":
            print(f"survives: {source.name}, line {number + 1}: {line.strip()}\n              became {mutated.strip()}")
    for entry in stale:
        print("no such mutant any more:", *entry, sep="\n    ")
    counts = {result: results.count(result) for result in sorted(set(results))}
    print(f"{len(found)} mutants, {len(machine.equivalent)} equivalent, {len(chosen)} tried:", ", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if stale or counts.get("survives") or len(chosen) - counts.get("does not compile", 0) < len(chosen) // 2 else 0

