#!/usr/bin/env python3
"""Lives of one program, one after the other, for $DAY_MINUTES: they log, crash, are repaired, are
killed, inspected and followed, and deliver, while the network comes and goes, the disk is full now
and then, and the clock is set. Nothing grows: memory, descriptors, disk and the time of a start
are the same at the end. No report is lost or doubled."""
import os
import pathlib
import signal
import statistics
import struct
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Delivery"), str(HERE.parent / "Support")]
import seeds  # noqa: E402
from delivery import AGENT, LIMIT, DeliveryTest, agents_of, status_of  # noqa: E402
from waiting import wait_until  # noqa: E402

PROGRAM, SHIFTED, TOOL = (os.environ[name] for name in ("PROGRAM", "SHIFTED", "TOOL"))
MINUTES = float(os.environ.get("DAY_MINUTES") or 1)

# What comes next: one life, or a loop that a repair ends.
ENDS = [["crash"]] * 4 + [["abort"]] * 2 + [["early"] * 3] * 2 + [["exit"]] * 2 + [["wait"]]
STATUS = {"crash": -signal.SIGSEGV, "abort": -signal.SIGABRT, "early": -signal.SIGSEGV, "exit": 0, "wait": -signal.SIGKILL}
REPORTED = {"crash", "abort", "early", "wait"}
DISK_BYTES = 24 << 20
LEFT_BYTES = 256 << 10  # of a disk that is nearly full
YEAR_S = 365 * 24 * 3600

# name of a curve: unit, and what its last quarter may have more than its first beyond a tenth
CURVES = {"start": ("us", 2000), "descriptors": ("", 0), "memory": ("KiB", 64), "disk": ("KiB", 4096), "files": ("", 8), "agent": ("KiB", 1024),
          "agent descriptors": ("", 2)}
PARTS = 8


