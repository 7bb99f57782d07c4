#!/usr/bin/env python3
"""Stories in a PID namespace of their own, as in a container that was entered from outside: their
processes have no session that can be named, and the first of them reaps what nobody waits for.
unshared.py STORY PROGRAMS

By hand: unshare --pid --fork --mount-proc --kill-child python3 test/local/story_test.py PROGRAMS
"""

import importlib
import os
import pathlib
import subprocess
import sys
import unittest

import daemon  # noqa: F401  # It knows where the next one is.
from reported import Report

UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


def why_not():
    """Why there is no such namespace; empty: there is."""
    try:
        tried = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        return str(error)
    return tried.stderr.strip() if tried.returncode != 0 else ""


def run():
    story, *words = sys.argv[1:]
    if why := why_not():
        module = importlib.import_module(f"{story}_test")
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        report = Report(os.environ.get("MUSTER_RESULTS"))
        return report.skip(suite, f"no PID namespace can be made here: {why}")
    sys.stdout.flush()
    test = pathlib.Path(__file__).with_name(f"{story}_test.py")
    os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, str(test), *words])


if __name__ == "__main__":
    sys.exit(run())
