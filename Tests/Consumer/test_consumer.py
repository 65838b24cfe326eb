"""Every way to install LaunchGuard, consumed from a clean prefix: the program runs protected and
its crash is recorded."""
import concurrent.futures
import http.client
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.request

from consumer import CC, HERE, ROOT, BUILD, SwiftConsumer, needed, reader, run, swift
from waiting import LIMIT_S, wait_until

# Functions of libc and libstdc++ that the shared library takes the place of.
INTERPOSED = {"pthread_create", "sigaction", "signal", "bsd_signal", "ssignal", "sysv_signal", "__sysv_signal", "sigset", "sigignore",
              "siginterrupt", "pthread_sigmask", "sigprocmask", "sighold", "sigrelse", "sigblock", "sigsetmask", "siggetmask", "thrd_create",
              "timer_create", "mq_notify", "_exit", "_Exit", "_ZSt21__glibcxx_assert_failPKciS0_S0_"}
# The headers whose functions are in liblaunchguard-reader, and in liblaunchguard-guards.
READER = {"reader.h", "record.h", "snapshot.h", "guard_record.h", "ledger.h", "report.h"}
TYPED_GUARDS = {"guard_checked.h", "guard_confine.h", "guard_handles.h", "guard_observers.h", "guard_plugin.h"}
# The shared library of the core without its symbols: what each program loads. CONTRIBUTING.md says
# when this may grow.
CORE_BYTES_MOST = 380 * 1024
REPAIRING, FINISHED = 2, 4  # phases of a launch, FORMAT.md
HANG = 4  # an end, ENDS.md


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.work = pathlib.Path(directory.name).resolve()
        cls.prefix = cls.work / "prefix"
        run(ROOT / "scripts/install-tree", "install", BUILD, cls.prefix)
        cls.pkg_config_file = next(cls.prefix.rglob("launchguard.pc"))
        cls.library = next(cls.prefix.rglob("liblaunchguard.so"))
        cls.reader = next(cls.prefix.rglob("liblaunchguard-reader.so"))
        cls.guards = next(cls.prefix.rglob("liblaunchguard-guards.so"))
        # Nothing of the checkout or of the system's own paths can help the consumers.
        cls.environment = {"PATH": os.environ["PATH"], "HOME": str(cls.work), "LD_LIBRARY_PATH": str(cls.library.parent),
                           "PKG_CONFIG_PATH": str(cls.pkg_config_file.parent)}

    def setUp(self):
        directory = tempfile.TemporaryDirectory(dir=self.work)
        self.addCleanup(directory.cleanup)
        self.here = pathlib.Path(directory.name)
        self.state = self.here / "state"

    def start(self, *command):
        return run(*command, limit=30, env=self.environment)

    def proves_itself(self, program):
        """The program is protected, crashes, and finds the crash at the next start."""
        done = self.start(program, self.state, "crash")
        self.assertIn("fully protected", done.stdout)
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertIn("last run: crash, fault.null_write", self.start(program, self.state, "check").stdout)
        return done

    def records_overflow(self, program):
        self.assertEqual(self.start(program, self.state, "overflow").returncode, -signal.SIGSEGV)
        self.assertIn("crash, fault.stack_overflow", self.start(program, self.state, "check").stdout)

    def pkg_config(self, *options, package="launchguard"):
        return shlex.split(run("pkg-config", *options, package, env=self.environment).stdout)

    def archives(self, flags):
        """With the static libraries, where there are shared ones beside them."""
        return ["-l:lib%s.a" % flag[2:] if flag.startswith("-llaunchguard") else flag for flag in flags]

    def test_static_libraries_share_nothing(self):
        """Neither an object nor a symbol, and the core needs none of the others."""
        found = {}
        for name in ("", "-reader", "-guards"):
            archive = next(self.prefix.rglob("liblaunchguard%s.a" % name))
            lines = run("nm", "-g", archive).stdout.splitlines()
            found[name] = [{line.split()[-1] for line in lines if re.search(kinds, line)} for kinds in (r" [A-TX-Z] \w+$", r" U \w+$")]
        for name, other in itertools.permutations(found, 2):
            self.assertEqual(found[name][0] & found[other][0], set(), name + other)
            if other:
                self.assertEqual(found[""][1] & found[other][0], set(), "the core needs it")

    def cmake(self, source, *options):
        build = self.here / "build"
        run("cmake", "-S", HERE / source, "-B", build, "-DCMAKE_BUILD_TYPE=Debug", *options, env=self.environment)
        run("cmake", "--build", build, "--parallel", "2", env=self.environment)
        return build

    def test_pkg_config(self):
        flags = self.pkg_config("--cflags", "--libs", package="launchguard-reader")
        run(CC, HERE / "app.c", "-o", self.here / "app", *flags, env=self.environment)
        self.assertEqual(needed(self.here / "app")[:2], ["liblaunchguard-reader.so.0", "liblaunchguard.so.0"])
        self.proves_itself(self.here / "app")
        self.records_overflow(self.here / "app")

    def test_pkg_config_static(self):
        flags = self.pkg_config("--static", "--cflags", "--libs", package="launchguard-reader")
        flags = self.archives(flags)
        run(CC, HERE / "app.c", "-o", self.here / "app", *flags, env=self.environment)
        self.assertEqual([name for name in needed(self.here / "app") if "launchguard" in name or "unwind" in name], [], "it needs libc alone")
        self.proves_itself(self.here / "app")
        self.records_overflow(self.here / "app")

    def test_guards(self):
        """A program with typed guards links their library too, shared and static."""
        for static in (False, True):
            with self.subTest(static=static):
                flags = self.pkg_config("--cflags", "--libs", *["--static"] * static, package="launchguard-guards")
                flags = self.archives(flags) if static else flags
                run(CC, HERE / "guarded.c", "-o", self.here / "guarded", *flags, env=self.environment)
                self.assertEqual([name for name in needed(self.here / "guarded") if "launchguard" in name],
                                 [] if static else ["liblaunchguard-guards.so.0", "liblaunchguard.so.0"])
                done = self.start(self.here / "guarded", self.here / ("state %d" % static))
                self.assertEqual((done.returncode, done.stdout), (0, "released: (nil)\n"), done.stderr)

    def test_pkg_config_without_shared_libraries(self):
        flags = self.pkg_config("--static", "--cflags", "--libs", package="launchguard-reader")
        run(CC, "-O2", "-fomit-frame-pointer", "-static", HERE / "app.c", "-o", self.here / "app", *flags, env=self.environment)
        self.keeps_its_frames(self.here / "app")

    def keeps_its_frames(self, program):
        """A program without shared libraries and frame pointers: its stack is walked to the end."""
        self.assertEqual(needed(program), [])
        self.proves_itself(program)
        walk = reader.read(min((self.state / "runs").iterdir()))["crash"]["frames"][1]
        self.assertEqual(walk["reason"], "")
        self.assertGreater(walk["total"], 2, "main() and its callers in libc")

    def test_cpp_header(self):
        """Every compiler and standard that the header supports, without a warning. From C++20 on an
        entry holds the place of its call."""
        compilers = [name for name in ("g++", "clang++") if shutil.which(name)]
        self.assertIn("g++", compilers)
        for compiler, standard in itertools.product(compilers, (17, 20)):
            with self.subTest(compiler=compiler, standard=standard):
                program, state = self.here / "log", self.here / ("state of %s %d" % (compiler, standard))
                run(compiler, "-std=c++%d" % standard, "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror",
                    HERE / "log.cpp", "-o", program, *self.pkg_config("--cflags", "--libs"), env=self.environment)
                done = self.start(program, state)
                self.assertEqual(done.returncode, -signal.SIGKILL)
                log = reader.read(done.stdout.strip())["log"]
                self.assertEqual(log["torn"], 0)
                self.check_cpp(log["entries"], [["file", str(HERE / "log.cpp")], ["line", "26"]] if standard == 20 else [])

    def check_cpp(self, entries, where):
        self.assertEqual([(e.get("category"), e["text"], e["level"], e["cut"]) for e in entries],
                         [("network", "request failed", 60, 0), (None, "numbers", 20, 0), (None, "plain", 30, 0), ("network", "", 30, 1),
                          ("network", "most", 10, 0), ("network", "too many", 10, 1)])
        fields = [entry.get("fields", []) for entry in entries]
        if where:
            self.assertEqual([f[-3:-1] for f in fields][0], where)
            self.assertTrue(all(f[-1][0] == "function" and re.search(r"\bmain\b", f[-1][1]) for f in fields))
            self.assertEqual(len({f[-2][1] for f in fields}), 6, "each has a line of its own")
            fields = [f[:-3] for f in fields]
        self.assertEqual(fields[0], [["url", "https://example.org/a path"], ["part", "https"], ["code", "503"], ["none", ""]])
        self.assertEqual(fields[1], [["int64", str(-2**63)], ["uint64", str(2**64 - 1)], ["short", "-7"], ["byte", "200"], ["char", "c"], ["yes", "true"],
                                     ["no", "false"], ["float", "0.1"], ["double", "-1.7976931348623157e+308"], ["ratio", "2.5"]])
        self.assertEqual(fields[2:4], [[], [["little", "1"]]])
        self.assertEqual(fields[5][:60], fields[4][:60])
        self.assertEqual((len(fields[4]), len(fields[5]), fields[5][-1]), (64, 64, ["g3", "3"]))

    def test_add_subdirectory(self):
        self.proves_itself(self.cmake("add_subdirectory", "-DLAUNCHGUARD=%s" % ROOT) / "app")

    def test_fetch_content(self):
        """The commit that is checked out, by whomever."""
        (self.work / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
        commit = run("git", "-C", ROOT, "rev-parse", "HEAD", env=self.environment).stdout.strip()
        build = self.cmake("fetch_content", "-DREPOSITORY=%s" % ROOT.as_uri(), "-DCOMMIT=%s" % commit)
        self.proves_itself(build / "app")
        self.assertEqual([path.name for path in build.rglob("liblaunchguard.a")], [], "only what is linked is built")

    def test_find_package(self):
        build = self.cmake("find_package", "-DCMAKE_PREFIX_PATH=%s" % self.prefix)
        with self.subTest("static library"):
            self.assertNotIn("liblaunchguard.so.0", needed(build / "app-static"))
            self.proves_itself(build / "app-static")
        with self.subTest("no shared library"):
            self.state = self.here / "state of whole"
            self.keeps_its_frames(build / "app-whole")
            self.state = self.here / "state"
        with self.subTest("C++, with exceptions"):
            done = self.start(build / "app-cpp", self.state, "crash")
            before, after, run_file = done.stdout.split(maxsplit=2)
            self.assertEqual(done.returncode, -signal.SIGSEGV)
            run_file = run_file.rstrip("\n")
            self.assertEqual(reader.read(run_file)["verdict"]["end"], 3)
            self.assertIn("that run: crash", self.start(build / "app-cpp", "check", run_file).stdout)
            for library in (before, after):
                self.assertRegex(library, r"/libgcc_s\.so\.1$")
        with self.subTest("C program that loads a C++ library"):
            plugin = next(build.glob("libplugin.*"))
            for host in ("host", "host-static"):
                self.assertNotIn("libstdc++.so.6", needed(build / host))
                library = self.start(build / host, plugin, self.here / "state of" / host).stdout
                self.assertRegex(library, r"/libgcc_s\.so\.1$", host)

    def test_shape_of_the_libraries(self):
        for library, soname, needs in ((self.library, "liblaunchguard.so.0", ["libc.so.6"]),
                                       (self.reader, "liblaunchguard-reader.so.0", ["liblaunchguard.so.0", "libc.so.6"]),
                                       (self.guards, "liblaunchguard-guards.so.0", ["liblaunchguard.so.0", "libc.so.6"])):
            with self.subTest(soname):
                dynamic = run("readelf", "-dW", library).stdout
                self.assertIn("Library soname: [%s]" % soname, dynamic)
                self.assertRegex(dynamic, r"BIND_NOW|Flags:.*\bNOW\b")
                self.assertNotIn("TEXTREL", dynamic)
                segments = run("readelf", "-lW", library).stdout
                self.assertIn("GNU_RELRO", segments)
                self.assertRegex(segments, r"GNU_STACK.* RW ")
                self.assertEqual(needed(library), needs, "each program that links the library would pay for them")

    def test_size_of_the_library(self):
        if "CMAKE_BUILD_TYPE:STRING=Debug" in pathlib.Path(BUILD, "CMakeCache.txt").read_text():
            self.skipTest("the library is not built for size")
        copy = self.here / "stripped"
        run("strip", "-o", copy, self.library)
        self.assertLessEqual(copy.stat().st_size, CORE_BYTES_MOST)

    def exported(self, library):
        """Name and version of each symbol, but the linker's own."""
        lines = run("nm", "-Dg", "--defined-only", library).stdout.splitlines()
        return {line.split()[2] for line in lines} - {"__bss_start", "_edata", "_end"}

    def test_exported_names(self):
        """Each public function is in one of the libraries, by its header."""
        declared = {header.name: set(re.findall(r"^LG_API[^;(]*?(lg_\w+)[(;]", header.read_text(), re.M))
                    for header in (self.prefix / "include/launchguard").glob("*.h")}
        beside = set()
        for library, headers, node in ((self.reader, READER, "LAUNCHGUARD_READER_0.1"), (self.guards, TYPED_GUARDS, "LAUNCHGUARD_GUARDS_0.1")):
            self.assertLessEqual(headers, set(declared))
            functions = set().union(*(declared[name] for name in headers))
            self.assertEqual(self.exported(library), {name + "@@" + node for name in functions} | {node})
            beside |= functions
        hook = set(re.findall(r"^LG_API[^;(]*?(lg__hook_\w+)\(", (ROOT / "Sources/CLaunchGuard/guard/hook.h").read_text(), re.M))
        self.assertEqual(self.exported(self.library), INTERPOSED | {"LAUNCHGUARD_0.1", "LAUNCHGUARD_HOOK_0.1"}
                         | {name + "@@LAUNCHGUARD_0.1" for name in set().union(*declared.values()) - beside}
                         | {name + "@@LAUNCHGUARD_HOOK_0.1" for name in hook})


class OfSwiftPackage(unittest.TestCase):
    """A consumer of the Swift package."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("swift"):
            raise unittest.SkipTest("no swift in PATH: the Swift package is not tried")
        cls.consumer = SwiftConsumer("swiftpm", "Tools/Examples/minimal-swift")


class Resolved(OfSwiftPackage):
    """What SwiftPM fetches, for a consumer and for the tools."""

    def test_no_other_package_is_fetched(self):
        self.assertEqual(self.consumer.fetched(), set())

    def test_what_is_fetched_with_a_package_from_a_repository(self):
        """Without a trait this package alone, with one what the trait needs. SwiftPM needs the
        manifest alone for that."""
        service = {"swift-service-lifecycle", "swift-log", "swift-async-algorithms", "swift-collections"}
        with tempfile.TemporaryDirectory() as directory:
            package, consumer = (pathlib.Path(directory, name) for name in ("LaunchGuard", "consumer"))
            for made in (package, consumer):
                made.mkdir()
            shutil.copy(ROOT / "Package.swift", package)
            git = "git", "-C", package, "-c", "user.name=t", "-c", "user.email=t@example.org"
            for command in (("init", "--quiet"), ("add", "Package.swift"), ("commit", "--quiet", "--message=all"), ("tag", "1.0.0")):
                run(*git, *command, limit=60)
            for traits, module, fetched in (("", "LaunchGuard", set()), ("SwiftLog", "LaunchGuardLogging", {"swift-log"}),
                                            ("ServiceLifecycle", "LaunchGuardService", service), ("Metrics", "LaunchGuardMetrics", {"swift-metrics"})):
                (consumer / "Package.swift").write_text(
                    '// swift-tools-version: 6.2\nimport PackageDescription\nlet package = Package(name: "consumer", dependencies: [\n'
                    '    .package(url: "file://%s", from: "1.0.0"%s)\n], targets: [.target(name: "Library", dependencies: [\n'
                    '    .product(name: "%s", package: "LaunchGuard")\n])])\n' % (package, ', traits: ["%s"]' % traits if traits else "", module))
                with self.subTest(traits):
                    swift("package", consumer, consumer / traits / ".build", "resolve")
                    self.assertEqual({entry.name for entry in (consumer / traits / ".build/checkouts").iterdir()}, {"LaunchGuard"} | fetched)

    def test_systems_that_are_older_than_the_package(self):
        """A package for them may depend on this one where it names Linux alone. SwiftPM checks the
        floor when it plans a build; for Apple's systems nothing can be built here."""
        manifest = json.loads(run("swift", "package", "--package-path", ROOT, "dump-package", limit=60).stdout)
        floor = {platform["platformName"]: platform["version"] for platform in manifest["platforms"]}
        self.assertEqual(floor, {"macos": "15.0", "ios": "18.0", "tvos": "18.0", "watchos": "11.0", "visionos": "2.0"})
        with tempfile.TemporaryDirectory() as directory:
            work = pathlib.Path(directory)
            (work / "libtool").symlink_to("/bin/false")  # SwiftPM asks for this tool
            (work / "App").mkdir()
            (work / "App/main.swift").write_text("print(1)\n")
            (work / "LaunchGuard").symlink_to(ROOT)
            for condition, words in (("", "depends on the product 'LaunchGuard' which requires macos 15.0"),
                                     (", condition: .when(platforms: [.linux])", "unable to load standard library for target 'arm64-apple-macosx12.0'")):
                with self.subTest(condition):
                    (work / "Package.swift").write_text(
                        '// swift-tools-version: 6.2\nimport PackageDescription\nlet package = Package(name: "App", platforms: [.macOS(.v12)],\n'
                        '    dependencies: [.package(path: "LaunchGuard")], targets: [.executableTarget(name: "App", dependencies: [\n'
                        '    .product(name: "LaunchGuard", package: "LaunchGuard"%s)], path: "App")])\n' % condition)
                    with self.assertRaisesRegex(AssertionError, re.escape(words)):
                        swift("build", work, work / ".build", "--triple", "arm64-apple-macosx", "--sdk", "/", PATH="%s:%s" % (work, os.environ["PATH"]))

    def test_the_tools_are_a_package_in_a_checkout_of_any_name(self):
        """With what only they need, and what no library needs."""
        with tempfile.TemporaryDirectory() as directory:
            checkout, scratch = (pathlib.Path(directory, name) for name in ("my checkout", "scratch"))
            shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".build*", "build", ".git", "Golden"))
            swift("package", checkout / "Tools", scratch, "show-dependencies")
            self.assertEqual({entry.name for entry in (scratch / "checkouts").iterdir()}, {"GRDB.swift", "swift-argument-parser"})


