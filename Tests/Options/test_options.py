"""Each option is the same everywhere: in its table (Sources/CLaunchGuard/store/given.c), in the
header and its comment, in the Swift configuration, in the ranges that Swift checks, and in the
manual.

test_options.py TABLE, the program options-table. A new option is its field with a comment, its line
in the table, and its use; this test names the places that are missing or differ.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = "Sources/CLaunchGuard/store/given.c"
ROWS = {structure["name"]: {field["name"]: field for field in structure["fields"]}
        for structure in json.loads(subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE, timeout=60).stdout)}

NUMBERS = {"uint32_t", "uint64_t", "int64_t"}
CALLBACK = re.compile(r"\w+_(callback|executor)")
TYPE_MAX = {4: 2 ** 32 - 1, 8: 2 ** 64 - 1}
# Limits of a type, which no program reaches.
INT_MAX = 2 ** 63 - 1
GAP_MAX = INT_MAX // 1000000

# What a Swift program has no option for, and why.
NOT_IN_SWIFT = {
    "lg_options": {"keep_first": "not in the static library, which the Swift package is", "log_user": ""},
    "lg_launch_options": {"callbacks": "closures run in tasks", "executor": "", "user": ""},
    "lg_delivery_options": {"on_delivered": "a sequence", "user": ""},
    "lg_guard_options": {"user": ""},
}
# Where each structure's options stand in Swift, and where their numbers are checked.
CHECKS = {"lg_delivery_options": "Sources/LaunchGuard/Internals/DeliveryOptions.swift"}
OTHER_CHECKS = "Sources/LaunchGuard/Internals/Options.swift"
SWIFT = {
    "lg_options": ["Sources/LaunchGuard/Session+%s.swift" % name for name in ("Configuration", "RecordOptions", "HangThresholds")],
    "lg_launch_options": ["Sources/LaunchGuard/%s.swift" % name for name in ("Launch+Configuration", "Launch+Configuration+Parts")],
    "lg_repair": ["Sources/LaunchGuard/Launch+Repairs.swift"],
    "lg_delivery_options": ["Sources/LaunchGuard/Delivery+Configuration.swift"],
    "lg_guard_options": ["Sources/LaunchGuardGuards/Guards+Configuration.swift"],
}


def joined(comment):
    """The text of a comment, without its marks and its line ends."""
    return " ".join(re.sub(r"^[ \t]*(///|/\*\*<?|\*)?", "", line).replace("*/", "").strip() for line in comment.splitlines()).strip()


class Field:
    def __init__(self, kind, name, comment):
        self.kind, self.name, self.comment = kind.strip(), name, joined(comment)

    @property
    def is_number(self):
        return not self.kind.endswith("*") and not CALLBACK.fullmatch(self.kind)

    @property
    def sentence(self):
        """The beginning of the comment, up to the numbers and the names of C."""
        text = re.sub(r"^(1|LG_\w+\*): ", "", self.comment)
        return re.split(r"[.;:,(]| in (?:bytes|milliseconds)\b| (?:lg|on)_\w+", text)[0].strip()


def header_fields(structure):
    for path in sorted((ROOT / "include/launchguard").glob("*.h")):
        body = re.search(r"^typedef struct %s \{\n(.*?)^\} %s;" % (structure, structure), path.read_text(), re.M | re.S)
        if body:
            found, comment = {}, ""
            for match in re.finditer(r"(/\*\*(?!<).*?\*/)|^    ([\w ]+[ *]+(?:const \*)?)((?:\w+, (?:\*const \*)?)*\w+);[ \t]*(/\*\*<.*?\*/)?", body[1], re.M | re.S):
                if match[1]:
                    comment = match[1]
                else:
                    for name in re.findall(r"\w+", match[3].replace("*const *", "")):
                        found[name] = Field(match[2], name, match[4] or comment)
            return path.name, found
    raise AssertionError("no header has " + structure)


FIELDS = {structure: header_fields(structure) for structure in ROWS}


def spellings(number, name):
    """How a text may write the number: as it is, and with a unit."""
    found = {str(number)}
    units = (("ms", 1), ("s", 1000), ("min", 60000), ("h", 3600000)) if name.endswith("_ms") else (("KiB", 1 << 10), ("MiB", 1 << 20)) if name.endswith("_bytes") else ()
    found |= {"%d %s" % (number // of, unit) for unit, of in units if number % of == 0}
    return found | ({"a day", "24 h"} if name.endswith("_ms") and number == 86400000 else set())


def says(text, number, name):
    return any(re.search(r"(?<![\w.])%s(?![\w])" % re.escape(form), text) for form in spellings(number, name))


def limits(row):
    """Those that a reader has to know: not those that only a type has, nor "at least 0 or 1"."""
    if row["values"] or row["isSet"] or (row["least"], row["most"]) == (0, 1):
        return []
    return [number for number in (row["least"], row["most"]) if number not in (0, 1, TYPE_MAX[row["size"]], GAP_MAX, INT_MAX)]


# ---- Swift ----

class Property:
    def __init__(self, name, comment, fields, default):
        self.name, self.comment, self.fields, self.default = name, comment, fields, default


# Each name of the Swift modules with its names in C.
IN_C = {words[0]: words[1:] for words in (re.split(r" {2,}|, ", line) for line in (ROOT / "docs/swift-c.txt").read_text().splitlines())}


def swift_properties(structure):
    """By C field: the properties that docs/swift-c.txt has beside it, and the parameters that have
    the name of the field in Swift's way, without the unit."""
    names = {swift.split(".")[-1]: [name.split(".")[1] for name in there if name.startswith(structure + ".")] for swift, there in IN_C.items()
             if any(name.startswith(structure + ".") for name in there)}
    found, parameters = {}, {}
    for file in SWIFT[structure]:
        text = (ROOT / file).read_text()
        defaults = dict(re.findall(r"\b(\w+): [\w.?<>\[\]]+ = ((?:[^,()\n\[]|\([^()]*\)|\[[^\]]*\])+)", text))
        for match in re.finditer(r"((?:^ *///.*\n)+) *public var (\w+)(?:: [^={\n]+?)?(?: = (.+))?$", text, re.M):
            comment = joined(match[1])
            one = Property(match[2], comment, names.get(match[2], []), match[3] or defaults.get(match[2]))
            for field in one.fields:
                found.setdefault(field, []).append(one)
        for match in re.finditer(r"^ *///   - (\w+): ((?:.*\n)(?: *///     .*\n)*)", text, re.M):
            if match[1] in defaults or re.search(r"^        %s: " % match[1], text, re.M):
                parameters[match[1]] = Property(match[1], joined(match[2]), [], defaults.get(match[1]))
    return found, parameters


