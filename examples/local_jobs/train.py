#!/usr/bin/env python3
"""A training run that can be stopped at any moment: it saves its work now and then, and begins
where it has saved. Nothing of it is Muster's, but for the file that tells of a checkpoint.

    train.py STEPS SECONDS_A_STEP STEPS_A_CHECKPOINT FILE
"""

import json
import os
import pathlib
import signal
import sys
import time

steps, pace, every, file = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
name = os.environ.get("MUSTER_JOB_ID", "?")


def save(step):
    """All of it or nothing: a reader never sees a part."""
    part = file + ".new"
    with open(part, "w", encoding="utf-8") as out:
        json.dump({"step": step}, out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(part, file)
    if "MUSTER_CHECKPOINT" in os.environ:
        pathlib.Path(os.environ["MUSTER_CHECKPOINT"]).touch()


def stop(*_):
    """No last checkpoint, as of a job that has no time for one: what is lost can be seen."""
    print(f"stopped at step {step}", flush=True)
    sys.exit(143)


signal.signal(signal.SIGTERM, stop)
try:
    step = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["step"]
    print(f"resumes at step {step}", flush=True)
except FileNotFoundError:
    step = 0
    print("begins", flush=True)
while step < steps:
    time.sleep(pace)
    step += 1
    if step % every == 0 and step < steps:
        save(step)
print(f"done after {steps} steps", flush=True)