class SwiftPackage(OfSwiftPackage):
    """A package in the Swift 5 mode that switches no trait on, and takes a warning for an error."""

    def test_a_trait_that_is_off_is_named(self):
        with self.assertRaises(AssertionError) as failure:
            self.consumer.build("--target", "SwitchedOff")
        errors = re.findall(r"SwitchedOff\.swift:(\d+):\d+: error: (.*)", str(failure.exception))
        self.assertEqual(sorted(set(errors)),
                         [(line, "'%s' is unavailable: switch on its trait in Package.swift: .package(…, traits: [\"%s\"]) for LaunchGuard" % names)
                          for lines, names in ((("15", "16"), ("LaunchGuardLogHandler", "SwiftLog")),
                                               (("17", "18"), ("LaunchGuardService", "ServiceLifecycle")),
                                               (("19",), ("LaunchGuardMetrics", "Metrics"))) for line in lines])

    def test_the_example(self):
        with tempfile.TemporaryDirectory() as directory:
            program = self.consumer.program("minimal-swift")
            run(program, limit=60, env={"STATE_DIRECTORY": directory})
            timeline = reader.read(pathlib.Path(directory) / "ledger.lg")
            self.assertEqual(timeline["contexts"][0]["streak"], 0)

    def test_swift_package(self):
        with tempfile.TemporaryDirectory() as directory:
            program, state = self.consumer.program("App"), pathlib.Path(directory).resolve() / "state"
            done = run(program, state, "crash", limit=60, env={"SWIFT_BACKTRACE": "enable=no"})
            protected, thrower = done.stdout.split("\n")[:2]
            self.assertEqual(protected, "fully protected")
            self.assertRegex(thrower, r"/libgcc_s\.so\.1$")
            self.assertIn(done.returncode, (-signal.SIGILL, -signal.SIGTRAP))
            run(program, state, "check", limit=60)
            timeline = reader.read(state / "ledger.lg")["timeline"]
            self.assertEqual([entry["verdict"]["end"] for entry in timeline], [3])
            # With the runtime's own backtracer both reports come out, and the program dies as
            # before.
            both = run(program, state, "crash", limit=60, env={"SWIFT_BACKTRACE": "enable=yes,color=no,interactive=no"})
            self.assertEqual(both.returncode, done.returncode)
            self.assertRegex(both.stderr, "Thread 0 .*crashed")
            record = reader.read(sorted((state / "runs").iterdir())[-1])
            self.assertEqual(record["verdict"]["end"], 3)
            self.assertTrue(record["crash"]["frames"])

    def reports_a_crash(self, path):
        """`swift package crash-report` finds the last crash of the program App, and no other."""
        with tempfile.TemporaryDirectory() as directory:
            program, home = self.consumer.program("App"), pathlib.Path(directory).resolve()
            for name in ("one", "two"):
                run(program, home / name, "crash", limit=60, env={"SWIFT_BACKTRACE": "enable=no"})
            other = shutil.copy(program, home / "App")
            run(other, home / "three", "crash", limit=60, env={"SWIFT_BACKTRACE": "enable=no"})
            def report(*arguments):
                return self.consumer.swift("package", self.consumer.scratch, "crash-report", *arguments, XDG_STATE_HOME=str(home), PATH=path).stdout
            self.assertRegex(report(), r"(?m)^Index out of range in App_main \(main\.swift:\d+\) of org\.example\.consumer\n")
            newest = next((home / "two/runs").iterdir())
            self.assertEqual(json.loads(report("App", "--last", "--json"))["path"], str(newest))
            self.assertIn("org.example.consumer", report("App", "--lines", "3", "--state-directory", str(home / "one")))
            for arguments, words in ((("Nobody",), "no executable Nobody, but .*App"), (("minimal-swift",), "no run of minimal-swift")):
                with self.assertRaisesRegex(AssertionError, words):
                    report(*arguments)

    def test_crash_report(self):
        """With the tool as `make install` puts it in PATH."""
        swift("build", ROOT / "Tools", ROOT / "Tools/.build", "--jobs", "2", "--product", "launchguard")
        self.reports_a_crash("%s:%s" % (ROOT / "Tools/.build/debug", os.environ["PATH"]))

    def test_crash_report_builds_the_tool_once(self):
        """Where it is not in PATH."""
        self.reports_a_crash(":".join(folder for folder in os.environ["PATH"].split(":") if not os.path.exists(folder + "/launchguard")))

    def test_segmentation_fault_from_outside(self):
        """The runtime's backtracer lives on after a SIGSEGV that another process sent, with
        LaunchGuard as without it; the run then ends by its own exit."""
        program = self.consumer.program("App")
        for how in ("bare", "protected"):
            with self.subTest(how), tempfile.TemporaryDirectory() as directory:
                state = pathlib.Path(directory).resolve() / "state"
                child = subprocess.Popen([program, state, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                         env=os.environ | {"SWIFT_BACKTRACE": "enable=yes,color=no,interactive=no"})
                timer = threading.Timer(60, child.kill)
                timer.start()
                try:
                    self.assertEqual(child.stdout.readline(), "ready\n")
                    child.send_signal(signal.SIGSEGV)
                    child.stdin.write("go on\n")
                    child.stdin.flush()
                    self.assertEqual(child.stdout.readline(), "heard: go on\n")
                    self.assertEqual(child.wait(), 0)
                    self.assertTrue(timer.is_alive(), "it hangs")
                finally:
                    timer.cancel()
                    child.kill()
                    child.wait()
                    child.stdin.close()
                    child.stdout.close()
                if how == "protected":
                    record = reader.read(next((state / "runs").iterdir()))
                    self.assertEqual(record["verdict"]["end"], 1)
                    self.assertEqual(record["crash"]["signal"], signal.SIGSEGV)


class SwiftPackageAsShipped(OfSwiftPackage):
    """The same package in other ways to build."""

    def test_library_evolution(self):
        """The modules can be built as binary frameworks are, and their interfaces stand alone."""
        scratch = self.consumer.package.parent / "evolution"
        for module in ("LaunchGuard", "LaunchGuardReports"):
            with self.subTest(module):
                self.consumer.swift("build", scratch, "--jobs", "2", "--target", module, "-Xswiftc", "-enable-library-evolution",
                                    "-Xswiftc", "-emit-module-interface")
                interface = scratch / "debug" / (module + ".build") / (module + ".swiftinterface")
                imported = set(re.findall(r"^(?:public )?import (\w+)$", interface.read_text(), re.M))
                self.assertIn("Swift", imported)
                self.assertEqual({name for name in imported if not name.startswith("_")}, {"Swift"}, "a reader of the interface needs nothing else")
                run("swiftc", "-frontend", "-typecheck-module-from-interface", interface, "-module-name", module)

    def test_static_programs(self):
        """Programs with the Swift libraries inside: they start where there is no libunwind and no
        liblzma, and the record of a crash has the stack."""
        swift("build", ROOT / "Tools", ROOT / "Tools/.build", "--jobs", "2", "--product", "launchguard")
        for how, libraries in ((["--static-swift-stdlib"], r"lib(c|m|stdc\+\+|gcc_s)\.so|ld-linux"), (["-Xswiftc", "-static-executable"], "none")):
            with self.subTest(how[-1]), tempfile.TemporaryDirectory() as state:
                scratch = self.consumer.package.parent / how[-1].strip("-")
                self.consumer.swift("build", scratch, "--jobs", "2", "--product", "App", *how)
                program = scratch / "debug/App"
                self.assertEqual([name for name in needed(program) if not re.match(libraries, name)], [])
                self.consumer.swift("build", scratch, "--jobs", "2", "--product", "minimal-swift", *how)
                threads = run(scratch / "debug/minimal-swift", limit=60, env={"STATE_DIRECTORY": state + "/threads"})
                self.assertEqual(threads.returncode, 0, threads.stderr)
                done = run(program, state, "crash", limit=60, env={"SWIFT_BACKTRACE": "enable=no"})
                self.assertEqual(done.stdout.split("\n")[0], "fully protected")
                self.assertIn(done.returncode, (-signal.SIGILL, -signal.SIGTRAP))
                run_file = next(pathlib.Path(state, "runs").iterdir())
                self.assertEqual(reader.read(run_file)["crash"]["frames"][1]["reason"], "", "the walk comes to the end of the stack")
                self.assertRegex(run(ROOT / "Tools/.build/debug/launchguard", "inspect", run_file, limit=60).stdout,
                                 r"Fatal error: Index out of range\n(?s:.*) crashed\n.*\n(#.*\n)*#.*_assertionFailure.*\n(#.*\n)*#.*App_main.*main\.swift:\d+\n")


class Traits(unittest.TestCase):
    """The modules for other packages: a consumer that switches all traits on, built once, and its
    processes that end in every way."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("swift"):
            raise unittest.SkipTest("no swift in PATH: the traits are not tried")
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.work = pathlib.Path(directory.name).resolve()
        cls.consumer = SwiftConsumer("traits", "Examples/served-swift")
        cls.consumer.build()
        cls.program = cls.consumer.scratch / "debug/App"

    def setUp(self):
        directory = tempfile.TemporaryDirectory(dir=self.work)
        self.addCleanup(directory.cleanup)
        self.state = pathlib.Path(directory.name) / "state"

    def test_what_is_fetched(self):
        self.assertEqual(self.consumer.fetched(), {"swift-log", "swift-service-lifecycle", "swift-async-algorithms", "swift-collections", "swift-metrics"})

    def test_metrics(self):
        """What two crashes in a row, a launch and its end show to a backend."""
        for _ in range(2):
            self.assertEqual(run(self.program, self.state, "crash", limit=60).returncode, -signal.SIGABRT)
        shown = run(self.program, self.state, "metrics", limit=60).stdout.splitlines()[1:]
        context = '[("context", "main")]'
        self.assertEqual(shown, ["0 meters before the launch", "streak 2, 0 timers before its end",
                                 *("launchguard.%s %s %d" % (name, context, value)
                                   for name, value in (("crashes", 2), ("launches", 3), ("repairs", 0), ("streak", 0))),
                                 "launchguard.launch.duration %s 1 true" % context, "launchguard.log.dropped [] 0"])

    def test_swift_log(self):
        done = run(self.program, self.state, "log", limit=60)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        log = reader.read(done.stdout.strip())["log"]
        self.assertEqual(log["torn"], 0)
        own = [entry for entry in log["entries"] if entry.get("category") != "network"]
        self.assertRegex(own[0]["text"], "^launchguard: SIGILL is ignored")
        self.assertEqual(len(own), 1, "what LaunchGuard says comes to its handler, and is there already")
        entries = [entry for entry in log["entries"] if entry not in own and not entry["text"].startswith("task ")]
        fields = {entry["text"]: entry["fields"] for entry in entries}
        usual = [["from", "handler"], ["kept", "2"]]
        provided = [["from", "provider"], ["kept", "2"], ["provided", "1"]]
        self.assertEqual(fields["plain"], provided, "what the provider says counts for more than %s" % usual)
        self.assertEqual(fields["merged"], [["from", "call"], *provided[1:]])
        self.assertEqual(fields["nested"], [["convertible", "1.5"], ["from", "provider"], ["kept", "2"], ["list", "[x, [y, z], [k: v]]"], ["number", "7"],
                                            ["provided", "1"], ["request.header.a", "1"], ["request.header.b", "2"], ["request.method", "GET"]])
        self.assertEqual([(entry["text"], entry["level"]) for entry in entries],
                         [("plain", 30), ("merged", 30), ("nested", 20), ("info", 30), ("notice", 40), ("warning", 50), ("error", 60), ("critical", 70),
                          ("failed", 60), ("still written", 30), ("written", 70)])
        for entry in entries:
            place = [value for key, value in entry["fields"] if key in ("file", "line")]
            self.assertEqual(len(place), 2 if entry["level"] >= 50 else 0)
            self.assertTrue(not place or place[0].endswith("App.swift") and int(place[1]) > 0)
        self.assertIn(["error.type", "App.App.Failure"], fields["failed"])
        self.assertIn(["quiet", "yes"], fields["written"])
        self.assertNotIn(["quiet", "yes"], fields["still written"])
        texts = {entry["text"] for entry in log["entries"]}
        self.assertLessEqual({"task %d %d" % (task, number) for task in range(8) for number in range(20)}, texts)

    def example(self, number):
        """Examples/served-swift until it listens, then until this signal: its wait status, and what
        it wrote to standard error."""
        child = subprocess.Popen([self.program.parent / "served-swift"], stderr=subprocess.PIPE, text=True,
                                 env=os.environ | {"STATE_DIRECTORY": str(self.state), "SWIFT_BACKTRACE": "enable=no"})
        timer = threading.Timer(60, child.kill)
        timer.start()
        try:
            lines = []
            while not lines or "listening" not in lines[-1]:
                lines.append(child.stderr.readline())
                self.assertTrue(lines[-1], "it ended early: %s" % lines)
            child.send_signal(number)
            return child.wait(), lines
        finally:
            timer.cancel()
            child.kill()
            child.wait()
            child.stderr.close()

    def test_the_example_shows_its_log_and_what_launchguard_says(self):
        status, lines = self.example(signal.SIGKILL)
        self.assertEqual((status, len(lines)), (-signal.SIGKILL, 1))
        status, lines = self.example(signal.SIGTERM)
        self.assertEqual((status, len(lines)), (0, 2), lines)
        self.assertRegex(lines[0], r" warning launchguard:.* \[LaunchGuard\] the last run \(number 1, ")
        self.assertRegex(lines[1], r" info server: port=8080 \[served_swift\] listening")
        log = reader.read(sorted((self.state / "runs").iterdir())[-1])["log"]
        texts = [entry["text"] for entry in log["entries"] if entry.get("category") == "server"]
        self.assertEqual(texts[0], "listening")

    def served(self, how, *signals):
        """A service group that gets these signals, each after the line that permits it: its wait
        status and its run file."""
        child = subprocess.Popen([self.program, self.state, how], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                 env=os.environ | {"SWIFT_BACKTRACE": "enable=no"})
        timer = threading.Timer(60, child.kill)
        timer.start()
        try:
            path = child.stdout.readline().strip()
            for line, number in signals:
                while (said := child.stdout.readline()) != line + "\n":
                    self.assertTrue(said, "it ended before it said: " + line)
                child.send_signal(number)
            child.stdout.read()
            status = child.wait()
            self.assertTrue(timer.is_alive(), "it hangs")
        finally:
            timer.cancel()
            child.kill()
            child.wait()
            child.stdout.close()
        said = reader.read(path)
        return status, said["verdict"]["end"], said["verdict"]["evidence"], said["run"].get("announced", 0), said["contexts"][0]["marked"]

    def test_a_pool_that_is_blocked_before_the_group_runs(self):
        child = subprocess.Popen([self.program, self.state, "blocked"], stdout=subprocess.PIPE, text=True, env=os.environ | {"SWIFT_BACKTRACE": "enable=no"})
        try:
            path = child.stdout.readline().strip()
            wait_until(lambda: reader.read(path)["run"].get("hang_ns"), "the hang is marked")
        finally:
            child.kill()
            child.communicate()
        said = reader.read(path)
        self.assertEqual((said["verdict"]["end"], said["contexts"][0]["marked"]), (HANG, 0))

    def test_a_group_that_is_asked_to_end(self):
        self.assertEqual(self.served("serve", ("started", signal.SIGTERM)), (0, 1, 4, 1, 1))

    def test_a_group_that_shuts_down_too_slowly(self):
        self.assertEqual(self.served("stuck", ("started", signal.SIGTERM), ("asked to end", signal.SIGKILL)), (-signal.SIGKILL, 2, 16, 1, 1))

    def test_a_group_that_is_killed(self):
        self.assertEqual(self.served("serve", ("started", signal.SIGKILL)), (-signal.SIGKILL, 11, 8, 0, 1))

    def test_a_group_that_is_asked_to_end_before_it_is_ready(self):
        self.assertEqual(self.served("early", ("started", signal.SIGTERM)), (0, 1, 4, 1, 0))

    def test_a_group_that_dies_before_it_is_ready(self):
        self.assertEqual(self.served("early", ("started", signal.SIGSEGV)), (-signal.SIGSEGV, 3, 3, 0, 0))
        self.served("early", ("started", signal.SIGKILL))
        self.assertEqual(reader.read(self.state / "ledger.lg")["contexts"][0]["streak"], 1)

    def test_a_group_that_fails(self):
        status, end, evidence, announced, marked = self.served("fail")
        self.assertNotEqual(status, 0)
        self.assertEqual((announced, marked), (0, 0))
        self.assertIn((end, evidence), ((7, 4), (3, 3)))


class Shell(unittest.TestCase):
    """The modules as on a platform that LaunchGuard does not know: without the core, built on this
    one. Where the platforms' own headers differ is not seen here."""
    SOURCES = sorted((ROOT / "Sources").glob("CLaunchGuard*Shell/*.c"))
    SAID = ["launchguard: %s", "unprotected unsupported %s", "no run", "unprotected", "first launching", "first: before", "last", "last: before",
            "finished 0 true", "last: after", "late", "done", "failed", "leftOut", "failed leftOut", "false 5", "unsupported", "unsupported /proc/self/exe: %s"]

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.work = pathlib.Path(directory.name).resolve()
        for source in cls.SOURCES:
            run(CC, "-c", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror",
                "-I", ROOT / "include", source, "-o", cls.work / (source.name + ".o"))
        cls.objects = sorted(cls.work.glob("*.o"))

    def test_needs_nothing_of_linux(self):
        for source in self.SOURCES:
            self.assertLessEqual(set(re.findall(r"#include <(.+)>", source.read_text())), {"dlfcn.h", "pthread.h", "stdbool.h", "stdlib.h", "string.h", "time.h"})

    def test_every_public_function_is_there(self):
        defined = {line.split()[-1] for line in run("nm", "-g", "--defined-only", *self.objects).stdout.splitlines() if re.match("[0-9a-f]{16} ", line)}
        declared = set()
        for header in (ROOT / "include/launchguard").glob("*.h"):
            declared |= set(re.findall(r"^LG_API[^;(]*?(lg_\w+)[(;]", header.read_text(), re.M))
        self.assertEqual(defined, declared)

    def swift(self, name, files, *options):
        with tempfile.TemporaryDirectory() as directory:
            run("swiftc", "-swift-version", "6", *(word for feature in ("ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility")
                                                  for word in ("-enable-upcoming-feature", feature)), "-strict-memory-safety", "-warnings-as-errors",
                "-package-name", "launchguard", "-module-name", name, "-I", self.work, "-I", ROOT / "include", "-I", ROOT / "Sources/CThread",
                *files, *options, cwd=self.work, env=os.environ | {"TMPDIR": directory})

    @unittest.skipUnless(shutil.which("swiftc"), "no swift in PATH: the Swift modules are not tried")
    def test_programs_run_without_protection(self):
        modules = "LaunchGuardPlatform", "LaunchGuard", "LaunchGuardReportModel", "LaunchGuardReports"
        for name in modules:
            self.swift(name, sorted((ROOT / "Sources" / name).rglob("*.swift")), "-wmo", "-parse-as-library", "-emit-module", "-c", "-o", name + ".swift.o")
        objects = *self.objects, *(name + ".swift.o" for name in modules)
        for name, source in (("shell", HERE / "shell/main.swift"), ("minimal", ROOT / "Tools/Examples/minimal-swift/main.swift")):
            self.swift(name, [source], *objects, "-o", name)
        why = "LaunchGuard protects programs on Linux alone; on this system the program runs as without it"
        done = run(self.work / "shell", limit=60)
        self.assertEqual(done.stdout.splitlines(), [line.replace("%s", why) for line in self.SAID])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run(self.work / "minimal", limit=60, env={"HOME": str(self.work)}).returncode, 0)
        self.assertFalse((self.work / ".local").exists(), "no files are made")


