#!/usr/bin/env python3
"""One worker of a job that has as many workers as there is room for: it shares out each step
among those that are there, saves its place, and goes on with fewer or more without a restart.
The file that MUSTER_SIZE_FILE names tells how many they are now.

    elastic.py FILE      where the first worker saves the step
"""

import json
import os
import pathlib
import signal
import sys
import time

SAMPLES, PACE = 240, 0.01          # In all; of one worker for one sample.
saved = pathlib.Path(sys.argv[1])
size_file = pathlib.Path(os.environ["MUSTER_SIZE_FILE"])
first = os.environ["MUSTER_TASK"].endswith("-0")


def size():
    return int(size_file.read_text(encoding="utf-8"))


def progress():
    return json.loads(saved.read_text(encoding="utf-8"))["done"] if saved.exists() else 0


def leave(*_):
    print(f"leaves at sample {progress()}", flush=True)
    sys.exit(143)


def lead():
    """Stands for all: a step has 12 samples, and takes as long as the shares of the largest."""
    done, workers = progress(), 0
    while done < SAMPLES:
        if workers != size():
            workers = size()
            print(f"{workers} workers from sample {done} on", flush=True)
        time.sleep(PACE * 12 / workers)
        done += 12
        part = saved.with_suffix(".new")
        part.write_text(json.dumps({"done": done}), encoding="utf-8")
        part.replace(saved)
    print(f"done after {SAMPLES} samples", flush=True)


def follow():
    while progress() < SAMPLES:
        time.sleep(PACE)


signal.signal(signal.SIGTERM, leave)
lead() if first else follow()
