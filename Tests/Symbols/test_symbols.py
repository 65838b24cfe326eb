#!/usr/bin/env python3
"""Programs that nobody prepared die under `launchguard run`, and their functions, lines and inlined
functions are known by each way, from each place where the symbols may be."""
import argparse
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Preload"))
from loadable import loadable  # noqa: E402

LIMIT_S = 120
USAGE = 2
SIGNALS = -signal.SIGSEGV, -signal.SIGILL, -signal.SIGTRAP
options = argparse.Namespace()
# Servers that the machine's user may have set would be asked.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD_")}


def shell(script, folder, **variables):
    return subprocess.run(["/bin/sh", "-ec", script], cwd=folder, env={**CLEAN, **variables}, check=True, timeout=LIMIT_S, capture_output=True, text=True).stdout


def build_id(path):
    return re.search(r"Build ID: (\w+)", shell(f"readelf -n '{path}'", "/"))[1]


def line(source, mark):
    """The line of a mark."""
    return next(number for number, text in enumerate((HERE / source).read_text().splitlines(), 1) if text.endswith(f"// {mark}"))


class SymbolCase(unittest.TestCase):
    """The program shop has died in the folder, and is there again, whole, before each test."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="launchguard-symbols-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.whole = cls.cpp(cls.compiler, "whole")
        cls.program = cls.folder / "shop"
        shutil.copy(cls.whole, cls.program)
        cls.run_file = cls.died(cls.program)
        cls.build_id = build_id(cls.whole)

    # DWARF 5, as this compiler has it by itself.
    compiler = "-O2"

    def setUp(self):
        for path in self.folder.iterdir():
            if path.name not in ("whole", "state"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shell("cp whole shop; objcopy --only-keep-debug shop shop.debug", self.folder)

    @classmethod
    def build(cls, name, command):
        shell(f"{command} -o '{name}'", cls.folder)
        return cls.folder / name

    @classmethod
    def cpp(cls, optimisation, name):
        return cls.build(name, f"g++ -g {optimisation} '{HERE}/shop.cpp'")

    @classmethod
    def died(cls, program):
        """The run of a program that crashed."""
        variables = {**CLEAN, "LAUNCHGUARD_PRELOAD": str(options.preload), "SWIFT_BACKTRACE": "enable=no"}
        process = subprocess.Popen([options.tool, "run", "--directory", cls.folder / "state", "--", program], env=variables, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            status = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        assert status in SIGNALS, status
        return max((cls.folder / "state" / program.name / "runs").iterdir())

    def tool(self, *arguments, **variables):
        return subprocess.run([options.tool, *arguments], env={**CLEAN, **variables}, cwd=self.folder, timeout=LIMIT_S, capture_output=True, text=True)

    def inspect(self, run, *arguments, **variables):
        result = self.tool("inspect", "--json", *arguments, run, **variables)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def symbols(self, report, module):
        """(function, line, inlined) of each frame of a module, up to main."""
        found = []
        crash = report["crash"]
        for frame in (crash.get("dwarfStack") or crash["framePointerStack"])["frames"]:
            if not (frame.get("module") or "").endswith("/" + module):
                break
            found += [(symbol["name"].replace("(anonymous namespace)::", ""), symbol.get("line"), symbol["isInlined"]) for symbol in frame.get("symbols", [])]
            if found and found[-1][0] == "main":
                break
        return found

    def problems(self, report, code):
        return [problem["message"] for problem in report["problems"] if problem["code"] == code]

    def leave_out(self, reason):
        print(f"{self.id()} is left out: {reason}")
        self.skipTest(reason)


def ways():
    found = ["swift"] + ["llvm"] * bool(shutil.which("llvm-symbolizer"))
    if len(found) == 1:
        print("llvm-symbolizer is not in PATH: the tests of that way are left out")
    return found


PROPER = [("shop::outer(int volatile*, int)", line("shop.cpp", "outer"), False), ("shop::Shelf<double>::at(int volatile*) const", line("shop.cpp", "at"), False),
          ("main", line("shop.cpp", "main"), False)]
WHOLE = [("inner", line("shop.cpp", "inner"), True), ("middle", line("shop.cpp", "middle"), True)] + PROPER
NAMES = [(name, None, False) for name, _, _ in PROPER]
# The Swift module knows no inlined function whose code is in several places, as DWARF 5 has them.
# Then the innermost line is that of the function proper.
OF_DWARF_5 = {"llvm": WHOLE, "swift": [(PROPER[0][0], WHOLE[0][1], False)] + PROPER[1:]}


class Golden(SymbolCase):
    def test_a_program_in_cpp(self):
        for optimisation, expected in [("-O0 -gdwarf-4", dict.fromkeys(ways(), WHOLE)), ("-O2 -gdwarf-4 -no-pie", dict.fromkeys(ways(), WHOLE)), ("-O2 -gz", OF_DWARF_5)]:
            program = self.cpp(optimisation, "shop" + optimisation.replace(" ", ""))
            run = self.died(program)
            for way in ways():
                with self.subTest(optimisation, way=way):
                    report = self.inspect(run, "--symbolizer", way)
                    self.assertEqual(self.symbols(report, program.name), expected[way])
                    self.assertEqual(self.problems(report, "no-lines"), [])
            report = self.inspect(run, "--symbolizer", "builtin")
            self.assertEqual(self.symbols(report, program.name), NAMES)
            self.assertIn("--symbolizer", self.problems(report, "no-lines")[0])

    def test_a_program_in_swift(self):
        lines = {name: line("shop.swift", name) for name in ("inner", "outer", "main")}
        for optimisation in "-Onone", "-O":
            program = self.build("market" + optimisation, f"{options.swiftc} -g {optimisation} '{HERE}/shop.swift'")
            run = self.died(program)
            # Without optimisation it is a function of its own.
            isInlined = optimisation == "-O"
            names = []
            for way in ways():
                with self.subTest(optimisation, way=way):
                    report = self.inspect(run, "--symbolizer", way)
                    found = self.symbols(report, program.name)
                    self.assertEqual(found, [("inner(_:)", lines["inner"], isInlined), ("Shelf.outer(_:)", lines["outer"], False), ("main", lines["main"], False)])
                    names.append([name for name, _, isInlined in found if not isInlined])
                    self.assertEqual(report["crash"]["reason"], "trap.swift.overflow")
                    self.assertIn("arithmetic overflow", self.tool("inspect", "--symbolizer", way, run).stdout)
            names.append([name for name, _, _ in self.symbols(self.inspect(run, "--symbolizer", "builtin"), program.name)])
            self.assertEqual(names, names[:1] * len(names))


    def test_a_name_without_an_end(self):
        """Some hundred letters, which stand for 2^36 words."""
        name = "_Z1f1AIiiE" + "".join(f"S_IS{digit}_S{digit}_E" for digit in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        source = self.folder / "endless.c"
        source.write_text(f'__attribute__((noinline)) int f(volatile int *where) __asm__("{name}");\nint f(volatile int *where) {{ return *where; }}\n'
                          '__attribute__((noinline)) int g(volatile int *where) __asm__("_ZN4shop1gEPVi");\nint g(volatile int *where) { return f(where) + 1; }\n'
                          "int main(void) { return g(0) + 1; }\n")
        run = self.died(self.build("endless", f"gcc -O1 -fno-ipa-cp -fno-ipa-sra '{source}'"))
        for way in ways() + ["builtin"]:
            found = [function for function, _, _ in self.symbols(self.inspect(run, "--symbolizer", way), "endless")]
            self.assertEqual(found, [name, "shop::g(int volatile*)", "main"], way)


    def test_parts_and_copies_of_functions(self):
        """They have the name of the function, wherever it is shown."""
        names = {"work.cold": "work", "work.part.0.isra.1": "work", "work.constprop.0.cold.2": "work", "work.lto_priv.12": "work", "work.other.0": "work.other.0",
                 "_ZN4shop4workEPVi.part.0": "shop::work(int volatile*)", "_ZN4shop4work17h0123456789abcdefE.llvm.1234567890": "shop::work",
                 "_RNvCs1234_4shop4work.llvm.12": "shop::work"}
        source = self.folder / "parts.c"
        functions = [f'__attribute__((noinline)) int f{number}(volatile int *where) __asm__("{name}");' for number, name in enumerate(names)]
        functions += [f"int f{number}(volatile int *where) {{ return {f'f{number - 1}(where)' if number else '*where'} + 1; }}" for number in range(len(names))]
        source.write_text("\n".join(functions) + f"\nint main(void) {{ return f{len(names) - 1}(0) + 1; }}\n")
        run = self.died(self.build("parts", f"gcc -g -O1 -fno-ipa-cp -fno-ipa-sra '{source}'"))
        for way in ways() + ["builtin"]:
            report = self.inspect(run, "--symbolizer", way)
            frames = report["crash"]["dwarfStack"]["frames"][:len(names)]
            self.assertEqual([frame["symbols"][-1].get("mangledName", frame["symbols"][-1]["name"]) for frame in frames], list(names), way)
            self.assertEqual([frame["symbols"][-1]["name"] for frame in frames], list(names.values()), way)
        text = self.tool("inspect", "--symbolizer", "builtin", run).stdout
        self.assertEqual(text.splitlines()[0], "read through a NULL pointer in work of parts")
        page = self.folder / "parts.html"
        self.tool("export", "--format", "html", "-o", page, run)
        for output in text, page.read_text():
            self.assertIn("work.other.0", output)
            self.assertNotRegex(output, r"\.(cold|part|constprop|isra|llvm|lto_priv)\b")


class Separate(SymbolCase):
    """The symbols are elsewhere than in the program."""

    def assert_known(self, *arguments):
        for way in ways():
            with self.subTest(way=way):
                report = self.inspect(self.run_file, "--symbolizer", way, *arguments)
                self.assertEqual(self.symbols(report, "shop"), OF_DWARF_5[way])
                self.assertEqual(self.problems(report, "build-id"), [])

    def test_debug_file_by_build_id(self):
        shell(f"strip shop; mkdir -p debug/.build-id/{self.build_id[:2]}; mv shop.debug debug/.build-id/{self.build_id[:2]}/{self.build_id[2:]}.debug; mkdir none", self.folder)
        self.assert_known("--debug-dir", "none", "--debug-dir", "debug")
        stripped = self.inspect(self.run_file)
        self.assertEqual(self.symbols(stripped, "shop"), [])
        self.assertTrue(any("--debug-dir" in message for message in self.problems(stripped, "no-symbols")), stripped["problems"])

    def test_debug_file_by_name(self):
        shell("strip shop; mkdir debug; mv shop.debug debug", self.folder)
        self.assert_known("--debug-dir", "debug")

    def test_debug_file_by_link(self):
        shell("strip shop; objcopy --add-gnu-debuglink=shop.debug shop; mkdir .debug; mv shop.debug .debug", self.folder)
        self.assert_known()

    def test_compressed_symbols(self):
        """As Fedora strips its programs."""
        shell("nm -D shop --format=posix --defined-only | awk '{print $1}' | sort >dynamic;"
              "nm shop --format=posix --defined-only | awk '$2 ~ /[TtW]/ {print $1}' | sort >all; comm -13 dynamic all >kept;"
              "objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=kept shop.debug mini; xz mini;"
              "strip shop; objcopy --add-section .gnu_debugdata=mini.xz shop; rm shop.debug", self.folder)
        self.assertEqual(self.symbols(self.inspect(self.run_file), "shop"), NAMES)

    def test_moved_program(self):
        shell("mkdir elsewhere; mv shop elsewhere; rm shop.debug", self.folder)
        self.assertTrue(self.problems(self.inspect(self.run_file), "not-found"))
        self.assert_known("--debug-dir", "elsewhere")

    def test_replaced_program(self):
        self.cpp("-O1", "shop")
        other = build_id(self.program)
        self.assertNotEqual(other, self.build_id)
        report = self.inspect(self.run_file)
        self.assertEqual(self.symbols(report, "shop"), [])
        message = self.problems(report, "build-id")[0]
        self.assertIn(self.build_id, message)
        self.assertIn(other, message)
        shell("mkdir old; cp whole old/shop", self.folder)
        self.assert_known("--debug-dir", "old")


    def test_split_debug_file(self):
        compilers = [name for name in ("g++", "clang++") if shutil.which(name)]
        if len(compilers) == 1:
            print("clang++ is not in PATH: its split debug files are left out")
        for compiler, version in [(compiler, version) for compiler in compilers for version in (4, 5)]:
            with self.subTest(compiler, version=version):
                name = f"split-{compiler.strip('+')}-{version}"
                shell(f"{compiler} -g -gdwarf-{version} -O2 -gsplit-dwarf -c '{HERE}/shop.cpp' -o {name}.o", self.folder)
                run = self.died(self.build(name, f"{compiler} {name}.o"))
                self.assertEqual(self.problems(self.inspect(run), "split-debug"), [])
                shell(f"mkdir -p away; mv {name}.dwo away", self.folder)
                report = self.inspect(run)
                self.assertEqual(self.symbols(report, name), OF_DWARF_5["swift"])
                self.assertIn(f"{self.folder}/{name}.dwo of {self.folder}/{name} is missing", self.problems(report, "split-debug")[0])
                self.assertIn(f"{name}.dwo of ", self.tool("inspect", run).stdout)
                shell(f"cp away/{name}.dwo {name}.dwp", self.folder)
                self.assertEqual(self.problems(self.inspect(run), "split-debug"), [])

    def test_alternate_file(self):
        """As dwz leaves a program."""
        shell(r"printf 'shared.debug\0%20s' >link; objcopy --add-section .gnu_debugaltlink=link shop", self.folder)
        self.assertIn(f"{self.folder}/shared.debug, which is not on this machine", self.problems(self.inspect(self.run_file), "alternate-file")[0])
        shell("cp whole shared.debug", self.folder)
        self.assertEqual(self.problems(self.inspect(self.run_file), "alternate-file"), [])


class WithoutBuildID(SymbolCase):
    compiler = "-O2 -Wl,--build-id=none"

    @classmethod
    def setUpClass(cls):
        global build_id
        real, build_id = build_id, lambda path: None
        try:
            super().setUpClass()
        finally:
            build_id = real

    def test_debug_file_by_link(self):
        shell("strip shop; objcopy --add-gnu-debuglink=shop.debug shop", self.folder)
        report = self.inspect(self.run_file)
        self.assertEqual(self.symbols(report, "shop"), OF_DWARF_5[ways()[-1]])
        self.assertTrue(self.problems(report, "no-build-id"))
        with open(self.folder / "shop.debug", "ab") as file:
            file.write(b"one more")
        report = self.inspect(self.run_file)
        self.assertEqual(self.symbols(report, "shop"), [])
        self.assertIn("checksum", self.problems(report, "build-id")[0])


class Server(SymbolCase):
    """A server of debug files, on this machine."""

    def setUp(self):
        super().setUp()
        if not shutil.which("debuginfod-find"):
            self.leave_out("debuginfod-find is not installed")
        shell("strip shop", self.folder)
        self.variables = {"DEBUGINFOD_CACHE_PATH": str(self.folder / "cache"), "DEBUGINFOD_TIMEOUT": "2", "DEBUGINFOD_RETRY_LIMIT": "1"}

    def serve(self):
        case, asked = self, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                known = self.path == f"/buildid/{case.build_id}/debuginfo"
                body = (case.folder / "shop.debug").read_bytes() if known else b""
                self.send_response(200 if known else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}", asked

    def test_it_is_asked_where_it_is_named(self):
        address, asked = self.serve()
        self.assertEqual(self.symbols(self.inspect(self.run_file, **self.variables), "shop"), [])
        self.assertEqual(asked, [])
        report = self.inspect(self.run_file, DEBUGINFOD_URLS=address, **self.variables)
        self.assertEqual(self.symbols(report, "shop"), OF_DWARF_5[ways()[-1]])
        self.assertTrue(asked)
        self.assertEqual(self.problems(report, "debuginfod"), [])

    def test_a_server_that_is_not_there_or_silent_is_told(self):
        with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as gone:
            addresses = [f"http://127.0.0.1:{server.getsockname()[1]}" for server in (silent, gone)]
            gone.close()
            for address in addresses:
                report = self.inspect(self.run_file, DEBUGINFOD_URLS=address, **self.variables)
                self.assertEqual(len(self.problems(report, "debuginfod")), 1, report["problems"])
                self.assertIn("debuginfod-find", self.problems(report, "debuginfod")[0])

    def test_without_the_program_that_is_told(self):
        report = self.inspect(self.run_file, DEBUGINFOD_URLS="http://127.0.0.1:1", PATH="/nonexistent", **self.variables)
        self.assertIn("package debuginfod", self.problems(report, "debuginfod")[0])


class Ways(SymbolCase):
    def test_a_word_that_is_no_way_names_those_that_are(self):
        run = self.run_file
        result = self.tool("inspect", "--symbolizer", "nonsense", run)
        self.assertEqual(result.returncode, USAGE)
        self.assertIn("swift, builtin and none", result.stderr)
        for path in "/nonexistent/llvm-symbolizer", "/usr", "/etc/passwd":
            self.assertEqual(self.tool("inspect", "--symbolizer", path, run).returncode, USAGE, path)
        self.assertEqual(self.tool("inspect", "--symbolizer", "swift", "--no-symbols", run).returncode, USAGE)
        self.assertEqual(self.symbols(self.inspect(run, "--symbolizer", "none"), "shop"), [])

    def test_without_llvm_lines_are_found(self):
        hidden = [str(path.parent) for path in pathlib.Path("/usr/lib").glob("llvm-*/bin/llvm-symbolizer")]
        if hidden and (os.geteuid() or not shutil.which("unshare")):
            self.leave_out("an llvm-symbolizer is in /usr/lib/llvm-*, and only root can hide it")
        mounts = " && ".join([f"mount --bind '{self.folder}/none' '{folder}'" for folder in hidden] + [f"PATH=/nonexistent exec '{options.tool}' inspect --json '{self.run_file}'"])
        shell("mkdir none", self.folder)
        alone = "unshare -m " if hidden else ""
        report = json.loads(shell(f"exec {alone}/bin/sh -ec '{mounts.replace(chr(39), chr(34))}'", self.folder))
        self.assertEqual(self.symbols(report, "shop"), OF_DWARF_5["swift"])

    def test_a_symbolizer_that_breaks_costs_lines_alone(self):
        run = self.run_file
        result = self.tool("inspect", "--json", "--symbolizer", "/bin/false", run)
        self.assertEqual(result.returncode, 0)
        self.assertIn("/bin/false does not work", result.stderr)
        self.assertEqual(self.symbols(json.loads(result.stdout), "shop"), NAMES)

    def test_a_file_that_breaks_it_costs_no_other_its_lines(self):
        script = self.folder / "fragile"
        script.write_text(f"#!/bin/sh\ncase \"$*\" in *libc*) kill -ILL $$;; esac\nexec '{options.tool}' symbolize \"$@\"\n")
        script.chmod(0o755)
        self.assertEqual(self.symbols(self.inspect(self.run_file, "--symbolizer", "./fragile"), "shop"), OF_DWARF_5["swift"])

    def test_many_reports_of_a_program_cost_one_look(self):
        state = self.folder / "many"
        shutil.copytree(self.folder / "state/shop", state)
        run = state / "runs" / self.run_file.name
        for number in range(2, options.reports + 1):
            os.link(run, run.with_name(run.name.replace("00000001", f"{number:08}")))
        script = self.folder / "counting"
        script.write_text(f"#!/bin/sh\necho >>'{self.folder}/asked'\nexec '{options.tool}' symbolize \"$@\"\n")
        script.chmod(0o755)
        # Once for all files, and once more for each where one of the machine's own is too much.
        self.inspect(self.run_file, "--symbolizer", "./counting")
        calls = len((self.folder / "asked").read_text().splitlines())
        (self.folder / "asked").unlink()
        result = self.tool("export", "--format", "json", "--all", "-o", "out", "--symbolizer", "./counting", state)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        exported = list((self.folder / "out").iterdir())
        self.assertEqual(len(exported), options.reports)
        for path in exported[::50]:
            self.assertEqual(self.symbols(json.loads(path.read_text()), "shop"), OF_DWARF_5["swift"])
        self.assertEqual(len((self.folder / "asked").read_text().splitlines()), calls)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--preload", required=True, type=pathlib.Path)
    parser.add_argument("--swiftc", default="swiftc")
    parser.add_argument("--reports", default=100, type=int, help="how many reports one program leaves")
    rest = parser.parse_known_args(namespace=options)[1]
    options.tool, options.preload = options.tool.resolve(), loadable(options.preload)
    # says why a test is left out
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
