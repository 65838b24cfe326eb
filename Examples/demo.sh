#!/usr/bin/env bash
# The main job of LaunchGuard from end to end, with a real program: a notes keeper whose database
# gets damaged. The demo checks every step. It ends with exit status 1 at the first step that fails.
#
#   demo.sh [--quiet] NOTES TOOL      NOTES: the notes program, in C or Swift; TOOL: launchguard
#   NOTES=… TOOL=… demo.sh            the same; TEXT=… names another text to keep
set -euo pipefail
ulimit -c 0
export SWIFT_BACKTRACE=enable=no

quiet=0
if [[ "${1-}" == --quiet ]]; then quiet=1; shift; fi
notes=$(realpath -e -- "${1-${NOTES:?the notes program is needed}}")
tool=$(realpath -e -- "${2-${TOOL:?the launchguard tool is needed}}")
text=$(realpath -e -- "${TEXT-$(dirname -- "$0")/../ARCHITECTURE.md}")

if [[ -t 1 && -z "${NO_COLOR-}" ]]; then bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' dim=$'\e[2m' plain=$'\e[0m'
else bold='' green='' red='' dim='' plain=''; fi

logger=''
work=$(mktemp -d)
cleanup() {
    if [[ -n "$logger" ]]; then { kill -9 "$logger" && wait "$logger"; } 2>/dev/null || true; fi
    rm -rf -- "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
home=$work/home
mkdir "$home"
cd "$work"
: >out

step() { printf '%s%s%s\n' "$bold" "$*" "$plain"; }
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

step "1. A program keeps notes: ${notes##*/}"
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

step '2. The database is damaged'
printf 'these bytes do not belong here' | dd of="$home/notes.db" bs=1 seek=4096 conv=notrunc status=none
if "$notes" "$home" list >out 2>&1; then fail 'the damage has no effect'; fi
expect out 'malformed' 'SQLite does not notice the damage'
show <out
fine 'SQLite reports the damage'

step '3. The program crashes at every start'
crashed=()
for run in 1 2; do
    start
    (( status > 128 && status != 137 )) || fail "start $run should die by a signal; its status is $status"
    refuse out '^repair' "start $run was repaired too early"
    crashed+=("$(last_run)")
    fine "start $run died by SIG$(kill -l $((status - 128)))"
done

step '4. The third start gets the report, repairs the database and goes on'
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

step '5. The place of the crash'
for file in "${crashed[@]}"; do
    "$tool" inspect "$file" >report 2>&1 || fail 'the tool cannot read the file' report
    expect report '^crashed: SIG' 'the tool does not show the crash'
    expect report 'load_?[sS]ummary.* at .*:[0-9]+$' 'the stack does not name the function and its line'
done
awk 'NR == 1 || /^#/ { print } /load_?[sS]ummary.*:[0-9]+$/ { exit }' report | narrow | show
fine 'both run files name the function that crashed, with file and line'

step '6. The fourth start'
start
(( status == 0 )) || fail "the fourth start ended with status $status"
expect out 'streak 0$' 'the streak is not 0 again'
refuse out '^(report|repair)' 'the start was reported or repaired once more'
expect out '^finished: process [0-9]+, status normal$' 'the launch was not finished'
fine 'healthy: streak 0, finished, nothing to report'

step '7. SIGKILL ends the program in the middle of its work'
"$notes" "$home" run --keep-logging >out 2>&1 &
logger=$!
for (( i = 0; i < 600; i++ )); do
    if grep -q '^5000$' out; then break; fi
    kill -0 "$logger" 2>/dev/null || fail 'the program ended by itself'
    sleep 0.1
done
status=0
{ kill -9 "$logger"; wait "$logger"; } 2>/dev/null || status=$?
logger=''
(( status == 137 )) || fail "the program should die by SIGKILL; its status is $status"
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

step '8. The whole story'
"$tool" inspect "$home/state" >report 2>&1 || fail 'the tool cannot read the file' report
(( $(grep -Ec '#[23] .* crash SIG' report) == 2 )) || fail 'the timeline does not show both crashes' report
expect report '1 repairs? since' 'the ledger does not show the repair'
expect report 'streak 0' 'the streak is not 0'
narrow <report | show
fine 'the tool shows the story from the files alone'
