#!/usr/bin/env python3
"""The control plane's own unit tests, with the flags of its build, whose cache serves. No cluster runs
that a checker could look at."""

import os
import re
import shutil
import subprocess
import unittest

import stories
import testbed

OLDEST = 21  # 1.21: it gets the version that go.mod names by itself, as `dev` expects, too.


class GoTest(unittest.TestCase):
    def setUp(self):
        if not shutil.which("go"):
            self.skipTest("there is no Go")
        version = subprocess.run(["go", "env", "GOVERSION"], check=True, capture_output=True, text=True).stdout
        if not (minor := re.match(r"go1\.(\d+)", version)) or int(minor[1]) < OLDEST:
            self.skipTest(f"there is no Go that is new enough: {version.strip()}")

    def go(self, *words):
        done = subprocess.run(["go", *words, "./internal/..."], cwd=testbed.ROOT / "test/kube/controlplane",
                              env={**os.environ, "CGO_ENABLED": "0"})
        self.assertEqual(0, done.returncode)

    def test_vet(self):
        self.go("vet", "-trimpath")

    def test_unit_tests(self):
        self.go("test", "-trimpath", "-count=1")


if __name__ == "__main__":
    stories.main()
