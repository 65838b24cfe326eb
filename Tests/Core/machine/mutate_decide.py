#!/usr/bin/env python3
"""The operators below are applied to every line of launch/decide.c, ended.c, ladder.c and terms.c;
the launch machine must then fail its tests."""
import re
import sys

from mutants import ROOT, Machine, code_lines, main

SOURCES = [ROOT / "Sources/CLaunchGuard/launch" / name for name in ("decide.c", "ended.c", "ladder.c", "terms.c")]
TESTS = [("test_rows", [], 1, ["test_rows.c"]),
         ("test_remedies", [], 1, ["test_remedies.c"]),
         ("test_random_lives", ["400"], 4, ["test_random_lives.c", "model.c", "pair.c"]),
         ("test_all_states", [], 60, ["test_all_states.c", "explore.c", "model.c", "pair.c"])]

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

EQUIVALENT = {
    ("for (uint32_t i = 0; i < count; i++)", "for (uint32_t i = 0; i <= count; i++)"): "what is after the last rung is zero, its series too",
    ("return last && (wall > last ? wall - last : last - wall) < LG__THROTTLE_NS;",
     "return last && (wall >= last ? wall - last : last - wall) < LG__THROTTLE_NS;"): "where they are equal both differences are 0",
    ("return least_ms && then_ns && memcmp(boot_id, now->boot_id, 16) == 0 && now->boottime_ns >= then_ns &&",
     "return least_ms && then_ns && memcmp(boot_id, now->boot_id, 16) == 0 && now->boottime_ns > then_ns &&"): "0 ms are never enough",
    ("if (chosen < count && context->rungs[chosen].flags & LG_REPAIR_DESTRUCTIVE && !is_begun(context, chosen))",
     "if (chosen <= count && context->rungs[chosen].flags & LG_REPAIR_DESTRUCTIVE && !is_begun(context, chosen))"): "what is after the last rung is zero",
    ("return a < b ? a : b;", "return a <= b ? a : b;"): "where they are equal it is the same",
    ("if (context->rung > context->rung_count)", "if (context->rung >= context->rung_count)"): "it becomes what it is",
    ("if (context->retry_runs > context->safe_retry_max)", "if (context->retry_runs >= context->safe_retry_max)"): "it becomes what it is",
    ("const uint32_t most = context->repair_after ? context->repair_after - 1 : 0;",
     "const uint32_t most = context->repair_after ? context->repair_after - 1 : 1;"): "begin has taken over a policy, where it is at least 1",
    ("context->streak = context->repair_after ? context->repair_after - 1 : 0;",
     "context->streak = context->repair_after ? context->repair_after - 1 : 1;"): "begin has taken over a policy, where it is at least 1",
}


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


if __name__ == "__main__":
    sys.exit(main(Machine("machine-mutants", SOURCES, mutants, TESTS, EQUIVALENT), __doc__))
