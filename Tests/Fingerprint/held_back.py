"""Programs of another generator, which the rules were not made with: parsers of made-up languages,
trees of calls of uneven depth, services with queues, and bugs that a list of lines draws."""
import shutil

from generated import drawing

SEED = 9002
WORDS = "amber basil cedar delta ember fjord grove haven ivory jolly karst lemon maple north ocean pearl quartz raven sable tulip umber velvet willow xenon yarrow zephyr".split()

# Text of a bug, whether C has it, and whether two of it in one function stay two: compilers make
# one call of two that end in the same way.
BUGS = [
    ("at->link->count++;", True, True), ("return at->link->count;", True, True), ("at->sink[0] = (char)depth;", True, True),
    ("if (depth >= 0) exit_badly(depth);", True, False), ("return depth % at->modulus;", True, True), ("strcpy(at->sink, at->name);", True, True),
    ("return (int)strtol(at->name, NULL, at->modulus + 99) + (int)strlen(at->name);", True, True), ("at->run(at);", True, True), ("abort();", True, False),
    ("assert(at->modulus > depth);", True, False), ("return at->rows[depth & 3][2].count;", True, True), ("fputs(at->name, at->out);", True, True),
    ('throw std::invalid_argument("level " + std::to_string(depth));', False, True), ("return (int)std::vector<int>(2).at(static_cast<size_t>(depth + 9));", False, True),
    ("throw depth;", False, False), ("return held->count;", False, True), ("return (int)std::map<std::string, int>().at(std::string(1, 'a' + (char)(depth & 7)));", False, True),
    ("shared->count = depth;", False, True),
]

HEAD = """#define APART __attribute__((noinline))
struct node { volatile int count, modulus; struct node *volatile link, *volatile next; char *volatile sink; const char *volatile name; void (*volatile run)(struct node *);
    struct node *volatile rows[4]; FILE *volatile out; };
static volatile int total;
__attribute__((noreturn, noinline)) static void exit_badly(int code) { total = code; abort(); }
"""


def generate(seed, is_cpp, version, count):
    """The text, and for each bug its function and its line of BUGS."""
    draw = drawing(f"{seed} {is_cpp}")
    later = drawing(f"{seed} {is_cpp} later")
    lines = [index for index, bug in enumerate(BUGS) if bug[1] or is_cpp]
    names = draw.sample([f"{one}{other.title()}" for one in WORDS for other in WORDS if one != other], count)
    text = [("".join(f"#include <{name}>\n" for name in ("cassert", "cstdio", "cstdlib", "cstring", "map", "memory", "stdexcept", "string", "vector")) + HEAD
             + "std::unique_ptr<node> held;\nstd::shared_ptr<node> shared;\n" if is_cpp else "".join(f"#include <{name}.h>\n" for name in ("assert", "stdio", "stdlib", "string")) + HEAD)]
    bugs, owners = [], ["services", "views", "model"]
    for index, name in enumerate(names):
        line = lines[index % len(lines)]
        twice = index % 9 == 4 and BUGS[line][2] and "at->" in BUGS[line][0]
        numbers = [len(bugs) + 1 + number for number in range(2 if twice else 1)]
        bugs += [(name, line)] * len(numbers)
        # The second one is of another object, and of another field.
        swapped = BUGS[line][0].replace("at->", "at->next->").replace("count", "?").replace("modulus", "count").replace("?", "modulus")
        texts = [BUGS[line][0], swapped]
        parts = [f"    if (wanted == {number}) {{ {text_of} total += {number}; }}\n    total ^= {number};\n" for number, text_of in zip(numbers, texts)]
        if version > 1 and later.random() < .4:
            parts.insert(later.randrange(len(parts) + 1), later.choice(["    total -= depth;\n", "    if (depth > 1000)\n        return 4;\n", "    for (int i = 0; i < depth; i++)\n        total += i;\n"]))
        below = [other for other in names[max(0, index - 3):index]]
        calls = "".join(f"    result += {owners[names.index(other) % 3] + '::' if is_cpp else ''}{other}(at, wanted, depth + 1);\n" for other in below[-2:]) if index % 3 == 2 else ""
        attribute = ("APART static", "static" if BUGS[line][2] else "APART static", "static inline" if BUGS[line][2] else "APART static")[index % 3]
        if version > 1:
            text.append(f"/* {'again ' * later.randrange(1, 4)}\n   and a line */\nint number_{index} = {index};\n")
        body = f"{attribute} int {name}(struct node *at, int wanted, int depth)\n{{\n    int result = wanted & 1;\n{''.join(parts)}{calls}    __asm__ volatile(\"\" ::: \"memory\");\n    return result;\n}}\n"
        text.append(f"namespace {owners[index % 3]} {{\n{body}}}\n" if is_cpp else body)
    order = list(names)
    if version > 1:
        later.shuffle(order)
    half = len(order) // 2
    calls = "".join(f"    sum += {owners[names.index(name) % 3] + '::' if is_cpp else ''}{name}(at, wanted, 0);\n" for name in order)
    for caller in "serve", "replay":
        text.append(f"APART static int {caller}(struct node *at, int wanted)\n{{\n    int sum = {len(caller) + half};\n{calls}    __asm__ volatile(\"\" ::: \"memory\");\n    return sum;\n}}\n")
    text.append(("extern \"C\" " if is_cpp else "") + "int program(int bug, int way)\n{\n    static struct node first, second;\n    first.next = &second;\n    return way ? replay(&first, bug) : serve(&first, bug);\n}\n")
    return "".join(text), bugs


