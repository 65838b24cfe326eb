"""Prose and comments end at column 100. Tables, fences, code, strings and rows of macros may be
longer, and so may a line with a word that cannot be broken: an address, a symbol."""
import ast
import io
import os
import pathlib
import re
import tokenize
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 100

SKIPPED = {"build", "Golden"}  # build directories, and files whose bytes never change

FENCE = re.compile(r"\s*(?:[-*] )?(```|~~~)")


def c_comments(text, swift=False):
    """(start, end) of every comment of C, C++ or Swift."""
    spans, place, depth = [], 0, 0
    interpolations = []  # of Swift: the enclosing string, and the parentheses open there
    literal = re.compile(r'(#*)("""|")' if swift else r'()(["\'])')
    raw = re.compile(r'R"([^()\\\s]{0,16})\(')
    special = re.compile(r"""["'#/()]|R\"""")

    def string(place, hashes, quote):
        """The end of the string, or the beginning of the next interpolation in it."""
        nonlocal depth
        escape = "\\" + hashes
        while place < len(text):
            if text.startswith(escape, place):
                place += len(escape) + 1
                if swift and text[place - 1:place] == "(":
                    interpolations.append((hashes, quote, depth))
                    depth = 0
                    return place
            elif text.startswith(quote + hashes, place):
                return place + len(quote + hashes)
            elif text[place] == "\n" and quote != '"""':
                return place
            else:
                place += 1
        return place

    while found := special.search(text, place):
        place = found.start()
        if text.startswith("//", place):
            end = text.find("\n", place)
            spans.append((place, len(text) if end < 0 else end))
            place = spans[-1][1]
        elif text.startswith("/*", place):
            start, level, place = place, 1, place + 2
            while place < len(text) and level:
                step = 2
                if text.startswith("*/", place):
                    level -= 1
                elif swift and text.startswith("/*", place):
                    level += 1
                else:
                    step = 1
                place += step
            spans.append((start, place))
        elif not swift and (opened := raw.match(text, place)):
            end = text.find(f'){opened[1]}"', place)
            place = len(text) if end < 0 else end + len(opened[1]) + 2
        elif not swift and re.match(r"[0-9a-fA-F]'[0-9a-fA-F]", text[place - 1:place + 2] if place else ""):
            place += 1  # separates digits
        elif opened := literal.match(text, place):
            place = string(opened.end(), opened[1], opened[2])
        else:
            if text[place] == "(":
                depth += 1
            elif text[place] == ")":
                if interpolations and not depth:
                    hashes, quote, depth = interpolations.pop()
                    place = string(place + 1, hashes, quote)
                    continue
                depth -= 1
            place += 1
    return spans


def c_prose(text, swift=False):
    """Numbers of the lines that a comment ends. One that code follows is part of the code."""
    numbers = set()
    for start, end in c_comments(text, swift):
        if text[end:].split("\n", 1)[0].strip():
            continue
        first = text.count("\n", 0, start)
        numbers.update(range(first, first + text.count("\n", start, end) + 1))
    return numbers


def python_prose(text):
    numbers = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            numbers.add(token.start[0] - 1)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            numbers.update(range(node.body[0].lineno - 1, node.body[0].end_lineno))
    return numbers


