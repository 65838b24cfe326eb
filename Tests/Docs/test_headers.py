"""Each public header stands alone, and all compile together in every standard of C and C++ that a
program may be written in, without a warning; the guards of guard_checked.h can be used in each. The
structures that a program gives begin alike in C and in C++, where they are set by name."""
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = [path.name for path in sorted((ROOT / "include/launchguard").glob("*.h"))]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]
OF_C = ["-Wstrict-prototypes", "-Wmissing-prototypes"]
COMPILERS = {"c": ("gcc", "clang"), "cpp": ("g++", "clang++")}
STANDARDS = {"c": ("c99", "c11", "c17", "c2x"), "cpp": ("c++11", "c++14", "c++17", "c++20", "c++2b")}

# Every guard that is a macro, or made by one.
USE = """#include <launchguard/guard_checked.h>
int *use_at(int *array, size_t count, unsigned index, const char *text, size_t *at, uint32_t *ret_code);
int *use_at(int *array, size_t count, unsigned index, const char *text, size_t *at, uint32_t *ret_code)
{
    const int fixed[4] = { 0, 1, 2, 3 };
    const int *element = LG_GUARD_AT(fixed, 4, index);
    const lg_guard_part part = lg_guard_range(index, element ? (size_t)*element : 0, count);
    *ret_code = lg_guard_utf8(lg_guard_str(text), part.length, at);
    return LG_GUARD_AT(array, count, lg_guard_offset(part.offset, count));
}
""" + "".join("""%(type)s use_%(name)s(%(type)s a, %(type)s b, unsigned bits);
%(type)s use_%(name)s(%(type)s a, %(type)s b, unsigned bits)
{
    a = lg_guard_add_%(name)s(a, lg_guard_sub_%(name)s(lg_guard_mul_%(name)s(a, b), lg_guard_neg_%(name)s(b)));
    b = lg_guard_shl_%(name)s(b, bits);
    return lg_guard_div_%(name)s(a, lg_guard_rem_%(name)s(lg_guard_shr_%(name)s(a, bits), b));
}
""" % {"name": name, "type": kind} for name, kind in (("int32", "int32_t"), ("int64", "int64_t"), ("uint32", "uint32_t"),
                                                         ("uint64", "uint64_t"), ("size", "size_t")))

# Each structure with an INIT macro: its name, and that of the macro.
ALL = "".join("#include <launchguard/%s>\n" % name for name in HEADERS)
INITIAL = {name.removesuffix("_INIT").lower(): name
           for name in sorted(set(re.findall(r"#define (LG_\w+_INIT)\b", "".join((ROOT / "include/launchguard" / name).read_text() for name in HEADERS))))}
SET = {"lg_options": "handler_ms", "lg_launch_options": "hold_ms", "lg_repair": "impact", "lg_task": "flags", "lg_delivery_options": "brief",
       "lg_guard_options": "budget", "lg_guard_lists": "allowed_module_count", "lg_confinement_options": "wait_ms", "lg_report_options": "frames",
       "lg_minidump_options": "keep_home",
       "lg_launch_info": "streak", "lg_system_info": "size"}
BY_NAME = ALL + """#include <type_traits>
#include <string.h>
#if __cplusplus >= 201402L
#define STATIC_CONSTANT static constexpr
#else
#define STATIC_CONSTANT static const
#endif
""" + "".join("""extern "C" const %(type)s from_c_%(type)s;
static_assert(std::is_standard_layout<%(type)s>::value && std::is_trivial<%(type)s>::value, "a structure of C");
STATIC_CONSTANT %(type)s constant_%(type)s = %(macro)s;
bool same_%(type)s();
bool same_%(type)s()
{
    %(type)s value = %(macro)s;
    const bool same = memcmp(&value, &from_c_%(type)s, sizeof value) == 0 && memcmp(&constant_%(type)s, &value, sizeof value) == 0;
    value.%(field)s = 7;
    return same && value.%(field)s == 7;
}
#if __cplusplus >= 201703L
static_assert(std::is_aggregate_v<%(type)s>);
#endif
#if __cplusplus >= 202002L
[[maybe_unused]] static const %(type)s designated_%(type)s = { .size = sizeof(%(type)s) };
#endif
""" % {"type": name, "macro": macro, "field": SET[name]} for name, macro in INITIAL.items()) + \
    "int main()\n{\n    return " + " && ".join("same_%s()" % name for name in INITIAL) + " ? 0 : 1;\n}\n"
