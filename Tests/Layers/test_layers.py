"""The layer rule of the core with the reader, of the typed guards and of the agent, and what the
crash handler may call.

Arrows point down; two folders of one layer do not see each other. Called with the shared libraries
of the core, the reader and the typed guards, a library that breaks the rules, and the objects of
all of them and of the agent.
"""
import functools
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY, READER, TYPED, FORBIDDEN, *objects = sys.argv[1:]


class Tree:
    """A folder of sources, and the objects that were built of them."""

    def __init__(self, root, before, levels):
        """`before`: what stands before the name of a source in that of its object. `levels`: folder
        → layer, "." for the files that stand in none."""
        self.root, self.before, self.levels = ROOT / root, before, levels
        self.objects = [path for path in objects if before in path]

    def sources(self, pattern):
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob(pattern))

    def source_of(self, object_path):
        return object_path.split(self.before)[1].removesuffix(".o")

    def allowed(self, user, used):
        """May a file of folder `user` see folder `used`?"""
        return user == used or self.levels[used] < self.levels[user]

    def where(self):
        """Symbol → source file that has it."""
        found = symbols()
        return {name: self.source_of(path) for path in self.objects for name in found[path][0]}

    def arrows(self):
        """(Source file, symbol that it uses, source file that has it.)"""
        where = self.where()
        return [(self.source_of(path), symbol, where[symbol]) for path in self.objects for symbol in sorted(undefined(path) & set(where))]


CORE = Tree("Sources/CLaunchGuard", "Sources/CLaunchGuard/",
            {"os": 0, "store": 1, "walk": 2, "guard": 2, "read": 2, "capture": 3, "launch": 4, "session": 5, "examine": 5, "report": 6})
# The folders of the reader's library, and those of the core that it has copies of.
READER_FOLDERS, COPIED = {"examine", "report"}, {"os", "store", "read", "launch"}
# Its main.c alone stands above the objects of the top.
# The typed guards stand over the core, and see of it GUARDS_SEE alone. The core does not see them.
GUARDS = Tree("Sources/CLaunchGuardGuards", "Sources/CLaunchGuardGuards/", {".": 0})
GUARDS_SEE = {"guard/hook.h"}
AGENT = Tree("Sources/launchguard-agent", "launchguard_agent_parts.dir/",
             {"process": 0, "hint": 1, "policy": 1, "report": 1, "watch": 1, "target": 2, "send": 3, ".": 4})

# A function that other files call, lg__file_verb, begins with the name of its file. In five
# folders it may begin with the name of what all files of the folder are about: the interface to the
# system and the CPU (os.h), capture (capture.h), the reader, whose public functions are named after
# it, and the parts of a report.
PREFIXES = {"os": ["os", "arch"], "capture": ["capture"], "read": ["reader"], "examine": ["reader"], "report": ["report", "shape", "names"]}

# The functions that a signal handler may call: those of libc that take no lock, allocate nothing
# and were bound at start; and the linker's names for the ends of the module.
HANDLER = set("""memcpy memmove memset memcmp memchr strlen clock_gettime __errno_location __ehdr_start etext""".split())
# In a hardened build: the same, where an overflow ends the process.
HANDLER |= {f"__{name}_chk" for name in HANDLER} | {"__stack_chk_fail"}

# Files of which every function may run in the handler: their objects need nothing else.
HANDLER_ONLY = {"walk/caller.c", "capture/call_evidence.c", "capture/earlier.c", "capture/wait_for_lock.c", "walk/cfi.c", "capture/classify.c", "capture/deadline.c", "walk/expression.c", "capture/files.c",
                "capture/finish.c", "capture/mask.c", "capture/handler_stack.c", "capture/interpose_notify.c", "capture/own_threads.c", "walk/frames.c", "walk/async.c", "capture/crash.c", "capture/crash_next.c", "capture/handler.c", "walk/image.c", "walk/loader.c", "walk/mapped.c", "walk/memory.c",
                "capture/in_handler.c", "capture/process.c", "capture/recovering.c", "capture/repeating.c", "capture/question.c", "capture/record.c", "capture/fixed.c", "capture/snapshot.c", "capture/stages.c", "capture/symtab.c", "capture/thread.c", "capture/other_threads.c", "walk/unwind_dwarf.c", "walk/unwind_fp.c", "capture/walk_here.c", "capture/watch_thread.c", "capture/watch_walk.c", "os/linux_proc.c", "os/plain_text.c",
                "store/annotation.c", "store/crc32c.c", "store/ring.c", "store/text.c"}
