#!/usr/bin/env python3
"""Tables of documents about muster-sim are those of the program: simulator_test.py PROGRAMS

The keys of its JSON, of --set and of --variant, and the placement policies. Keys of
scenarios: scenario_keys_test.cc.
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test"))
from reported import main  # noqa: E402

STORY = ROOT / "examples/scenarios/story-a-precious-node.yaml"
NONE = "no-such-key"
LISTS = {"typical_tasks", "lapses"}  # Which --set does not read.


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60)


def allowed(setting):
    """What --set says there may be."""
    said = run("run", STORY, "--set", setting).stderr
    listed = re.search(r"(?:known here: |is none of: )([^)\n]*)", said)
    if listed is None:
        raise AssertionError(f"{setting}: {said}")
    return set(listed[1].split(", "))


class SimulatorTest(unittest.TestCase):
    def test_the_table_of_the_json_has_its_keys(self):
        section = page("docs/muster-sim.md").split("\n## The table and the JSON\n")[1]
        rows = dict(re.findall(r"^\| (`[^|]*`) \|(.*)\|$", section, re.M))
        told = {key: text for first, text in rows.items() for key in re.findall(r"`(\w+)`", first)}
        result = json.loads(run("run", STORY, "--json").stdout)
        self.assertEqual(set(result), set(told))
        for key in ("counts", "preemptions", "fragmentation", "allocations", "wait_s", "completion_s"):
            with self.subTest(key):
                self.assertEqual(set(), set(result[key]) - set(re.findall(r"`(\w+)`", told[key])))

    def test_the_table_of_settings_has_its_keys(self):
        section = page("docs/muster-sim.md").split("\n## Comparing\n")[1].split("\n**Verdicts.**")[0]
        told = {}
        for first in re.findall(r"^\| (`[^|]*`) \|", section, re.M):
            if first == "`policy`":
                continue  # Of traces, which this test does not read.
            group = ""
            for name in re.findall(r"`([\w.]+)`", first):
                head, dot, key = name.partition(".")
                group = head or group  # `.key` has the group of the one before it.
                told.setdefault(group, set()).add(key.split(".")[0] if dot else "")
        groups = allowed(f"{NONE}=1")
        self.assertEqual(groups, set(told))
        for group in groups:
            with self.subTest(group):
                self.assertEqual(allowed(f"{group}.{NONE}=1") - LISTS, told[group])
        for name in LISTS:
            self.assertIn(f".{name}`", section)

    def test_the_table_of_policies_has_each(self):
        told = re.findall(r"^\| `k\w+` \| `([\w-]+)` \|", page("docs/placement-policies.md"), re.M)
        self.assertEqual(allowed(f"placement.policy={NONE}"), set(told))


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)) / "muster-sim"
    main()
