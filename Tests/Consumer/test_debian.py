"""The Debian packages, and `make install` with the packages of the build alone, in a system that
has nothing else: a Debian 12 in a temporary folder."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from consumer import HERE, ROOT, run

PACKAGES = ["launchguard", "liblaunchguard-dev", "liblaunchguard0"]
# What a new process sees goes with its namespaces: the mount of /proc, and children that are left.
INSIDE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "chroot"]
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}


def missing():
    """What the tests need and is not there; None: nothing."""
    if os.geteuid() != 0:
        return "a folder becomes a system by root only"
    wanted = ["debootstrap", "dpkg-buildpackage", "dh", "lintian", "unshare", "chroot", "swift"]
    lacking = [name for name in wanted if not shutil.which(name)]
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
        cls.root = pathlib.Path(directory.name).resolve() / "root"
        site = mirror()
        run("debootstrap", "--variant=minbase", "bookworm", cls.root, site, limit=1800)
        shutil.copy("/etc/resolv.conf", cls.root / "etc/resolv.conf")
        run(ROOT / "scripts/build-deb", limit=3000)
        for name in PACKAGES:
            shutil.copy(next((ROOT / "build/deb").glob(name + "_*.deb")), cls.root / "tmp")

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
        version = self.said("dpkg-deb -f /tmp/launchguard_*.deb Version").split("-")[0]
        self.said("apt-get install -y --no-install-recommends /tmp/*.deb gcc libc6-dev pkg-config")
        self.assertEqual(self.said("launchguard --version"), version + "\n")
        libraries = self.said("ldd /usr/bin/launchguard")
        self.assertNotIn("not found", libraries)
        self.assertNotRegex(libraries, "swift|unwind|launchguard")
        self.assertEqual(self.said("dpkg -l libunwind8 | grep -c ^ii || true"), "0\n", "nothing needs libunwind")
        self.assertEqual(self.said("/usr/libexec/launchguard/launchguard-agent --version"), "launchguard-agent %s\n" % version)
        shutil.copy(HERE / "app.c", self.root / "tmp")
        self.said("cd /tmp && gcc -g app.c -o app $(pkg-config --cflags --libs launchguard)")
        died = self.inside("exec /tmp/app /tmp/state crash")
        self.assertEqual(died.returncode, -signal.SIGSEGV, died.stdout)
        self.assertRegex(self.said("launchguard inspect /tmp/state/runs/*"), "(?i)null pointer|fault.null_write")
        self.assertIn("crash", self.said("launchguard list /tmp/state"))
        # The catalogue needs the shared library of its own version.
        self.assertIn("null-write", self.said("launchguard-faults --list"))
        self.purged()

    def purged(self):
        belonged = set(self.said("dpkg -L " + " ".join(PACKAGES)).split("\n")) - {"", "/."}
        self.assertIn("/usr/share/fish/vendor_completions.d/launchguard.fish", belonged)
        self.said("apt-get purge -y " + " ".join(PACKAGES))
        left = [path for path in belonged if os.path.lexists(self.root / path[1:]) and "no path found" in self.inside("dpkg -S \"$1\"", path).stdout]
        self.assertEqual(left, [])
        self.assertEqual(self.said("find / -xdev -path /proc -prune -o -path /tmp -prune -o -path /var/cache -prune -o -path /var/log -prune -o "
                                   "-name '*launchguard*' -print"), "")

    def test_make_install(self):
        """As an ordinary user, without Swift, with the packages that the script for them names."""
        (self.root / "src").mkdir()
        with subprocess.Popen(["tar", "-C", ROOT, "--exclude=./build", "--exclude=./.build*", "--exclude=./.git", "-cf", "-", "."], stdout=subprocess.PIPE) as pack:
            run("tar", "-C", self.root / "src", "-xf", "-", stdin=pack.stdout)
        self.said("apt-get install -y --no-install-recommends make && /src/scripts/install-packages build")
        self.assertEqual(self.said("dpkg -l libcmocka-dev libsqlite3-dev valgrind python3 2>/dev/null | grep -c ^ii || true"), "0\n", "nothing of the tests is needed")
        self.said("useradd --create-home --uid 1234 user && chown -R 1234 /src")
        installed = self.said("cd /src && HOME=/home/user make install PREFIX=/home/user/local", user="1234", limit=3000)
        self.assertRegex(installed, r"(?m)^launchguard, the tool, is left out: install Swift \d\.\d or newer, https://\S+, then run this again$")
        self.assertIn("null-write", self.said("/home/user/local/bin/launchguard-faults --list", user="1234"))
        self.assertIn("Removed from /home/user/local: ", self.said("cd /src && make uninstall PREFIX=/home/user/local", user="1234"))
        self.assertFalse((self.root / "home/user/local").exists())
        refused = self.inside("cd /src && make install", user="1234", limit=3000)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("name a folder of your own", refused.stdout)


if __name__ == "__main__":
    unittest.main()
