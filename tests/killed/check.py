#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A command that is killed while it writes a file leaves neither the file nor a part of it.

It ends by the signal itself. A file of that name that was there before keeps its content.
"""
import argparse
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# About 67 million points: minutes, so that the signal comes while it writes.
COMMAND = ["sweep", "llama-3.1-70b", "--device", "h100_sxm", "--grid", "tp=4,8",
           "--grid", "batch=1..256:+1", "--grid", "context=1024..132095:+1"]
WAIT_S = 60


def scratch_files(folder, target):
    return [p for p in folder.iterdir() if p != target]


def check(program, number, folder):
    """What is wrong, or None."""
    target = folder / "rows.csv"
    target.write_text("before\n", encoding="utf-8")
    with subprocess.Popen([program, *COMMAND, "--output", str(target)], stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + WAIT_S
        written = []
        while time.monotonic() < end and process.poll() is None and not written:
            time.sleep(0.01)
            written = [p for p in scratch_files(folder, target) if p.stat().st_size > 0]
        process.send_signal(number)
        status = process.wait()
    if not written:
        return "it never wrote beside the file"
    if status != -number:
        return f"ended with {status}, expected the signal itself, {-number}"
    if left := scratch_files(folder, target):
        return f"left {[p.name for p in left]}"
    if target.read_text(encoding="utf-8") != "before\n":
        return "the file of before is not what it was"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    failures = 0
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(options.program, number, Path(folder))
        print(f"{number.name}: {wrong or 'nothing left'}")
        failures += wrong is not None
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