# Files that also prepare or start: what they need for that, on an ordinary thread. Their handler
# part is in the call graph below.
ALSO_AT_START = {
    "capture/altstack.c": "__sanitizer_set_death_callback mmap mprotect munmap pthread_key_create pthread_once pthread_setspecific sigaltstack",
    "capture/disposition.c": "__tsan_init sigaltstack",
    # their addresses: the runtime, where the program has one, is found by them
    "capture/exception.c": "_ZTVN10__cxxabiv120__si_class_type_infoE _ZTVN10__cxxabiv121__vmi_class_type_infoE __cxa_get_globals_fast _ZSt9terminatev "
                           "__cxa_throw __cxa_rethrow __gxx_personality_v0 __cxa_pure_virtual",
    "capture/interpose_assert.c": "abort dlsym fprintf snprintf stderr",
    "capture/messages.c": "dl_iterate_phdr swift_getFatalErrorMessageBuffer",
    "capture/tail.c": "close dup2 fcntl pipe2 poll read write",
    "capture/install.c": "",
    "capture/libc.c": "dlsym sigaction",
    "capture/interpose_signals.c": "pthread_sigmask sigaddset sigdelset sigemptyset sigismember sigaction",
    "capture/interpose_mask.c": "pthread_sigmask",
    "capture/prepare.c": "mmap",
    "capture/interpose.c": "__interceptor_pthread_create __pthread_create __tsan_init dlsym free malloc pthread_create pthread_join thrd_create",
    "walk/modules.c": "dl_iterate_phdr pthread_mutex_lock pthread_mutex_unlock",
    "walk/unwind_libunwind.c": "dlopen dlsym",
    "store/run.c": "snprintf",
}

# The entry points of the handler: called by the kernel, by the watch thread while a crash is under
# way, and through tables of function pointers.
ENTRIES = """lg__handler_crash lg__handler_terminate lg__question_handler lg__chance_claim lg__capture_walk leave_breadcrumb ask_thread count_one heal_page lg__signal_redirect lg__deadline_passed lg__capture_deadline ask_other lg__heartbeats_look lg__job_deadlines_look lg__memory_watch_look lg__heartbeats_check lg_crash_note find_proc_info put_unwind_info get_dyn_info_list_addr access_mem
    access_reg access_fpreg resume get_proc_name""".split()


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout


def folder(path):
    return str(pathlib.PurePosixPath(path).parent)


@functools.cache
def symbols():
    """Object → the symbols that it defines for others, and those of others that it uses."""
    found = {path: (set(), set()) for path in objects}
    for line in run("nm", "-A", "-g", *objects).splitlines():
        path, rest = line.rsplit(":", 1)
        kind, name = rest.split()[-2:]
        found[path][kind in "Uwv"].add(name)
    return found


def undefined(object_path):
    return symbols()[object_path][1] - {"_GLOBAL_OFFSET_TABLE_"}


def circles(arrows):
    """The strongly connected components of more than one node: `arrows` is node → nodes
    (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for to in arrows[node]:
            if to not in order:
                visit(to)
            if to in stack:
                low[node] = min(low[node], low[to])
        if low[node] == order[node]:
            at = stack.index(node)
            if len(stack) > at + 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for node in arrows:
        if node not in order:
            visit(node)
    return found


def is_own(symbol):
    return symbol.startswith("lg_")


class CallGraph:
    """The functions of a library and the functions that each may reach: calls, jumps, addresses
    taken."""

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
        # a call of an exported function of the library itself goes round as well
        for used in self.uses.values():
            used |= {here.get(target, target) for target in used}

    def outside(self, entries, seen=None):
        """Functions of other libraries that the entries reach: name → chain of callers. `seen` gets
        the addresses of the library's own."""
        left = [(at, (name,)) for at, name in self.names.items() if name.split(".")[0] in entries]
        seen, found = set() if seen is None else seen, {}
        seen |= {at for at, _ in left}
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


