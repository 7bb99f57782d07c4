#!/usr/bin/env python3
"""Whether parts fit into bins, by an integer program: an oracle for packs_test.

Reads one question a line: {"parts": [[need, count], ...], "room": [bin's, ...]}.
Writes one line each: 1 if they all fit, else 0.

Needs highspy; without it, exits with 77.
"""

import json
import sys

try:
    import highspy
except ImportError:
    print("highspy is not installed: see ./dev setup", file=sys.stderr)
    sys.exit(77)


def most_placed(parts, room):
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.5)
    counts = [[solver.addIntegral(0, min(count, r // need)) for need, count in parts]
              for r in room]
    for r, here in zip(room, counts):
        solver.addConstr(sum(need * x for (need, _), x in zip(parts, here)) <= r)
    for i, (_, count) in enumerate(parts):
        solver.addConstr(sum(here[i] for here in counts) <= count)
    solver.maximize(sum(x for here in counts for x in here))
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        sys.exit(f"no optimum: {solver.getModelStatus()}")
    return round(solver.getObjectiveValue())


for line in sys.stdin:
    question = json.loads(line)
    every = sum(count for _, count in question["parts"])
    print(1 if most_placed(question["parts"], question["room"]) == every else 0)
