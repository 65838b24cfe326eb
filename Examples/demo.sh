#!/usr/bin/env bash
# The main job of LaunchGuard from end to end, with a real program: a notes keeper whose database
# gets damaged. The demo checks every step. It ends with exit status 1 at the first step that fails.
#
#   demo.sh [--quiet] NOTES TOOL      NOTES: the notes program, in C or Swift; TOOL: launchguard
#   NOTES=… TOOL=… demo.sh            the same; TEXT=… names another text to keep
#   AGENT=…                           launchguard-agent: the reports also reach a server
set -euo pipefail
ulimit -c 0
export SWIFT_BACKTRACE=enable=no

quiet=0
if [[ "${1-}" == --quiet ]]; then quiet=1; shift; fi
notes=$(realpath -e -- "${1-${NOTES:?the notes program is needed}}")
tool=$(realpath -e -- "${2-${TOOL:?the launchguard tool is needed}}")
here=$(dirname -- "$(realpath -e -- "$0")")
text=$(realpath -e -- "${TEXT-$here/../ARCHITECTURE.md}")
unset NOTES_REPORTS_TO LAUNCHGUARD_NO_DELIVERY
if [[ -n "${AGENT-}" ]]; then
    LAUNCHGUARD_AGENT=$(realpath -e -- "$AGENT")
    export LAUNCHGUARD_AGENT
else
    echo 'no AGENT is named: no report is delivered'
fi

