"""The goals of benchmarks, as they were set: benchmarks/goals.json.

Each is an object on a line of its own:

    name       what is asked, as tables and the gate name it
    record     docs/performance/RECORD.json tells whether it is met
    over       [case, counter] of the record, or a list of these, of which the worst counts
    under      the same, what `over` is divided by; without it the counter itself is compared
    at_most    the limit where less is better, in the counter's unit, or
    at_least   where more is better
    or         {over, at_most or at_least}: that is as good
    since      the commit with which the goal was first written down
    by_hand    {value, commit, met}: what was last measured before there was a record
    note       what has been said of it, or done to its measure, since then
    changes    [{from, commit, why}]: each limit that it had before

A goal is not changed, and does not go, without an entry in `changes` that says why:
`problems_of_history` looks through the versions of the file that git has.
"""

import json
import pathlib
import subprocess

FILE = "benchmarks/goals.json"
GATE = "benchmarks/gate.json"


def load(root):
    return json.loads((pathlib.Path(root) / FILE).read_text(encoding="utf-8"))


def limit(goal):
    """Which side of a limit is met, and the limit."""
    side = "at_most" if "at_most" in goal else "at_least"
    return side, goal[side]


def pairs(side):
    """[case, counter] of a side of a goal, all of them."""
    return [side] if isinstance(side[0], str) else side


def figure(cases, case, counter):
    """What a record has: a number, of several rounds the median. None: it has not been measured."""
    value = cases.get(case, {}).get(counter)
    return value[0] if isinstance(value, list) else value


def measured(goal, cases):
    """The number that is compared with the limit. None where the record lacks some of it."""
    side, _ = limit(goal)
    values = [figure(cases, *pair) for pair in pairs(goal["over"])]
    if None in values:
        return None
    worst = (max if side == "at_most" else min)(values)
    if "under" not in goal:
        return worst
    under = figure(cases, *goal["under"])
    return worst / under if under else None


def met(goal, cases):
    """True, False, or None where it has not been measured."""
    value = measured(goal, cases)
    if value is None:
        return None
    side, bound = limit(goal)
    reached = value <= bound if side == "at_most" else value >= bound
    if not reached and "or" in goal:
        return bool(met(goal["or"], cases))
    return reached


def held(root):
    """What gate.json has of each goal that one of its lines names.

    goal            the ratio with which the goal is just met: the gate fails beyond it, noise apart
    ratio           only what was measured once, whether that met the goal or not
    not recorded    nothing yet
    """
    path = pathlib.Path(root) / GATE
    bounds = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    found = {}
    for bound in bounds:
        if "goal" in bound and bound.get("at_most", bound.get("at_least")) is None:
            found[bound["goal"]] = "not recorded"
        elif "goal" in bound:
            found[bound["goal"]] = "goal" if "goal_ratio" in bound and "missed" not in bound else "ratio"
    return found


def problems_of_change(old, new):
    """What is not told of the step from an older list of goals to a newer one."""
    now = {goal["name"]: goal for goal in new}
    for goal in old:
        found = now.get(goal["name"])
        if found is None:
            yield f"{goal['name']}: gone"
            continue
        told = [change["from"] for change in found.get("changes", [])]
        if limit(found) != limit(goal) and limit(goal)[1] not in told:
            yield f"{goal['name']}: was {' '.join(map(str, limit(goal)))}, and `changes` does not say why"
        for key in ("over", "under", "or", "since"):
            if found.get(key) != goal.get(key) and key not in told:
                yield f"{goal['name']}: another `{key}`, and `changes` does not say why"


def problems_of_history(root):
    """Goals of any version in git that are not there as they were. A clone without history has none."""
    versions = subprocess.run(["git", "-C", root, "log", "--format=%H", "--", FILE],
                              capture_output=True, text=True)
    new = load(root)
    for commit in versions.stdout.split():
        old = subprocess.run(["git", "-C", root, "show", f"{commit}:{FILE}"], capture_output=True, text=True)
        if old.returncode == 0:
            yield from (f"{FILE}, since {commit[:8]}: {problem}"
                        for problem in problems_of_change(json.loads(old.stdout), new))


def problems(root):
    """Whatever makes the file less than it says."""
    goals = load(root)
    names = [goal["name"] for goal in goals]
    yield from (f"{FILE}: two goals are named {name}" for name in sorted({n for n in names if names.count(n) > 1}))
    for goal in goals:
        if missing := {"record", "over", "since"} - goal.keys():
            yield f"{FILE}: {goal['name']} has no {', '.join(sorted(missing))}"
        if ("at_most" in goal) == ("at_least" in goal):
            yield f"{FILE}: {goal['name']} needs one of at_most and at_least"
    yield from problems_of_history(root)
