#!/bin/sh
# A supervisor in one page, for a container's process 1 or where there is no service manager:
#
#   supervise.sh STATE PROGRAM [ARGUMENTS]
#
# PROGRAM is started again until it ends as it or its user wanted, until this script is asked to
# end, or until LaunchGuard halts the launch (exit status 20).
state=$1
shift
# Seconds before the second start; each later pause is twice as long, up to a minute.
pause=${PAUSE:-1}
child=
asked=

# A shell that is process 1 gets only signals that it has a trap for.
ask() {
    asked=yes
    [ -z "$child" ] || kill -TERM "$child" 2>/dev/null
}
trap ask TERM INT HUP

# A shell gives /dev/null to programs in the background, so that this one is handed on.
exec 3<&0
while :; do
    "$@" <&3 &
    child=$!
    # A trap ends wait early.
    while wait "$child"; status=$?; kill -0 "$child" 2>/dev/null; do :; done
    launchguard witness "$state" "$child" "$status"
    launchguard verdict "$state" >&2
    verdict=$?
    [ -z "$asked" ] || exit "$status"
    case $verdict in
    0) exit "$status" ;;
    20) exit 20 ;;
    # No run is known: the program did not come to lg_start().
    [1-9]) [ "$status" -ne 0 ] || exit 0 ;;
    esac
    child=
    sleep "$pause" &
    wait $!
    [ -z "$asked" ] || exit "$status"
    pause=$((pause * 2 > 60 ? 60 : pause * 2))
done
