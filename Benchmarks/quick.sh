#!/bin/sh
# Start, crash and weight of the core as it is shipped, beside their floors, in under a minute.
# Benchmarks/quick.sh [BUILD_DIR [ROUNDS [start|crash|weight]...]]
#
# Builds what it runs, with the preset "gcc" if there is no BUILD_DIR yet. Nothing fails because of
# a figure.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/gcc}
rounds=${2:-30}
[ $# -lt 2 ] || shift
[ $# -lt 1 ] || shift
tables=${*:-start crash weight}
[ -f "$build/build.ninja" ] || cmake --preset gcc -B "$build" >/dev/null
cmake --build "$build" --target bench-quick >"$build/bench-quick.log" 2>&1 || { cat "$build/bench-quick.log"; exit 1; }
directory=$(mktemp -d "${TMPDIR:-/tmp}/launchguard-bench-XXXXXX")
running=
leave() { # also on interruption: neither processes nor files stay
    if [ -n "$running" ]; then
        kill "$running" 2>/dev/null || true
        wait "$running" 2>/dev/null || true
    fi
    rm -rf "$directory"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
limit() { # in the background, so that the script handles a signal at once
    timeout -k 5 "$@" &
    running=$!
    wait "$running" || echo "$2 did not finish" >&2
    running=
}
. Benchmarks/machine.sh
for table in $tables; do
    case $table in
    start) limit 60 "$build/Benchmarks/bench-start" "$directory" "$rounds" ;;
    crash) limit 60 "$build/Benchmarks/bench-crash" "$directory/crash" "$rounds" quick ;;
    weight)
        limit 60 "$build/Benchmarks/bench-weight" "$directory" "$(((rounds + 1) / 2))"
        strip -o "$directory/stripped" "$build/liblaunchguard.so"
        echo "Shared library, stripped, KiB:  $(($(stat -c %s "$directory/stripped") / 1024))"
        ;;
    esac
done