def shell_prose(text):
    """A quoted string or a here-document holds no comment."""
    token = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|<<<|<<-?\s*(['"]?)(?P<word>\w+)\1|(?P<comment>(?<![^\s;&|(])#[^\n]*)|\n""", re.S)
    numbers, place, words = set(), 0, []
    while found := token.search(text, place):
        place = found.end()
        if found["comment"]:
            numbers.add(text.count("\n", 0, found.start()))
        elif found["word"]:
            words.append(found["word"])
        elif found[0] == "\n":
            for word in words:
                end = re.compile(rf"^\t*{word}$", re.M).search(text, place)
                place = end.end() if end else len(text)
            words = []
    return numbers


def hash_prose(text):
    """A build file: comments that have a line of their own."""
    return {number for number, line in enumerate(text.split("\n")) if line.lstrip().startswith("#")}


def markdown_prose(text):
    numbers, fence = set(), None
    for number, line in enumerate(text.split("\n")):
        mark = FENCE.match(line)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = None if fence else mark[1]
        elif not fence and not line.lstrip().startswith("|"):
            numbers.add(number)
    return numbers


def man_prose(text):
    numbers, as_it_is = set(), False
    for number, line in enumerate(text.split("\n")):
        if re.match(r"\.(nf|EX|TS)\b", line):
            as_it_is = True
        elif re.match(r"\.(fi|EE|TE)\b", line):
            as_it_is = False
        elif not as_it_is:
            numbers.add(number)
    return numbers


def prose_of(path, text):
    """Numbers of the lines that hold prose, from 0."""
    name = path.name.removesuffix(".in")
    suffix = pathlib.PurePath(name).suffix
    if suffix in (".c", ".h", ".cpp", ".hpp"):
        return c_prose(text)
    if suffix == ".swift":
        return c_prose(text, swift=True)
    if suffix == ".md":
        return markdown_prose(text)
    if suffix == ".py":
        return python_prose(text)
    if re.fullmatch(r"\.[1-8]", suffix):
        return man_prose(text)
    if suffix == ".sh" or re.match(r"#!.*\b(ba)?sh\b", text):
        return shell_prose(text)
    if name in ("CMakeLists.txt", "Makefile") or suffix in (".cmake", ".yml"):
        return hash_prose(text)
    return set()


def too_long(path, text):
    """The lines of prose that are too long, by number from 1."""
    found, lines = {}, text.expandtabs(8).split("\n")
    if all(len(line) <= WIDTH for line in lines):
        return found
    for number in sorted(prose_of(path, text)):
        line = lines[number]
        breakable = re.sub(r"\S+://\S+", "", line)
        words = re.sub(r"^[\s/*#-]*", "", line).split()
        if len(breakable) > WIDTH and len(words) > 1 and not line.endswith("\\"):
            found[number + 1] = line
    return found


def files():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
        for name in sorted(names):
            yield pathlib.Path(folder, name)


class Wrap(unittest.TestCase):
    def test_prose_and_comments_end_at_the_last_column(self):
        found, seen = [], 0
        for path in files():
            try:
                text = path.read_text()
            except (UnicodeDecodeError, FileNotFoundError):
                continue
            seen += 1
            name = path.relative_to(ROOT)
            found += [f"{name}:{number}: {line}" for number, line in too_long(path, text).items()]
        self.assertFalse(found, f"longer than {WIDTH} columns:\n" + "\n".join(found))
        self.assertGreater(seen, 100)

    def numbers(self, name, *lines):
        return list(too_long(pathlib.PurePath(name), "\n".join(lines)))

    def test_a_long_comment_is_found_in_every_language(self):
        words = "word " * 25
        self.assertEqual(self.numbers("a.c", "int a;", f"/* {words}*/"), [2])
        self.assertEqual(self.numbers("a.h", "/** Short.", f" *  {words}", " */"), [2])
        self.assertEqual(self.numbers("a.cpp", "int a = 1'000; // " + words), [1])
        self.assertEqual(self.numbers("a.hpp", "auto a = R\"(\")\"; // " + words), [1])
        self.assertEqual(self.numbers("a.swift", 'f("\\(g("/*"))") // ' + words), [1])
        self.assertEqual(self.numbers("a.md", "# Title", "", words, "- " + words), [3, 4])
        self.assertEqual(self.numbers("a.1", ".SH NAME", words), [2])
        self.assertEqual(self.numbers("a.py", f'"""{words}"""', "a = 1  # " + words), [1, 2])
        self.assertEqual(self.numbers("a.sh", "a='#' b=$# # " + words, "# " + words), [1, 2])
        self.assertEqual(self.numbers("a", "#!/bin/sh", "# " + words), [2])
        self.assertEqual(self.numbers("Makefile", "# " + words), [1])

    def test_what_may_be_long(self):
        words = "word " * 25
        self.assertEqual(self.numbers("a.c", f'f("/* {words}");', f'g(/* one */ "{words}");'), [])
        self.assertEqual(self.numbers("a.h", f"    X(a, \"{words}\") /* b */ \\"), [])
        self.assertEqual(self.numbers("a.swift", f'f(#"// " {words}"#)', '"""', f"// {words}", '"""'), [])
        self.assertEqual(self.numbers("a.md", f"| {words} |", "```c", f"/* {words}*/", "```"), [])
        self.assertEqual(self.numbers("a.md", "[the page](https://" + "a" * 100 + ")"), [])
        self.assertEqual(self.numbers("a.1", ".nf", words, ".fi"), [])
        self.assertEqual(self.numbers("a.py", f'a = "# {words}"'), [])
        self.assertEqual(self.numbers("a.sh", f'a="# {words}"', "cat <<END", f"# {words}", "END"), [])
        self.assertEqual(self.numbers("a.swift", "/// ``" + "a" * 120 + "``"), [])
        self.assertEqual(self.numbers("a.md", "- ``" + "a" * 120 + "``"), [])


if __name__ == "__main__":
    unittest.main()
