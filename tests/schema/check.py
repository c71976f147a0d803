#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the JSON of the commands in commands.txt against model/report/schema/COMMAND.schema.json.

Each line is a `floorline …` command; `--format json` is added. Also checked: strict JSON (no NaN,
no key twice), the same bytes when run again, and that no schema is without a command. Definitions
that schemas share go in files with other names, such as model/report/schema/common.json.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "model" / "report" / "schema"
TIMEOUT_S = 300


def unique_keys(pairs):
    keys = [key for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"key written twice: {', '.join(twice)}")
    return dict(pairs)


def refuse_constant(text):
    raise ValueError(f"{text} is not JSON")


def strict_json(text):
    return json.loads(text, object_pairs_hook=unique_keys, parse_constant=refuse_constant)


def validator_for(path):
    """References to other files are by name: {"$ref": "bound.schema.json#/$defs/total"}."""
    schema = strict_json(path.read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    kind.check_schema(schema)
    with warnings.catch_warnings():  # its successor is absent from older packages
        warnings.simplefilter("ignore", DeprecationWarning)
        resolver = jsonschema.RefResolver(path.as_uri(), schema)
    return kind(schema, resolver=resolver)


def run(program, words):
    done = subprocess.run(
        [program, *words[1:], "--format", "json"], cwd=ROOT, env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False)
    if done.returncode not in (0, 1):  # 1: done, and the answer is no
        raise ValueError(f"exit {done.returncode}: {done.stderr.decode('utf-8').strip()}")
    return done.stdout


def problems(program, words):
    """What is wrong with one command's document, a line each."""
    try:
        text = run(program, words)
        document = strict_json(text.decode("utf-8"))
    except (ValueError, subprocess.TimeoutExpired) as error:
        return [str(error)]
    found = [] if run(program, words) == text else ["a second run printed something else"]
    path = SCHEMAS / f"{words[1]}.schema.json"
    if not path.exists():
        return [*found, f"{path.relative_to(ROOT)} is missing"]
    errors = sorted(validator_for(path).iter_errors(document), key=lambda error: error.json_path)
    return found + [f"{error.json_path}: {error.message}" for error in errors]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=lambda text: str(Path(text).resolve()))
    program = parser.parse_args().program
    lines = (Path(__file__).with_name("commands.txt")).read_text(encoding="utf-8").splitlines()
    commands = [shlex.split(line) for line in lines if line.startswith("floorline ")]
    failures = 0
    for words in commands:
        found = problems(program, words)
        failures += len(found)
        if found:
            print(shlex.join(words), *(f"  {line[:400]}" for line in found), sep="\n")
    covered = {words[1] for words in commands}
    for path in sorted(SCHEMAS.glob("*.schema.json")):
        if path.name.removesuffix(".schema.json") not in covered:
            failures += 1
            print(f"{path.relative_to(ROOT)}: no command in commands.txt")
    print(f"{len(commands)} commands, {failures} problems")
    sys.exit(1 if failures or not commands else 0)


if __name__ == "__main__":
    main()
