"""Random numbers of a test: by the seeds of Tests/seeds.txt that it failed with, then by
LAUNCHGUARD_SEED, a fixed number unless somebody sets that variable."""
import os
import pathlib
import random
import shlex
import sys

ORDINARY = 1
FOUND = pathlib.Path(__file__).resolve().parents[1] / "seeds.txt"


def seeds(test):
    lines = [line.split() for line in FOUND.read_text().splitlines() if not line.startswith("#")]
    return [int(seed) for name, seed, *_ in lines if name == test] + [int(os.environ.get("LAUNCHGUARD_SEED") or ORDINARY)]


def again(seed, *words):
    """The command line that repeats what this program does with the seed."""
    test = os.environ.get("LAUNCHGUARD_TEST")
    program = shlex.join([sys.executable, "-B", os.path.relpath(sys.argv[0]), *sys.argv[1:], *(word for word in words if word not in sys.argv)])
    return f"LAUNCHGUARD_SEED={seed} " + (f"ctest --output-on-failure --test-dir {test}" if test else program)


def draws(test, *words):
    """For each seed what draws by it, and the command line that repeats that. It is printed before
    the seed is played. `words` select the test where a program has several."""
    for seed in seeds(test):
        command = "again with: " + again(seed, *words)
        print(command, flush=True)
        yield random.Random(seed), command