def swift_name(field):
    first, *rest = re.sub(r"_(ms|bytes)$", "", field).split("_")
    return first + "".join(word.capitalize() for word in rest)


def swift_of(structure, field):
    found, parameters = swift_properties(structure)
    one = parameters.get(swift_name(field))
    return found.get(field) or ([one] if one else [])


CONSTANTS = {"nil": 0, "true": 1, "false": 0, "[]": 0, ".twiceRepairAfter": 2 ** 32 - 1, ".either": 0, ".block": 0, ".zero": 0}


def swift_number(text, kind=4):
    """A number, a duration in milliseconds, or a constant; None: something else."""
    text = text.strip().replace("_", "")
    if text in CONSTANTS:
        return CONSTANTS[text]
    for pattern, unit in ((r"\.seconds\((.+)\)", 1000), (r"\.milliseconds\((.+)\)", 1), (r"\(?\.aDay\)?", 86400000), (r"\(?\.longestGap\)?", GAP_MAX),
                          (r"U?Int64\(Int\.max\)", INT_MAX), (r"\(?\.max\)?", TYPE_MAX[kind]), (r"(\d+(?: (?:\*|<<) \d+)*)", 1)):
        match = re.fullmatch(pattern, text)
        if match:
            return unit * (eval(match[1]) if match.groups() else 1)
    return None


