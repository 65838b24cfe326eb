#!/bin/sh
# Measure start, crash and ring log against peers in the same run. Benchmarks/run.sh BUILD_DIR [ROUNDS]
#
# Absolute figures belong to this machine and moment; the ratios are what can be compared. Nothing here fails because of a figure.
set -eu
build=${1:?usage: Benchmarks/run.sh BUILD_DIR [ROUNDS]}
rounds=${2:-100}
programs=$build/Benchmarks
directory=${TMPDIR:-/tmp}/launchguard-bench-$$
memory=/dev/shm/launchguard-bench-$$
trap 'rm -rf "$directory" "$memory"' EXIT
mkdir -m 700 "$directory"
mkdir -m 700 "$memory" 2>/dev/null || memory=

model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
echo "$(date -u +%Y-%m-%dT%H:%M:%SZ)  $(uname -srm)  ${model:-unknown CPU}, $(nproc) CPUs"
echo "medians of n = $rounds, peers interleaved; ratios are to the first line of a block unless it says otherwise"

limit() { # in a process group of its own, ended after ten minutes
    timeout -k 5 600 "$@"
}
for place in "$directory" $memory; do
    printf '\nState directory in %s (%s)\n' "${place%/*}" "$(stat -f -c %T "$place")"
    limit "$programs/bench-start" "$programs/bench-empty" "$place" "$rounds"
done
limit "$programs/bench-crash" "$directory/crash" "$rounds"
limit "$programs/bench-log" "$directory/log" "$rounds"
