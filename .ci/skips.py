#!/usr/bin/env python3
"""Prints which tests a run of ctest skipped and which it tried again, and compares with what may be.

    skips.py BUILD [--ci] [--list FILE] [--junit FILE]

BUILD/Testing/junit.xml is read, as `ctest --output-junit Testing/junit.xml` writes it. Fails if a
test was skipped for a reason that FILE (.ci/skips.txt) does not have, or did not run at all. With
--ci, for a whole run where everything is installed: also if it was skipped for want of an
installation, or if tests that FILE says are there were not known; those that need an option of
CMake, where BUILD has it.
"""

import argparse
import collections
import fnmatch
import pathlib
import re
import sys
import xml.etree.ElementTree

AGAIN = "tried again after a time-out"


class Allowed(collections.namedtuple("Allowed", "tests kind reason")):
    """One line of the list: a pattern of names, `machine` or `setup`, an expression of what they say."""

    def allows(self, name, why):
        return fnmatch.fnmatchcase(name, self.tests) and re.search(self.reason, why) is not None


def read_list(text):
    """What may be skipped, and (pattern of names, option or "") of tests that have to be there."""
    allowed, there = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = [word.strip() for word in line.split(" | ", 2)]
        if words[1:2] == ["there"]:
            there.append((words[0], words[2] if words[2:] else ""))
        elif len(words) == 3 and words[1] in ("machine", "setup") and words[2]:
            allowed.append(Allowed(*words))
        else:
            raise SystemExit(f"line {number}: expected `TESTS | machine or setup | REASON` or "
                             f"`TESTS | there [| OPTION]`: {line}")
    return allowed, there


def switched_off(build):
    """Options of CMake that the build has not."""
    cache = build / "CMakeCache.txt"
    return set(re.findall(r"^(\w+):BOOL=OFF$", cache.read_text(encoding="utf-8"), re.M)) if cache.exists() else set()


def reason_in(output):
    """Why a test was skipped, by what it says."""
    for pattern in (r": Skipped\n(.+)", r"\[  SKIPPED \] (.+)"):
        if found := re.search(pattern, output):
            return found[1].strip()
    return "it does not say why"


class Run:
    """What became of tests, by name."""

    def __init__(self, junit):
        self.names, self.skipped, self.absent, self.again = set(), {}, {}, {}
        for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
            name, output = case.get("name"), case.findtext("system-out") or ""
            self.names.add(name)
            mark = case.find("skipped")
            if mark is not None and mark.get("message", "").startswith("SKIP_"):
                self.skipped[name] = reason_in(output)
            elif mark is not None and case.get("status") != "disabled":
                self.absent[name] = mark.get("message")
            if output.startswith(AGAIN):
                self.again[name] = next((line for line in output.splitlines() if "TimedOut" in line), "")


def grouped(reasons):
    """(reason, names) of each reason, in the order of the first name."""
    groups = {}
    for name, why in reasons.items():
        groups.setdefault(why, []).append(name)
    return groups.items()


def show(title, reasons):
    if reasons:
        print(f"{title}: {len(reasons)}")
        for why, names in grouped(reasons):
            print(f"  {why}")
            for name in names:
                print(f"    {name}")


def problems(run, allowed, there, whole):
    """What must not be, by name."""
    found = {}
    for name, why in run.skipped.items():
        kinds = {one.kind for one in allowed if one.allows(name, why)}
        if not kinds:
            found[name] = f"skipped, and not in the list: {why}"
        elif whole and "machine" not in kinds:
            found[name] = f"skipped for want of an installation: {why}"
    found.update({name: f"did not run: {why}" for name, why in run.absent.items()})
    if whole:
        found.update({tests: "no test of this name" for tests in there
                      if not any(fnmatch.fnmatchcase(name, tests) for name in run.names)})
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("--list", type=pathlib.Path, default=pathlib.Path(__file__).with_name("skips.txt"))
    parser.add_argument("--junit", type=pathlib.Path)
    options = parser.parse_args(arguments)
    run = Run(options.junit or options.build / "Testing/junit.xml")
    allowed, there = read_list(options.list.read_text(encoding="utf-8"))
    show("skipped", run.skipped)
    show("tried again after a time-out", run.again)
    print(f"{len(run.names)} tests known, {len(run.skipped)} skipped, {len(run.again)} tried again")
    off = switched_off(options.build)
    found = problems(run, allowed, [tests for tests, option in there if option not in off], options.ci)
    show("NOT ALLOWED (.ci/skips.txt says what may be skipped)", found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
