#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands written in text files and compares what they print with what is written there.

A file is a list of blocks; text before the first `$ ` is a comment.

    $ floorline bound --op 'gemm m=1 n=2 k=3' \\
        --device h100_sxm
    the expected standard output
    ! exit 2
    ! stderr
    the expected standard error (none expected without this line)

`$ echo $?` with a number below it also states the exit status of the command before. Without either
it is 0. `$ cat FILE` prints a file that a command wrote. `$TMP` is an empty folder, one a file, and
is written back as `$TMP` in what is printed. `$ # text` is a comment. `$ skip-unless PATH` skips
the rest of the file where PATH is absent (inputs that are not part of this repository).
Blank lines at the end of a block are layout. Commands run in the repository root.

With --console the files are Markdown: only ```console blocks are read, and in them commands other
than `floorline` are left alone. With --update the expected text is rewritten (not for Markdown).
"""
import argparse
import difflib
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 300


class Block:
    """One `$ ` command, the lines it was written in, and what it should print."""

    def __init__(self, command_lines):
        self.command_lines = command_lines
        joined = " ".join(line.rstrip("\\").strip() for line in command_lines)
        self.command = joined[1:].strip()  # without the "$"
        self.body, self.gap = [], []  # gap: the blank lines that end the block

    def words(self):
        return shlex.split(self.command)

    def is_comment(self):
        return self.command.startswith("#")


def parse(lines):
    """Text lines to (comment lines before the first command, blocks)."""
    head, blocks, index = [], [], 0
    while index < len(lines):
        line = lines[index]
        if line.startswith("$ "):
            command_lines = [line]
            while command_lines[-1].endswith("\\"):
                index += 1
                command_lines.append(lines[index])
            blocks.append(Block(command_lines))
        else:
            (blocks[-1].body if blocks else head).append(line)
        index += 1
    for block in blocks:
        while block.body and not block.body[-1].strip():
            block.gap.append(block.body.pop())
    return head, blocks


def console_lines(markdown):
    """The lines inside the ```console blocks of a Markdown text."""
    inside, lines = False, []
    for line in markdown:
        if line.startswith("```"):
            inside = line.strip() == "```console"
        elif inside:
            lines.append(line)
    return lines


class Session:
    """Runs the blocks of one file."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.env = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C"}

    def run(self, words):
        words = [word.replace("$TMP", self.folder) for word in words]
        if words[0] == "cat":
            return 0, (ROOT / words[1]).read_text(encoding="utf-8"), ""
        done = subprocess.run(
            [self.program, *words[1:]], cwd=ROOT, env=self.env, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=TIMEOUT_S, check=False)
        out, err = (text.decode("utf-8").replace(self.folder, "$TMP")
                    for text in (done.stdout, done.stderr))
        return done.returncode, out, err

    def actual(self, block, status_shown_below):
        """The block's body as it should be written for what the command did now."""
        status, out, err = self.run(block.words())
        for name, text in (("stdout", out), ("stderr", err)):
            if text and (not text.endswith("\n") or text.endswith("\n\n")):
                raise ValueError(f"{name} must end with exactly one newline")
        body = out.splitlines()
        if any(line.startswith(("$ ", "! ")) for line in body):
            raise ValueError("the output has a line that reads as a mark of this format")
        if status != 0 and not status_shown_below:
            body.append(f"! exit {status}")
        if err:
            body += ["! stderr", *err.splitlines()]
        return status, body


def check_file(path, options):
    """Returns (commands run, failures); prints each failure as a diff."""
    text = path.read_text(encoding="utf-8").splitlines()
    head, blocks = parse(console_lines(text) if options.console else text)
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    run, failures, status, broken = 0, 0, 0, False
    with tempfile.TemporaryDirectory() as folder:
        session = Session(options.program, folder)
        for block, after in zip(blocks, [*blocks[1:], None]):
            if block.is_comment():
                continue
            words = block.words()
            if words[0] == "skip-unless":
                if not (ROOT / words[1]).exists():
                    print(f"{name}: skipped from here, {words[1]} is absent")
                    break
                continue
            if words == ["echo", "$?"]:
                body = [str(status)]
            elif words[0] in ("floorline", "cat"):
                shown = after is not None and after.command == "echo $?"
                try:
                    status, body = session.actual(block, shown)
                except (ValueError, OSError, subprocess.TimeoutExpired) as error:
                    status, body = 0, [f"! failed: {error}"]
                    broken = True
            elif options.console:
                continue
            else:
                raise SystemExit(f"{name}: not a command of this format: {block.command}")
            run += 1
            if body != block.body:
                failures += 1
                title = "\n".join(block.command_lines)
                print(f"{name}:\n{title}", *difflib.unified_diff(
                    block.body, body, "expected", "printed", lineterm=""), "", sep="\n")
                block.body = body
    if broken and options.update:
        raise SystemExit(f"{name}: not rewritten")
    if failures and options.update:
        for block in blocks:
            head += [*block.command_lines, *block.body, *block.gap]
        path.write_text("\n".join(head) + "\n", encoding="utf-8")
    return run, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=lambda text: str(Path(text).resolve()))
    parser.add_argument("--update", action="store_true", help="rewrite the expected text")
    parser.add_argument("--console", action="store_true", help="read ```console blocks")
    parser.add_argument("files", nargs="*", type=lambda text: Path(text).resolve())
    options = parser.parse_args()
    if options.update and options.console:
        parser.error("--update does not rewrite Markdown")
    files = options.files or sorted((ROOT / "tests" / "golden").glob("*.txt"))
    counts = [check_file(path, options) for path in files]
    run, failures = sum(count[0] for count in counts), sum(count[1] for count in counts)
    verb = "rewritten" if options.update else "differ"
    print(f"{len(files)} files, {run} commands, {failures} {verb}")
    if run == 0:
        sys.exit("no command was run")
    sys.exit(1 if failures and not options.update else 0)


if __name__ == "__main__":
    main()
