#!/usr/bin/env python3
"""docs/FLEET-AT-SCALE.md in PostgreSQL: test_scale.py --tool T --victim V --copies C

A server of its own, on a socket in a folder that the test removes, loads what `collect --to`
writes, as the page says, and counts as `top` does. Left out where there is no PostgreSQL.
"""
import glob
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile

import fleet_case
import operator_case
from fleet_case import FleetCase
from operator_case import ROOT

PAGE = (ROOT / "docs/FLEET-AT-SCALE.md").read_text(encoding="utf-8")


class PostgreSQL(FleetCase):
    def server(self):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        if not programs:
            self.leave_out("no PostgreSQL (Debian: postgresql)")
        self.programs = pathlib.Path(programs[-1]).parent
        # A server does not run as root.
        self.user = []
        folder = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-postgresql-"))
        self.addCleanup(shutil.rmtree, folder)
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam("postgres")
            except KeyError:
                self.leave_out("no user postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
            self.user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        self.run_program("initdb", "-D", folder / "data", "-A", "trust", "--no-sync")
        self.run_program("pg_ctl", "-D", folder / "data", "-o", f"-c listen_addresses='' -k {folder} -c fsync=off", "-l", folder / "log", "-w", "start")
        self.addCleanup(self.run_program, "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
        return folder

    def run_program(self, name, *arguments, text=None, cwd="/"):
        result = subprocess.run([*self.user, self.programs / name, *arguments], input=text, capture_output=True, text=True, check=False, cwd=cwd,
                                timeout=operator_case.LIMIT_S, start_new_session=True)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return result.stdout

    def test_the_page(self):
        for device in range(5):
            for number, end in enumerate(["clean", "write", "abort", "exit", "write"][:device + 1], 1):
                self.copy(end, f"d{device}", number, day=number, machine=f"{device + 1:032x}")
        self.collect("--to", self.directory / "rows", self.write_copies(), symbols=True)
        folder = self.server()
        shutil.copytree(self.directory / "rows", folder / "rows")
        for path in folder, folder / "rows", *(folder / "rows").iterdir():
            path.chmod(0o755 if path.is_dir() else 0o644)
        script = "".join(re.findall(r"^```(?:sql)?\n(.*?)^```", PAGE, re.M | re.S))
        output = self.run_program("psql", "-h", folder, "-d", "postgres", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", text=script, cwd=folder)
        found = [line.split("|") for line in output.splitlines()]
        wanted = [[group["bug"], group["app"], str(group["devices"]), str(group["runs"]), group["headline"]] for group in self.top()]
        self.assertEqual(len(wanted), 3)
        self.assertEqual(sorted(found), sorted(wanted))
        self.assertEqual(found[0], wanted[0])


if __name__ == "__main__":
    fleet_case.main()
