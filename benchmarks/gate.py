#!/usr/bin/env python3
"""Compares ratios of benchmarks with recorded ones: how a cost grows, and how it stands
to that of a peer in the same run. Never a time, so that any machine can run it.

    benchmarks/gate.py BIN [--bounds FILE] [--write]

BIN is the folder of the benchmark programs. FILE (gate.json) lists the ratios:

    name       what is compared
    program    backlog: BIN/backlog_benchmark
    over       [benchmark, counter]
    under      the same, what `over` is divided by; without it the counter is a ratio
    at_most    the recorded ratio where less is better, or
    at_least   where more is better

Each benchmark runs three times and its best value counts. A ratio may be worse than the
recorded one by 30 %; one that is not is measured once more. Exit status 1 if it is not
then either. --write records what was measured.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MARGIN = 1.3
RUNS = 3
# Few events each: medians are compared, not tails.
ENVIRONMENT = {"MUSTER_BACKLOG_EVENTS": "100"}


def run(folder, program, names):
    """The values of each counter: {benchmark: {counter: [values]}}."""
    listed = subprocess.run([folder / f"{program}_benchmark", "--benchmark_list_tests"],
                            check=True, capture_output=True, text=True).stdout.split()
    full = {}
    for name in names:
        fits = [test for test in listed if test == name or test.startswith(name + "/")]
        if len(fits) != 1:
            sys.exit(f"gate: {program} has {len(fits)} benchmarks {name}")
        full[fits[0]] = name
    values = {name: {} for name in names}
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        pattern = "^(" + "|".join(re.escape(test) for test in full) + ")$"
        subprocess.run([folder / f"{program}_benchmark", f"--benchmark_filter={pattern}",
                        f"--benchmark_repetitions={RUNS}", "--benchmark_min_time=0.1",
                        f"--benchmark_out={out.name}", "--benchmark_out_format=json"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=os.environ | ENVIRONMENT)
        for b in json.loads(pathlib.Path(out.name).read_text())["benchmarks"]:
            if b["run_type"] != "iteration":
                continue
            if b.get("error_occurred"):
                sys.exit(f"gate: {b['name']}: {b['error_message']}")
            test = full.get(b["run_name"])
            for counter, value in b.items():
                if test and isinstance(value, float):
                    values[test].setdefault(counter, []).append(value)
    return values


def ratio_of(bound, values):
    best = min if "at_most" in bound else max
    name, counter = bound["over"]
    over = best(values[name][counter])
    if "under" not in bound:
        return over
    name, counter = bound["under"]
    return over / best(values[name][counter])


def holds(bound, ratio):
    if "at_most" in bound:
        return ratio <= bound["at_most"] * MARGIN
    return ratio >= bound["at_least"] / MARGIN


def measure(folder, bounds):
    """The ratio of each bound, by its name."""
    ratios = {}
    for program in sorted({bound["program"] for bound in bounds}):
        own = [bound for bound in bounds if bound["program"] == program]
        names = {bound[side][0] for bound in own for side in ("over", "under") if side in bound}
        values = run(folder, program, sorted(names))
        ratios |= {bound["name"]: ratio_of(bound, values) for bound in own}
    return ratios


def print_table(bounds, ratios):
    for bound in bounds:
        side = "at_most" if "at_most" in bound else "at_least"
        ratio = ratios[bound["name"]]
        verdict = "ok" if holds(bound, ratio) else "WORSE"
        print(f"{verdict:6} {ratio:8.2f}  recorded {bound[side]:8.2f}  {bound['name']}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="BIN")
    parser.add_argument("--bounds", type=pathlib.Path,
                        default=pathlib.Path(__file__).with_name("gate.json"))
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    bounds = json.loads(args.bounds.read_text())

    ratios = measure(args.folder.resolve(), bounds)
    print_table(bounds, ratios)
    if args.write:
        for bound in bounds:
            side = "at_most" if "at_most" in bound else "at_least"
            bound[side] = float(f"{ratios[bound['name']]:.3g}")
        lines = ",\n".join("  " + json.dumps(bound) for bound in bounds)
        args.bounds.write_text(f"[\n{lines}\n]\n")
        return
    worse = [bound for bound in bounds if not holds(bound, ratios[bound["name"]])]
    if worse:
        print("gate: once more", flush=True)
        ratios = measure(args.folder.resolve(), worse)
        print_table(worse, ratios)
        worse = [bound for bound in worse if not holds(bound, ratios[bound["name"]])]
    if worse:
        sys.exit("gate: worse than recorded by more than 30 %: "
                 + ", ".join(bound["name"] for bound in worse))
    print(f"gate: {len(bounds)} ratios hold")


if __name__ == "__main__":
    main()
