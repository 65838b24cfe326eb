#!/usr/bin/env python3
"""Take one mend of the launch machine or of delivery out, and see Years find it: each mutant is a
life in which a program once stayed in its loop, was held for ever, or was repaired for nothing; or
in which a report was lost, counted twice, or sent without end."""
import argparse
import concurrent.futures
import dataclasses
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CORE = ROOT / "Sources/CLaunchGuard"
AGENT = ROOT / "Sources/launchguard-agent"
MACHINE = [CORE / name for name in ("launch/account.c", "launch/decide.c", "launch/ended.c", "launch/evidence.c", "launch/hinted.c", "launch/ladder.c", "launch/suspects.c",
                                     "launch/terms.c", "launch/versions.c", "launch/wish.c", "session/retention_choice.c", "store/crc32c.c", "store/hint.c")]

# What is taken out, the file, its text, and the text without it.
LAUNCH_MUTANTS = [
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
    ("a hint's repair runs once", "decide.c", "LG_EVENT_HINT_REPAIR;\n    context->hint_serial = hint->serial;\n", "LG_EVENT_HINT_REPAIR;\n"),
    ("a hint's repair runs once, whatever version comes", "decide.c", "    fresh.hint_serial = context->hint_serial;\n", ""),
    ("a hint's repair that fails brings no other one", "decide.c", "        if (!leave_hint(context, now))\n            choose_rung(context, now, false);", "        choose_rung(context, now, false);"),
    ("a hint's repair that dies brings no other one", "ended.c", "if (context->flags & LG__CONTEXT_HINT_REPAIR) {", "if (false) {"),
    ("a hint's repair that is throttled waits", "ladder.c", "    if (!may_be_tried(context, rung, now)) {\n        context->rungs[rung].fate = fate;", "    if (false) {\n        context->rungs[rung].fate = fate;"),
    ("a hint's repair of unexplained ends knows it", "decide.c", "    note_unexplained(context);\n    if (!lg__ladder_offer", "    if (!lg__ladder_offer"),
    ("a hint that leaves out the task spares the repair", "decide.c", "const bool spared = hint->kind == LG_HINT_LEAVE_OUT && !context->unsteady;", "const bool spared = false;"),
    ("and no repair of what comes after the launch", "decide.c", "LG_HINT_LEAVE_OUT && !context->unsteady", "LG_HINT_LEAVE_OUT"),
    ("two deaths in a hint's hold let the launch through", "decide.c", "    if (context->held_deaths >= LG__HELD_DEATHS_MAX)\n        return false;\n", ""),
    ("a hold of a hint ends with it", "decide.c", "    lg__terms_set_flag(context, HINT_HOLDS, false);\n    follow_rule(context, &none, now);", "    follow_rule(context, &none, now);\n    hold(context);"),
    ("a hint keeps safe mode", "decide.c", "    if (context->flags & LG__CONTEXT_HINT_SAFE)\n        return;\n", ""),
    ("a hint's safe mode, once it is over, is tried to be left", "decide.c", "stayed = context->flags & LG__CONTEXT_HINT_SAFE;", "stayed = false;"),
    ("a hint is over when it expires", "hint.c", " && hint->said.expires_ns > wall_ns", ""),
    ("a hint's hold is for older versions", "hinted.c", " && strverscmp(version, hint->said.name) < 0", ""),
    ("a hint goes safe once", "decide.c", "        stay_safe(context);\n        context->hint_serial = hint->serial;", "        stay_safe(context);"),
    ("after a hint's safe mode no destructive repair for unexplained ends alone", "decide.c",
     "                lg__terms_set_flag(context, LG__CONTEXT_UNEXPLAINED, true);\n            go_safe", "                ;\n            go_safe"),
    ("the death of a repair uses its attempt up", "ended.c", "    if (fails_attempt(last))\n        return true;", "    if (fails_attempt(last)) {\n        lg__ladder_give_back(context);\n        return true;\n    }"),
]


DELIVERY_MUTANTS = [
    ("only time that the device was on makes a report old", "fate.c", "now.on_ns > report->since_on_ns && now.on_ns - report->since_on_ns > AGE_MAX_NS",
     "now.wall_ns > report->made_ns && now.wall_ns - report->made_ns > AGE_MAX_NS"),
    ("nothing is given up by a count", "fate.c", "now.on_ns > report->since_on_ns && now.on_ns - report->since_on_ns > AGE_MAX_NS", "report->attempts >= 20"),
    ("a denial is no verdict", "fate.c", "        deny(report, server, now);\n        fate = fate == FATE_AGAIN ? FATE_HELD : fate;", "        deny(report, server, now);\n        fate = over;"),
    ("a held report is tried daily", "fate.c", "(takes_others || moment_is_due(report->next, now))", "takes_others"),
    ("a portal's page is no answer", "fate.c", "answer->reply == REPLY_FOREIGN ? AWAY : ", ""),
    ("a server that refuses a compressed body gets the plain one", "fate.c", "return answer->compressed && !server->plain &&", "return false &&"),
    ("an agent that dies leaves the plain body to the next one", "fate.c", "        server->plain = LG__PLAIN_UNANSWERED;\n", "        {}\n"),
    ("a report that left takes no runs", "choice.c", " && !(mail->header.flags & LG__REPORT_LEFT) && memcmp", " && memcmp"),
    ("what failed goes after the others", "choice.c", "    if (failed != other_failed)\n        return other_failed;\n", ""),
    ("a day has a budget", "fate.c", "        server->next = server->day;\n", ""),
    ("one report of a fingerprint is under way", "choice.c", "if (lg__report_is_behind(", "if (false && lg__report_is_behind("),
    ("two reports of a fingerprint wait at the most", "choice.c", "waiting > 1 || ", ""),
    ("the newest report says how many there were", "choice.c", "new->before = mail->header.before + 1;", "new->before = 1;"),
    ("reports of a fingerprint are paced", "choice.c", "new->before < FREE_REPORTS || wait <= since ? 0", "true ? 0"),
    ("a server that was away is not away for six hours", "fate.c", "backoff(server->absences, BACKOFF_MAX_NS, random)", "backoff(server->absences, 20 * HOUR_NS, random)"),
    ("a device without a clock waits by the time that it was on", "moment.c", " || due.on_ns <= now.on_ns || due.on_ns - now.on_ns > WAIT_MAX_NS", ""),
    ("a second part is there when every slice is", "slice.c", "return report->full_taken == report->full_bytes;", "return true;"),
    ("runs that were counted last are not counted again", "fate.c", "    report->more += more->count;", "    report->more += more->count + 1;"),
]


