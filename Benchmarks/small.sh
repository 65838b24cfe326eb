#!/usr/bin/env bash
# small.sh BUILD: the tables of docs/SMALL.md. What a program that starts a session and writes one
# entry of the ring log weighs on flash, stripped, and what each way to make it smaller saves; then
# the state directory with each configuration.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd) build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/program.c" <<'C'
#ifdef SESSION
#include <launchguard/launchguard.h>
#endif
int main(int count, char **arguments)
{
#ifdef SESSION
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    options.app_id = "org.example.small";
    options.state_directory = arguments[1];
    lg_start(&options, &session);
    lg_log(session, LG_LEVEL_INFO, "small");
#else
    (void)arguments;
#endif
    return count;
}
C

kib() { strip -o "$work/stripped" "$1" && echo $((($(stat -c %s "$work/stripped") + 1023) / 1024)); }
row() { printf '| %s | %s |\n' "$1" "$2"; }
program() { # COMPILER FLAG…
    "$@" -Os -I "$root/include" -o "$work/program" 2>/dev/null || { echo "not built"; return; }
    kib "$work/program"
}

echo "| on flash, stripped, KiB | |"
echo "|---|---|"
row "the shared library" "$(kib "$build/liblaunchguard.so.0")"
row "the shared library of the reader" "$(kib "$build/liblaunchguard-reader.so.0")"
row "the program without LaunchGuard" "$(program gcc "$work/program.c")"
library=$build/liblaunchguard.a
row "with the static library" "$(program gcc -DSESSION "$work/program.c" "$library")"
row "the same with \`-Wl,--gc-sections\`" "$(program gcc -DSESSION "$work/program.c" "$library" -Wl,--gc-sections)"
row "no shared library at all (\`-static\`), without LaunchGuard" "$(program gcc -static "$work/program.c")"
row "the same with LaunchGuard and \`--gc-sections\`" "$(program gcc -static -DSESSION "$work/program.c" "$library" -Wl,--gc-sections,--eh-frame-hdr)"
musl=$root/build/musl/liblaunchguard.a
if command -v musl-gcc >/dev/null && [ -f "$musl" ]; then
    row "\`-static\` against musl, without LaunchGuard" "$(program musl-gcc -static "$work/program.c")"
    row "the same with LaunchGuard and \`--gc-sections\`" "$(program musl-gcc -static -DSESSION "$work/program.c" "$musl" -Wl,--gc-sections,--eh-frame-hdr)"
fi
echo
"$build/Tests/Core/test-session-small" | grep 'state directory'
