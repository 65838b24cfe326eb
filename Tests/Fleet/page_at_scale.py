"""The statements that docs/FLEET-AT-SCALE.md names, and a PostgreSQL of one's own for them."""
import glob
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "Examples/fleet-at-scale"
TABLES = ROOT / "Tools/Sources/launchguard-fleet/postgresql.sql"  # for psql, of the tool
QUERIES = "devices", "shares", "versions", "traits"


def statements(name):
    return (TABLES if name == "postgresql" else EXAMPLES / (name + ".sql")).read_text(encoding="utf-8")


class Missing(Exception):
    """There is no PostgreSQL to start."""


class Server:
    """On a socket in a folder that `stop` removes, with a copy of a folder or file of rows."""

    def __init__(self, limit_s, rows=None):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        if not programs:
            raise Missing("no PostgreSQL (Debian: postgresql)")
        self.programs, self.limit_s, self.user = pathlib.Path(programs[-1]).parent, limit_s, []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-postgresql-"))
        # A server does not run as root.
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam("postgres")
            except KeyError:
                shutil.rmtree(self.folder)
                raise Missing("no user postgres") from None
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        if rows and rows.is_dir():
            shutil.copytree(rows, self.folder / "rows")
        elif rows:
            shutil.copy(rows, self.folder)
        for path in self.folder, *self.folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        self.run("initdb", "-D", self.folder / "data", "-A", "trust", "--no-sync")
        self.run("pg_ctl", "-D", self.folder / "data", "-o", f"-c listen_addresses='' -k {self.folder} -c fsync=off", "-l", self.folder / "log", "-w", "start")

        self.address = f"postgres:///postgres?host={self.folder}&user={pwd.getpwuid(os.stat(self.folder).st_uid).pw_name}"

    def stop(self):
        if (self.folder / "data/postmaster.pid").exists():
            self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder)

    def run(self, name, *arguments, text=None):
        result = subprocess.run([*self.user, self.programs / name, *arguments], input=text, capture_output=True, text=True, check=False, cwd=self.folder,
                                timeout=self.limit_s, start_new_session=True)
        if result.returncode != 0:
            raise AssertionError(f"{name}: {result.stderr}{result.stdout}")
        return result.stdout

    def rows(self, text, **variables):
        """The rows of the statements, as lists of texts."""
        values = [word for name, value in variables.items() for word in ("-v", f"{name}={value}")]
        output = self.run("psql", "-h", self.folder, "-d", "postgres", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *values, text=text)
        return [line.split("|") for line in output.splitlines()]
