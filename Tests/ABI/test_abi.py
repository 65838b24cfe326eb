"""The ABI of each shared library is the one that is stored here: functions, and every field of the
structures of the public headers. Each public function is in one of the libraries.

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


def are_shared_out(libraries):
    """Does one library, and no other, export each function of the public headers?"""
    declared = set()
    for header in (HEADERS / "launchguard").glob("*.h"):
        declared |= set(re.findall(r"^LG_API[^;(]*?(lg_\w+)[(;]", header.read_text(), re.M))
    exported = []
    for library in libraries:
        lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout.splitlines()
        exported += [name for name in (line.split()[-1].split("@")[0] for line in lines) if re.match("lg_[^_]", name)]
    for name in sorted(declared | set(exported)):
        if name not in declared or exported.count(name) != 1:
            print(f"{name}: {'declared' if name in declared else 'not declared'}, and exported by {exported.count(name)} libraries")
    return sorted(exported) == sorted(declared)


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
    if not are_shared_out(arguments):
        return 1
    if any([has_changed(library) for library in arguments]):
        print("Where the change is meant: python3 -B Tests/ABI/test_abi.py --write", *(os.path.relpath(library, ROOT) for library in arguments))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
