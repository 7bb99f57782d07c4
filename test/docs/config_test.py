#!/usr/bin/env python3
"""The configuration of musterd is as the documents have it: config_test.py PROGRAMS

Samples are accepted; the manual's page and docs/local.md name every key that the program
knows, and the page no other: the program lists what it knows where a key is none.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test"))
from reported import main  # noqa: E402

NONE = "no-such-key"
# Where there are keys: as KEYS. Those that scenarios have, too, docs/scenario-format.md tells.
PLACES = {
    "": "KEYS", "node": "node: {KEYS}", "node cpus": "node: {cpus: {KEYS}}", "ports": "ports: {KEYS}",
    "quarantine": "quarantine: {KEYS}", "notify": "notify: {command: [/bin/true], KEYS}",
    "images": "images: {KEYS}", "history": "history: {KEYS}",
}
OF_SCENARIOS = {
    "node gpus": "node: {gpus: {KEYS}}", "queues": "queues: [{key: a, KEYS}]",
    "queues quotas": "queues: [{key: a, quotas: [{resource: cpu, KEYS}]}]",
    "queues preemption": "queues: [{key: a, preemption: {KEYS}}]",
    "eviction_backoff": "eviction_backoff: {KEYS}",
    "priority_classes": "priority_classes: [{key: a, KEYS}]",
}


def said_of(text):
    """What musterd says of a configuration that it does not take."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "musterd.yaml"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([PROGRAM, "--config", file, "--state", f"{folder}/state", "--socket", f"{folder}/socket"],
                              capture_output=True, text=True, timeout=20)
        return done.returncode, done.stderr.replace(str(file), "FILE")


def known_keys(place):
    _, said = said_of((PLACES | OF_SCENARIOS)[place].replace("KEYS", f"{NONE}: 1") + "\n")
    listed = re.search(rf"unknown key '{NONE}' \(known here: ([^)]*)\)", said)
    if listed is None:
        raise AssertionError(f"{place}: {said}")
    return set(listed[1].split(", "))


def manual():
    """Entry of the manual's page -> the keys that it names."""
    text = (ROOT / "docs/man/musterd.conf.5.scd").read_text(encoding="utf-8")
    text = text.split("\n# DESCRIPTION\n")[1].split("\n# EXAMPLES\n")[0]
    entries = {}
    for entry in re.finditer(r"^(\*.*)\n((?:\t.*\n?)+)", text, re.M):
        for name in re.findall(r"\*(\w+)\*", entry[1]):
            entries[name] = set(re.findall(r"\*(\w+)\*", entry[2]))
    return entries


class ConfigTest(unittest.TestCase):
    def assert_taken(self, sample):
        """Nothing is wrong but what is put behind it."""
        code, said = said_of(f"{sample}{NONE}: 1\n")
        self.assertEqual(1, code)
        self.assertIn(f"FILE:{sample.count(chr(10)) + 1}:1: unknown key '{NONE}'", said)

    def test_samples_are_taken(self):
        text = (ROOT / "docs/local.md").read_text(encoding="utf-8").split("\n## Configuration\n")[1]
        samples = re.findall(r"```yaml\n(.*?)```", text.split("\n## ")[0], re.S)
        self.assertEqual(1, len(samples))
        page = (ROOT / "docs/man/musterd.conf.5.scd").read_text(encoding="utf-8")
        samples += re.findall(r"\n# EXAMPLES\n\n```\n(.*?)```", page, re.S)
        self.assertEqual(2, len(samples))
        for sample in samples:
            self.assert_taken(sample)
        others = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/local.md").read_text(encoding="utf-8"), re.S)
        self.assertGreater(len(others), 2)
        for sample in others:
            lines = sample.splitlines(keepends=True)
            keys = [line.split(":")[0] for line in lines if re.match(r"[a-z]", line)]
            several = len(set(keys)) < len(keys)  # A line each, of which one is chosen.
            for part in lines if several else [sample]:
                self.assert_taken(part)

    def test_the_manual_has_every_key_and_no_other(self):
        entries = manual()
        self.assertEqual(known_keys(""), set(entries))
        for name in entries:
            own = {key for place in PLACES if place.split(" ")[0] == name for key in known_keys(place)}
            also = {key for place in OF_SCENARIOS if place.split(" ")[0] == name for key in known_keys(place)}
            with self.subTest(name):
                self.assertEqual(set(), own - entries[name])
                self.assertEqual(set(), entries[name] - own - also)

    def test_docs_local_has_every_key_of_its_own(self):
        words = set(re.findall(r"\w+", (ROOT / "docs/local.md").read_text(encoding="utf-8")))
        for place in PLACES:
            self.assertEqual(set(), known_keys(place) - words, place)


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)) / "musterd"
    main()
