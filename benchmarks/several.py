#!/usr/bin/env python3
"""Runs several benchmarks of BIN one after the other; FILE gets the JSON of all.

    benchmarks/several.py BIN PROGRAM... --json FILE
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path, metavar="BIN")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--json", type=pathlib.Path, required=True, metavar="FILE")
    args, more = parser.parse_known_args()
    benchmarks = []
    for program in args.programs:
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            subprocess.run([args.binaries / program, f"--benchmark_out={out.name}", "--benchmark_out_format=json",
                            *more], check=True, stdout=sys.stderr)
            benchmarks += json.loads(pathlib.Path(out.name).read_text(encoding="utf-8"))["benchmarks"]
    args.json.write_text(json.dumps({"benchmarks": benchmarks}), encoding="utf-8")


if __name__ == "__main__":
    main()
