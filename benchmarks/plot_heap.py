#!/usr/bin/env python3
"""Draws the plots of docs/priority-heap.md.

    plot_heap.py JSON FOLDER

JSON is the record docs/performance/heap.json, or what `./dev bench heap --json JSON` wrote; of
several runs the median is drawn, and their spread.
"""

import collections
import pathlib
import statistics
import sys

import matplotlib
import matplotlib.ticker

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "muster", "svg.fonttype": "none", "path.simplify_threshold": 1, "font.size": 8})
import matplotlib.pyplot as plt

from runs import runs as all_runs

WORKLOADS = {
    "BM_SchedulerLike": "Like a scheduler: CPU per job",
    "BM_ArbitraryKeys": "Arbitrary keys, 10⁴ wait: CPU per operation",
    "BM_ManyKeys": "Arbitrary keys, 10⁶ wait: CPU per operation",
    "BM_FillThenDrain": "Fill, then drain: CPU per operation",
    "BM_Bursts": "Bursts of 256: CPU per operation",
}
NAMES = {
    "muster": "PriorityHeap",
    "muster_calls": "PriorityHeap, no session",
    "mutex_lists": "mutex + level lists + bitmap",
    "mutex_heap": "mutex + std::priority_queue",
    "tbb": "oneTBB concurrent_priority_queue",
    "boost_heap": "mutex + boost d-ary heap",
    "flat_combining": "libcds flat combining",
    "absl_btree": "absl::Mutex + btree_set",
}


def read(path):
    """{workload: {(structure, counter): {threads: [one value a run]}}}"""
    cases = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for run in all_runs(path):
        workload, *arguments = run["name"].split("/")
        threads = next((int(a.split(":")[1]) for a in arguments if a.startswith("threads:")), None)
        if threads is None or workload not in WORKLOADS:
            continue
        for key, value in run.items():
            structure, _, counter = key.rpartition("_")
            if structure in NAMES:
                cases[workload][structure, counter][threads].append(value)
    return cases


def draw(axes, curves, counter, label):
    for order, (structure, name) in enumerate(NAMES.items()):
        curve = curves.get((structure, counter))
        if not curve:
            continue
        threads = sorted(curve)
        middle = [statistics.median(curve[t]) for t in threads]
        spread = [[m - min(curve[t]) for t, m in zip(threads, middle)],
                  [max(curve[t]) - m for t, m in zip(threads, middle)]]
        axes.errorbar(range(len(threads)), middle, yerr=spread, label=name, capsize=2, marker="o", markersize=3,
                      color=f"C{order}", linewidth=2 if structure == "muster" else 1)
        axes.set_xticks(range(len(threads)), threads)
    axes.set(xlabel="threads", ylabel=label, yscale="log")
    axes.grid(alpha=0.3)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for workload, curves in read(sys.argv[1]).items():
        figure, (cost, submit) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
        draw(cost, curves, "ns", "ns")
        draw(submit, curves, "p99", "a push, 99th percentile, ns")
        figure.suptitle(WORKLOADS[workload])
        figure.legend(*cost.get_legend_handles_labels(), loc="outside right center", fontsize=7)
        path = folder / f"{workload.removeprefix('BM_').lower()}.svg"
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
        print(path)


if __name__ == "__main__":
    main()
