#!/usr/bin/env python3
"""Runs muster-sim as a benchmark; FILE gets Google Benchmark's JSON.

    benchmarks/sim.py BIN (large | trace) --json FILE

    large   three days of 100,000 GPUs at a load of 0.95: with the work budget of a pass that its
            goals were set for (2,000,000 steps), and with that of the preset
    trace   Alibaba's trace of 2023, which MUSTER_SHARED has (default: ../shared): as it is, and
            150 copies of it, copy i shifted by i hours

A run's own figures (docs/muster-sim.md, "The table and the JSON") as counters of one case each.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LARGE = ["run", "--generate", "preset=large,load=0.95,days=3"]


def runs(which):
    """By case: the words for muster-sim."""
    if which == "large":
        return {"work_budget:2000000": [*LARGE, "--set", "scheduler.work_budget=2000000"],
                "work_budget:preset": LARGE}
    data = pathlib.Path(os.environ.get("MUSTER_SHARED", ROOT.parent / "shared"), "data/openb")
    files = {"--nodes": data / "openb_node_list_gpu_node.csv.gz", "--pods": data / "openb_pod_list_default.csv.gz"}
    for file in files.values():
        if not file.exists():
            sys.exit(f"sim: {file.name} is not there; MUSTER_SHARED names the folder of the traces")
    words = ["trace", *(str(word) for pair in files.items() for word in pair)]
    return {"copies:1": words, "copies:150": [*words, "--copies", "150"]}


def counters_of(told):
    counts, passes = told["counts"], told["counts"]["passes"]
    quiet = counts["quiet_passes"]
    return {
        "cpu_s": told["cpu_s"],
        "pass_s": told["pass_s"],
        "mean_pass_ms": 1e3 * told["pass_s"] / passes,
        "longest_pass_ms": 1e3 * told["worst_pass_s"],
        "peak_mib": told["peak_memory_bytes"] / 2**20,
        "gangs": counts["submitted"],
        "passes": passes,
        "passes_cut_short": counts["passes_cut_short"],
        "quiet_passes": quiet,
        "allocations_in_quiet_passes": told["allocations"]["in_quiet_passes"],
        "preempting_gangs": told["preemptions"]["gangs"],
        "mean_wait_s": told["wait_s"]["mean"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path, metavar="BIN")
    parser.add_argument("which", choices=["large", "trace"])
    parser.add_argument("--json", type=pathlib.Path, required=True, metavar="FILE")
    args = parser.parse_args()
    records = []
    for case, words in runs(args.which).items():
        done = subprocess.run([args.binaries / "muster-sim", *words, "--json"], stdout=subprocess.PIPE, check=True)
        counters = {name: float(value) for name, value in counters_of(json.loads(done.stdout)).items()}
        print(case, counters, file=sys.stderr, flush=True)
        records.append({"name": case, "run_name": case, "run_type": "iteration", **counters})
    args.json.write_text(json.dumps({"benchmarks": records}), encoding="utf-8")


if __name__ == "__main__":
    main()
