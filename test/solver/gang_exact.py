#!/usr/bin/env python3
"""The best placement of two roles by an integer program: an oracle for
gang_exact_test.

Reads one question a line: {"want": [a, b], "demand": [[role's by resource]],
"free": [[node's by resource]], "paths": [[node's domain at each level, widest
first]], "talk": weight}. Writes one line each: with talk, the least traffic; else
the least number of domains used at each level, the widest first, nodes last.

Needs highspy; without it, exits with 77.
"""

import json
import sys

try:
    import highspy
except ImportError:
    print("highspy is not installed: see ./dev setup", file=sys.stderr)
    sys.exit(77)


def solve(solver, minimized):
    solver.minimize(minimized)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        sys.exit(f"no optimum: {solver.getModelStatus()}")
    return round(solver.getObjectiveValue())


def program(question):
    """A solver, the tasks by node and role, and the nodes of every domain."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    want, demand = question["want"], question["demand"]
    tasks = []
    for free in question["free"]:
        here = [solver.addIntegral(0, n) for n in want]
        for r, amount in enumerate(free):
            solver.addConstr(sum(d[r] * x for d, x in zip(demand, here)) <= amount)
        tasks.append(here)
    for k, n in enumerate(want):
        solver.addConstr(sum(here[k] for here in tasks) == n)
    levels = []
    for l in range(len(question["paths"][0]) + 1):
        domains = {}
        for node, path in enumerate(question["paths"]):
            domains.setdefault(tuple(path[:l + 1]) if l < len(path) else node, []).append(node)
        levels.append(list(domains.values()))
    return solver, tasks, levels


def least_traffic(question):
    """Pairs meet in a domain: the product of its counts, the smaller role's as a
    sum of binaries, one for each task."""
    solver, tasks, levels = program(question)
    a, b = question["want"]
    pairs = []
    for domains in levels:
        for nodes in domains:
            mine = sum(tasks[n][0] for n in nodes)
            steps = [solver.addBinary() for _ in range(b)]
            solver.addConstr(sum(tasks[n][1] for n in nodes) == sum(steps))
            for step in steps:
                met = solver.addVariable(0, a)
                solver.addConstr(met <= mine)
                solver.addConstr(met <= a * step)
                pairs.append(met)
    together = -solve(solver, sum(-1 * p for p in pairs))
    return [question["talk"] * (len(levels) * a * b - together)]


def least_counts(question):
    solver, tasks, levels = program(question)
    total = sum(question["want"])
    counts = []
    for domains in levels:
        used = []
        for nodes in domains:
            used.append(solver.addBinary())
            solver.addConstr(sum(x for n in nodes for x in tasks[n]) <= total * used[-1])
        counts.append(solve(solver, sum(used)))
        solver.addConstr(sum(used) <= counts[-1])
    return counts


for line in sys.stdin:
    question = json.loads(line)
    print(*(least_traffic if question["talk"] else least_counts)(question), flush=True)