FROM_C = ALL + "".join("extern const %s from_c_%s;\nconst %s from_c_%s = %s;\n" % (name, name, name, name, macro) for name, macro in INITIAL.items())


class Headers(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = pathlib.Path(directory.name)

    def every(self, language, standards=slice(None)):
        """(Compiler, standard) of those that are installed; one of each language has to be."""
        installed = [name for name in COMPILERS[language] if shutil.which(name)]
        self.assertTrue(installed)
        return itertools.product(installed, STANDARDS[language][standards])

    def failures(self, language, name, text, standards=slice(None)):
        """(Compiler with its standard, what it says) of those that refuse the text."""
        source = self.work / (name + "." + language)
        source.write_text(text)
        flags = [*WARNINGS, *(OF_C if language == "c" else []), "-I", ROOT / "include", "-O2", "-c", source, "-o", os.devnull]
        def one(way):
            done = subprocess.run([way[0], "-std=" + way[1], *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
            return " ".join(way), done.returncode, done.stdout
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return [(way, said) for way, code, said in pool.map(one, self.every(language, standards)) if code]

    def compile(self, language, name, text, standards=slice(None)):
        self.assertEqual(self.failures(language, name, text, standards), [], name)

    def test_every_header_stands_alone(self):
        """In the oldest standard and in the newest."""
        self.assertGreater(len(HEADERS), 20)
        for language, name in itertools.product(COMPILERS, HEADERS):
            with self.subTest(name, language=language):
                self.compile(language, name.removesuffix(".h"), "#include <launchguard/%s>\n" % name, slice(None, None, len(STANDARDS[language]) - 1))

    def test_headers_together(self):
        for language in COMPILERS:
            self.compile(language, "all", "".join("#include <launchguard/%s>\n" % name for name in HEADERS))

    def test_inline_guards(self):
        for language in COMPILERS:
            self.compile(language, "use", USE)

    def test_structures_are_set_by_name(self):
        """And begin as in C, byte by byte. In the oldest standard and in the newest."""
        ends = slice(None, None, len(STANDARDS["cpp"]) - 1)
        self.assertEqual(set(INITIAL), set(SET), "name a field of each structure in SET")
        self.compile("c", "from_c", FROM_C, ends)
        # a designated initialiser leaves members out, as it is meant to
        self.compile("cpp", "by_name", "#pragma GCC diagnostic ignored \"-Wmissing-field-initializers\"\n" + BY_NAME, ends)
        for number, (compiler, standard) in enumerate(self.every("cpp", ends)):
            c, program = self.work / ("%d.o" % number), self.work / ("program%d" % number)
            subprocess.run([{"g++": "gcc", "clang++": "clang"}[compiler], "-std=c11", "-I", ROOT / "include", "-c", self.work / "from_c.c", "-o", c], check=True)
            subprocess.run([compiler, "-std=" + standard, "-w", "-I", ROOT / "include", self.work / "by_name.cpp", c, "-o", program], check=True)
            self.assertEqual(subprocess.run([program], timeout=60).returncode, 0, compiler + " " + standard)

    def test_the_header_for_new_programs_names_its_standard(self):
        """To older ones, and says nothing more to them."""
        refused = self.failures("cpp", "log", "#include <launchguard/log.hpp>\n")
        self.assertEqual({way.split()[1] for way, _ in refused}, {"c++11", "c++14"})
        for way, said in refused:
            self.assertEqual([line.rpartition("error: ")[2].removeprefix("#error ").strip('"') for line in said.splitlines() if "error:" in line],
                             ["launchguard/log.hpp needs C++17 or newer: compile with -std=c++17, or use <launchguard/log.h>"], way + "\n" + said)

    def test_a_warning_is_found(self):
        for language in COMPILERS:
            wrong = self.failures(language, "wrong", "static inline int narrow(long wide) { return wide; }\n")
            self.assertEqual(len(wrong), len(list(self.every(language))))


if __name__ == "__main__":
    unittest.main()
