#!/usr/bin/env python3
"""Break the launch machine on purpose, one place at a time, and see its tests fail.

The operators below are applied to every line of launch/decide.c, ended.c, ladder.c and terms.c.
Each mutant is compiled into a library that takes the place of the right one in tests that are built
once. Without --all a sample is drawn.
"""
import argparse
import concurrent.futures
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

SOURCES = [ROOT / "Sources/CLaunchGuard/launch" / name for name in ("decide.c", "ended.c", "ladder.c", "terms.c")]
HERE = Path(__file__).resolve().parent
# The cheapest test first; the first failure ends the run of a mutant. The number limits the seconds
# of CPU time, as some mutants never end.
TESTS = [("test_rows", [], 1, ["test_rows.c"]),
         ("test_random_lives", ["400"], 4, ["test_random_lives.c", "model.c", "pair.c"]),
         ("test_all_states", [], 60, ["test_all_states.c", "explore.c", "model.c", "pair.c"])]
MEMORY_BYTES = 3 << 30

# A pattern and its replacement; each match is one mutant.
OPERATORS = [
    (r">=", ">"), (r"(?<![->])>(?![=>])", ">="), (r"<=", "<"), (r"(?<!<)<(?![=<])", "<="), (r"==", "!="), (r"!=", "=="),
    (r"&&", "||"), (r"\|\|", "&&"), (r"!(?!=)", ""), (r" \? (.*) : (.*);", r" ? \2 : \1;"),
    (r" \+ 1\b", ""), (r" - 1\b", ""), (r"\b0;", "1;"), (r"\b0\)", "1)"), (r"\+\+", "--"), (r"--;", "++;"),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\bLG__\w+_MAX\b", r"(\g<0> + 1)"), (r"\bLG__\w+_MAX\b", r"(\g<0> - 1)"),
    (r"\bLG__THROTTLE_NS\b", r"(\g<0> + 1)"), (r"\b1000000u", "1000u"),
    (r"\bLG_LAUNCH_MODE_NORMAL\b", "LG_LAUNCH_MODE_PROBATION"), (r"\bLG_LAUNCH_MODE_PROBATION\b", "LG_LAUNCH_MODE_NORMAL"),
    (r"\bLG_LAUNCH_MODE_SAFE\b", "LG_LAUNCH_MODE_TRIAL"), (r"\bLG_LAUNCH_MODE_TRIAL\b", "LG_LAUNCH_MODE_SAFE"),
    (r"\bLG_PHASE_LAUNCHING\b", "LG_PHASE_HELD"), (r"\bLG_PHASE_HELD\b", "LG_PHASE_HALTED"), (r"\bLG_PHASE_HALTED\b", "LG_PHASE_LAUNCHING"),
    (r"\bLG_PHASE_REPAIRING\b", "LG_PHASE_FINISHED"), (r"\bLG_PHASE_TERMINATING\b", "LG_PHASE_FINISHED"), (r"\bLG_PHASE_NONE\b", "LG_PHASE_FINISHED"),
    (r"\bLG_END_(HANG|OOM|KILLED|EXIT|UNKNOWN|DEBUGGER|CRASH)\b(?=:)", "LG_END_UPGRADE"),
    # the statement left out
    (r"^(?!\s*(?:default|break)\b)\s*[\w>.\-\[\]*() ,&|~?:!=+<\"]+;$", ";"),
    (r"^\s*break;$", ";"),
]

# Mutants that no test can tell from the right machine: the line, the replacement, and why the
# replacement makes no difference.
EQUIVALENT = {
    ("for (uint32_t i = 0; i < count; i++)", "for (uint32_t i = 0; i <= count; i++)"): "what is behind the last rung is zero, its series too",
    ("return series && (wall > series ? wall - series : series - wall) < LG__THROTTLE_NS;",
     "return series && (wall >= series ? wall - series : series - wall) < LG__THROTTLE_NS;"): "where they are equal both differences are 0",
    ("return least_ms && then_ns && memcmp(boot_id, now->boot_id, 16) == 0 && now->boottime_ns >= then_ns &&",
     "return least_ms && then_ns && memcmp(boot_id, now->boot_id, 16) == 0 && now->boottime_ns > then_ns &&"): "0 ms are never enough",
    ("if (context->rung > context->rung_count)", "if (context->rung >= context->rung_count)"): "it becomes what it is",
    ("if (context->retry_runs > context->safe_retry_max)", "if (context->retry_runs >= context->safe_retry_max)"): "it becomes what it is",
    ("if (context->reported > context->streak)", "if (context->reported >= context->streak)"): "it becomes what it is",
    ("context->streak = context->repair_after ? context->repair_after - 1 : 0;",
     "context->streak = context->repair_after ? context->repair_after - 1 : 1;"): "begin has taken over a policy, where it is at least 1",
}


