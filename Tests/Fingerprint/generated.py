"""The corpus of generated programs, in C and C++: one program, its later version, and builds of
both.

Each bug is in a function of its own, but for some that share one. A bug is reached by several ways:
other callers, another thread, through a recursion. The later version has functions and lines before
each function, other callers, and a change in four of ten functions.
"""
import random
import typing

VERBS = "load store parse merge split draw play scan copy index filter sort render encode decode open close reset flush count".split()
NOUNS = "track album header frame table cache queue stream packet sample label node page cell block image volume field entry shape".split()
# By compiler, flags, version of the source, and how the functions are linked.
BUILDS = {
    "base": ("gcc", ["-O2"], 1, ""), "later": ("gcc", ["-O2"], 2, ""), "O0": ("gcc", ["-O0"], 1, ""), "O1": ("gcc", ["-O1"], 1, ""), "O3": ("gcc", ["-O3"], 1, ""),
    "clang": ("clang", ["-O2"], 1, ""), "clang-O0": ("clang", ["-O0"], 2, ""), "shared": ("gcc", ["-O2"], 1, "shared"),
    "static": ("gcc", ["-O2"], 1, "static"), "fixed": ("gcc", ["-O2", "-fno-pie"], 1, "fixed"),
}
SAMPLE_BUILDS = ("base", "later", "clang")
WAYS = {0: "its first caller", 1: "another caller", 2: "another thread", 3: "a recursion"}
CHANGES = ("counter += which & 7;", "long extra = which * 3;\n    counter ^= extra;", "for (int turn = 0; turn < 3; turn++)\n        counter += turn;", "counter += p->value;")

# By kind: its text; %(n)s is the name of the function.
C_BUGS = {
    "null write": "*(volatile long *)p->none = t;", "null read": "t += *(volatile long *)p->none;", "wild": "t += *(volatile long *)p->wild;",
    "zero": "t /= p->zero;", "abort": "abort();", "assert": "assert(p->zero == which);", "strlen": "t += (long)strlen(p->text);",
    "die": 'die("no %(n)s", t);', "free": "free(p->block);\n        free(p->block);", "call": "p->callback(t);", "trap": "__builtin_trap();",
    "recursion": "t += %(n)s_again(p, t);", "copy": "memcpy(p->none, p, p->size);", "element": "t += p->table[which].value;",
}
CPP_BUGS = {
    "null write": C_BUGS["null write"], "null read": C_BUGS["null read"], "element": C_BUGS["element"], "abort": "std::abort();",
    "throw": 'if (p->zero == 0) throw std::runtime_error("lost " + std::to_string(t) + " bytes");', "at": "t += numbers.at(static_cast<std::size_t>(which + 100));",
    "die": 'die("no %(n)s", t);', "terminate": "std::terminate();", "reset": "t += owned->value;", "any": 't += std::stol(std::string("x") + std::to_string(t));',
}
# Compilers make one call or instruction of two of these in one function.
MERGED = ("abort", "trap", "terminate", "die")


def drawing(seed):
    """Draws the same each time, also in `make long`: the figures are of these programs."""
    draw = random.Random(1)
    draw.seed(seed)
    return draw


class Bug(typing.NamedTuple):
    number: int
    function: str
    kind: str