BUILDS = {"gcc": ("gcc", ["-O2"], 1, ""), "next": ("gcc", ["-O2"], 2, ""), "plain": ("gcc", ["-O0"], 1, ""), "llvm": ("clang", ["-O1"], 1, ""), "llvm-next": ("clang", ["-O3"], 2, ""),
          "small": ("gcc", ["-Os"], 1, ""), "library": ("gcc", ["-O2"], 2, "shared"), "sections": ("gcc", ["-O2", "-ffunction-sections", "-fno-omit-frame-pointer"], 1, "static")}


class Programs:
    """As the one of test_keys.py, of which it has the way to build."""

    def __init__(self, folder, options, base, end):
        self.folder, self.sample, self.commands, self.pairs, self.missing, self.jobs = folder, False, {}, [], [], []
        for name in "same", "different", "native", "compile", "has", "build":
            setattr(self, name, getattr(base, name).__get__(self))
        draw = drawing(SEED)
        for language, is_cpp, count in (("kc", False, 24), ("kcpp", True, 36)):
            bugs = []
            for build, (compiler, flags, version, linked) in BUILDS.items():
                if compiler == "clang" and not shutil.which("clang"):
                    self.missing.append("builds by clang")
                    continue
                text, bugs = generate(SEED, is_cpp, version, count)
                self.native(f"{language}-{build}", text, is_cpp, compiler, flags, linked)
            others = [build for build in BUILDS if f"{language}-{build}" in self.commands and build != "gcc"]
            first = end(f"{language}-gcc", 0)
            for number, (name, line) in enumerate(bugs, 1):
                for build in draw.sample(others, 3):
                    self.same(first._replace(bug=number), end(f"{language}-{build}", number), f"{BUGS[line][0]} in the build {build}")
                self.same(first._replace(bug=number), first._replace(bug=number, way=1), f"{BUGS[line][0]} by another caller")
                for other in range(number + 1, len(bugs) + 1):
                    if bugs[other - 1][1] == line:
                        self.different(first._replace(bug=number), first._replace(bug=other), f"{BUGS[line][0]} at two places", bugs[other - 1][0] == name)
                other = draw.randrange(1, len(bugs) + 1)
                if bugs[other - 1][0] != name:
                    self.different(first._replace(bug=number), first._replace(bug=other), "two bugs")
                if number % 6 == 0:
                    self.different(first._replace(bug=number), first._replace(bug=number, app="org.example.other"), "one place in two programs")
