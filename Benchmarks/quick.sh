#!/bin/sh
# Build the programs, then measure start, crash and weight, beside their floors, in under a
# minute. Benchmarks/quick.sh [BUILD_DIR [ROUNDS [TABLE...]]], as of run.sh
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/gcc}
rounds=${2:-30}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- start-quick crash-quick weight
[ -f "$build/build.ninja" ] || cmake --preset gcc -B "$build" >/dev/null
cmake --build "$build" --target bench-quick >"$build/bench-quick.log" 2>&1 || { cat "$build/bench-quick.log"; exit 1; }
exec Benchmarks/run.sh "$build" "$rounds" "$@"
