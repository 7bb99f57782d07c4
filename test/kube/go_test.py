#!/usr/bin/env python3
"""The control plane's own unit tests, with the flags of its build, whose cache serves. No cluster runs
that a checker could look at."""

import os
import shutil
import subprocess
import unittest

import stories
import testbed


class GoTest(unittest.TestCase):
    def setUp(self):
        if not shutil.which("go"):
            self.skipTest("there is no Go")

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
