#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the CPU suite for real: this machine is probed and described, every experiment is run beside its floor.

Asserted are soundness and form, never speed: other programs may be running. The probe's file must load, no run
may lie below a floor that ceilings prove, no result may be wrong, the document must fit its schema. With
--objects: code of a wider instruction set must not hold shared symbols that other code could link to.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "schema"))
from check import SCHEMAS, strict_json, validator_for  # noqa: E402

TIMEOUT_S = 540
failures = []


def expect(holds, text):
    if not holds:
        failures.append(text)
        print(f"FAILED: {text}")


def floorline(program, *words, status=(0,)):
    done = subprocess.run([program, *words], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=TIMEOUT_S, check=False)
    expect(done.returncode in status, f"{' '.join(words)}: exit {done.returncode}: {done.stderr.decode()[:400]}")
    return done.stdout.decode()


def probe(program, folder):
    device = str(Path(folder) / "this_cpu.toml")
    floorline(program, "devices", "probe-cpu", "--quick", "--output", device)
    shown = floorline(program, "devices", "show", device)
    expect("S_keep" in shown, "devices show prints the probed machine's caches")
    floorline(program, "bound", "vector_add", "--device", device)
    return device


def run_suite(program, device):
    words = ["validate", "--experiments", "--backend", "cpu", "--quick"]
    document = strict_json(floorline(program, *words, "--device", device, "--format", "json"))
    for error in validator_for(SCHEMAS / "validate.schema.json").iter_errors(document):
        expect(False, f"{error.json_path}: {error.message[:300]}")
    expect(document["sound"], "no run is impossible, no result wrong")
    measured = [e for e in document["experiments"] if e["not_measured"] is None]
    expect(len(measured) >= 30, f"{len(measured)} experiments measured, expected 30 or more")
    for e in document["experiments"]:
        if e["not_measured"] is not None:
            expect(e["finding"] == "not measured" and e["not_measured"], f"{e['name']}: not measured, without a reason")
            continue
        o = e["observation"]
        expect(o["correctness"]["passed"], f"{e['name']}: correctness")
        summary = o["summary"]
        print(f"{e['name']:28} floor {e['floor']['cold_s'] * 1e6:11.1f} us   fastest {summary['minimum_s'] * 1e6:11.1f} us"
              f"   median {summary['median_s'] * 1e6:11.1f} us   {e['residency']}, {e['finding']}")
    print("Copy, triad and product within twice their floors." if document["proves"] else
          "Too slow to prove more: " + "; ".join(document["slow"]))
    print(json.dumps(document["notes"]))


def check_levels(folder):
    for level in ("avx2", "avx512"):
        for path in sorted(Path(folder).glob(f"floorline_cpu_{level}.dir/**/*.o")):
            symbols = subprocess.run(["nm", str(path)], capture_output=True, check=True).stdout.decode()
            shared = [line.split()[-1] for line in symbols.splitlines() if line.split()[-2] in ("W", "V", "u")]
            shared = [s for s in shared if level not in s and s != "DW.ref.__gxx_personality_v0"]
            expect(not shared, f"{path.name} ({level}) defines symbols that other code may link to: {shared[:5]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=lambda text: str(Path(text).resolve()))
    parser.add_argument("--objects", help="folder of the build that holds floorline_cpu_*.dir")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run_suite(args.program, probe(args.program, folder))
    if args.objects:
        check_levels(args.objects)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
