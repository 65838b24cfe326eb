"""Check lines of JSON against docs/schema: validate.py FOLDER FILE…

The validator is jsonschema from PyPI, installed once into FOLDER. Each line has to match one
definition and no other. Exit status 77, with the reason on standard output: it cannot be installed.
"""

import collections
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "../../docs/schema/launchguard.schema.json")
REQUIREMENTS = os.path.join(HERE, "requirements.txt")
SKIPPED = 77


def install(folder):
    """Why the validator cannot be installed; None: it is there."""
    wanted = open(REQUIREMENTS, encoding="utf-8").read()
    mark = os.path.join(folder, "installed")
    if os.path.exists(mark) and open(mark, encoding="utf-8").read() == wanted:
        return None
    pip = [os.path.join(folder, "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--retries", "1",
           "--timeout", "20", "-r", REQUIREMENTS]
    for step in [sys.executable, "-m", "venv", folder], pip:
        try:
            result = subprocess.run(step, capture_output=True, text=True, timeout=300, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if result.returncode != 0:
            return (result.stderr.strip().splitlines() or result.stdout.strip().splitlines() or ["pip fails"])[-1]
    with open(mark, "w", encoding="utf-8") as file:
        file.write(wanted)
    return None


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
    reason = install(folder)
    if reason:
        print(f"skipped: no validator: {reason}")
        return SKIPPED
    python = os.path.join(folder, "bin/python")
    if os.path.realpath(sys.prefix) != os.path.realpath(folder):
        return subprocess.run([python, "-B", os.path.abspath(__file__)] + sys.argv[1:], check=False, timeout=300).returncode
    return 1 if check(paths) else 0


sys.exit(main())