def code_lines(text):
    """Numbers and texts of the lines that are code, their comments blanked."""
    blanked = re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S)
    return [(number, line.rstrip()) for number, line in enumerate(blanked.split("\n")) if line.strip() and not line.startswith("#")]


def mutants(text):
    lines = code_lines(text)
    for (number, line), (_, following) in zip(lines, lines[1:]):
        if line.strip() == "break;" and following.strip() in ("}", "default: break;"):
            continue  # without it control reaches the same end
        seen = {line}
        for pattern, replacement in OPERATORS:
            for found in re.finditer(pattern, line):
                mutated = line[:found.start()] + found.expand(replacement) + line[found.end():]
                declares = re.match(r"\s*(const |static |struct |enum |bool |uint\d+_t |lg_)", line) and mutated.strip() == ";"
                if mutated not in seen and not declares:
                    seen.add(mutated)
                    yield number, line, mutated


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Bench:
    def __init__(self, compiler, cmocka, directory):
        self.compiler, self.cmocka, self.directory = compiler.split(), cmocka, Path(directory)
        # A function that ends without returning its value is no mutant: it may return any value,
        # the right one too.
        self.flags = ["-std=c11", "-Werror=return-type", "-O1", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", f"-I{ROOT / 'Sources/CLaunchGuard'}", f"-I{HERE}"]

    def compile(self, output, *arguments):
        return run([*self.compiler, *self.flags, "-o", str(output), *map(str, arguments)])

    def library(self, name, texts):
        """The folder of a library of these texts, or None where one does not compile."""
        folder = self.directory / name
        folder.mkdir()
        for source, text in texts.items():
            (folder / source.name).write_text(text)
        # A bound that is one too far often meets only zeros.
        done = self.compile(folder / "libdecide.so", "-shared", "-fPIC", "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error", *(folder / source.name for source in texts))
        return None if done.returncode else folder

    def build(self, texts):
        right = self.library("right", texts)
        assert right, "the machine does not compile"
        for name, _, _, sources in TESTS:
            done = self.compile(self.directory / name, *(HERE / source for source in sources), f"-L{right}", "-ldecide", self.cmocka)
            assert done.returncode == 0, done.stdout
        return right

    def failing(self, folder):
        """Name of the test that fails, or None."""
        for name, arguments, seconds, _ in TESTS:
            done = run([str(self.directory / name), *arguments], preexec_fn=lambda: limit(seconds),
                       env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
            if done.returncode:
                return name
        return None

    def try_mutant(self, index, texts, mutant):
        source, number, _, mutated = mutant
        changed = texts[source].split("\n")
        changed[number] = mutated
        folder = self.library(f"mutant-{index}", {**texts, source: "\n".join(changed)})
        return "does not compile" if folder is None else self.failing(folder) or "survives"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--all", action="store_true", help="every mutant; some minutes")
    arguments.add_argument("--limit", type=int, default=40, help="without --all: how many")
    arguments.add_argument("--compiler", default="cc")
    arguments.add_argument("--cmocka", default="-lcmocka", help="how to link it")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    options = arguments.parse_args()
    texts = {source: source.read_text() for source in SOURCES}
    found = [(source, *mutant) for source in SOURCES for mutant in mutants(texts[source])]
    stale = set(EQUIVALENT) - {(line.strip(), mutated.strip()) for _, _, line, mutated in found}
    chosen = [mutant for mutant in found if (mutant[2].strip(), mutant[3].strip()) not in EQUIVALENT]
    if not options.all and len(chosen) > options.limit:
        samples = [draw.sample(range(len(chosen)), options.limit) for draw, _ in seeds.draws("machine-mutants")]
        chosen = [chosen[i] for i in sorted(set().union(*samples))]
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(options.compiler, options.cmocka, directory)
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
    print(f"{len(found)} mutants, {len(EQUIVALENT)} equivalent, {len(chosen)} tried:", ", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if stale or counts.get("survives") or len(chosen) - counts.get("does not compile", 0) < len(chosen) // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