class Musl(unittest.TestCase):
    """The core with another libc, as the Swift SDK for static programs has it, and with the defines
    of the Swift package."""

    @unittest.skipUnless(shutil.which("musl-gcc"), "no musl-gcc in PATH: musl is not tried")
    def test_static_program(self):
        with tempfile.TemporaryDirectory() as directory:
            work = pathlib.Path(directory).resolve()
            architecture = run("gcc", "-print-multiarch").stdout.strip()
            for folder, place in (("linux", "linux"), ("asm-generic", "asm-generic"), ("asm", architecture + "/asm")):
                (work / "kernel" / folder).parent.mkdir(exist_ok=True)
                (work / "kernel" / folder).symlink_to(pathlib.Path("/usr/include") / place)
            flags = ["-std=c11", "-Os", "-g", "-D_GNU_SOURCE", "-DLG_INTERPOSE_PTHREAD_CREATE", "-DLG_LIBUNWIND", "-fno-omit-frame-pointer", "-Wall",
                     "-Wextra", "-Werror", "-I", ROOT / "include", "-I", ROOT / "Sources/CLaunchGuard", "-idirafter", work / "kernel"]
            sources = sorted((ROOT / "Sources/CLaunchGuard").glob("*/*.c"))
            objects = [work / ("%s-%s.o" % (source.parent.name, source.stem)) for source in sources]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda source, to: run("musl-gcc", "-c", *flags, source, "-o", to), sources, objects))
            run("musl-gcc", "-static", "-Wl,--eh-frame-hdr", *flags, HERE / "app.c", *objects, "-o", work / "app")
            self.assertNotIn("INTERP", run("readelf", "-lW", work / "app").stdout)
            for how, kind in (("crash", "fault.null_write"), ("overflow", "fault.stack_overflow")):
                with self.subTest(how):
                    done = run(work / "app", work / "state", how, limit=60)
                    self.assertEqual((done.returncode, done.stdout), (-signal.SIGSEGV, "fully protected\n"))
                    self.assertEqual(run(work / "app", work / "state", "check", limit=60).stdout, "fully protected\nlast run: crash, %s\n" % kind)
            runs = [reader.read(run_file) for run_file in sorted((work / "state/runs").iterdir())]
            self.assertGreater(runs[2]["crash"]["frames"][1]["total"], 100, "the stack that overflowed")
            self.assertEqual(reader.read(work / "state/ledger.lg")["timeline"][-2]["verdict"]["end"], 1, "an exit() is an end")


