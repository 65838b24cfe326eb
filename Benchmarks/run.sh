#!/bin/sh
# Measure start, crash, threads and logs against peers in the same run. Benchmarks/run.sh BUILD_DIR
# [ROUNDS]
#
# Absolute figures belong to this machine and moment. Only the ratios can be compared. Nothing here
# fails because of a figure.
set -eu
build=${1:?usage: Benchmarks/run.sh BUILD_DIR [ROUNDS]}
rounds=${2:-100}
programs=$build/Benchmarks
directory=${TMPDIR:-/tmp}/launchguard-bench-$$
memory=/dev/shm/launchguard-bench-$$
running=
failed=0
leave() { # also on interruption: neither processes nor files stay
    if [ -n "$running" ]; then
        kill "$running" 2>/dev/null || true
        wait "$running" 2>/dev/null || true
    fi
    rm -rf "$directory" "$memory"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir -m 700 "$directory"
mkdir -m 700 "$memory" 2>/dev/null || memory=

model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
echo "$(date -u +%Y-%m-%dT%H:%M:%SZ)  $(uname -srm)  ${model:-unknown CPU}, $(nproc) CPUs"
echo "medians of n = $rounds, peers interleaved; ratios are to the first line of a block unless noted otherwise"

# SECONDS COMMAND...: in a process group of its own, ended after its time; in the background, so
# that the script handles a signal at once
limit() {
    timeout -k 5 "$@" &
    running=$!
    wait "$running" || { echo "$2 did not finish" >&2; failed=1; }
    running=
}
for place in "$directory" $memory; do
    printf '\nState directory in %s (%s)\n' "${place%/*}" "$(stat -f -c %T "$place")"
    limit 60 "$programs/bench-start" "$programs/bench-empty" "$place" "$rounds"
    limit 60 "$programs/bench-launch" "$place" "$rounds"
done
limit 240 "$programs/bench-crash" "$directory/crash" "$rounds"
limit 120 "$programs/bench-hostile" "$directory/hostile"
limit 60 "$programs/bench-thread" "$programs/bench-thread-linked" "$directory/thread" "$(((rounds + 4) / 5))"
limit 60 "$programs/bench-annotate" "$directory/annotate" "$rounds"
limit 180 "$(dirname "$0")/log/run.sh" "$build" "$(((rounds + 4) / 5))"
swift=.build/release/bench-log-swift
[ ! -x "$swift" ] || limit 60 "$swift" "$directory/log-swift" "$rounds"
exit $failed
