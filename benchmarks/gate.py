#!/usr/bin/env python3
"""Compares ratios of benchmarks with recorded ones: how a cost grows, and how it stands
to that of a peer in the same run. Never a time, so that any machine can run it.

    benchmarks/gate.py BIN [--bounds FILE] [--only REGEX] [--recorded] [--write]
    benchmarks/gate.py --targets [--recorded]

BIN is the folder of the benchmark programs (--targets: which). --recorded leaves out the ratios
that are not recorded yet, and names them; without it they are a failure. FILE (gate.json) lists the ratios:

    name       what is compared
    program    backlog: BIN/backlog_benchmark
    over       [benchmark, counter]
    under      the same, what `over` is divided by; without it the counter is a ratio. A case's cost
               over that of BM_Yardstick, a fixed piece of work, stands for its time
    at_most    the recorded ratio where less is better, or
    at_least   where more is better
    goal       the goal of goals.json that this case has
    goal_ratio the ratio with which that goal is just met, made when the ratio is recorded
    missed     why the recorded ratio is beyond that all the same

Each benchmark runs three times and its best value counts. A ratio may be worse than the
recorded one by 30 %, but beyond that of its goal by 15 % at the most, which is noise; one that
is not within that is measured up to three times more: on a shared machine ratios to the yardstick
differ by half from run to run. Exit status 1 if it is in none. --write records the median of three
measurements, but not of what misses its goal without `missed`; the table of goals in the documents
follows.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import goals as goals_file
import tables

ROOT = pathlib.Path(__file__).resolve().parents[1]
BOUNDS = pathlib.Path(__file__).with_name("gate.json")
MARGIN = 1.3
NOISE = 1.15
RUNS = 3
MORE = 3
RECORDED = 3
# Few events and jobs each: medians and CPU times are compared, not tails. No Slurm beside them.
ENVIRONMENT = {"MUSTER_BACKLOG_EVENTS": "100", "MUSTER_BENCH_SCALE": "10", "MUSTER_SLURM": "/none"}


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


def side_of(bound):
    return "at_most" if "at_most" in bound else "at_least"


def ratio_of(bound, values):
    best = min if side_of(bound) == "at_most" else max
    name, counter = bound["over"]
    over = best(values[name][counter])
    if "under" not in bound:
        return over
    name, counter = bound["under"]
    # Both at their best: the least time that each took.
    return over / min(values[name][counter])


def goal_ratio_of(goal, ratio, values):
    """What `ratio` would be if the goal were just met: it goes with what the goal is about."""
    _, limit = goals_file.limit(goal)
    best = min if "at_most" in goal else max
    cases = {name: {counter: best(found) for counter, found in counters.items()}
             for name, counters in values.items()}
    measured = goals_file.measured(goal, cases)
    return ratio * limit / measured if measured else None


def limit_of(bound):
    """What the ratio may be at the worst."""
    recorded, goal = bound[side_of(bound)], bound.get("goal_ratio")
    if side_of(bound) == "at_most":
        limit = recorded * MARGIN
        return limit if goal is None or "missed" in bound else min(limit, goal * NOISE)
    limit = recorded / MARGIN
    return limit if goal is None or "missed" in bound else max(limit, goal / NOISE)


def holds(bound, ratio):
    limit = limit_of(bound)
    return ratio <= limit if side_of(bound) == "at_most" else ratio >= limit


def names_of(bound, goals):
    """The benchmarks that it needs, those of its goal included."""
    sides = [bound[side] for side in ("over", "under") if side in bound]
    if goal := goals.get(bound.get("goal")):
        sides += goals_file.pairs(goal["over"]) + ([goal["under"]] if "under" in goal else [])
    return {side[0] for side in sides}


def measure(folder, bounds, goals):
    """By the name of each bound: its ratio, and that of its goal or None."""
    ratios = {}
    for program in sorted({bound["program"] for bound in bounds}):
        own = [bound for bound in bounds if bound["program"] == program]
        names = set().union(*(names_of(bound, goals) for bound in own))
        values = run(folder, program, sorted(names))
        for bound in own:
            ratio, goal = ratio_of(bound, values), goals.get(bound.get("goal"))
            ratios[bound["name"]] = ratio, goal and goal_ratio_of(goal, ratio, values)
    return ratios


def medians(rounds):
    """Of several measurements."""
    result = {}
    for name in rounds[0]:
        ratios, goals = zip(*(ratios[name] for ratios in rounds))
        result[name] = statistics.median(ratios), None if None in goals else statistics.median(goals)
    return result


def print_table(bounds, ratios):
    for bound in bounds:
        ratio, recorded = ratios[bound["name"]][0], bound[side_of(bound)]
        if recorded is None:
            print(f"{'NEW':6} {ratio:8.3g}  not recorded  {bound['name']}", flush=True)
            continue
        goal = bound.get("goal_ratio")
        told = f"goal {goal:8.3g}{', known to be missed' if 'missed' in bound else ''}" if goal is not None else ""
        verdict = "ok" if holds(bound, ratio) else "WORSE"
        print(f"{verdict:6} {ratio:8.3g}  recorded {recorded:8.3g}  limit {limit_of(bound):8.3g}  {told:14} "
              f"{bound['name']}", flush=True)


def record(bounds, ratios):
    """Puts what was measured into the bounds; returns those that miss a goal in silence, and stay as they are."""
    silent = []
    for bound in bounds:
        ratio, goal = ratios[bound["name"]]
        if goal is not None and "missed" not in bound:
            if ratio > goal if side_of(bound) == "at_most" else ratio < goal:
                silent.append(f"{bound['name']}: {ratio:.3g}, goal {goal:.3g}")
                continue
        bound[side_of(bound)] = float(f"{ratio:.3g}")
        if goal is not None:
            bound["goal_ratio"] = float(f"{goal:.3g}")
    return silent


def problems(bounds, goals):
    """What is wrong with the file."""
    for bound in bounds:
        goal = goals.get(bound.get("goal"))
        if "goal" in bound and goal is None:
            yield f"{bound['name']}: goals.json has no goal {bound['goal']}"
        if goal and [bound["over"], bound.get("under")] == [goal["over"], goal.get("under")]:
            recorded = bound.get("goal_ratio")
            if recorded is not None and recorded != float(f"{goals_file.limit(goal)[1]:.3g}"):
                yield f"{bound['name']}: its goal_ratio is {recorded}, the goal {goals_file.limit(goal)[1]}"


def main():
    if sys.argv[1:2] == ["--targets"]:
        print(*sorted({f"{bound['program']}_benchmark" for bound in json.loads(BOUNDS.read_text())
                       if sys.argv[2:] != ["--recorded"] or bound[side_of(bound)] is not None}))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="BIN")
    parser.add_argument("--bounds", type=pathlib.Path, default=BOUNDS, metavar="FILE")
    parser.add_argument("--only", default="", metavar="REGEX", help="of names")
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    every = json.loads(args.bounds.read_text())
    goals = {goal["name"]: goal for goal in goals_file.load(ROOT)}
    if wrong := list(problems(every, goals)):
        sys.exit("gate: " + "; ".join(wrong))
    bounds = [bound for bound in every if re.search(args.only, bound["name"])]
    if args.recorded:
        new = [bound["name"] for bound in bounds if bound[side_of(bound)] is None]
        print(f"gate: {len(new)} ratios are not recorded yet: {'; '.join(new)}", flush=True)
        bounds = [bound for bound in bounds if bound[side_of(bound)] is not None]

    if args.write:
        ratios = medians([measure(args.folder.resolve(), bounds, goals) for _ in range(RECORDED)])
        print_table(bounds, ratios)
        silent = record(bounds, ratios)
        lines = ",\n".join("  " + json.dumps(bound) for bound in every)
        args.bounds.write_text(f"[\n{lines}\n]\n")
        if args.bounds == BOUNDS:
            tables.write(ROOT)
        if silent:
            sys.exit(f"gate: not recorded, as a goal is missed and no `missed` says why: {'; '.join(silent)}")
        return
    ratios = measure(args.folder.resolve(), bounds, goals)
    print_table(bounds, ratios)
    if new := [bound["name"] for bound in bounds if bound[side_of(bound)] is None]:
        sys.exit(f"gate: not recorded, which --write does where nothing else runs: {', '.join(new)}")
    worse = [bound for bound in bounds if not holds(bound, ratios[bound["name"]][0])]
    for _ in range(MORE):
        if not worse:
            break
        print("gate: once more", flush=True)
        ratios = measure(args.folder.resolve(), worse, goals)
        print_table(worse, ratios)
        worse = [bound for bound in worse if not holds(bound, ratios[bound["name"]][0])]
    if worse:
        sys.exit("gate: worse than recorded, or than a goal allows: " + ", ".join(bound["name"] for bound in worse))
    print(f"gate: {len(bounds)} ratios hold")


if __name__ == "__main__":
    main()
