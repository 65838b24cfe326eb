#!/usr/bin/env python3
"""Take one mend of the launch machine out, and see Years find it: each mutant is a life in which a
program once stayed in its loop, was held for ever, or was repaired for nothing."""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CORE = ROOT / "Sources/CLaunchGuard"
POLICIES = [CORE / name for name in ("launch/account.c", "launch/decide.c", "launch/ended.c", "launch/evidence.c", "launch/ladder.c", "launch/suspects.c",
                                     "launch/terms.c", "launch/versions.c", "launch/wish.c", "session/retention_choice.c")]
YEARS = "60000"

# What is taken out, the file, its text, and the text without it.
MUTANTS = [
    ("a failed trial offers what was not tried", "ended.c",
     "    context->mode = LG_LAUNCH_MODE_NORMAL;\n    lg__terms_set_flag(context, LG__CONTEXT_DUE, true);\n    if (weight",
     "    context->mode = LG_LAUNCH_MODE_SAFE;\n    if (weight"),
    ("a halted launch offers what was not tried", "decide.c", "offers = enough && lg__ladder_choose(context, now)", "offers = false"),
    ("what was refused is offered again", "decide.c", "    lg__ladder_offer_again(context);\n", ""),
    ("a report that crashes is no death of the hold", "ended.c", "weight != INNOCENT && !reporting", "weight != INNOCENT"),
    ("what helped once is tried after the rest", "ladder.c", "chosen = below < context->rung ? below : count;", "chosen = below ? count : count;"),
    ("a milder repair comes before a destructive one", "ladder.c",
     "        chosen = first(context, 0, chosen, now); /* a milder one comes before */", "        ;"),
    ("no destructive repair for unexplained ends alone", "ladder.c", "context->flags & LG__CONTEXT_UNEXPLAINED && !consent", "false && !consent"),
    ("a destructive repair once a day", "ladder.c", "!is_begun(context, index) && throttled(rung, now)", "false && throttled(rung, now)"),
    ("one more unexplained end is enough after a repair", "ended.c",
     "(context->flags & LG__CONTEXT_UNEXPLAINED && context->mode != LG_LAUNCH_MODE_NORMAL)", "false"),
    ("a trial that failed by unexplained ends knows it", "ended.c", "    if (weight == UNEXPLAINED)\n        lg__terms_set_flag(context, LG__CONTEXT_UNEXPLAINED, true);\n", ""),
    ("a good launch with every task forgets the built-in rung", "ladder.c", " && lg__terms_left_out(context)", ""),
    ("a task that is killed is suspect", "ended.c", "last->task && weight != INNOCENT)\n            suspect", "last->task && weight == COUNTED)\n            suspect"),
    ("time alone forgets nothing", "decide.c", "    owe_report(context);\n    if (ret_rule)",
     "    if (now->boottime_ns / 1000000000u >= 21600)\n        forget_streak(context);\n    owe_report(context);\n    if (ret_rule)"),
    ("three clean ends forget", "ended.c", "context->quits >= LG__QUITS_ENOUGH", "false"),
    ("ends soon after the launch count", "ended.c", "if (weight == COUNTED && soon)", "if (false && soon)"),
    ("a launch that lives on forgets them", "ended.c", "else if (context->unsteady && !lg__terms_left_out(context))", "else if (false)"),
    ("the third stop in a task counts", "ended.c", "return context->stops >= LG__STOPS_ENOUGH ? COUNTED : INNOCENT;", "return INNOCENT;"),
    ("a version that crashed resets nothing", "versions.c", "return now != before && index_of(payload, now) == LG__CRASHED_PROGRAMS;", "return now != before;"),
    ("an end before the begin counts", "ended.c", "phase == LG_PHASE_NONE && last->early && weight != INNOCENT", "false"),
    ("a new version that crashes before its begin counts", "decide.c", "    fresh.count = context->count; /* the next end may come before the next begin */\n", ""),
    ("a power cut puts the repair off", "ended.c", " || last->end == LG_END_REBOOT", ""),
    ("closing the program puts the repair off", "ended.c", "last->end == LG_END_CLEAN || last->end == LG_END_TERMINATED || last->end == LG_END_REBOOT", "last->end == LG_END_REBOOT"),
    ("safe mode without a limit offers repairs", "decide.c", "context->safe_crash_limit ? context->safe_crash_limit : LG__SAFE_CRASHES_ENOUGH", "context->safe_crash_limit ? context->safe_crash_limit : UINT32_MAX"),
    ("a crash in on_report has strikes", "ended.c", "context->report_strikes = lg__terms_one_more(context->report_strikes);", ";"),
    ("a crash in on_decide has strikes", "ended.c", "context->decide_strikes = lg__terms_one_more(context->decide_strikes);", ";"),
    ("a crash in on_give_up has strikes", "ended.c", "context->give_up_strikes = lg__terms_one_more(context->give_up_strikes);", ";"),
    ("a repair that is interrupted uses its attempts up", "ended.c", "context->interruptions < LG__INTERRUPTIONS_MAX", "true"),
    ("a crash in one launch is not held against another", "account.c", "last->attributed && !is_attributed(last, of_run)", "false"),
    ("an end in a launch is not held against one that is over", "account.c", "reached->launching ? LG__LIVED_UNKNOWN : ", ""),
    ("clean runs give way before bad ones", "retention_choice.c", "beyond ? QUIET : TOLD", "TOLD"),
    ("no bad end is listed ahead of clean runs that are to come", "retention_choice.c", "return unused ? 0 : listed", "return listed"),
    ("the first run of a streak is kept", "retention_choice.c", "run->first ? FIRST : run->owed", "run->owed"),
    ("a run that is owed a report is kept", "retention_choice.c", "run->owed ? OWED : ", ""),
    ("the last run is kept", "retention_choice.c", "newest ? NEWEST : ", ""),
    ("the death of a repair uses its attempt up", "ended.c", "    if (fails_attempt(last))\n        return true;", "    if (fails_attempt(last)) {\n        lg__ladder_give_back(context);\n        return true;\n    }"),
]


