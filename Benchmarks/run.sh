#!/bin/sh
# Measure the core as it is shipped beside floors and peers, in the same run.
# Benchmarks/run.sh BUILD_DIR [ROUNDS [TABLE...]]
#
# Tables: start launch crash hostile weight steps faults guards guards-swift annotate log swift tool
# export fleet delivery preload; without names all; also start-quick (on the disk alone) and
# crash-quick (64 calls, without other handlers). Absolute figures belong to this machine and
# moment. Only the ratios can be compared. Nothing here fails because of a figure.
set -eu
build=${1:?usage: Benchmarks/run.sh BUILD_DIR [ROUNDS [TABLE...]]}
rounds=${2:-60}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- start launch crash hostile weight steps faults guards guards-swift annotate log swift tool export fleet delivery preload
here=$(dirname "$0")
programs=$build/Benchmarks
directory=$(mktemp -d "${TMPDIR:-/tmp}/launchguard-bench-XXXXXX")
memory=$(mktemp -d /dev/shm/launchguard-bench-XXXXXX 2>/dev/null) || memory=
running=
failed=0
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
echo "$(date -u +%Y-%m-%dT%H:%M:%SZ)  $(uname -srm)  ${model:-unknown CPU}, $(nproc) CPUs, load $(cut -d ' ' -f 1-3 /proc/loadavg)"
echo "$rounds rounds, each in a random order; differences and ratios are those of one round; the core as it is shipped"

# SECONDS COMMAND...: in a process group of its own, ended after its time; in the background, so
# that the script handles a signal at once
limit() {
    timeout -k 5 "$@" &
    running=$!
    wait "$running" || { echo "$2 did not finish" >&2; failed=1; }
    running=
}
some=$(((rounds + 2) / 3))

# COMMAND...: in a directory on the disk and in one in memory
both() {
    command=$1
    for place in "$directory" $memory; do
        printf '\nState directory in %s (%s)\n' "${place%/*}" "$(stat -f -c %T "$place")"
        limit 180 "$programs/$command" "$place" "$rounds"
    done
}
for table; do
    case $table in
    start | launch) both "bench-$table" ;;
    start-quick) limit 120 "$programs/bench-start" "$directory" "$rounds" ;;
    crash) limit 400 "$programs/bench-crash" "$directory/crash" "$rounds" ;;
    crash-quick) limit 120 "$programs/bench-crash" "$directory/crash" "$rounds" quick ;;
    hostile) limit 120 "$programs/bench-hostile" "$directory/hostile" ;;
    weight)
        strip -o "$directory/stripped" "$build/liblaunchguard.so" || true
        limit 120 "$programs/bench-weight" "$directory" "$some" "$directory/stripped"
        ;;
    steps) limit 60 "$programs/bench-steps" "$directory" "$rounds" ;;
    faults) limit 60 "$programs/bench-faults" "$directory/faults" "$rounds" ;;
    guards) limit 120 "$programs/bench-guards" "$directory/guards" "$rounds" ;;
    guards-swift) # the release build of `make bench`
        [ ! -x Tools/.build/release/bench-guards-swift ] || limit 120 Tools/.build/release/bench-guards-swift "$directory/guards-swift" "$rounds"
        ;;
    annotate) limit 60 "$programs/bench-annotate" "$directory/annotate" "$rounds" ;;
    log) limit 300 "$here/log/run.sh" "$build" "$some" ;;
    swift) # the release build of `make bench`
        [ ! -x Tools/.build/release/bench-log-swift ] || limit 60 Tools/.build/release/bench-log-swift "$directory/log-swift" "$rounds"
        ;;
    tool) # the release build of `make bench`
        [ ! -x Tools/.build/release/launchguard ] || limit 300 python3 -B "$here/tool.py" "$build" Tools/.build/release/launchguard --rounds "$some"
        ;;
    export) # the same build
        [ ! -x Tools/.build/release/launchguard ] || limit 300 python3 -B "$here/export.py" "$build" Tools/.build/release/launchguard --rounds "$some"
        ;;
    fleet) # the same
        [ ! -x Tools/.build/release/launchguard-fleet ] || limit 600 python3 -B "$here/fleet.py" "$build" Tools/.build/release/launchguard --rounds "$some"
        ;;
    delivery) limit 300 python3 -B "$here/delivery.py" "$build" --rounds "$some" ;;
    preload) # the release build of `make bench`
        [ ! -x Tools/.build/release/launchguard-run ] || tool="--tool Tools/.build/release/launchguard-run"
        limit 300 python3 -B "$here/preload.py" "$build" ${tool-} --rounds "$some"
        ;;
    *) echo "unknown table: $table" >&2; failed=1 ;;
    esac
done
exit $failed
