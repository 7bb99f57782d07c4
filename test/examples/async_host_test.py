#!/usr/bin/env python3
"""Runs examples/async_host as a user would, kills it twice while gangs run, and checks
what its tasks have written.

    async_host_test.py ASYNC_HOST [MUSTER_SIM]

Every gang ends exactly once, no device is used by two tasks at once, no process stays
behind, and, with MUSTER_SIM, the journal of all three lives decides again as it was
decided. Nothing depends on how long anything takes; SEED sets when the host is killed.
"""

import collections
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

GANGS = 12
LINE = re.compile(r"(\w+) (gang-\d+)/(\d+)\.(\d+) on node-\d")


class Host:
    """One life of the host."""

    def __init__(self, program, state):
        self.lines = []
        self.process = subprocess.Popen(
            [program, state, str(GANGS), "1"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout))
        self.reader.start()

    def wait_for(self, count, word):
        """Until so many lines have the word; no longer than the host lives."""
        while self.process.poll() is None and sum(word in line.split() for line in list(self.lines)) < count:
            time.sleep(0.01)

    def kill(self):
        """False: it had ended already."""
        lived = self.process.poll() is None
        self.process.kill()
        self.finish(60)
        return lived

    def finish(self, seconds):
        """The exit code. What the host says on stderr is an error."""
        code = self.process.wait(seconds)
        self.reader.join()
        errors = self.process.stderr.read()
        assert not errors, errors
        return code


def running(state):
    """The processes that have one of the state's files as an argument."""
    pids = set()
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = file.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if any(argument.startswith(bytes(state / "gang-")) for argument in arguments):
            pids.add(file.parent.name)
    return pids


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


Run = collections.namedtuple("Run", "begin end ok node devices")


def runs(state):
    """What the tasks have written: {gang: {task: {attempt: Run}}}."""
    all_runs = collections.defaultdict(lambda: collections.defaultdict(dict))
    for file in state.glob("*/*.log"):
        task, attempt = file.stem.split(".")
        begin, end, status = None, None, None
        for line in file.read_text().splitlines():
            word, *rest = line.split()
            if word == "begin":
                begin, node, *devices = rest
            elif word == "end":
                end, status = rest
        if begin:  # Else it was stopped before it came so far.
            all_runs[file.parent.name][int(task)][int(attempt)] = Run(
                int(begin), int(end or begin), status == "0", node, devices)
    return all_runs


def check_ends(all_runs, lines):
    """A gang that is started has done all of its tasks once, or it is started again,
    and then not all of them were done."""
    starts = collections.defaultdict(set)
    for line in lines:
        match = LINE.match(line)
        if match and match[1] == "start":
            starts[match[2]].add(int(match[4]))
    for number in range(GANGS):
        gang, tasks = f"gang-{number}", 1 + number % 2
        firsts = sorted(starts[gang])
        assert firsts, f"{gang} was not started"
        for first, after in zip(firsts, firsts[1:] + [sys.maxsize]):
            done = [sum(run.ok for attempt, run in all_runs[gang][task].items() if first <= attempt < after)
                    for task in range(tasks)]
            what = f"{gang}, started as attempt {first} of {firsts}: ended well, by task: {done}"
            assert max(done) <= 1, what
            assert (min(done) == 1) == (first == firsts[-1]), what


def check_devices(all_runs):
    used = collections.defaultdict(list)
    for gang, tasks in all_runs.items():
        for task, attempts in tasks.items():
            for attempt, run in attempts.items():
                assert len(set(run.devices)) == 2, f"{gang}/{task}.{attempt}: {run}"
                for device in run.devices:
                    used[run.node, device].append((run.begin, run.end, f"{gang}/{task}.{attempt}"))
    for device, uses in used.items():
        uses.sort()
        for before, after in zip(uses, uses[1:]):
            assert before[1] <= after[0], f"{device} is used twice: {before} {after}"


def main(program, muster_sim=None):
    seed = int(os.environ.get("SEED", time.time_ns() % 100000))
    print(f"SEED={seed}")
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        state = pathlib.Path(folder)
        first = Host(program, state)
        first.wait_for(random.randint(1, 8), "start")
        time.sleep(random.uniform(0, 0.3))
        assert first.kill(), "the host ended before it was killed"

        second = Host(program, state)  # At once: it finds processes that run.
        second.wait_for(1, "tasks")
        second.wait_for(random.randint(1, 4), "start")
        time.sleep(random.uniform(0, 0.3))
        left = running(state)
        second.kill()
        wait_until(lambda: not left or left - running(state))  # Some end meanwhile.

        third = Host(program, state)
        code = third.finish(60)
        lines = first.lines + second.lines + third.lines
        sys.stdout.writelines(lines)
        sys.stdout.flush()
        assert code == 0, f"exit code {code}"
        check_ends(runs(state), lines)
        check_devices(runs(state))
        wait_until(lambda: not running(state))
        assert not running(state), f"left behind: {running(state)}"
        if muster_sim and pathlib.Path(muster_sim).exists():  # ./dev tsan does not build it.
            subprocess.run([muster_sim, "replay", state / "journal"], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