class Day(DeliveryTest):
    def setUp(self):
        super().setUp()
        self.disk = self.mounted()
        self.shift = self.folder / "shift"
        self.shift.write_bytes(struct.pack("<q", 0))
        self.environment |= {"LD_PRELOAD": SHIFTED, "DAY_SHIFT": str(self.shift)}
        self.agent_path = self.folder / "agent"  # which gets no variables of the loader
        self.agent_path.write_text("#!/bin/sh\nexport LD_PRELOAD='%s'\nexec '%s' \"$@\"\n" % (SHIFTED, AGENT))
        self.agent_path.chmod(0o755)
        self.curves = {name: [] for name in CURVES}
        self.ends = {}
        self.bad = self.doubtful = self.repairs = self.entries_logged = self.calls = 0

    def mounted(self):
        """A small file system for the state directory, which only this process sees."""
        self.state.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % DISK_BYTES, "day", str(self.state)], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            print("left out: a disk that is full: " + done.stderr.strip())
            return False
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.state)])
        return True

    # ---- what happens ----

    def set_clock(self, seconds):
        with open(self.shift, "r+b") as file:
            file.write(struct.pack("<q", seconds))

    def fill_disk(self, full):
        filler = self.state / "filler"
        if not full:
            filler.unlink(missing_ok=True)
            return
        free = os.statvfs(self.state)
        size = free.f_bavail * free.f_frsize - LEFT_BYTES
        if size > 0:
            with open(filler, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)

    def tool(self, *words):
        done = subprocess.run([TOOL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT, env=self.environment)
        self.assertTrue(done.returncode in (0, 1) or words[0] == "verdict" and done.returncode >= 10, (words, done.stdout[-2000:], done.stderr))
        self.calls += 1

    def live(self, end, milliseconds, full, followed):
        output = open(self.folder / "output", "w+")
        child = subprocess.Popen([PROGRAM, str(self.state), self.server_of_day.url(), str(self.agent_path), str(milliseconds), end], stdin=subprocess.DEVNULL,
                                 stdout=output, stderr=subprocess.DEVNULL, start_new_session=True, env=self.environment)
        self.children.append(child)
        follower = subprocess.Popen([TOOL, "log", "--follow", str(self.state)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL, env=self.environment) if followed else None
        if follower:
            self.children.append(follower)
        said = lambda: (self.folder / "output").read_text()  # noqa: E731
        if end == "wait":
            wait_until(lambda: "ready: 1" in said() or child.poll() is not None, "the program is ready")
            child.kill()
        child.wait(LIMIT)
        self.children.remove(child)
        output.close()
        if follower:
            follower.kill()
            follower.wait(LIMIT)
            self.children.remove(follower)
        # safe mode leaves the task out
        self.assertIn(child.returncode, (STATUS[end], 0) if end == "early" else (STATUS[end],), said())
        figures = dict(line.split(": ", 1) for line in said().splitlines())
        self.repairs += "repaired" in figures
        self.entries_logged += int(figures.get("entries", 0))
        if end in REPORTED and child.returncode:
            self.doubtful += full
            self.bad += not full
        return figures

    def sample(self, figures):
        found = {name: int(figures[name]) for name in ("start", "descriptors", "memory") if name in figures}
        paths = [path for path in self.state.rglob("*") if path.name != "filler"]
        for agent in agents_of(self.folder)[:1]:
            found["agent"] = int(status_of(agent, "RssAnon").split()[0])
            found["agent descriptors"] = len(os.listdir("/proc/%d/fd" % agent))
        found["files"] = len([path for path in paths if path.parent.name == "runs"])
        found["disk"] = sum(path.lstat().st_blocks for path in paths if "spool" not in path.parts) // 2
        for name, value in found.items():
            self.curves[name].append(value)

    # ---- what is true at the end ----

    def print_curves(self):
        for name, values in self.curves.items():
            parts = [values[len(values) * part // PARTS:len(values) * (part + 1) // PARTS] for part in range(PARTS)]
            print("%-18s %4s " % (name, CURVES[name][0]) + " ".join("%7d" % statistics.median(part) if part else "      -" for part in parts), flush=True)

    def check_curves(self):
        for name, values in self.curves.items():
            quarter = max(1, len(values) // 4)
            first, last = statistics.median(values[:quarter]), statistics.median(values[-quarter:])
            self.assertLessEqual(last, first * 1.1 + CURVES[name][1], name)

    def reports(self):
        """Identity of each report that came → how many runs it stands for."""
        found = {}
        for request in self.server_of_day.accepted():
            if request.headers["x-launchguard-part"] == "brief":
                identity = request.headers["idempotency-key"]
                self.assertNotIn(identity, found, "a report came twice")
                found[identity] = request.json().get("counted") or 1 + int(request.headers.get("x-launchguard-more", 0))
        return found

    def until_reported(self):
        def is_done():
            if not self.entries("pending", "owed", "held"):
                return True
            if not (self.spool / "nudge").exists():
                self.nudge()
            return False
        wait_until(is_done, lambda: "all is reported: %s\n%s" % (self.entries("pending", "owed", "held"), self.log()[-3000:]))

    def test_a_day(self):
        draw, _ = next(seeds.draws("day"))
        self.server_of_day = self.server()
        until = time.monotonic() + 60 * MINUTES
        lives = clocks = nights = 0
        full, plan = False, ["early"] * 3
        while time.monotonic() < until:
            if draw.random() < 0.1:
                self.set_clock(draw.choice((0, draw.randrange(-YEAR_S, YEAR_S))))
                clocks += 1
            if draw.random() < 0.1:
                (self.server_of_day.down if self.server_of_day._listener else self.server_of_day.up)()
                nights += 1
            if self.disk and draw.random() < 0.1:
                full = not full
                self.fill_disk(full)
            plan = plan or list(draw.choice(ENDS))
            end = plan.pop()
            figures = self.live(end, draw.choice((400, 700, 1500)), full, followed=draw.random() < 0.3)
            self.ends[end] = self.ends.get(end, 0) + 1
            if draw.random() < 0.3:
                for words in (["list"], ["inspect", "--last", "crash"], ["verdict"]):
                    self.tool(*words, str(self.state))
            if not full:
                self.sample(figures)
            lives += 1
        self.fill_disk(False)
        self.set_clock(0)
        if not self.server_of_day._listener:
            self.server_of_day.up()
        self.live("exit", 400, False, followed=False)
        self.until_reported()
        reports = self.reports()
        crashes = sum(reports.values())
        print("%g minutes, %d lives: %s; %d entries, %d repairs, %d calls of the tool, %d times the clock was set, %d times the network changed; "
              "%d reports stand for %d of %d crashes and kills, %d of them on a full disk" %
              (MINUTES, lives, ", ".join("%s %d" % pair for pair in sorted(self.ends.items())), self.entries_logged, self.repairs, self.calls, clocks, nights,
               len(reports), crashes, self.bad + self.doubtful, self.doubtful))
        self.print_curves()
        # where the disk is full a run may have no file, and is counted by the ledger alone
        self.assertGreaterEqual(crashes, self.bad, "reports are lost")
        self.assertLessEqual(crashes, self.bad + self.doubtful, "reports came twice")
        self.assertGreater(self.repairs, 0)
        self.check_curves()


if __name__ == "__main__":
    if os.geteuid() == 0 and not os.environ.get("DAY_ALONE"):
        os.execvpe("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", *sys.argv], os.environ | {"DAY_ALONE": "1"})
    unittest.main()