@dataclasses.dataclass
class Subject:
    """Policies, the program of Years that lives by them, and what is taken out."""
    name: str
    policies: list
    sources: list
    years: str
    mutants: list


SUBJECTS = [
    Subject("launch", MACHINE, ["test_years.c", "draw.c", "live.c", "shrink.c", "device.c"], "60000", LAUNCH_MUTANTS),
    Subject("delivery", [AGENT / "policy" / name for name in ("choice.c", "fate.c", "moment.c", "slice.c")], ["test_post_years.c", "post_world.c", "post_live.c"], "6000",
            DELIVERY_MUTANTS),
]


def compiled(compiler, folder, subject, policies):
    program = folder / "years"
    sources = [HERE / name for name in subject.sources]
    done = subprocess.run([*compiler.split(), "-std=c11", "-O2", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", f"-I{CORE}", f"-I{AGENT}",
                           f"-I{ROOT / 'Tests/Support'}", "-o", str(program), *map(str, sources), *map(str, policies)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def lived(program, years):
    """The first finding of Years, or None."""
    # the seed is fixed: a mutant that few lives meet must not survive by luck
    try:
        done = subprocess.run([str(program), years], capture_output=True, text=True, env={**os.environ, "LAUNCHGUARD_SEED": "1", "LAUNCHGUARD_FOUND": ""},
                              timeout=300)
    except subprocess.TimeoutExpired:
        return ["it does not end"]
    return None if done.returncode == 0 else done.stdout.splitlines()[:2] or ["it did not end by itself"]


def without(directory, name, subject, mutants, all_of_them=True):
    """The sources of the policies, with the texts of these mutants taken out. Mutants of one text:
    the first is taken where not all can be."""
    folder = Path(directory) / name
    folder.mkdir()
    texts = {source.name: source.read_text() for source in subject.policies}
    for _, file, text, replacement in mutants:
        if texts[file].count(text) != 1:
            if not all_of_them:
                continue
            return f"the text to take out is there {texts[file].count(text)} times"
        texts[file] = texts[file].replace(text, replacement)
    for file, text in texts.items():
        (folder / file).write_text(text)
    return [folder / file for file in texts]


def tried(compiler, directory, subject, index):
    policies = without(directory, f"{subject.name}-{index}", subject, [subject.mutants[index]])
    return policies if isinstance(policies, str) else lived(compiled(compiler, policies[0].parent, subject, policies), subject.years)


def compare(compiler, directory):
    """The figures of the same lives without any of the mends of the machine, and with all."""
    subject = SUBJECTS[0]
    for name, mutants in ("before", subject.mutants), ("after", []):
        policies = without(directory, name, subject, mutants, all_of_them=False)
        done = subprocess.run([str(compiled(compiler, policies[0].parent, subject, policies)), "5000", "count"], capture_output=True, text=True,
                              env={**os.environ, "LAUNCHGUARD_SEED": "1"}, timeout=900)
        print(f"{name} the mends:\n{done.stdout}", end="", flush=True)


def missing(directory):
    """A line for each mutant whose text is not there once: it would prove nothing any more."""
    for subject in SUBJECTS:
        for index, mutant in enumerate(subject.mutants):
            policies = without(directory, f"{subject.name}-{index}", subject, [mutant])
            if isinstance(policies, str):
                yield f"{mutant[0]}: {policies}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--compiler", default="cc")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--compare", action="store_true", help="only compare the figures without any mend to those with all")
    arguments.add_argument("--texts", action="store_true", help="only whether the text of each mutant is there")
    arguments.add_argument("--subject", choices=[subject.name for subject in SUBJECTS], action="append", help="only the mutants of this one")
    options = arguments.parse_args()
    failed, count = 0, 0
    with tempfile.TemporaryDirectory() as directory:
        if options.compare:
            return compare(options.compiler, directory)
        if options.texts:
            return "\n".join(missing(directory)) or 0
        for subject in SUBJECTS:
            if options.subject and subject.name not in options.subject:
                continue
            assert lived(compiled(options.compiler, Path(directory), subject, subject.policies), subject.years) is None, f"the right {subject.name} fails"
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                results = list(pool.map(lambda i: tried(options.compiler, directory, subject, i), range(len(subject.mutants))))
            for (name, *_), result in zip(subject.mutants, results):
                failed += not isinstance(result, list)
                print(f"{'found' if isinstance(result, list) else 'NOT FOUND'}: without \"{name}\"")
                print("    " + ("\n    ".join(line.strip()[:400] for line in result) if isinstance(result, list) else str(result or "every life is whole")))
            count += len(results)
    print(f"{count - failed} of {count} mutants found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