class Program:
    def __init__(self, name, seed, functions, is_cpp):
        self.name, self.is_cpp = name, is_cpp
        draw = drawing(f"{name} {seed}")
        names = [f"{verb}_{noun}" for verb in VERBS for noun in NOUNS]
        draw.shuffle(names)
        kinds = list(CPP_BUGS if is_cpp else C_BUGS)
        self.bugs, self.functions = [], []
        for index, function in enumerate(names[:functions]):
            kind = kinds[index % len(kinds)]
            self.functions.append(function)
            self.bugs.append(Bug(len(self.bugs) + 1, function, kind))
            # some functions have two, of one kind
            if index % 7 == 3 and kind not in ("recursion", "assert", *MERGED):
                self.bugs.append(Bug(len(self.bugs) + 1, function, kind))
        self.changed = set(draw.sample(self.functions, len(self.functions) * 2 // 5))
        self.change = {function: draw.choice(CHANGES) for function in self.functions}
        self.at_top = {function: draw.random() < .5 for function in self.functions}
        self.held = {function: ("KEPT ", "", "INLINED ", "KEPT ")[index % 4] for index, function in enumerate(self.functions)}
        self.draw = draw

    def body(self, function, version):
        texts = CPP_BUGS if self.is_cpp else C_BUGS
        change = f"    {self.change[function]}\n" if version > 1 and function in self.changed else ""
        lines = ["    long t = p->value + which;\n"]
        if self.at_top[function]:
            lines.append(change)
        for bug in self.bugs:
            if bug.function == function:
                lines.append(f"    if (which == {bug.number}) {{\n        {texts[bug.kind] % {'n': function}}\n        STAY;\n    }}\n    counter += t;\n")
        if not self.at_top[function]:
            lines.append(change)
        return "".join(lines) + "    STAY;\n    return t;\n"

    def source(self, version):
        text = [HEAD_CPP if self.is_cpp else HEAD_C]
        wrap = ("", "class", "template", "lambda")
        for index, function in enumerate(self.functions):
            if version > 1:
                text.append(f"KEPT long added_{index}(long of)\n{{\n    counter += of;\n    return of + {index};\n}}\n\n")
            kind = self.bugs[[bug.function for bug in self.bugs].index(function)].kind
            if kind == "recursion":
                text.append(f"KEPT long {function}_again(struct item *p, long t)\n{{\n    volatile char room[64];\n    room[t & 63] = 1;\n"
                            f"    long deeper = {function}_again(p, t + {index + 1});\n    STAY;\n    return deeper + room[t & 63];\n}}\n\n")
            body, held = self.body(function, version), self.held[function]
            style = wrap[index % 4] if self.is_cpp else ""
            if style == "class":
                text.append(f"struct {function}_model {{\n    {held}static long {function}(struct item *p, long which);\n}};\n"
                            f"long {function}_model::{function}(struct item *p, long which)\n{{\n{body}}}\n"
                            f"KEPT long call_{function}(struct item *p, long which, int) {{ long t = {function}_model::{function}(p, which); STAY; return t; }}\n\n")
            elif style == "template":
                text.append(f"template <typename Of> {held}long {function}(struct item *p, long which, const std::vector<Of> &)\n{{\n{body}}}\n"
                            f"KEPT long call_{function}(struct item *p, long which, int way)\n{{\n"
                            f"    long t = way == 1 ? {function}(p, which, std::vector<short>()) : {function}(p, which, std::vector<std::string>());\n    STAY;\n    return t;\n}}\n\n")
            elif style == "lambda":
                text.append(f"KEPT long call_{function}(struct item *p, long which, int)\n{{\n    auto work = [=]() -> long {{\n{body}    }};\n    long t = work();\n    STAY;\n    return t;\n}}\n\n")
            else:
                text.append(f"{held}long {function}(struct item *p, long which)\n{{\n{body}}}\n"
                            f"KEPT long call_{function}(struct item *p, long which, int way) {{ (void)way; long t = {function}(p, which); STAY; return t; }}\n\n")
        order = list(self.functions)
        if version > 1:
            random.Random(1).shuffle(order)
        calls = "".join(f"    t += call_{function}(p, which, way);\n" for function in order)
        more = "    counter += 11 * which;\n    if (counter == 1)\n        t += 3;\n" if version > 1 else ""
        for caller in ("first_caller", "other_caller"):
            text.append(f"KEPT long {caller}(struct item *p, long which, int way)\n{{\n    long t = {len(caller)};\n{more}{calls}    STAY;\n    return t;\n}}\n\n")
        return "".join(text) + TAIL


COMMON = """
#define KEPT __attribute__((noinline)) static
#define INLINED __attribute__((always_inline)) static inline
#define STAY __asm__ volatile("" ::: "memory")

struct item {
    volatile long value, zero;
    volatile long *volatile none, *volatile wild;
    char *volatile text;
    void *volatile block;
    void (*volatile callback)(long);
    struct item *volatile table;
    volatile size_t size;
};
static volatile long counter;

__attribute__((noreturn, noinline)) static void die(const char *text, long of)
{
    fprintf(stderr, text, "");
    counter += of;
    abort();
}

"""
HEAD_C = "#include <assert.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + COMMON
HEAD_CPP = ("#include <cassert>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <exception>\n#include <memory>\n#include <pthread.h>\n"
            "#include <stdexcept>\n#include <string>\n#include <vector>\n" + COMMON + "static std::vector<long> numbers { 1, 2, 3 };\nstatic std::unique_ptr<item> owned;\n\nnamespace player {\n\n")
TAIL = """
struct job {
    struct item *p;
    long which;
};

static void *in_thread(void *argument)
{
    struct job *job = (struct job *)argument;
    counter += first_caller(job->p, job->which, 2);
    return NULL;
}

KEPT long recurse(struct item *p, long which, int depth)
{
    long t = depth ? recurse(p, which, depth - 1) : first_caller(p, which, 3);
    STAY;
    return t;
}

static long run(struct item *p, long which, int way)
{
    struct job job = { p, which };
    pthread_t thread;
    switch (way) {
    case 1: return other_caller(p, which, way);
    case 2:
        pthread_create(&thread, NULL, in_thread, &job);
        pthread_join(thread, NULL);
        return 0;
    case 3: return recurse(p, which, 40);
    default: return first_caller(p, which, way);
    }
}
"""
ENTRY = """
int program(int bug, int way)
{
    static struct item item;
    item.wild = (volatile long *)0x414141414000;
    item.block = malloc(40);
    item.size = 100;
    return (int)%srun(&item, bug, way);
}
"""


def text(program, version):
    if program.is_cpp:
        return program.source(version) + "}\n\nextern \"C\" " + ENTRY.lstrip() % "player::"
    return program.source(version) + ENTRY % ""


SHAPES = "title artist genre label year length rating number".split()


def shapes(is_cpp):
    """Eight functions of one size and shape, as getters have."""
    fields = " ".join(f"volatile long {field};" for field in SHAPES)
    if is_cpp:
        getters = f"struct track {{ {fields}\n" + "".join(f"    __attribute__((noinline)) long get_{field}() const {{ return {field} + {i + 10}; }}\n" for i, field in enumerate(SHAPES)) + "};\n"
        calls = "".join(f"    case {i + 1}: return (int)at->get_{field}();\n" for i, field in enumerate(SHAPES))
        begin = 'extern "C" '
    else:
        getters = f"struct track {{ {fields} }};\n" + "".join(
            f"__attribute__((noinline, noclone)) static long get_{field}(const struct track *of) {{ return of->{field} + {i + 10}; }}\n" for i, field in enumerate(SHAPES))
        calls = "".join(f"    case {i + 1}: return (int)get_{field}(at);\n" for i, field in enumerate(SHAPES))
        begin = ""
    return (getters + "static struct track *volatile none;\n" + begin + "int program(int bug, int way)\n{\n    struct track *at = none;\n    (void)way;\n    switch (bug) {\n"
            + calls + "    default: return 92;\n    }\n}\n")