class Options(unittest.TestCase):
    def each(self):
        for structure, rows in ROWS.items():
            header, fields = FIELDS[structure]
            for name, field in fields.items():
                if name != "size":
                    yield structure, header, field, rows.get(name)

    def test_every_field_has_its_line_in_the_table(self):
        for structure, (header, fields) in FIELDS.items():
            numbers = {name for name, field in fields.items() if field.is_number and name != "size"}
            self.assertEqual(numbers - set(ROWS[structure]), set(), f"{structure} has numbers without a line: add one to {TABLE}")

    def test_every_structure_that_begins_with_its_size_has_a_table(self):
        """But those that the library fills in."""
        filled = {"lg_launch_info", "lg_system_info", "lg_report", "lg_held", "lg_kept_file", "lg_guard_event"}
        text = "".join(path.read_text() for path in (ROOT / "include/launchguard").glob("*.h"))
        sized = set(re.findall(r"^typedef struct (\w+) \{\n(?:    /\*\*(?:(?!\*/).)*\*/\n)?    uint32_t size;", text, re.M | re.S))
        self.assertEqual(sized - filled, set(ROWS), f"add a table to {TABLE}, and the structure to Tests/Options/table.c")

    def test_the_comment_of_the_header_has_the_numbers(self):
        for structure, header, field, row in self.each():
            where = f"include/launchguard/{header}: the comment of {structure}.{field.name} "
            with self.subTest(where):
                self.assertRegex(field.comment, r"^\S.*\.?$", where + "is missing")
                if row is None:
                    continue
                for number in limits(row):
                    self.assertTrue(says(field.comment, number, field.name), where + f"has to name the limit {number}")
                if row["normal"] and not row["values"]:
                    self.assertTrue(re.search(r"\b(0 = |[Dd]efault )", field.comment), where + "has to say what 0 stands for: \"0 = …\"")
                    self.assertTrue(says(field.comment, row["normal"], field.name) or re.search(r"[Dd]efault LG_\w+|0 = LG_\w+", field.comment),
                                    where + f"has to name the default {row['normal']}")
                if structure == "lg_launch_options":
                    default = re.search(r"Default ([\w]+)", field.comment)
                    self.assertTrue(default, where + "has to name the default: \"Default …\"")
                    if default[1].isdigit():
                        self.assertEqual(int(default[1]), row["initial"], where + "has another default than LG_LAUNCH_OPTIONS_INIT")
                elif (structure, field.name) != ("lg_guard_options", "policy"):
                    # the macro has the policy of the file that uses it
                    self.assertEqual(row["initial"], 0, f"{structure}.{field.name}: 0 stands for the default")

    def test_every_option_is_in_swift(self):
        for structure, header, field, row in self.each():
            if structure not in SWIFT or structure == "lg_repair" and not (row and limits(row)):
                continue
            with self.subTest(structure, field=field.name):
                there = bool(swift_of(structure, field.name)), field.name in NOT_IN_SWIFT.get(structure, {})
                self.assertIn(there, ((True, False), (False, True)),
                              f"no property in {', '.join(SWIFT[structure])} stands in docs/swift-c.txt with {structure}.{field.name}; add one, or say in NOT_IN_SWIFT why not")

    def test_every_option_is_used(self):
        files = [*(ROOT / "Sources").glob("CLaunchGuard*/**/*.c"), *(ROOT / "Sources/launchguard-agent").glob("**/*.c")]
        core = "".join(path.read_text() for path in files if path.name != "given.c")
        swift = "".join(path.read_text() for path in (ROOT / "Sources").glob("LaunchGuard*/Internals/*.swift"))
        for structure, header, field, row in self.each():
            if field.name == "reserved":
                continue
            self.assertTrue(re.search(r"\b(own|options|repair|task|lists)(->|\.)%s\b" % field.name, core), f"no file of the core or the agent uses {structure}.{field.name}")
            if structure in SWIFT and field.name not in NOT_IN_SWIFT.get(structure, {}):
                self.assertTrue(re.search(r"\b%s = " % field.name, swift), f"no file of Internals sets {structure}.{field.name}")

    def test_swift_says_the_same(self):
        for structure, header, field, row in self.each():
            for one in swift_of(structure, field.name) if structure in SWIFT else []:
                where = f"Swift's {one.name} for {structure}.{field.name}: "
                with self.subTest(where):
                    if not one.comment.startswith("Whether ") and one.fields[:1] in ([], [field.name]):
                        self.assertEqual(one.comment[:len(field.sentence)].lower(), field.sentence.lower(), where + "the comment begins otherwise than in " + header)
                    for number in limits(row) if row else []:
                        self.assertTrue(says(one.comment, number, field.name), where + f"the comment has to name the limit {number}: {one.comment}")

    def test_swift_has_the_same_defaults(self):
        compared = 0
        for structure, header, field, row in self.each():
            for one in swift_of(structure, field.name) if structure in SWIFT and row else []:
                number = swift_number(one.default) if one.default else None
                if field.name == "capture":
                    number = 1 - number
                if number is None or row["isSet"] and number:
                    continue
                wanted = {row["normal"] or row["initial"]}
                compared += 1
                self.assertIn(number, wanted, f"Swift's {one.name} for {structure}.{field.name} has the default {one.default}")
        self.assertGreater(compared, 30)

    def test_swift_checks_the_same_limits(self):
        compared = set()
        for structure, header, field, row in self.each():
            for one in swift_of(structure, field.name) if structure in SWIFT and row else []:
                checks = (ROOT / CHECKS.get(structure, OTHER_CHECKS)).read_text()
                for least, most in re.findall(r"number\((?:\w+\.)*%s(?:\.milliseconds)?, \"[^\"]*\", in: ([\w.]+)\.\.\.([\w.()]+)\)" % one.name, checks):
                    wide = row["size"]
                    given = swift_number(least, wide), swift_number(most, wide)
                    where = f"Swift checks {one.name} for {structure}.{field.name}: {least}...{most}"
                    self.assertIn(given[0], {row["least"], max(row["least"], 1)}, where)
                    self.assertIn(given[1], {row["most"], min(row["most"], INT_MAX)}, where)
                    compared.add((structure, field.name))
        wanted = {(structure, field.name) for structure, _, field, row in self.each()
                  if structure in SWIFT and structure != "lg_guard_options" and row and limits(row) and swift_of(structure, field.name)}
        self.assertEqual(wanted - compared, set(), f"no number(…, in: …) in {OTHER_CHECKS} or {CHECKS}")

    def test_the_manual_says_the_same(self):
        text = " ".join((ROOT / "docs/man/launchguard.5").read_text().split())
        rows = ROWS["lg_options"]
        said = {"keep_runs": r"(\d+) ended runs are kept", "keep_bytes": r"ended runs are kept, of (\d+ MiB) together", "ring_bytes": r"ring log \((\d+ KiB)\)",
                "stack_bytes": r"stack memory \((\d+ KiB)\)"}
        for name, pattern in said.items():
            self.assertIn(re.search(pattern, text)[1], spellings(rows[name]["normal"], name), f"docs/man/launchguard.5: the default of {name}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
