#!/usr/bin/env python3
"""Make golden files anew: make_golden.py BUILD [NAME ...]

BUILD is a CMake build folder with the format programs and the static library. Without names all of
them are made. Tests/Golden/README.md says what is in each.

The real ones are of this machine and this moment. Their program is built without a path of this
tree, and runs with an empty environment in a folder of its own."""
import json
import pathlib
import shutil
import subprocess
import sys

import reader

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN, WORK = ROOT / "Tests/Golden", pathlib.Path("/tmp/launchguard-golden")
LIVES = "crash crash task task".split()
WRITER = {"crash.lgrun": ["crash"] * 3, "task.lgrun": LIVES, "lanes.lgrun": ["lanes"], "late.lgrun": ["late"], "least.lgrun": ["least"],
          "callers.lgrun": ["callers"], "ledger.lg": LIVES + "fail finish fail finish kill announce stop".split()}
PARTS = {name + ".lgrun": name for name in ("later fields annotated live briefs torn near noted cpu busy agent guards executed functions async").split()}
PARTS |= {"parts.lgrun": "some", "system.lgrun": "system-full"}
LEDGERS = {name + ".lg": name for name in "story faults upgraded late omitted machine hint degraded".split()}


def said(*command):
    """The last line of a program, which may crash after it."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, env={}, cwd=WORK, timeout=120).stdout.split()[-1]


def make(build, name):
    state = WORK / "state"
    state.mkdir()
    if name in WRITER:
        path = [said(WORK / "writer", state, how) for how in WRITER[name]][-1]
        path = state / "ledger.lg" if name.endswith(".lg") else path
    elif name in PARTS:
        path = said(build / "format-parts", state, PARTS[name])
    else:
        path = said(build / "format-ledgers", state, LEDGERS[name])
    shutil.copyfile(path, GOLDEN / name)
    shutil.rmtree(state)
    (GOLDEN / (name + ".json")).write_text(json.dumps(reader.read(GOLDEN / name), indent=1) + "\n")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    WORK.mkdir()
    try:
        shutil.copyfile(ROOT / "Tests/Format/writer.c", WORK / "writer.c")
        subprocess.run(["cc", "-O0", "-g", "-D_GNU_SOURCE", "-I", ROOT / "include", "-o", "writer", "writer.c", build / "liblaunchguard.a", "-pthread"],
                       cwd=WORK, check=True)
        for name in sys.argv[2:] or [*WRITER, *PARTS, *LEDGERS]:
            make(build / "Tests/Format", name)
    finally:
        shutil.rmtree(WORK)


if __name__ == "__main__":
    main()
