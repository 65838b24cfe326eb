#!/bin/sh
# Measure the core as it is shipped beside floors and peers, in the same run.
# Benchmarks/run.sh BUILD_DIR [ROUNDS [TABLE...]]
#
# Without names all tables: those of `all` below. There are also start-quick (on the disk alone) and
# crash-quick (64 calls, without other handlers). At the end stands the budget. BUILD_DIR/bench
# keeps each table, for write_figures.py. Nothing here fails because of a figure.
set -eu
build=${1:?usage: Benchmarks/run.sh BUILD_DIR [ROUNDS [TABLE...]]}
rounds=${2:-60}
shift $(($# < 2 ? $# : 2))
all="calls start launch crash hostile weight features steps faults guards guards-swift annotate log swift tool export fleet delivery preload"
whole=$#
[ $# -gt 0 ] || set -- $all
here=$(dirname "$0")
programs=$build/Benchmarks
kept=$build/bench
release=Tools/.build/release
directory=$(mktemp -d "${TMPDIR:-/tmp}/launchguard-bench-XXXXXX")
memory=$(mktemp -d /dev/shm/launchguard-bench-XXXXXX 2>/dev/null) || memory=
running=
failed=0
mkdir -p "$kept"
kept=$(cd "$kept" && pwd)
leave() { # also on interruption: neither processes nor files stay
    if [ -n "$running" ]; then
        kill "$running" 2>/dev/null || true
        wait "$running" 2>/dev/null || true
    fi
    rm -rf "$directory" ${memory:+"$memory"}
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
commit=$(git rev-parse --short=9 HEAD 2>/dev/null) || commit=unknown
git diff --quiet HEAD -- Sources include 2>/dev/null || commit="$commit with changes"
head_line() { # COMMAND: the first line of what is kept
    echo "$(date -u +%Y-%m-%dT%H:%MZ) $commit, ${model:-unknown CPU}, $(nproc) CPUs, $(uname -sr), load $(cut -d ' ' -f 1 /proc/loadavg): $1"
}

# A table that cannot be measured, and its targets.
missing() { # REASON
    printf '\nnot measured: %s\n' "$1"
    printf '*\t-\t%s\n' "$1" >>"$BENCH_FIGURES"
}

# SECONDS COMMAND...: in a process group of its own, ended after its time; in the background, so
# that the script handles a signal at once
limit() {
    timeout -k 5 "$@" &
    running=$!
    wait "$running" || { failed=1; echo "$2 did not finish" >&2; missing "the table did not finish"; }
    running=
}
some=$(((rounds + 2) / 3)) few=$(((rounds + 11) / 12))

file_system() { # DIRECTORY
    stat -f -c %T "$1" | sed 's,^ext2/ext3$,ext4,'
}

# COMMAND: in a directory on the disk and in one in memory
both() {
    for place in "$directory" $memory; do
        limit 240 "$programs/$1" "$place" "$rounds" "$(file_system "$place")"
    done
}

# PROGRAM COMMAND...: where the release build of `make bench` has the program
with() {
    if [ -x "$release/$1" ]; then
        shift
        limit "$@"
    else
        missing "$1 is not built"
    fi
}
measure() { # TABLE
    case $1 in
    calls) # the test of their bounds, which may fail
        limit 120 sh -c '"$@" || true' test python3 -B "$here/../Tests/Cost/test_budget.py" "$build/Tests/Seccomp/seccomp-supervise" "$build/Tests/Cost/cost-start" cc
        sed -n 's/^\(start\): \([0-9]*\) system calls.*/\1\t\2/p' "$part" >>"$BENCH_FIGURES"
        ;;
    start | launch) both "bench-$1" ;;
    start-quick) limit 120 "$programs/bench-start" "$directory" "$rounds" "$(file_system "$directory")" ;;
    crash) limit 500 "$programs/bench-crash" "$directory/crash" "$rounds" ;;
    crash-quick) limit 120 "$programs/bench-crash" "$directory/crash" "$rounds" quick ;;
    hostile) limit 120 "$programs/bench-hostile" "$directory/hostile" ;;
    weight)
        strip -o "$directory/stripped" "$build/liblaunchguard.so" || true
        limit 120 "$programs/bench-weight" "$directory" "$some" "$directory/stripped"
        ;;
    features) # likewise
        limit 60 sh -c '"$@" || true' test "$build/Tests/Core/test-session-weight" >"$directory/features" 2>&1
        printf '%-26s %10s %9s %8s\n' "What a feature adds, KiB" addresses memory threads
        sed -n 's/^\(.*\) \( *[0-9]*\) KiB of addresses, \( *[0-9]*\) KiB of memory, threads: \(.*\)/  \1  \2      \3        \4/p' "$directory/features"
        ;;
    steps) limit 60 "$programs/bench-steps" "$directory" "$rounds" ;;
    faults) limit 60 "$programs/bench-faults" "$directory/faults" "$rounds" ;;
    guards) limit 120 "$programs/bench-guards" "$directory/guards" "$rounds" ;;
    guards-swift) with bench-guards-swift 120 "$release/bench-guards-swift" "$directory/guards-swift" "$rounds" ;;
    annotate) limit 60 "$programs/bench-annotate" "$directory/annotate" "$rounds" ;;
    log) limit 400 "$here/log/run.sh" "$build" "$some" ;;
    swift) with bench-log-swift 60 "$release/bench-log-swift" "$directory/log-swift" "$rounds" ;;
    tool)
        with launchguard 600 python3 -B "$here/tool.py" "$build" "$release/launchguard" --rounds "$some"
        if strip -o "$directory/tool" "$release/launchguard"; then
            stat -c %s "$directory/tool" | awk '{ printf "\nThe tool, stripped: %.1f MB\n", $1 / 1e6 }'
            stat -c %s "$directory/tool" | awk '{ printf "size\t%.1f\n", $1 / 1e6 }' >>"$BENCH_FIGURES"
        fi
        ;;
    export) with launchguard 600 python3 -B "$here/export.py" "$build" "$release/launchguard" --rounds "$some" ;;
    fleet) with launchguard-fleet 600 python3 -B "$here/fleet.py" "$build" "$release/launchguard" --rounds "$few" ;;
    delivery) limit 300 python3 -B "$here/delivery.py" "$build" --rounds "$some" ;;
    preload)
        tool=
        [ ! -x "$release/launchguard-run" ] || tool="--tool $release/launchguard-run"
        limit 300 python3 -B "$here/preload.py" "$build" $tool --rounds "$some"
        ;;
    *) echo "unknown table: $1" >&2; failed=1 ;;
    esac
}

head_line "$rounds rounds, each in a random order; ratios are those of one round; the core as it is shipped"
begun=$(head_line "Benchmarks/run.sh $build $rounds")
measured=
for table; do
    # start-quick puts figures of start
    export BENCH_FIGURES="$kept/${table%-quick}.figures"
    part=$kept/$table.part
    rm -f "$BENCH_FIGURES"
    { head_line "Benchmarks/run.sh $build $rounds $table" && echo; } >"$part"
    measure "$table" >>"$part"
    tail -n +2 "$part" | cat -s
    mv "$part" "$kept/$table.txt"
    measured="$measured ${table%-quick}"
done
echo
if [ "$whole" -eq 0 ]; then
    { echo "$begun" && echo && python3 -B "$here/budget.py" "$kept" $measured; } >"$kept/budget.txt"
    tail -n +3 "$kept/budget.txt"
else
    python3 -B "$here/budget.py" "$kept" $measured
fi
exit $failed
