#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which source files of a folder can be compiled as one: prints FILE=UNIT, a line each.

Files share a unit unless a name of one's unnamed namespace (or a macro of its own) is also a name of
the other's, or is used there and so would change its meaning. Read line by line as clang-format
leaves them: what is wrong about a name here fails to compile or splits a unit, nothing worse.

  units.py ROOT FILE...
"""
import pathlib
import re
import sys

TYPE = (r"^(?!template|namespace|struct|class|enum|using|return)(?:\[\[\w+\]\]\s*)?"
        r"[\w:][\w:<>,&*\s\[\]]*?[\s&*>]")
DEFINES = (
    re.compile(r"^#define\s+(\w+)"),
    re.compile(r"^(?:struct|class|enum class|enum|union|using)\s+(\w+)\b(?!::)"),
    re.compile(TYPE + r"(operator\S+?|\w+)\s*[({]"),  # a function, an object constructed
    re.compile(TYPE + r"(\w+)(?:\[[^=]*\])?\s*[=;]"),  # an object
)
USE = re.compile(r"(?<![\w.:\"])(?<!->)([A-Za-z_]\w*)(\s*[({<]?)")
COMMENT_OR_TEXT = re.compile(r'//.*|"(?:\\.|[^"\\])*"')


def own_names(lines):
    """Names that no other file is meant to see."""
    names, unnamed = set(), False
    for line in lines:
        if re.match(r"^(?:\w+ )?namespace \{", line):
            unnamed = True
        elif line.startswith("}  // namespace") and not line[15:].strip():
            unnamed = False
        elif unnamed or line.startswith(("static ", "#define")):
            names.update(m.group(1) for define in DEFINES if (m := define.match(line)))
    return names


def used_names(text):
    """Calls, types and constants that are found by their bare name."""
    return {name for name, call in USE.findall(COMMENT_OR_TEXT.sub('""', text))
            if call.strip() or name[0].isupper() or re.match(r"k[A-Z]", name)}


class Unit:
    def __init__(self):
        self.own, self.used = set(), set()

    def takes(self, own, used):
        return not (own & (self.own | self.used) or self.own & used)

    def add(self, own, used):
        self.own |= own
        self.used |= used


def main():
    root = pathlib.Path(sys.argv[1])
    folders = {}
    for name in sys.argv[2:]:
        text = (root / name).read_text()
        own = own_names(text.splitlines())
        used = used_names(text)
        folder = str(pathlib.PurePath(name).parent)
        units = folders.setdefault(folder, [])
        number = next((i for i, unit in enumerate(units) if unit.takes(own, used)), len(units))
        if number == len(units):
            units.append(Unit())
        units[number].add(own, used)
        stem = folder.replace("/", "_").replace(".", "all")
        print(f"{name}={stem}_{number}")


if __name__ == "__main__":
    main()
