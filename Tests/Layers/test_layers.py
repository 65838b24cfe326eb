"""The layer rule of the core, and what its crash handler may call.

Layers: os < store < capture, guard, read < launch < the files beside these folders. Arrows point down; two folders of one layer do not
see each other. Called with the shared library, a library that breaks the rules, and the objects of the core.
"""
import functools
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORE = ROOT / "Sources/CLaunchGuard"
LIBRARY, FORBIDDEN, *OBJECTS = sys.argv[1:]

LEVELS = {"os": 0, "store": 1, "capture": 2, "guard": 2, "read": 2, "launch": 3, "": 4}

# What may be called in a signal handler: functions of libc that take no lock, allocate nothing and were bound at start; the parts of
# libunwind's remote interface that work on our accessors alone.
HANDLER = set("""memcpy memmove memset memcmp memchr strlen clock_gettime __errno_location
    _Ux86_64_init_remote _Ux86_64_get_reg _Ux86_64_step _Ux86_64_dwarf_search_unwind_table
    _Uaarch64_init_remote _Uaarch64_get_reg _Uaarch64_step _Uaarch64_dwarf_search_unwind_table""".split())

# Files of which every function may run in the handler: their objects need nothing else.
HANDLER_ONLY = {"capture/cfi.c", "capture/classify.c", "capture/deadline.c", "capture/expression.c", "capture/files.c",
                "capture/finish.c", "capture/frames.c", "capture/handler.c", "capture/image.c", "capture/latch.c", "capture/loader.c", "capture/memory.c", "capture/prepare.c",
                "capture/record.c", "capture/snapshot.c", "capture/stages.c", "capture/thread.c", "capture/threads.c", "capture/unwind_dwarf.c", "capture/unwind_fp.c", "os/linux_proc.c",
                "store/annotation.c", "store/crc32c.c", "store/ring.c", "store/text.c"}
# Files that also prepare or start: what they need for that, on an ordinary thread. Their handler part is in the call graph below.
ALSO_AT_START = {
    "capture/altstack.c": "__sanitizer_set_death_callback mmap mprotect munmap pthread_key_create pthread_once pthread_setspecific sigaltstack",
    "capture/disposition.c": "sigaltstack",
    "capture/exception.c": "abort strcmp strnlen _ZSt13set_terminatePFvvE _ZTVN10__cxxabiv120__si_class_type_infoE "
                           "_ZTVN10__cxxabiv121__vmi_class_type_infoE __cxa_current_exception_type __cxa_get_globals __cxa_current_primary_exception __cxa_pure_virtual",
    "capture/messages.c": "dlvsym swift_getFatalErrorMessageBuffer",
    "capture/process.c": "snprintf strcspn strncmp",
    "capture/tail.c": "close dup2 fcntl pipe2 poll read write",
    "capture/install.c": "mmap munmap sigaction sigdelset sigfillset",
    "capture/place.c": "sigaltstack",
    "capture/interpose.c": "__interceptor_pthread_create dlsym free malloc pthread_create",
    "capture/modules.c": "dl_iterate_phdr pthread_mutex_lock pthread_mutex_unlock",
    "capture/unwind_libunwind.c": "_Ux86_64_create_addr_space _Uaarch64_create_addr_space",
    "store/run.c": "snprintf",
}

# Where the handler begins: by the kernel, by the watch thread while a crash is under way, by tables of function pointers.
ENTRIES = """lg__handler_crash lg__handler_terminate on_park ask count_one heal lg__watch_redirect lg__capture_deadline ask_other lg__hearts_look lg__deadlines_look lg__hearts_check find_proc_info put_unwind_info get_dyn_info_list_addr access_mem
    access_reg access_fpreg resume get_proc_name""".split()


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout


def folder(path):
    parent = str(pathlib.PurePosixPath(path).parent)
    return "" if parent == "." else parent


def allowed(user, used):
    """May a file of folder `user` see folder `used`?"""
    return user == used or LEVELS[used] < LEVELS[user]


def sources(pattern):
    return sorted(path.relative_to(CORE).as_posix() for path in CORE.rglob(pattern))


def room(path):
    """The folder of a source file. names.c holds the words of the public headers, which every layer may use."""
    return "os" if path == "names.c" else folder(path)


def source_of(object_path):
    return object_path.split("Sources/CLaunchGuard/")[1].removesuffix(".o")


def symbols(option):
    """Object → its symbols, as nm lists them with this option."""
    found = {path: set() for path in OBJECTS}
    for line in run("nm", "-A", option, *OBJECTS).splitlines():
        found[line.split(":")[0]].add(line.split()[-1])
    return found


@functools.cache
def all_undefined():
    return symbols("-u")


def undefined(object_path):
    return all_undefined()[object_path] - {"_GLOBAL_OFFSET_TABLE_"}


def is_own(symbol):
    return symbol.startswith("lg_")


