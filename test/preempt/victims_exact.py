#!/usr/bin/env python3
"""The cheapest gangs to stop so that so many nodes of one rack are empty, by an
integer program: an oracle for victims_exact_test.

Reads one question a line: {"want": nodes, "costs": [gang's], "racks": [[nodes, each
as [the gangs on it]]]}. Writes the least cost, one a line.

Needs highspy; without it, exits with 77.
"""

import json
import sys

try:
    import highspy
except ImportError:
    print("highspy is not installed: see ./dev setup", file=sys.stderr)
    sys.exit(77)


def least(costs, nodes, want):
    """A node can only be empty if all gangs on it are stopped."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    gangs = sorted({gang for node in nodes for gang in node})
    stopped = {gang: solver.addBinary(obj=costs[gang]) for gang in gangs}
    empty = [solver.addBinary() for _ in nodes]
    for variable, node in zip(empty, nodes):
        for gang in node:
            solver.addConstr(variable <= stopped[gang])
    solver.addConstr(sum(empty) == want)
    solver.minimize()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        sys.exit(f"no optimum: {solver.getModelStatus()}")
    return round(solver.getObjectiveValue())


for line in sys.stdin:
    question = json.loads(line)
    racks = [rack for rack in question["racks"] if len(rack) >= question["want"]]
    print(min(least(question["costs"], rack, question["want"]) for rack in racks))
