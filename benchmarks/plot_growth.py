#!/usr/bin/env python3
"""Draws how CPU time grows with the nodes: docs/performance/backlog.svg, peers.svg.

    plot_growth.py JSON FOLDER

JSON is a record, docs/performance/backlog.json or peers.json, or what `./dev bench backlog
--json JSON` or `./dev bench peers --json JSON` wrote; of several runs the median is drawn.
"""

import collections
import math
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "muster", "svg.fonttype": "none", "font.size": 8})
import matplotlib.pyplot as plt

import goals
from runs import runs as all_runs

US, MS = 1e-6, 1e-3
UNITS = {"cpu_us": US, "p99_us": US, "cpu_ms": MS}

# Of each plot: its title, and by case what it is.
BACKLOG = "A full cluster with a backlog: CPU of one event and the pass behind it", {
    "Quiet": "nothing",
    "Duplicate": "a duplicate answer",
    "Checkpoint": "a checkpoint",
    "NodeUnchanged": "a node as it was",
    "UnusedLabel": "a label that no gang selects by",
    "ExternalUsageUnchanged": "external usage as it was",
    "SubmitKnown": "a gang of a known shape",
    "SubmitNew": "a gang of a new shape",
    "Explain": "why does a gang wait?",
    "Finish": "a gang finishes",
    "NodeDown": "a node goes down",
    "WhatIf": "what if a gang finished?",
    "Fill": "filling it, and the first pass\nover those that wait",
}
PEERS = "Where other schedulers are slow: CPU of the deciding pass", {
    "BM_Reclaim": "8 N tasks reclaim 8 N",
    "BM_NoRoom": "no room, and proven",
    "BM_GangReclaim": "a gang of N/2 x 8 reclaims",
    "BM_PreemptFull": "512 devices on full nodes",
    "BM_TasPreemption": "room in one group of blocks",
    "BM_Subgroups": "N/10 groups, a rack each",
    "BM_Fill": "32 N tasks of one CPU",
    "BM_NearFull": "the same, 31 of 32 CPUs in use",
}


def split(name):
    """The case of a benchmark's name, and of how many nodes it is or None."""
    parts = name.split("/")
    nodes = next((int(p.split(":")[1]) for p in parts if p.startswith("nodes:")), None)
    return parts[2] if parts[0] == "BM_Backlog" and len(parts) > 2 else parts[0], nodes


def read(path):
    """{case: {counter: {nodes: seconds}}}"""
    runs = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for run in all_runs(path):
        case, nodes = split(run["name"])
        if nodes is None:
            continue
        for counter, unit in UNITS.items():
            if counter in run:
                runs[case][counter][nodes].append(run[counter] * unit)
    return {case: {counter: {n: statistics.median(v) for n, v in sorted(by_nodes.items())}
                   for counter, by_nodes in counters.items()} for case, counters in runs.items()}


def goals_of(curves):
    """By case: the goal of goals.json in seconds, and for how many nodes it was set."""
    found = {}
    for goal in goals.load(pathlib.Path(__file__).resolve().parents[1]):
        case, nodes = split(goals.pairs(goal["over"])[0][0])
        counter, limit = goals.pairs(goal["over"])[0][1], goals.limit(goal)[1]
        if case not in curves or counter not in ("cpu_us", "cpu_ms"):
            continue
        if "under" not in goal:
            found[case] = limit * UNITS[counter], nodes
            continue
        under, under_nodes = split(goal["under"][0])  # Of another case, as it is.
        if under_nodes == nodes and nodes in curves.get(under, {}).get(counter, {}):
            found[case] = limit * curves[under][counter][nodes], nodes
    return found


def seconds(value, _=None):
    for unit, name in (1, "s"), (MS, "ms"), (US, "us"):
        if value >= unit * 0.9999:
            return f"{value / unit:g} {name}"
    return f"{value / US:g} us"


def draw(axes, counters, what, goal):
    axes.set_title(what, fontsize=8)
    middle = counters.get("cpu_us") or counters["cpu_ms"]
    axes.plot(middle.keys(), middle.values(), color="C0", marker="o", markersize=3)
    seen = list(middle.values())
    if tail := counters.get("p99_us"):
        axes.plot(tail.keys(), tail.values(), color="C0", alpha=0.4, linewidth=1, marker="o", markersize=2)
        seen += tail.values()
    first, last = min(middle), max(middle)
    if first < last:  # In proportion to the nodes.
        axes.plot([first, last], [middle[first], middle[first] * last / first], color="0.6", linewidth=1, linestyle=":")
    if goal:
        axes.axhline(goal[0], color="C3", linewidth=1, linestyle="--")
        axes.plot([goal[1]], [goal[0]], color="C3", marker="v", markersize=4)
        seen.append(goal[0])
    axes.set(xscale="log", yscale="log")
    low, high = min(seen), max(seen)
    axes.set_ylim(10 ** math.floor(math.log10(low) - 0.1), 10 ** math.ceil(math.log10(high) + 0.1))
    axes.yaxis.set_major_formatter(seconds)
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    axes.minorticks_off()
    axes.set_xticks(sorted(middle))
    axes.tick_params(axis="x", labelsize=6.5)
    axes.grid(alpha=0.3)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    curves = read(sys.argv[1])
    name, (title, cases) = max(("backlog", BACKLOG), ("peers", PEERS), key=lambda plot: len(plot[1][1].keys() & curves))
    cases = {case: what for case, what in cases.items() if case in curves}
    if not cases:
        sys.exit(f"{sys.argv[1]}: no case of the backlog or the peers in it")
    columns = 4 if len(cases) <= 12 else 5
    rows = math.ceil(len(cases) / columns)
    figure, grid = plt.subplots(rows, columns, figsize=(2.25 * columns, 0.6 + 1.9 * rows), layout="constrained", squeeze=False)
    goal_of = goals_of(curves)
    for axes, (case, what) in zip(grid.flat, cases.items()):
        draw(axes, curves[case], what, goal_of.get(case))
    for axes in grid.flat[len(cases):]:
        axes.set_axis_off()
    figure.suptitle(title)
    for axes in grid[:, 0]:
        axes.set_ylabel("CPU time")
    for axes in grid.flat[max(0, len(cases) - columns):len(cases)]:  # Nothing is below them.
        axes.set_xlabel("nodes")
    line = matplotlib.lines.Line2D
    entries = [line([], [], color="C0", marker="o", markersize=3, label="median")]
    if name == "backlog":
        entries.append(line([], [], color="C0", alpha=0.4, linewidth=1, marker="o", markersize=2, label="99th percentile"))
    entries += [line([], [], color="0.6", linewidth=1, linestyle=":", label="in proportion to the nodes"),
                line([], [], color="C3", linewidth=1, linestyle="--", marker="v", markersize=4, label="goal, and for how many nodes")]
    figure.legend(handles=entries, loc="outside lower center", ncols=len(entries), fontsize=7, frameon=False)
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    print(path)


if __name__ == "__main__":
    main()
