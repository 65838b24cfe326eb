"""Check lines of JSON against docs/schema: validate.py FOLDER FILE…

The validator is jsonschema from PyPI, installed once into FOLDER. Each line has to match one
definition and no other. Exit status 77, with the reason on standard output: it cannot be installed.
"""

import collections
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "../../docs/schema/launchguard.schema.json")
SKIPPED = 77

sys.path.append(os.path.join(HERE, "../PyPI"))
import pypi


def check(paths):
    """Print each line that matches no definition, or more than one, and then what was seen."""
    from jsonschema import Draft202012Validator

    schema = json.load(open(SCHEMA, encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    names = [choice["$ref"].rsplit("/", 1)[1] for choice in schema["oneOf"]]
    validators = {name: Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}) for name in names}
    seen = collections.Counter()
    failures = 0
    for path in paths:
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            value = json.loads(line)
            errors = {name: list(validator.iter_errors(value)) for name, validator in validators.items()}
            matches = [name for name in names if not errors[name]]
            seen.update(matches)
            if len(matches) == 1:
                continue
            failures += 1
            nearest = value.get("type") if value.get("type") in errors else min(names, key=lambda name: len(errors[name]))
            print(f"{path}:{number}: matches {' and '.join(matches) or 'no definition'}")
            for error in errors[nearest][:5]:
                print(f"  as {nearest}, at {'.'.join(map(str, error.path)) or 'the top'}: {error.message[:300]}")
    print("seen: " + " ".join(f"{name}={seen[name]}" for name in names))
    return failures


def main():
    folder, paths = sys.argv[1], sys.argv[2:]
    reason = pypi.run_again(folder, "jsonschema")
    if reason:
        print(f"skipped: no validator: {reason}")
        return SKIPPED
    return 1 if check(paths) else 0


sys.exit(main())
