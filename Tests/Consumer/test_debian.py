"""The Debian packages, and `make install` with the packages of the build alone, in a system that
has nothing else: a Debian 12 in a temporary folder, a copy of its own for each test."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from consumer import HERE, ROOT, run

PACKAGES = ["launchguard", "liblaunchguard-dev", "liblaunchguard-guards0", "liblaunchguard-reader0", "liblaunchguard0"]
# A new process in its own namespaces: the mount of /proc and remaining children end with it.
INSIDE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "chroot"]
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}
WANTED = ["debootstrap", "dpkg-buildpackage", "dh", "lintian", "unshare", "chroot", "swift"]


def missing():
    """The missing needs of the tests; None: nothing is missing."""
    if os.geteuid() != 0:
        return "a folder becomes a system by root only"
    lacking = [name for name in WANTED if not shutil.which(name)]
    return "not in PATH: " + ", ".join(lacking) if lacking else None


def mirror():
    """Where this machine has its Debian 12 from."""
    for line in run("apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)", limit=60).stdout.splitlines():
        if line.endswith(" bookworm main"):
            return line.split()[0]
    raise unittest.SkipTest("this machine has no package source of Debian 12")


@unittest.skipIf(missing(), missing())
class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.fresh = pathlib.Path(directory.name).resolve() / "fresh"
        site = mirror()
        run("debootstrap", "--variant=minbase", "bookworm", cls.fresh, site, limit=1800)
        shutil.copy("/etc/resolv.conf", cls.fresh / "etc/resolv.conf")

    def setUp(self):
        self.root = self.fresh.with_name("root")
        self.addCleanup(shutil.rmtree, self.root)
        run("cp", "-a", "--reflink=auto", self.fresh, self.root)

    def inside(self, script, *arguments, user="root", limit=1200):
        """Run a script of the shell in the system: its wait status and output."""
        return subprocess.run([*INSIDE, self.root, "sh", "-c", 'mount -t proc proc /proc && exec setpriv --reuid="$0" --regid="$0" --clear-groups sh -ec "$@"', user, script,
                               "sh", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit, env=ENVIRONMENT)

    def said(self, script, *arguments, **options):
        done = self.inside(script, *arguments, **options)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_packages(self):
        """Installed, used and purged."""
        run(ROOT / "scripts/build-deb", limit=3000)
        for name in PACKAGES:
            shutil.copy(next((ROOT / "build/deb").glob(name + "_*.deb")), self.root / "tmp")
        version = self.said("dpkg-deb -f /tmp/launchguard_*.deb Version").split("-")[0]
        self.said("apt-get install -y --no-install-recommends /tmp/*.deb gcc libc6-dev pkg-config")
        self.assertEqual(self.said("launchguard --version"), version + "\n")
        self.assertRegex(self.inside("ldd /usr/bin/launchguard").stdout, "(?:not a dynamic executable|statically linked)")
        libraries = self.said("ldd /usr/libexec/launchguard/launchguard")
        self.assertNotIn("not found", libraries)
        self.assertNotRegex(libraries, "swift|unwind|launchguard")
        self.assertEqual(self.said("dpkg -l libunwind8 | grep -c ^ii || true"), "0\n", "nothing needs libunwind")
        self.assertEqual(self.said("/usr/libexec/launchguard/launchguard-agent --version"), "launchguard-agent %s\n" % version)
        shutil.copy(HERE / "app.c", self.root / "tmp")
        self.said("cd /tmp && gcc -g app.c -o app $(pkg-config --cflags --libs launchguard-reader)")
        died = self.inside("exec /tmp/app /tmp/state crash")
        self.assertEqual(died.returncode, -signal.SIGSEGV, died.stdout)
        self.assertRegex(self.said("launchguard inspect /tmp/state/runs/*"), "(?i)null pointer|fault.null_write")
        self.assertIn("crash", self.said("launchguard list /tmp/state"))
        # The commands of the program in libexec.
        self.assertIn("1 run in 1 state directory", self.said("launchguard collect --into /tmp/fleet.db /tmp/state"))
        self.assertIn("1 of 1 run on 1 device died", self.said("launchguard top /tmp/fleet.db"))
        # The catalogue needs the shared library of its own version.
        self.assertIn("null-write", self.said("launchguard-faults --list"))
        self.purged()

    def purged(self):
        belonged = set(self.said("dpkg -L " + " ".join(PACKAGES)).split("\n")) - {"", "/."}
        self.assertLessEqual({"/usr/share/fish/vendor_completions.d/launchguard.fish", "/usr/share/man/man3/lg_launch_begin.3.gz"}, belonged)
        self.said("apt-get purge -y " + " ".join(PACKAGES))
        left = [path for path in belonged if os.path.lexists(self.root / path[1:]) and "no path found" in self.inside("dpkg -S \"$1\"", path).stdout]
        self.assertEqual(left, [])
        self.assertEqual(self.said("find / -xdev -path /proc -prune -o -path /tmp -prune -o -path /var/cache -prune -o -path /var/log -prune -o "
                                   "-name '*launchguard*' -print"), "")

    def test_packages_of_the_long_tests(self):
        """All that they use is there; no service runs, nor will one after the next boot; the
        packages can be built."""
        (self.root / "src").mkdir()
        for part in ("scripts", "packaging/debian"):
            shutil.copytree(ROOT / part, self.root / "src" / pathlib.Path(part).name)
        for name in ("init", "runlevel"):  # Debian starts no service where there are none
            (self.root / "sbin" / name).write_text("#!/bin/sh\necho N 2\n")
            (self.root / "sbin" / name).chmod(0o755)
        running = self.said("cd /src/scripts\n{ ./install-packages && ./install-packages long; } >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }\n"
                            "for process in /proc/[0-9]*; do basename \"$(readlink $process/exe)\"; done", limit=3000).split()
        self.assertEqual(set(running) & {"redis-check-rdb", "nginx", "postgres"}, set())
        self.assertFalse((self.root / "usr/sbin/policy-rc.d").exists(), "it was there while packages were installed")
        starts = [*self.root.glob("etc/rc*.d/S*"), *self.root.glob("etc/systemd/system/*.wants/*")]
        self.assertEqual([path.name for path in starts if re.search("redis|nginx|postgres", path.name)], [])
        wanted = [*WANTED, "redis-server", "nginx", "gdb", "node", "java", "javac", "go", "rustc", "strace", "systemd-analyze", "zsh", "fish",
                  "aarch64-linux-gnu-gcc", "qemu-aarch64", "musl-gcc", "valgrind"]
        self.assertEqual(self.said("PATH=$PATH:$(echo /usr/lib/postgresql/*/bin)\nfor name; do command -v $name >/dev/null || echo $name; done",
                                   *wanted, "postgres", "initdb", "psql"), "swift\n", "Debian has no package of it")
        self.said("cd /src && dpkg-checkbuilddeps")

    def test_make_install(self):
        """As an ordinary user, without Swift, with the packages that the script for them names."""
        (self.root / "src").mkdir()
        with subprocess.Popen(["tar", "-C", ROOT, "--exclude=./build", "--exclude=.build*", "--exclude=./.git", "-cf", "-", "."], stdout=subprocess.PIPE) as pack:
            run("tar", "-C", self.root / "src", "-xf", "-", stdin=pack.stdout)
        self.said("apt-get install -y --no-install-recommends make && /src/scripts/install-packages build")
        self.assertEqual(self.said("dpkg -l libcmocka-dev valgrind mandoc 2>/dev/null | grep -c ^ii || true"), "0\n", "nothing of the tests is needed")
        self.said("useradd --create-home --uid 1234 user && chown -R 1234 /src")
        installed = self.said("cd /src && HOME=/home/user make install PREFIX=/home/user/local", user="1234", limit=3000)
        self.assertRegex(installed, r"(?m)^launchguard, the tool, is left out: install Swift \d\.\d or newer, https://\S+, then run this again$")
        self.assertIn("null-write", self.said("/home/user/local/bin/launchguard-faults --list", user="1234"))
        self.assertIn(".so man3/lg_session.3", self.said("cat /home/user/local/share/man/man3/lg_start.3"))
        self.assertIn("Removed from /home/user/local: ", self.said("cd /src && make uninstall PREFIX=/home/user/local", user="1234"))
        self.assertFalse((self.root / "home/user/local").exists())
        refused = self.inside("cd /src && make install", user="1234", limit=3000)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("name a folder of your own", refused.stdout)


if __name__ == "__main__":
    unittest.main()