def exported(library):
    """The functions that other libraries see."""
    lines = [line.split() for line in run("nm", "-D", "--defined-only", library).splitlines()]
    return {name.split("@")[0] for _, kind, name in lines if kind.isupper()}


def functions_at(library, addresses):
    """(File, function) of the code at these addresses, with the functions that the compiler put
    into others. Needs debug information; assembly has none."""
    unit = within = None
    names, found = {}, set()
    for line in run("readelf", "--debug-dump=info", library).splitlines():
        head = re.match(r" *<([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: \d+(?: \((\w+)\))?", line)
        if head:
            depth, at, tag = int(head[1], 16), int(head[2], 16), head[3]
            if tag == "DW_TAG_compile_unit":
                unit = None
            if tag == "DW_TAG_subprogram":
                within = None
            continue
        field = re.match(r" *<[0-9a-f]+> +(DW_AT_\w+) *: *(?:\(.*?\): )?(?:<0x)?([^>]*)", line)
        if not field:
            continue
        name, value = field[1], field[2].strip().split("): ")[-1]
        if name == "DW_AT_name" and unit is None:
            unit = pathlib.PurePath(value).name
        elif name == "DW_AT_name" and tag == "DW_TAG_subprogram":
            names[at] = (unit, value)
        elif name == "DW_AT_abstract_origin" and tag == "DW_TAG_subprogram":
            names[at] = int(value, 16)
        elif name == "DW_AT_low_pc" and tag == "DW_TAG_subprogram" and int(value, 16) in addresses:
            within = at
            found.add(at)
        elif name == "DW_AT_abstract_origin" and tag == "DW_TAG_inlined_subroutine" and within is not None:
            found.add(int(value, 16))
    while any(isinstance(names.get(at), int) for at in found):
        found = {names[at] if isinstance(names.get(at), int) else at for at in found}
    return {names[at] for at in found if at in names}


