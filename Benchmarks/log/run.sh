#!/bin/sh
# The cost of one append to a log, against peers. Benchmarks/log/run.sh BUILD_DIR [ROUNDS]
#
# LTTng-UST needs a session daemon. The script starts one with a home of its own, and stops it at
# the end. Programs of root would ask for the daemon of the whole system; root therefore runs all
# this as an ordinary user, from copies that this user may read.
set -eu
build=${1:?usage: Benchmarks/log/run.sh BUILD_DIR [ROUNDS]}
rounds=${2:-20}
programs=$build/Benchmarks/log
directory=$(mktemp -d "${TMPDIR:-/tmp}/launchguard-log-XXXXXX")
waits=$(echo /dev/shm/lttng-ust-wait-*)
daemon=
driver=

# Each command has a process group of its own with all its children. The group is ended after its
# time, after this script, and when a kill asks for it.
guard="setpriv --pdeathsig TERM -- timeout -k 5"
stop() {
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}
leave() { # also on interruption: neither processes nor files stay
    [ -z "$driver" ] || stop "$driver"
    [ -z "$daemon" ] || stop "$daemon"
    rm -rf "$directory"
    # LTTng never removes the pages on which its programs wait
    for page in /dev/shm/lttng-ust-wait-*; do
        case " $waits " in
        *" $page "*) ;;
        *) rm -f "$page" ;;
        esac
    done
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

as=
if [ "$(id -u)" -eq 0 ]; then
    mkdir "$directory/programs"
    cp "$programs"/writer-* "$programs/bench-append" "$build"/liblaunchguard.so.* "$directory/programs"
    chown -R 65534:65534 "$directory"
    as="setpriv --reuid=65534 --regid=65534 --clear-groups --"
    if LD_LIBRARY_PATH=$directory/programs $as "$directory/programs/bench-append" --try 2>/dev/null; then
        programs=$directory/programs
        export LD_LIBRARY_PATH="$programs"
    else
        as=
    fi
fi

home=$directory/home
ask_lttng() {
    LTTNG_HOME=$home $as lttng --no-sessiond --group=of-nobody "$@"
}
start_lttng() { # leaves LTTNG_READ, or LTTNG_MISSING
    unset LTTNG_READ LTTNG_MISSING
    [ -x "$programs/writer-lttng" ] || return 0
    for program in lttng lttng-sessiond babeltrace2; do
        command -v $program >/dev/null || { LTTNG_MISSING="$program is not installed"; return; }
    done
    if [ "$(id -u)" -eq 0 ] && [ -z "$as" ]; then
        LTTNG_MISSING="it would be root's daemon, for the whole system"
        return
    fi
    $as mkdir "$home"
    LTTNG_HOME=$home $as $guard 290 lttng-sessiond --no-kernel >"$directory/lttng.log" 2>&1 &
    daemon=$!
    tries=0
    until ask_lttng list >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ $tries -gt 50 ] || ! kill -0 "$daemon" 2>/dev/null; then
            LTTNG_MISSING="its session daemon did not start"
            return
        fi
        sleep 0.1
    done
    # The newest 4 MiB of each CPU, with the oldest overwritten: the nearest to a ring log.
    {
        ask_lttng create bench --snapshot --output "$home/recorded" &&
            ask_lttng enable-channel --userspace --overwrite --subbuf-size 1M --num-subbuf 4 ring &&
            ask_lttng add-context --userspace --channel ring --type vtid &&
            ask_lttng enable-event --userspace --channel ring 'launchguard_bench:*' &&
            ask_lttng start
    } >>"$directory/lttng.log" 2>&1 || { LTTNG_MISSING="it made no session"; return; }
    LTTNG_READ="rm -rf '$home/recorded'; lttng --no-sessiond --group=of-nobody snapshot record >/dev/null && babeltrace2 '$home/recorded' 2>/dev/null"
    LTTNG_HOME=$home
    export LTTNG_READ LTTNG_HOME
}
start_lttng
export LTTNG_MISSING

# the figures too are those of that user
figures=${BENCH_FIGURES-}
export BENCH_FIGURES="$directory/figures"
printf '\nLogs in %s (%s)\n' "${directory%/*}" "$(stat -f -c %T "$directory")"
$as $guard 280 "$programs/bench-append" "$directory" "$rounds" &
driver=$!
wait "$driver" && failed=0 || failed=$?
driver=
[ -z "$figures" ] || [ ! -f "$BENCH_FIGURES" ] || cat "$BENCH_FIGURES" >>"$figures"
exit $failed