class Programs(unittest.TestCase):
    """The package of three programs, as it stands in Examples."""

    MODE, CONFIGURATION = "6", "debug"

    @classmethod
    def setUpClass(cls):
        if not shutil.which("swift"):
            raise unittest.SkipTest("no swift in PATH: the programs are not tried")
        cls.consumer = SwiftConsumer("programs", source=ROOT / "Examples/programs-swift")
        cls.consumer.change(".v6", ".v" + cls.MODE)
        cls.consumer.build("-c", cls.CONFIGURATION)
        cls.programs = cls.consumer.scratch / cls.CONFIGURATION

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.state, self.folder = (pathlib.Path(directory.name).resolve() / name for name in ("state", "folder"))
        self.folder.mkdir()
        self.environment = {"SWIFT_BACKTRACE": "enable=no", "PATH": os.environ["PATH"]}

    def dies(self, *command):
        """A crash of the program's own."""
        done = run(*command, limit=60, env=self.environment)
        self.assertIn(done.returncode, (-signal.SIGILL, -signal.SIGTRAP), done.stdout + done.stderr)
        return done

    def ends(self):
        return [entry["verdict"]["end"] for entry in reader.read(self.state / "ledger.lg")["timeline"]]

    def talk(self, program, *arguments, asks, until="listening"):
        """Start a program, wait for a line on its standard error, talk with it until it ends."""
        child = subprocess.Popen([program, *arguments], stderr=subprocess.PIPE, text=True, env=self.environment)
        timer = threading.Timer(60, child.kill)
        timer.start()
        try:
            lines = []
            while not lines or until not in lines[-1]:
                lines.append(child.stderr.readline())
                self.assertTrue(lines[-1], "it ended early: " + "".join(lines))
            asks(child, lines[-1])
            rest = child.stderr.read()
            status = child.wait()
            self.assertTrue(timer.is_alive(), "it hangs")
            return status, "".join(lines) + rest
        finally:
            timer.cancel()
            child.kill()
            child.wait()
            child.stderr.close()

    def test_server(self):
        server, greetings = self.programs / "echo-server", self.folder / "greetings"
        answers = []

        def asks(child, line):
            port = int(re.search(r"port=(\d+)", line).group(1))
            with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
                for word in (b"one", b"two"):
                    client.sendall(word)
                    answers.append(client.recv(100))
            child.send_signal(signal.SIGTERM)

        greetings.write_text("good morning\ngood evening\n")
        status, said = self.talk(server, self.state, greetings, asks=asks)
        self.assertEqual((status, answers), (0, [b"good morning, one", b"good evening, two"]))
        greetings.write_text("")
        for _ in range(2):
            self.dies(server, self.state, greetings)
        answers.clear()
        status, said = self.talk(server, self.state, greetings, asks=asks)
        self.assertEqual((status, answers), (0, [b"hello, one", b"hello, two"]))
        for words in ("launches crashed", "count=2", "repaired", 'repair "put greetings aside"', "the last run "):
            self.assertIn(words, said)
        self.assertTrue((self.folder / "greetings.bad").exists())
        self.assertEqual(self.ends(), [1, 3, 3])

    def test_indexer(self):
        indexer = self.programs / "indexer"
        (self.folder / "a").write_text("one two three")
        self.assertEqual(run(indexer, self.state, self.folder, limit=60, env=self.environment).stdout, "3 words\n")
        (self.folder / "index").write_text("no number\n")
        for _ in range(2):
            self.dies(indexer, self.state, self.folder)
        # Ctrl-C interrupts the first repair, which has one attempt. At the next start the second
        # one helps.
        (self.folder / "slow").write_text("four")
        self.assertEqual(self.interrupted(indexer, REPAIRING), (130, "cancelled\n"))
        self.assertEqual(self.interrupted(indexer, FINISHED), (130, "cancelled while counting\n"))
        (self.folder / "slow").unlink()
        self.assertEqual(run(indexer, self.state, self.folder, limit=60, env=self.environment).stdout, "3 words\n")

    def interrupted(self, program, phase):
        """SIGINT when the launch is so far."""
        child = subprocess.Popen([program, self.state, self.folder], stdout=subprocess.PIPE, text=True, env=self.environment)
        try:
            wait_until(lambda: self.phase(child.pid) == phase, "the launch comes to phase %s" % phase)
            child.send_signal(signal.SIGINT)
            said, _ = child.communicate(timeout=LIMIT_S)
            return child.returncode, said
        finally:
            child.kill()
            child.communicate()

    def phase(self, pid):
        """State of the launch of a living process; None: too early."""
        try:
            run_file = reader.read(sorted((self.state / "runs").glob("*.lgrun"))[-1])
        except (IndexError, AssertionError, OSError, ValueError):
            return None
        return run_file["contexts"][0]["phase"] if run_file["run"]["pid"] == pid and run_file["contexts"] else None

    def test_player(self):
        player, order = self.programs / "player", self.folder / "order"
        order.write_text("a.ogg\nbad\n")
        for _ in range(2):
            self.dies(player, self.state, self.folder, "no")
        done = run(player, self.state, self.folder, "yes", limit=60, env=self.environment)
        said = ["one moment, please", "reset library? yes", "0 songs", "plays 0 songs, normal", ""]
        self.assertEqual(done.stdout.split("\n")[-len(said):], said)
        self.assertIn("crashed 2 times", done.stdout)
        self.assertEqual(order.read_text(), "")

    def test_tests(self):
        self.consumer.swift("test", self.consumer.scratch, "--jobs", "2", "--disable-xctest")