class CallGraph:
    """Functions of a library and what each may reach: calls, jumps, addresses taken."""

    def __init__(self, library):
        self.names, self.uses = {}, {}
        current = None
        for line in run("objdump", "-d", "--no-show-raw-insn", library).splitlines():
            head = re.match(r"([0-9a-f]{16}) <([^>]+)>:$", line)
            if head:
                current = int(head[1], 16)
                self.names[current], self.uses[current] = head[2], set()
            for address, symbol in re.findall(r"\b([0-9a-f]+) <([^>]+)>$", line) if not head else ():
                outside = re.match(r"([A-Za-z_]\w*)@", symbol)
                self.uses[current].add(outside[1] if outside else int(address, 16))
        here = {name: at for at, name in self.names.items()}
        for used in self.uses.values():  # a call of an exported function of the library itself goes round as well
            used |= {here.get(target, target) for target in used}

    def outside(self, entries):
        """Functions of other libraries that the entries reach: name → chain of callers."""
        left = [(at, (name,)) for at, name in self.names.items() if name.split(".")[0] in entries]
        seen, found = {at for at, _ in left}, {}
        while left:
            at, chain = left.pop()
            for used in self.uses[at]:
                if isinstance(used, str) and not is_own(used):
                    found.setdefault(used, " → ".join(chain))
                elif used in self.uses and used not in seen:
                    seen.add(used)
                    left.append((used, chain + (self.names[used],)))
        return found


call_graph = functools.cache(CallGraph)


def signal_safe_functions():
    """The public functions whose documentation says "Signals: safe"."""
    names = set()
    for header in (ROOT / "include/launchguard").glob("*.h"):
        for comment, name in re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s*LG_API[^;(]*?(\w+)\(", header.read_text(), re.S):
            if "Signals: safe" in comment:
                names.add(name)
    return names


class Layers(unittest.TestCase):
    def test_every_folder_has_a_layer(self):
        self.assertLessEqual({folder(path) for path in sources("*.[ch]")}, set(LEVELS))

    def test_includes_point_down(self):
        for path in sources("*.[ch]"):
            for included in re.findall(r'^\s*#\s*include\s+"([^"]+)"', (CORE / path).read_text(), re.M):
                if included.startswith("launchguard/"):
                    continue
                self.assertTrue(allowed(folder(path), folder(included)), "%s must not include %s" % (path, included))
                if included.endswith("/internal.h"):
                    self.assertEqual(folder(path), folder(included), "%s is for its own folder; %s includes it" % (included, path))

    def test_symbols_point_down(self):
        where = {}
        for path, defined in symbols("--extern-only").items():
            for symbol in defined - all_undefined()[path]:
                where[symbol] = source_of(path)
        self.assertGreater(len(where), 100)
        for path in OBJECTS:
            for symbol in undefined(path) & set(where):
                self.assertTrue(allowed(room(source_of(path)), room(where[symbol])),
                                "%s must not use %s of %s" % (source_of(path), symbol, where[symbol]))


    def test_libunwind_has_one_door(self):
        users = [path for path in sources("*.[ch]") if re.search(r"#\s*include\s*<libunwind", (CORE / path).read_text())]
        self.assertEqual(users, ["capture/unwind_libunwind.c"])


class Handler(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if re.search(r" [A-VX-Z] __(asan|tsan|ubsan|gcov|sanitizer)", run("nm", LIBRARY)):  # "w": only asked for
            raise unittest.SkipTest("the library is instrumented: what it calls is not what it will call")

    def test_files_of_the_handler_need_only_what_is_safe(self):
        listed = HANDLER_ONLY | set(ALSO_AT_START)
        capture = {path for path in sources("*.c") if folder(path) == "capture"}
        self.assertLessEqual(capture, listed, "a new file of capture/: say here what it may call")
        checked = set()
        for path in OBJECTS:
            source = source_of(path)
            if source in listed:
                more = undefined(path) - HANDLER - set(ALSO_AT_START.get(source, "").split())
                self.assertEqual({symbol for symbol in more if not is_own(symbol)}, set(),
                                 "%s calls what a signal handler must not" % source)
                checked.add(source)
        self.assertEqual(checked, listed)

    def test_everything_that_the_handler_reaches_is_safe(self):
        self.check(ENTRIES, at_least=["lg__handler_crash", "lg__handler_terminate", "heal", "lg__capture_deadline", "lg__unwind_dwarf", "lg__modules_settle",
                             "find"])

    def test_everything_documented_as_signal_safe_is(self):
        names = signal_safe_functions()
        self.assertGreater(len(names), 8)
        self.check(names, at_least=names)

    def check(self, entries, at_least):
        graph = call_graph(LIBRARY)
        missing = set(at_least) - {name.split(".")[0] for name in graph.names.values()}
        self.assertEqual(missing, set(), "not found in the library: the check would not see them")
        for symbol, chain in graph.outside(entries).items():
            self.assertIn(symbol, HANDLER, "a signal handler must not call %s(): %s" % (symbol, chain))

    def test_the_check_finds_what_is_forbidden(self):
        found = CallGraph(FORBIDDEN).outside(["on_crash"])
        self.assertEqual(set(found), {"malloc", "rand", "qsort"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
