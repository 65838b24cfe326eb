"""A program with a window, of GTK, under `launchguard run`: it starts and dies as without it, and
the record names its callback. The screen is Xvfb's."""
import os
import signal
import subprocess
import unittest

import services_runtimes
from children import prepare
from programs import line


class Gtk(services_runtimes.Runtime):
    name, tools = "gtk", ("Xvfb", "cc", "pkg-config")

    @classmethod
    def build(cls):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gtk+-3.0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if flags.returncode != 0:
            raise unittest.SkipTest("libgtk-3-dev is not installed")
        cls.make(os.environ.get("CC", "cc"), "-g", "-O1", "-o", cls.name, services_runtimes.SOURCES / "gtk.c", *flags.stdout.split())
        screen = subprocess.Popen(["Xvfb", "-displayfd", "1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
                                  preexec_fn=prepare)
        cls.addClassCleanup(screen.communicate)
        cls.addClassCleanup(screen.terminate)
        cls.environment = {**os.environ, "DISPLAY": ":" + line(screen.stdout).decode().strip(), "GDK_BACKEND": "x11"}

    def command(self, way):
        return [self.folder / self.name, way]

    def under(self):
        return super().under("--log", self.directory / "log")

    def ends_as_without(self, way, status, headline):
        """Our one word is in the record: GLib has a thread that blocks all signals."""
        (found, process, _, errors), run = self.both(way, "fault", env=self.environment)
        self.assertEqual(found, status)
        self.assertNotIn(b"launchguard:", errors)
        self.assertFalse((self.directory / "log").exists(), "the first word to the log makes its file")
        self.assertEqual([(entry["level"], entry["text"].split(":")[1]) for entry in run["breadcrumbs"]["entries"]],
                         [("debug", " a thread blocks signals of crashes")])
        self.assertEqual(run["identity"]["executable"], str(self.folder / self.name))
        listed, = (listed for listed in self.runs(self.name) if listed["uuid"] == run["identity"]["uuid"])
        self.assertRegex(listed["headline"], headline)

    def test_closed(self):
        self.ends_as_without("close", 3, "^exit: exit status 3$")

    def test_fault(self):
        self.ends_as_without("fault", -signal.SIGSEGV, r"^write through a NULL pointer in save \(gtk\.c:\d+\) of gtk$")

    def test_error(self):
        self.ends_as_without("error", -signal.SIGTRAP, r"^no room for 7 notes in save \(gtk\.c:\d+\) of gtk$")

    def test_assert(self):
        self.ends_as_without("assert", -signal.SIGABRT, r"^assertion failed: \(opened != NULL\) in save \(gtk\.c:\d+\) of gtk$")