def compiled(compiler, folder, machine):
    program = folder / "years"
    sources = [HERE / name for name in ("test_years.c", "draw.c", "live.c", "shrink.c", "device.c")]
    done = subprocess.run([*compiler.split(), "-std=c11", "-O2", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", f"-I{ROOT / 'Sources/CLaunchGuard'}",
                           f"-I{ROOT / 'Tests/Support'}", "-o", str(program), *map(str, sources), *map(str, machine)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def lived(program):
    """The first finding of Years, or None."""
    # the seed is fixed: a mutant that few lives meet must not survive by luck
    done = subprocess.run([str(program), YEARS], capture_output=True, text=True, env={**os.environ, "LAUNCHGUARD_SEED": "1", "LAUNCHGUARD_FOUND": ""}, timeout=900)
    return None if done.returncode == 0 else done.stdout.splitlines()[:2] or ["it did not end by itself"]


def without(directory, name, mutants, all_of_them=True):
    """The sources of the policies, with the texts of these mutants taken out. Mutants of one text:
    the first is taken where not all can be."""
    folder = Path(directory) / name
    folder.mkdir()
    texts = {source.name: source.read_text() for source in POLICIES}
    for _, file, text, replacement in mutants:
        if texts[file].count(text) != 1:
            if not all_of_them:
                continue
            return f"the text to take out is there {texts[file].count(text)} times"
        texts[file] = texts[file].replace(text, replacement)
    for file, text in texts.items():
        (folder / file).write_text(text)
    return [folder / file for file in texts]


def tried(compiler, directory, index):
    policies = without(directory, str(index), [MUTANTS[index]])
    return policies if isinstance(policies, str) else lived(compiled(compiler, policies[0].parent, policies))


def compare(compiler, directory):
    """The figures of the same lives without any of the mends, and with all."""
    for name, mutants in ("before", MUTANTS), ("after", []):
        policies = without(directory, name, mutants, all_of_them=False)
        done = subprocess.run([str(compiled(compiler, policies[0].parent, policies)), "5000", "count"], capture_output=True, text=True,
                              env={**os.environ, "LAUNCHGUARD_SEED": "1"}, timeout=900)
        print(f"{name} the mends:\n{done.stdout}", end="", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--compiler", default="cc")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--compare", action="store_true", help="only compare the figures without any mend to those with all")
    options = arguments.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        if options.compare:
            return compare(options.compiler, directory)
        assert lived(compiled(options.compiler, Path(directory), POLICIES)) is None, "the right machine fails"
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(lambda i: tried(options.compiler, directory, i), range(len(MUTANTS))))
    for (name, *_), result in zip(MUTANTS, results):
        failed += not isinstance(result, list)
        print(f"{'found' if isinstance(result, list) else 'NOT FOUND'}: without \"{name}\"")
        print("    " + ("\n    ".join(line.strip()[:400] for line in result) if isinstance(result, list) else str(result or "every life is whole")))
    print(f"{len(MUTANTS) - failed} of {len(MUTANTS)} mutants found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
