#!/usr/bin/env python3
"""The least counts by an integer program: an oracle for tree_knapsack_exact_test.

Reads one question a line, {"tasks": n, "parents": [[...], ...], "slots": [...]},
the parents of the domains of each level in the level above (of the widest: all
0), and the slots of the leaves. Writes one line each: the least number of
domains used at each level, the widest level first.

Needs highspy; without it, exits with 77.
"""

import json
import sys

try:
    import highspy
except ImportError:
    print("highspy is not installed: see ./dev setup", file=sys.stderr)
    sys.exit(77)


def least_counts(tasks, parents, slots):
    """Settles one level after the other: the sum of weighted levels in one
    objective would hide the narrow levels behind the solver's tolerances."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    used = [[solver.addBinary() for _ in level] for level in parents]
    for wide, narrow, above in zip(used, used[1:], parents[1:]):
        for child, parent in zip(narrow, above):
            solver.addConstr(child <= wide[parent])
    solver.addConstr(sum(s * leaf for s, leaf in zip(slots, used[-1])) >= tasks)
    counts = []
    for level in used:
        solver.minimize(sum(level))
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            sys.exit(f"no optimum: {solver.getModelStatus()}")
        count = round(solver.getObjectiveValue())
        counts.append(count)
        solver.addConstr(sum(level) <= count)
    return counts


for line in sys.stdin:
    question = json.loads(line)
    print(*least_counts(question["tasks"], question["parents"], question["slots"]), flush=True)
