"""docs/schema/launchguard.schema.json and docs/FIELDS.md are made of the table of fields in
Sources/CLaunchGuard/report.

test_schema.py TABLE checks both files; test_schema.py TABLE --write makes them. TABLE is the
program report-table.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs/schema/launchguard.schema.json"
PAGE = ROOT / "docs/FIELDS.md"
TABLE = json.loads(subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE, timeout=60).stdout)
WIDTH = 100

PLAIN = {"string": {"type": "string"}, "boolean": {"type": "boolean"}, "integer": {"type": "integer"}, "number": {"type": "integer", "minimum": 0}}
TEXTS = {
    name: {"description": sentence, "type": "string", "pattern": pattern} for name, sentence, pattern in (
        ("time", "A time in ISO 8601, in UTC, with nanoseconds.", "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{9}Z$"),
        ("day", "A day in UTC.", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
        ("address", "An address, in hexadecimal digits.", "^0x[0-9a-f]{16}$"),
        ("fingerprint", "The same for equal ends of one build of a program.", "^[0-9a-f]{32}$"))
}


def schema_of(type_name):
    if type_name.startswith("["):
        return {"type": "array", "items": schema_of(type_name[1:-1])}
    if type_name.startswith("{"):
        return {"type": "object", "additionalProperties": schema_of(type_name[1:-1])}
    return PLAIN.get(type_name, {"$ref": f"#/$defs/{type_name}"})


def field_schema(field):
    constant = re.fullmatch(r"Always ([\w-]+)\.", field["sentence"])
    if constant:
        return {"const": constant[1]}
    if field["name"] == "schema":
        return {"const": 1}
    return {"description": field["sentence"], **schema_of(field["type"])}


def shape_schema(shape):
    fields = shape["fields"]
    result = {"description": shape["sentence"], "type": "object", "properties": {field["name"]: field_schema(field) for field in fields}}
    always = [field["name"] for field in fields if field["always"]]
    return result | ({"required": always} if always else {}) | {"additionalProperties": False}


def names_schema(names):
    return {"description": names["sentence"], "type": "string"} | ({} if names["isOpen"] else {"enum": list(dict.fromkeys(names["names"]))})


def kinds_schema(sentence, kinds):
    return {"description": sentence, "anyOf": [{"const": kind["name"], "description": kind["sentence"]} for kind in kinds]}


def kind_schema():
    known = kinds_schema("The kind of a crash, by its signal, code, address and message; one of a later version is `kind` and its number.", TABLE["kinds"])
    return known | {"anyOf": known["anyOf"] + [{"type": "string", "pattern": "^kind [0-9]+$"}]}


def schema():
    definitions = {shape["name"]: shape_schema(shape) for shape in TABLE["shapes"]}
    definitions |= {names["name"]: names_schema(names) for names in TABLE["names"]}
    definitions["crash-kind"] = kind_schema()
    definitions["crash-reason"] = kinds_schema("A finer kind of a crash, which follows from the symbols of the crashed frame.", TABLE["finer"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "What launchguard --json prints",
        "description": "Each line is one of these objects. An unknown value is left out. A moment in nanoseconds is on the monotonic clock.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in TABLE["lines"]], "$defs": definitions | TEXTS,
    }


# ---- the page ----

def type_words(definition):
    """A type in a cell of the page, with a link to what it refers to."""
    if "$ref" in definition:
        name = definition["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name})"
    if definition.get("type") == "array":
        return f"[{type_words(definition['items'])}, …]"
    if "additionalProperties" in definition and definition.get("type") == "object" and definition["additionalProperties"]:
        return "by name: " + type_words(definition["additionalProperties"])
    if "const" in definition:
        return f"`{definition['const']}`"
    if "enum" in definition:
        return ", ".join(f"`{value}`" for value in definition["enum"])
    return definition.get("type", "")


MARKS = {"always": "", "on wish": "‡", "in a minidump": "§", "never": "†"}
LITTLE = {"a", "an", "ended", "in", "is", "it", "its", "of", "on", "the", "was", "when", "which"}


def says_more(name, sentence):
    """Whether the sentence has a word that the name has not."""
    def words(text):
        return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]*|\d+|[^\w\s.,]+", text)}
    return bool(words(sentence) - words(name) - LITTLE)


def only_use(name, whole):
    """Whether one field has this type, whose names then stand there."""
    return "enum" in whole["$defs"][name] and json.dumps(whole).count(f'"#/$defs/{name}"') == 1


def is_simulated(name):
    return name.startswith("simulat")


# The begin of the page says as much of each field in italics.
SAYS_NOTHING = re.compile(r"; left out: (?:none|not known|not yet known|never|not tried|no hang|none lives|none has come|it (?:was|is|did) not|there (?:was|is) none|"
                          r"there was no mark)\.$")


def field_words(field, of, unit, whole):
    """What the page says of a field, after its name."""
    name = of.get("$ref", "/").rsplit("/", 1)[1]
    is_clear = of.get("type") == "string" or (of.get("type") == "boolean" and re.match("(is|has|needs)[A-Z]", field)) or (
        of.get("type") == "integer" and re.search("(Nanoseconds|Milliseconds|Seconds|Bytes)$", field))
    kind = type_words(whole["$defs"][name]) if name and only_use(name, whole) else "" if is_clear else type_words(of) + (f" ({unit})" if unit else "")
    sentence = SAYS_NOTHING.sub(".", of.get("description", ""))
    if of.get("type") == "boolean":
        sentence = re.sub(r"^(?:Whether|True:) (\w)(?!\w*\()", lambda found: found[1].upper(), re.sub(r"^Whether (?=\w+\()", "", sentence))
    return " ".join(part for part in (kind and kind + ".", sentence if says_more(field, sentence) else "") if part)


def page():
    units = {(shape["name"], field["name"]): field["unit"] for shape in TABLE["shapes"] for field in shape["fields"]}
    marks = {(shape["name"], field["name"]): MARKS[field["leaves"]] for shape in TABLE["shapes"] for field in shape["fields"]}
    whole = schema()
    lines = ["# Fields of the JSON", "",
             "Generated by `Tests/Schema/test_schema.py` from the table of fields in `Sources/CLaunchGuard/report`. "
             "Each line that `launchguard` prints with `--json` is one of these objects, with two more fields: `schema`, which is 1, and `type`, "
             "the name of the object: " + ", ".join(f"[{name}](#{name})" for name in TABLE["lines"] if not is_simulated(name)) + ". The objects of "
             "`launchguard simulate` are in [the schema](schema/launchguard.schema.json) alone.", "",
             "A field in *italics* may be left out, where it is not known or says nothing. A field without a type is a boolean if its name begins "
             "with *is*, *has* or *needs*, an integer if the name ends in a unit, and else a string. A moment in nanoseconds is on the monotonic "
             "clock. The sentence of a boolean says what is so where it is true. A report that is sent has no field with †, one with § only "
             "in a minidump, and one with ‡ only where `keep_home` is 1."]
    for name, definition in whole["$defs"].items():
        if only_use(name, whole) or is_simulated(name):
            continue
        lines += ["", f"## {name}"]
        lines += ["", definition["description"]] if definition.get("description") else []
        if "enum" in definition:
            lines += ["", type_words({"enum": definition["enum"]})]
        known = next((names["names"] for names in TABLE["names"] if names["name"] == name and names["isOpen"]), None)
        if known:
            lines += ["", type_words({"enum": known})]
        if "anyOf" in definition:
            lines += ["", *(f"- {type_words(choice)}: {choice['description']}" for choice in definition["anyOf"] if "const" in choice)]
        if "pattern" in definition:
            lines += ["", f"`{definition['pattern']}`"]
        if not definition.get("properties"):
            continue
        lines += [""]
        rows = []  # fields one after the other of which the same is said stand in one row
        for field, of in definition["properties"].items():
            if "const" in of:
                continue
            shown = (f"`{field}`" if field in definition.get("required", []) else f"*`{field}`*") + marks.get((name, field), "")
            words = field_words(field, of, units.get((name, field)), whole)
            if rows and rows[-1][1] == words:
                rows[-1][0].append(shown)
            else:
                rows.append(([shown], words))
        lines += ["- " + ", ".join(names) + (f": {words}" if words else "") for names, words in rows]
    return "\n".join(wrapped(line) for line in lines) + "\n"


def wrapped(line):
    if len(line) <= WIDTH:
        return line
    result, row = [], ""
    for word in line.split(" "):
        if row and len(row) + 1 + len(word) > WIDTH:
            result.append(row)
            row = ("  " if line.startswith("- ") else "") + word
        else:
            row = f"{row} {word}" if row else word
    return "\n".join(result + [row])


def schema_text():
    """A line for each field."""
    def text(value):
        return json.dumps(value, ensure_ascii=False)
    def definition_text(definition):
        members = [f'"{key}": {{\n   ' + ",\n   ".join(f"{text(field)}: {text(of)}" for field, of in value.items()) + "}" if key == "properties"
                   else f'"{key}": {text(value)}' for key, value in definition.items()]
        return "{\n  " + ",\n  ".join(members) + "}"
    whole = schema()
    head = [f'"{key}": {text(value)}' for key, value in whole.items() if key != "$defs"]
    definitions = [f'"{name}": {definition_text(definition)}' for name, definition in whole["$defs"].items()]
    return "{\n" + ",\n".join(head) + ',\n"$defs": {\n ' + ",\n ".join(definitions) + "}}\n"


MADE = {SCHEMA: schema_text, PAGE: page}


class Made(unittest.TestCase):
    def test_files_are_what_the_tables_make(self):
        for path, make in MADE.items():
            with self.subTest(path.name):
                self.assertEqual(path.read_text(), make(), f"python3 -B {pathlib.Path(__file__).relative_to(ROOT)} {sys.argv[1]} --write makes it anew")

    def test_every_type_is_there(self):
        text = SCHEMA.read_text()
        definitions = set(json.loads(text)["$defs"])
        self.assertEqual(set(re.findall(r'"#/\$defs/([^"]+)"', text)) - definitions, set())

    def test_every_finer_kind_is_one_of_the_library_for_swift(self):
        code = (ROOT / "Sources/LaunchGuardReportModel/Crash+Reason.swift").read_text()
        self.assertEqual({kind["name"] for kind in TABLE["finer"]}, set(re.findall(r'"(trap\.[\w.]+\w)"', code)))

    def test_every_field_has_a_sentence(self):
        for shape in TABLE["shapes"]:
            for field in shape["fields"]:
                self.assertRegex(field["sentence"], r"^[A-Z0-9].*\.$", f"{shape['name']}.{field['name']}")
        self.assertGreater(len(TABLE["kinds"]), 50)
        for kind in TABLE["kinds"]:
            self.assertRegex(kind["sentence"], r"^[A-Z].*\.$", kind["name"])


if __name__ == "__main__":
    if sys.argv[2:] == ["--write"]:
        for path, make in MADE.items():
            path.write_text(make())
    else:
        unittest.main(argv=sys.argv[:1])
