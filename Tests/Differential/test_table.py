#!/usr/bin/env python3
"""Each program of the table lives twice without `launchguard run` and once with it. What differs
between the first two is noise; all else is the same with the tool, and the records list the deaths
that there were and no other."""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Preload")]
from loadable import loadable
from row import Noise, differences
from rows import ROWS

# Debian's programs, and a compiler that came in another way.
PATH = ":".join(["/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"] + [os.path.dirname(found) for name in ("rustc", "clang") if (found := shutil.which(name))])
RUST = {name: os.environ.get(name) or os.path.expanduser(folder) for name, folder in (("RUSTUP_HOME", "~/.rustup"), ("CARGO_HOME", "~/.cargo"))}
WELL = "clean", "exit", "terminated"
PLAIN_MOST = 5  # lives without the tool, where two of them do not show all that may be


def unlike(deaths, others):
    """The deaths that are not among others. The tool cannot know of SIGKILL where the parent has
    waited for the process before the tool saw its run: the end is unknown then."""
    unknown = {death.replace(" killed SIGKILL", " unknown") for death in others}
    return {death for death in deaths if death not in others and death.replace(" killed SIGKILL", " unknown") not in unknown}


def without_known(row, found, known):
    """Lines of differences without those that are known, which `known` gets by their reasons."""
    for expression, reason in row.known:
        matching = [line for line in found if re.search(expression, line)]
        found = [line for line in found if line not in matching]
        if matching:
            known[reason] = matching[0][:200]
    return found