class Recipes(unittest.TestCase):
    """The package of two programs whose @main is another package's, as it stands in Examples."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("swift"):
            raise unittest.SkipTest("no swift in PATH: the programs are not tried")
        cls.consumer = SwiftConsumer("recipes", source=ROOT / "Examples/recipes-swift")
        cls.consumer.build()

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name).resolve()
        self.state, self.environment = self.folder / "state", {"SWIFT_BACKTRACE": "enable=no", "PATH": os.environ["PATH"]}

    def last(self):
        return reader.read(sorted((self.state / "runs").iterdir())[-1])

    def test_a_command(self):
        command, text = self.consumer.program("wordcount"), self.folder / "text"
        text.write_text("one two three")
        counts = [command, "--state", self.state, text]

        def ends(*words):
            return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=60, env=self.environment)

        self.assertEqual((ends(command, "--help").returncode, ends(command, "--wrong").returncode), (0, 64))
        self.assertFalse(self.state.exists(), "neither is a launch")
        for _ in range(2):
            self.assertEqual(ends(*counts).stdout, "3 words\n")
        (self.folder / "text.count").write_text("no number")
        for _ in range(2):
            self.assertIn(ends(*counts).returncode, (-signal.SIGILL, -signal.SIGTRAP))
        self.assertEqual(ends(*counts).stdout, "3 words\n", "the repair helped")
        missing = ends(command, "--state", self.state, self.folder / "none")
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("Error: ", missing.stderr)
        self.assertEqual(self.last()["run"]["exit_code"], 1, "an error is no crash")

    def test_a_server(self):
        for path, end in (("/hello/7", (-signal.SIGILL, -signal.SIGTRAP)), (None, (0,))):
            child = subprocess.Popen([self.consumer.program("greeter"), self.state], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                     env=self.environment)
            timer = threading.Timer(60, child.kill)
            timer.start()
            try:
                port = next(int(found[1]) for line in child.stdout if (found := re.search(r"listening on 127\.0\.0\.1:(\d+)", line)))
                server = "http://127.0.0.1:%d" % port
                self.assertEqual(urllib.request.urlopen(server + "/hello/0", timeout=30).read(), b"Hello, Ada")
                wait_until(lambda: self.last()["contexts"][0]["phase"] == FINISHED, "the launch is finished when the server listens")
                if path:
                    with self.assertRaises((OSError, http.client.HTTPException)):
                        urllib.request.urlopen(server + path, timeout=30)
                else:
                    child.send_signal(signal.SIGTERM)
                self.assertIn(child.wait(), end)
                self.assertTrue(timer.is_alive(), "it hangs")
            finally:
                timer.cancel()
                child.kill()
                child.communicate()
        self.assertEqual([entry["verdict"]["end"] for entry in reader.read(self.state / "ledger.lg")["timeline"]], [3])


class ProgramsInSwift5(Programs):
    MODE = "5"


class ReleasedPrograms(Programs):
    CONFIGURATION = "release"

    test_tests = None  # @testable is for debug builds


class ReleasedProgramsInSwift5(ReleasedPrograms):
    MODE = "5"


if __name__ == "__main__":
    unittest.main()