if [[ -t 1 && -z "${NO_COLOR-}" ]]; then bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' dim=$'\e[2m' plain=$'\e[0m'
else bold='' green='' red='' dim='' plain=''; fi

logger='' server=''
work=$(mktemp -d)
cleanup() {
    for process in $logger $server; do { kill -9 "$process" && wait "$process"; } 2>/dev/null || true; done
    end_agent
    rm -rf -- "$work"
}
# The agent waits ten seconds for another start; here there is none.
end_agent() {
    local agent=''
    if [[ -f "$home/state/spool/agent" ]]; then read -r agent _ <"$home/state/spool/agent" || true; fi
    while [[ -n "$agent" ]] && grep -qsF -- "$home/state" "/proc/$agent/cmdline"; do
        kill "$agent" 2>/dev/null || true
        sleep 0.05
    done
}
home=$work/home
trap cleanup EXIT
trap 'exit 1' INT TERM
mkdir "$home"
cd "$work"
: >out

steps=0
step() { steps=$((steps + 1)); printf '%s%d. %s%s\n' "$bold" "$steps" "$*" "$plain"; }
fine() { printf '  %s✓%s %s\n' "$green" "$plain" "$*"; }
show() { if (( ! quiet )); then sed "/^\$/d; s|$work/||g; s/^/    $dim/; s/\$/$plain/"; else cat >/dev/null; fi; }
narrow() { cut -c 1-140; }
# Print the failed expectation and the end of the output that shows it.
fail() {
    printf '  %s✗ %s%s\n' "$red" "$1" "$plain" >&2
    tail -n 20 "${2-out}" | sed 's/^/    /' >&2
    exit 1
}
expect() { grep -Eq -- "$2" "$1" || fail "$3" "$1"; }
refuse() { ! grep -Eq -- "$2" "$1" || fail "$3" "$1"; }

# Run the application start. Its output is then in `out`, its exit status in $status.
start() {
    status=0
    { timeout -k 1 60 "$notes" "$home" run >out 2>&1; } 2>/dev/null || status=$?
}
# The pid after a word of the output.
process() { sed -nE "s/^$1.*process ([0-9]+).*/\1/p" out; }
last_run() { find "$home/state" -name '*.lgrun' | sort -V | tail -n 1; }
# Wait until the server has both parts of the report of a run file. The first part is then $brief.
await_report() {
    local uuid i
    uuid=$("$tool" inspect --no-symbols "$1" | sed -nE 's/^run +[0-9]+, ([0-9a-f-]{36}).*/\1/p')
    brief=received/$uuid.brief.json
    for (( i = 0; i < 600; i++ )); do
        if [[ -s "$brief" && -s "received/$uuid.full.json" ]]; then return; fi
        sleep 0.1
    done
    fail "the report of ${1##*/} did not arrive" "$home/state/spool/agent.log"
}
# Run the application until it has logged 5000 breadcrumbs and an agent watches it. Its process is
# then $logger.
start_logging() {
    local i
    "$notes" "$home" run --keep-logging >out 2>&1 &
    logger=$!
    for (( i = 0; i < 600; i++ )); do
        if grep -q '^5000$' out && { [[ -z "${AGENT-}" ]] || "$tool" inspect "$home/state" | grep -q '^  agent     process'; }; then return; fi
        kill -0 "$logger" 2>/dev/null || fail 'the program ended by itself'
        sleep 0.1
    done
    fail 'the program does not log, or no agent watches it'
}
# End the logging application by a signal.
end_logging() {
    status=0
    { kill "-$1" "$logger"; wait "$logger"; } 2>/dev/null || status=$?
    logger=''
    (( status == 128 + $(kill -l "$1") )) || fail "the program should die by SIG$1; its status is $status"
}

step "A program keeps notes: ${notes##*/}"
"$notes" "$home" import "$text"
"$notes" "$home" add 'the last note'
{ grep -v '^$' "$text"; echo 'the last note'; } >expected
"$notes" "$home" list >found
cmp -s expected found || fail 'the notes are not the lines of the text'
"$notes" "$home" backup
count=$(wc -l <expected)
[[ $("$notes" "$home" count) == "$count" ]] || fail "there should be $count notes"
fine "$count notes, the lines of ${text##*/}, and a backup"
start
(( status == 0 )) || fail "a healthy start ended with status $status"
expect out 'streak 0$' 'the first start has a streak'
expect out "^notes: $count notes" 'the start did not count the notes'
refuse out '^(report|repair)' 'a healthy start was reported or repaired'
show <out
fine 'the start is healthy: checked, finished, streak 0'

step 'The database is damaged'
printf 'these bytes do not belong here' | dd of="$home/notes.db" bs=1 seek=4096 conv=notrunc status=none
if "$notes" "$home" list >out 2>&1; then fail 'the damage has no effect'; fi
expect out 'malformed' 'SQLite does not notice the damage'
show <out
fine 'SQLite reports the damage'

step 'The program crashes at every start'
if [[ -n "${AGENT-}" ]]; then
    mkdir received
    python3 -B "$here/report-server.py" received >address &
    server=$!
    for (( i = 0; i < 600; i++ )); do if [[ -s address ]]; then break; fi; sleep 0.1; done
    NOTES_REPORTS_TO=$(<address)
    export NOTES_REPORTS_TO
    fine "a server for its reports listens: $NOTES_REPORTS_TO"
fi
crashed=()
for run in 1 2; do
    start
    (( status > 128 && status != 137 )) || fail "start $run should die by a signal; its status is $status"
    refuse out '^repair' "start $run was repaired too early"
    crashed+=("$(last_run)")
    fine "start $run died by SIG$(kill -l $((status - 128)))"
done

if [[ -n "${AGENT-}" ]]; then
    step 'The reports reach the server while the program still crashes'
    for file in "${crashed[@]}"; do
        await_report "$file"
        expect "$brief" '"crash"' 'the report does not name the crash'
        (( $(wc -c <"$brief") <= 4096 )) || fail 'the first part of the report is too long'
    done
    { cat "$brief"; echo; } | narrow | show
    "$tool" list "$home/state" >report 2>&1
    (( $(grep -Ec ' crash +sent ' report) == 2 )) || fail 'the tool does not show that the reports were sent' report
    fine 'both reports are there, though the program has done nothing but crash since'
fi

step 'The third start gets the report, repairs the database and goes on'
start
(( status == 0 )) || fail "the third start ended with status $status"
expect out '^report: streak 2$' 'the crashes were not reported'
for file in "${crashed[@]}"; do expect out "crash .*${file##*/}\$" "the report does not name ${file##*/}"; done
show <out
fine 'report: 2 launch crashes in a row, with their run files'
before=$(process start) repairing=$(process repair) after=$(process finished)
[[ -n "$before" && "$before" == "$repairing" && "$before" == "$after" ]] ||
    fail "three processes instead of one: $before, $repairing, $after"
fine "repair: the backup is back, in the same process: $before before, $after after"
"$notes" "$home" list >found
cmp -s expected found || fail 'a note of the backup is missing'
fine "all $count notes of the backup are there, compared one by one"

step 'The place of the crash'
for file in "${crashed[@]}"; do
    "$tool" inspect "$file" >report 2>&1 || fail 'the tool cannot read the file' report
    expect report '^ +signal: +SIG' 'the tool does not show the crash'
    expect report 'load_?[sS]ummary.* at .*:[0-9]+ of notes' 'the stack does not name the function and its line'
done
awk 'NR == 1 || /^#/ { print } /load_?[sS]ummary.*:[0-9]+ of notes/ { exit }' report | narrow | show
fine 'both run files name the function that crashed, with file and line'

step 'The fourth start'
start
(( status == 0 )) || fail "the fourth start ended with status $status"
expect out 'streak 0$' 'the streak is not 0 again'
refuse out '^(report|repair)' 'the start was reported or repaired once more'
expect out '^finished: process [0-9]+, status (normal|finished)$' 'the launch was not finished'
fine 'healthy: streak 0, finished, nothing to report'

step 'SIGKILL ends the program in the middle of its work'
start_logging
end_logging KILL
announced=$(head -n "$(wc -l <out)" out | tail -n 1)
"$tool" log -n 1000000 "$(last_run)" >log 2>&1 || fail 'the tool cannot read the file' log
grep -oE 'breadcrumb [0-9]+$' log | awk '
    NR > 1 && $2 != last + 1 { print "breadcrumb " last + 1 " is missing"; exit }
    { last = $2 }' >gap || fail 'no breadcrumb is there' log
if [[ -s gap ]]; then fail "$(cat gap)" log; fi
logged=$(grep -oE 'breadcrumb [0-9]+$' log | tail -n 1 | cut -d ' ' -f 2)
(( logged >= announced )) || fail "breadcrumb $announced was announced, but the last one is $logged"
"$tool" log -n 3 "$(last_run)" | narrow | show
fine "the program announced breadcrumb $announced; the last one in the log is $logged, and none is missing"
if [[ -n "${AGENT-}" ]]; then
    await_report "$(last_run)"
    expect "$brief" '"killed"' 'the report does not say that the program was killed'
    fine 'its report is with the server, and the program was not started again'
fi

step 'The whole story'
"$tool" inspect "$home/state" >report 2>&1 || fail 'the tool cannot read the file' report
(( $(grep -Ec '#[23] .* crash SIG' report) == 2 )) || fail 'the timeline does not show both crashes' report
expect report '1 repairs? since' 'the ledger does not show the repair'
expect report 'streak 0' 'the streak is not 0'
narrow <report | show
fine 'the tool shows the story from the files alone'

if [[ -n "${AGENT-}" ]]; then
    step 'The program crashes once more, and is never started again'
    start_logging
    end_logging SEGV
    await_report "$(last_run)"
    expect "$brief" '"SIGSEGV"' 'the report does not name the signal'
    fine 'the last report is with the server'
    for (( i = 0; i < 600; i++ )); do
        "$tool" list "$home/state" >report 2>&1
        if ! grep -q ' pending ' report; then break; fi
        sleep 0.1
    done
    # Of an earlier report a later start of the program may have learnt, and has forgotten it then.
    grep -Eq '#7 .* sent ' report || fail 'the tool does not show that the last report was sent' report
    ! grep -Eq ' (pending|held|dead) ' report || fail 'the tool shows reports that were not sent' report
    narrow <report | show
    "$tool" upload "$home/state" >report 2>&1 || fail 'reports are left' report
    fine 'the tool shows what was sent, and nothing is left to send'
fi