def signal_safe_functions():
    """The public functions whose documentation says "Signals: safe"."""
    names = set()
    for header in (ROOT / "include/launchguard").glob("*.h"):
        for comment, name in re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s*LG_API[^;(]*?(\w+)\(", header.read_text(), re.S):
            if "Signals: safe" in comment:
                names.add(name)
    return names


class Layered:
    """The rules of each tree."""
    least = 60  # symbols

    def sees(self, header):
        """May this tree include this header, which is neither its own nor public?"""
        return False

    def test_every_folder_has_a_layer(self):
        self.assertLessEqual({folder(path) for path in self.tree.sources("*.[ch]")}, set(self.tree.levels))

    def test_includes_point_down(self):
        for path in self.tree.sources("*.[ch]"):
            for included in re.findall(r'^\s*#\s*include\s+"([^"]+)"', (self.tree.root / path).read_text(), re.M):
                if folder(included) not in self.tree.levels:
                    self.assertTrue((ROOT / "include" / included).exists() or self.sees(included), "%s must not include %s" % (path, included))
                    continue
                self.assertTrue(self.tree.allowed(folder(path), folder(included)), "%s must not include %s" % (path, included))
                if included.endswith("/internal.h"):
                    self.assertEqual(folder(path), folder(included), "%s is for its own folder; %s includes it" % (included, path))

    def test_symbols_point_down(self):
        self.assertGreater(len(self.tree.where()), self.least)
        for user, symbol, used in self.tree.arrows():
            self.assertTrue(self.tree.allowed(folder(user), folder(used)), "%s must not use %s of %s" % (user, symbol, used))

    def test_files_form_no_circle(self):
        uses = {self.tree.source_of(path): set() for path in self.tree.objects}
        for user, _, used in self.tree.arrows():
            uses[user].add(used)
        self.assertEqual(circles(uses), [], "files that use each other")

    def test_no_file_name_twice(self):
        """A header and its source have one name; internal.h is each folder's own."""
        where = {}
        for path in map(pathlib.PurePosixPath, self.tree.sources("*.[ch]")):
            if path.name != "internal.h":
                where.setdefault(path.stem, set()).add(str(path.parent))
        self.assertEqual({stem for stem, folders in where.items() if len(folders) > 1}, set())


class Core(Layered, unittest.TestCase):
    tree = CORE

    def test_functions_are_named_after_their_files(self):
        for symbol, source in self.tree.where().items():
            path = pathlib.PurePosixPath(source)
            if symbol.startswith("lg__"):
                prefixes = PREFIXES.get(path.parent.name, []) + [path.stem]
                self.assertTrue(any(re.match("lg__%s(_|$)" % prefix, symbol) for prefix in prefixes), "%s of %s" % (symbol, source))

    def test_the_reader_is_a_library_of_its_own(self):
        """The core does without its folders, and asks for all of read/ itself."""
        uses = {}
        for user, symbol, used in self.tree.arrows():
            if folder(user) in READER_FOLDERS:
                self.assertIn(folder(used), READER_FOLDERS | COPIED, "%s must not use %s of %s" % (user, symbol, used))
            else:
                self.assertNotIn(folder(used), READER_FOLDERS, "%s must not use %s of %s" % (user, symbol, used))
                uses.setdefault(user, set()).add(used)
        reached = {path for path in self.tree.sources("*.c") if folder(path) not in READER_FOLDERS | {"read"}}
        left = list(reached)
        while left:
            more = uses.get(left.pop(), set()) - reached
            reached |= more
            left += more
        self.assertEqual({path for path in self.tree.sources("*.c") if folder(path) == "read"} - reached, set(), "a file for the reader alone")

    def test_circles_are_found(self):
        self.assertEqual(circles({1: {2}, 2: {3}, 3: {2, 4}, 4: set()}), [{2, 3}])

    def test_libunwind_has_one_door(self):
        users = [path for path in CORE.sources("*.[ch]") if re.search(r"#\s*include\s*<libunwind", (CORE.root / path).read_text())]
        self.assertEqual(users, ["walk/unwind_libunwind.c"])


class Guards(Layered, unittest.TestCase):
    tree, least = GUARDS, 30

    def sees(self, header):
        return header in GUARDS_SEE

    def test_functions_are_named_after_their_files(self):
        """stub_x86_64.c and stub_aarch64.c are one."""
        for symbol, source in self.tree.where().items():
            if symbol.startswith("lg__"):
                self.assertRegex(symbol, r"^lg__%s(_|$)" % pathlib.PurePosixPath(source).stem.partition("_")[0])

    def test_they_use_public_functions_and_the_hook(self):
        core, hook = CORE.where(), set(re.findall(r"\b(lg__hook_\w+)\(", (CORE.root / "guard/hook.h").read_text()))
        used = {symbol for path in GUARDS.objects for symbol in undefined(path) if symbol in core}
        self.assertEqual({symbol for symbol in used if symbol.startswith("lg__")}, hook, "the hook has what they use, and no more")
        self.assertIn("lg_guard_claim", used)

    def test_the_way_to_a_claim_shows_whose_it_is(self):
        """A guard may end the program there, and the names are all that tells these frames from the
        program's own, where the library is linked statically."""
        for path in GUARDS.sources("*.c"):
            text = (GUARDS.root / path).read_text()
            begins = list(re.finditer(r"^\w[\w *]*?\b(\w+)\([^;{]*\)\n\{", text, re.M))
            bodies = {begin[1]: text[begin.end():after] for begin, after in zip(begins, [begin.start() for begin in begins[1:]] + [len(text)])}
            on_the_way, found = {"lg_guard_claim"}, True
            while found:
                found = {name for name, body in bodies.items() if any(re.search(r"\b%s\(" % one, body) for one in on_the_way)} - on_the_way
                on_the_way |= found
            self.assertEqual([name for name in on_the_way if not name.startswith("lg_")], [], path)

    def test_the_core_does_not_use_them(self):
        guards = set(GUARDS.where())
        for path in CORE.objects:
            self.assertEqual(undefined(path) & guards, set(), path)

    def test_no_file_name_of_the_core(self):
        names = {pathlib.PurePosixPath(path).name for path in CORE.sources("*.[ch]")}
        self.assertEqual(names & {pathlib.PurePosixPath(path).name for path in GUARDS.sources("*.[ch]")}, set())


@unittest.skipUnless(AGENT.objects, "the agent was not built")
class Agent(Layered, unittest.TestCase):
    tree = AGENT

    def sees(self, header):
        return (CORE.root / header).exists()

    def test_only_the_target_makers_know_the_network_library(self):
        """The contents of a report are made without the library."""
        users = {folder(path) for path in AGENT.sources("*.[ch]") if "#include <curl/" in (AGENT.root / path).read_text()}
        self.assertEqual(users, {"target", "send"})


class Handler(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # "w": a weak reference
        if re.search(r" [A-VX-Z] __(asan|tsan|ubsan|gcov|sanitizer)", run("nm", LIBRARY)):
            raise unittest.SkipTest("the library is instrumented: what it calls is not what it will call")

    def test_files_of_the_handler_need_only_what_is_safe(self):
        listed = HANDLER_ONLY | set(ALSO_AT_START)
        inside = {path for path in CORE.sources("*.c") if folder(path) in ("walk", "capture")}
        self.assertLessEqual(inside, listed, "a new file of walk/ or capture/: say here what it may call")
        checked = set()
        for path in CORE.objects:
            source = CORE.source_of(path)
            if source in listed:
                more = {re.sub(r"^__(\w+)_chk$", r"\1", symbol) for symbol in undefined(path) - HANDLER} - set(ALSO_AT_START.get(source, "").split())
                self.assertEqual({symbol for symbol in more if not is_own(symbol)}, set(),
                                 "%s calls what a signal handler must not" % source)
                checked.add(source)
        self.assertEqual(checked, listed)

    def test_everything_that_the_handler_reaches_is_safe(self):
        self.check(ENTRIES, at_least=["lg__handler_crash", "lg__handler_terminate", "heal_page", "lg__capture_deadline", "lg__unwind_dwarf", "lg__loader_settle",
                             "find"])

    def test_how_much_a_fault_reaches(self):
        seen = set()
        call_graph(LIBRARY).outside(["lg__handler_crash", "lg__question_handler", "lg__deadline_passed"], seen)
        reached = functions_at(LIBRARY, seen)
        if not reached:
            self.skipTest("no debug information")
        self.assertIn(("handler.c", "is_claimed"), reached)
        print("a fault reaches %d functions of %d files" % (len(reached), len({unit for unit, _ in reached})))

    def test_the_package_names_what_is_interposed(self):
        """The functions of libc that the core exports are in the symbols file for Debian."""
        found = {name for name in exported(LIBRARY) if not is_own(name) and not name.startswith(("lg__", "LAUNCHGUARD_"))}
        text = (ROOT / "packaging/debian/liblaunchguard0.symbols").read_text()
        self.assertEqual(found, set(re.findall(r"^ (\w+)@Base ", text, re.M)))

    def test_everything_documented_as_signal_safe_is(self):
        names = signal_safe_functions()
        self.assertGreater(len(names), 8)
        for library, known in ((TYPED, "lg_guard_claim_index"), (READER, "lg_reader_kind")):
            its = names & exported(library)
            self.assertIn(known, its)
            self.check(its, at_least=its, library=library)
            names -= its
        self.check(names, at_least=names)

    def check(self, entries, at_least, library=LIBRARY):
        graph = call_graph(library)
        missing = set(at_least) - {name.split(".")[0] for name in graph.names.values()}
        self.assertEqual(missing, set(), "not found in the library: the check would not see them")
        for symbol, chain in graph.outside(entries).items():
            self.assertIn(symbol, HANDLER, "a signal handler must not call %s(): %s" % (symbol, chain))

    def test_the_check_finds_what_is_forbidden(self):
        found = CallGraph(FORBIDDEN).outside(["on_crash"])
        self.assertEqual(set(found), {"malloc", "rand", "qsort"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
