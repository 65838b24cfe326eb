"""The ABI of each shared library is the one that is stored here: functions, and every field of the
structures of the public headers.

test_abi.py LIBRARY… compares; test_abi.py --write LIBRARY… stores what the libraries have now, for
a change that is meant and named "ABI:" in its commit. Programs go on with a function that is new,
and with a field at the end of a structure that begins with its size, and with no other change. The
libraries have debug information.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADERS = ROOT / "include"
# Private structures: those whose files have the name of a public header are dropped by their names;
# those that programs have handles of are not compared.
DROPPED = "[suppress_type]\n  name_regexp = ^lg__\n  drop = yes\n"
IGNORED = "[suppress_type]\n  name_regexp = ^lg_(session|launch|reader)$\n"
SKIPPED = 77


def dump(library):
    return HERE / (re.sub(r"^lib|\.so.*$", "", pathlib.Path(library).name) + ".abi")


def run(suppressed, *command):
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
        file.write(suppressed)
        file.flush()
        return subprocess.run([*command, "--suppr", file.name], timeout=600).returncode


def write(library, to):
    if run(DROPPED, "abidw", "--headers-dir", HEADERS, "--drop-private-types", "--exported-interfaces-only", "--no-show-locs", "--no-corpus-path",
           "--no-comp-dir-path", "--no-elf-needed", "--no-write-default-sizes", "--out-file", to, library):
        sys.exit("abidw failed")
    # The same from every checkout, and as small as can be: the indentation says nothing.
    to.write_text("".join(line.lstrip().replace(" visibility='default'", "").replace(f"path='{ROOT}/", "path='") for line in to.read_text().splitlines(True)))


def has_changed(library):
    if not dump(library).exists():
        print(f"{dump(library).name} is missing")
        return True
    with tempfile.TemporaryDirectory() as directory:
        now = pathlib.Path(directory) / dump(library).name
        write(library, now)
        return run(IGNORED, "abidiff", dump(library), now) != 0


def main(arguments):
    if not shutil.which("abidiff"):
        print("left out: there is no abidiff, which is in the Debian package abigail-tools")
        return SKIPPED
    if platform.machine() != "x86_64":
        print("left out: what is stored is the ABI on x86_64")
        return SKIPPED
    if arguments[0] == "--write":
        for library in arguments[1:]:
            write(library, dump(library))
        return 0
    if any([has_changed(library) for library in arguments]):
        print("Where the change is meant: python3 -B Tests/ABI/test_abi.py --write", *(os.path.relpath(library, ROOT) for library in arguments))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