class Table:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        (folder / "bin").mkdir()
        self.programs = {"FACTS": self.build("facts", "-static", "-DBARE"), "PROGRAM": self.build("program")}
        self.room = os.geteuid() == 0 and not options.no_room
        self.ports = {}

    def build(self, name, *options):
        path = self.folder / "bin" / name
        subprocess.run([os.environ.get("CC", "cc"), "-O1", *options, "-o", path, HERE / "facts.c"], check=True)
        return str(path)

    def reason(self, row):
        """Why a row cannot be lived here; nothing: it can."""
        first = [] if isinstance(row.command, str) or row.command[0].startswith(("/", ".", "$")) else row.command[:1]
        for name in row.needs.split() + first:
            if not shutil.which(name, path=PATH):
                return "%s is not installed" % name
        if (row.needs_root or row.user or row.mounts) and not self.room:
            return "it needs root"
        return ""

    def port(self):
        """A free one of this machine, for a life that shares it."""
        with socket.socket() as any_socket:
            any_socket.bind(("127.0.0.1", 0))
            return any_socket.getsockname()[1]

    def prepare(self, row, place, is_under):
        shutil.rmtree(place, ignore_errors=True)
        for name in "home", "tmp", "work", "bin":
            (place / name).mkdir(parents=True)
            if row.user:
                shutil.chown(place / name, row.user)
        records = self.records(row)
        if is_under:
            shutil.rmtree(records, ignore_errors=True)
            records.mkdir(parents=True)
            records.chmod(0o1777)
        tool = [self.options.tool, "run", "--directory", str(records), *["--quiet"] * (not row.has_run), "--"] if is_under else []
        under = place / "bin/under"
        under.write_text("#!/bin/sh\nexport LAUNCHGUARD_PRELOAD='%s'\nexec %s \"$@\"\n" % (self.options.preload, " ".join("'%s'" % word for word in tool)))
        under.chmod(0o755)
        command = ["sh", "-c", row.command] if isinstance(row.command, str) else [self.programs.get(part[1:], part) for part in row.command]
        return command if row.is_outer else tool + command

    def records(self, row):
        return self.folder / "records" / str(ROWS.index(row))

    def live(self, row, is_under, first):
        place = self.folder / str(ROWS.index(row))  # short, as paths of sockets are
        command = self.prepare(row, place, is_under)
        environment = {"PATH": "%s/bin:%s" % (place, PATH), "HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), "SHELL": "/bin/sh", "LANG": "C.UTF-8", "TERM": "dumb",
                       **self.programs, **RUST, "PORT": str(self.ports.setdefault(row.name, self.port())), "USER": row.user or "root", "PS1": "$ ",
                       "LAUNCHGUARD_PRELOAD": str(self.options.preload), **row.environment}
        (place / "input").write_text(row.input)
        plan = {"command": command, "environment": environment, "folder": str(place / "work"), "input": str(place / "input"), "steps": row.steps,
                "user": row.user, "before": row.before, "mounts": row.mounts, "stays": row.stays, "limit": row.limit,
                "trees": [str(place / name) for name in ("home", "tmp", "work")], "room": self.room, "first": first}
        done = subprocess.run([sys.executable, "-B", HERE / "life.py"], input=json.dumps(plan), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=row.limit + 120)
        if done.returncode or not done.stdout:
            return {"lost": "the life itself failed: " + done.stderr[-2000:], "output": "", "errors": "", "alive": [], "first": first}
        return {**json.loads(done.stdout), "first": first}

    def deaths(self, row, status):
        """The bad ends among the runs, and that of the program where no run has it."""
        done = subprocess.run([self.options.tool, "list", "--json", self.records(row)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        runs = [json.loads(line) for line in done.stdout.splitlines()]
        found, ends = [], set()
        for run in runs:
            # the file of a process that was killed while it began has no verdict
            verdict = run.get("verdict", {"end": "unknown"})
            ends.add(-verdict["signal"]["number"] if "signal" in verdict else verdict.get("exitCode", 0))
            if verdict["end"] not in WELL:
                found.append(" ".join(filter(None, [pathlib.Path(run["path"]).parts[-3], verdict["end"], verdict.get("signal", {}).get("name")])))
        if row.has_run and not row.is_outer and status not in ends | {0}:
            found.append("the end of the program, %s, is not recorded" % status)
        return sorted(found)

    def unlike_deaths(self, row, status):
        """Lines of deaths that are listed and were none, and of those that are not listed."""
        found = self.deaths(row, status)
        sure = [death for death in row.deaths if not death.startswith("perhaps ")]
        all_of_row = [death.removeprefix("perhaps ") for death in row.deaths]
        return ["deaths: +" + death for death in sorted(unlike(found, all_of_row))] + ["deaths: -" + death for death in sorted(unlike(sure, found))]

    def unlike_lives(self, row, plain, other, known):
        """Lines of what differs in the life with the tool."""
        try:
            return without_known(row, differences(row, *plain, other), known)
        except Noise as error:
            return [str(error)]

    def judge(self, row):
        """The result and its lines: same, known, left out or different."""
        if reason := self.reason(row):
            return "left out", [reason]
        begun = time.monotonic()
        plain = [self.live(row, False, 23000)]
        if plain[0].get("lost"):
            return "different", ["without the tool: " + plain[0]["lost"], plain[0]["output"], plain[0]["errors"], *plain[0]["alive"]]
        plain.append(self.live(row, False, 24000))
        other = self.live(row, True, 25000)
        if self.options.verbose:
            print(json.dumps(plain[0], indent=1), json.dumps(other, indent=1))
        known = {}
        is_lost = bool(other.get("lost"))  # the rest was killed
        deaths = [] if is_lost else without_known(row, self.unlike_deaths(row, other["status"]), known)
        found = self.unlike_lives(row, plain, other, known)
        # What a life without the tool may be, too, is no difference.
        while found and not is_lost and len(plain) < PLAIN_MOST:
            plain.append(self.live(row, False, 23000 + 1000 * len(plain)))
            if any(not self.unlike_lives(row, (one, one), other, known) for one in plain):
                found = []
        found += deaths + ["a known difference is gone; take it out of the row: %s" % reason for _, reason in row.known
                           if reason not in known and not reason.startswith("sometimes ")]
        if found and is_lost:
            found += ["alive: " + line for line in other["alive"]] + ["output: " + other["output"][-3000:], "errors: " + other["errors"][-2000:]]
        if found:
            return "different", found
        chance = ", as life %d without the tool" % len(plain) if len(plain) > 2 else ""
        return ("known", ["%s (%s)" % item for item in known.items()]) if known else ("same", ["%.1f s%s" % (time.monotonic() - begun, chance)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("preload", type=lambda path: str(loadable(path)))
    parser.add_argument("--long", action="store_true", help="all rows")
    parser.add_argument("--filter", help="an expression for the names of rows")
    parser.add_argument("--no-room", action="store_true", help="as an ordinary user does it")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep", action="store_true", help="the folder, with the records of the last lives")
    options = parser.parse_args()
    rows = [row for row in ROWS if (options.long or row.short or options.filter) and re.search(options.filter or "", row.name)]
    counts = {}
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-table-"))
        folder.chmod(0o755)
        if options.keep:
            print(folder)
        else:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        table = Table(options, folder)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            judged = {pool.submit(table.judge, row): row for row in sorted(rows, key=lambda row: -row.limit)}
            for done in concurrent.futures.as_completed(judged):
                row, (result, said) = judged[done], done.result()
                counts[result] = counts.get(result, 0) + 1
                if result == "same":
                    print("same: %s, %s" % (row.name, said[0]), flush=True)
                elif result == "left out":
                    print("left out: %s: %s" % (row.name, said[0]), flush=True)
                elif result == "known":
                    for line in said:
                        print("known difference: %s: %s" % (row.name, line), flush=True)
                else:
                    print("%s: %s" % (result.upper(), row.name), *said, sep="\n    ", flush=True)
    print("%d rows: %s" % (len(rows), ", ".join("%d %s" % (count, result) for result, count in sorted(counts.items()))))
    sys.exit(bool(counts.get("different")) or not rows)


if __name__ == "__main__":
    main()
