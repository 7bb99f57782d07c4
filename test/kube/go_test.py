#!/usr/bin/env python3
"""The control plane's own unit tests, with the flags of its build, whose cache serves."""

import os
import subprocess
import sys

import testbed

testbed.require()
environment = {**os.environ, "CGO_ENABLED": "0"}
for command in (["go", "vet", "-trimpath", "./internal/..."], ["go", "test", "-trimpath", "-count=1", "./internal/..."]):
    try:
        subprocess.run(command, cwd=testbed.ROOT / "test/kube/controlplane", env=environment, check=True)
    except FileNotFoundError:
        print("[  SKIPPED ] there is no Go")
        sys.exit(77)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
