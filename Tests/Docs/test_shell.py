"""Sources/CLaunchGuardShell/nothing.c has every public function for which the shell needs no code:
it does nothing, and returns what its documentation allows for that.

test_shell.py checks the file; test_shell.py --write makes it. A function that does more is written
by hand in another file of the folder, or in the shell of the typed guards, and is left out here.
"""
import pathlib
import re
import sys
import unittest

from test_statuses import Headers

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHELL = ROOT / "Sources/CLaunchGuardShell"
MADE = SHELL / "nothing.c"
DECLARATION = re.compile(r"^LG_API ((?:[\w]+[ *]+)+)(\w+)(\((?:[^;])*?\))(?: LG_\w+\([\d, ]*\))?;", re.M)
# What a call without an effect returns: the first of these that its documentation has.
NOTHING = "LG_ERR_UNPROTECTED", "LG_ERR_UNSUPPORTED", "LG_ERR_STATE", "LG_ERR_ARGUMENT"
HANDLE = re.compile(r"\((?:const )?(?:lg_session|lg_launch) \*(\w+)")
HEAD = """/* Every public function that does nothing here, as `Tests/Docs/test_shell.py --write` makes it from
 * the headers. A reader is never opened, so that no call has one. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
"""


def declarations():
    """(Header, its functions: type, name, parameters), in the order of the headers."""
    for path in sorted((ROOT / "include/launchguard").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        yield path.name, [(kind.strip(), name, " ".join(parameters.split())) for kind, name, parameters in DECLARATION.findall(text)]


def written_by_hand():
    text = "".join(path.read_text() for path in sorted((ROOT / "Sources").glob("CLaunchGuard*Shell/*.c")) if path != MADE)
    names = (ROOT / "Sources/CLaunchGuard/store/names.c").read_text()  # names.c includes it
    return set(re.findall(r"^[\w ]*[ *](lg_\w+)\([^;{}]*\)\n\{", text + names, re.M))


def value(kind, name, parameters, headers):
    if "lg_reader *" in parameters.split(",")[0] and kind == "lg_status":
        return "LG_ERR_ARGUMENT"
    if kind != "lg_status":
        return {"void": None, "const char *": '""'}.get(kind, "0" if kind[0] != "l" else "(%s)0" % kind)
    status = next((status for status in NOTHING if status in headers.statuses(name)), None)
    if not status:
        raise AssertionError(f"{name} has no status for a call that does nothing: write its shell by hand, in {SHELL.relative_to(ROOT)}")
    handle = HANDLE.match(parameters)
    return status if not handle or status == "LG_ERR_ARGUMENT" else f"{handle[1]} ? {status} : LG_ERR_ARGUMENT"


def text():
    headers, by_hand, includes, bodies = Headers(), written_by_hand(), [], []
    for header, functions in declarations():
        functions = [function for function in functions if function[1] not in by_hand]
        includes += [f'#include "launchguard/{header}"'] if functions else []
        for kind, name, parameters in functions:
            returned = value(kind, name, parameters, headers)
            space = "" if kind.endswith("*") else " "
            bodies.append(f"\n{kind}{space}{name}{parameters}\n{{\n" + (f"    return {returned};\n" if returned else "") + "}\n")
    return HEAD + "\n".join(includes) + "\n" + "".join(bodies) + "#endif\n"


class Shell(unittest.TestCase):
    def test_the_file_is_what_the_headers_make(self):
        self.assertEqual(MADE.read_text(), text(), f"python3 -B {pathlib.Path(__file__).relative_to(ROOT)} --write makes it anew")

    def test_every_declaration_is_understood(self):
        functions = {name for _, found in declarations() for _, name, _ in found}
        for path in (ROOT / "include/launchguard").glob("*.h"):
            self.assertEqual(set(re.findall(r"^LG_API[^;]*?(lg_\w+)\(", path.read_text(), re.M)) - functions, set(), path.name)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        MADE.write_text(text())
    else:
        unittest.main()
