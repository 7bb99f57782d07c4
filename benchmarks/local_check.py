"""Runs the benchmark of the local runner with few jobs, and looks at what it says.

That every case runs to its end, loses no job and has all of its counters is what is tested; no
figure is compared with a goal, as a hundredth of the jobs on a busy machine tells nothing about it.
benchmarks/gate.json and goals.json do that.

    local_check.py LOCAL_BENCHMARK
"""
import json
import os
import subprocess
import sys

TIMES = {"p50_ms", "p99_ms"}
EXPECTED = {
    "BM_SubmitToStart": TIMES | {
        "round_trip_p50_ms", "round_trip_p99_ms", "base_p50_ms", "base_p99_ms",
        "vs_fork_exec_fsync"},
    "BM_EndToStart": TIMES,
    "BM_Jobs": {
        "jobs_per_s", "slowest_per_s", "seconds", "cpu_ms_per_job", "cpu_vs_fork_exec", "lost", "wrong_code"},
    "BM_Array/tasks:1000": {"array_task_ms"},
    "BM_Queue/jobs:10000": TIMES | {"rss_mb", "peak_mb"},
    "BM_Restart/jobs:10000": {"p50_s", "rss_mb", "peak_mb"},
}
ZERO = {"lost", "wrong_code"}


def problems(cases):
    for name, counters in EXPECTED.items():
        case = cases.get(name)
        if case is None:
            yield f"{name}: did not run"
            continue
        for counter in sorted(counters):
            value = case.get(counter)
            if value is None or (value != 0 if counter in ZERO else value <= 0):
                yield f"{name}: {counter} is {value}"


def main():
    run = subprocess.run(
        [sys.argv[1], "--benchmark_format=json"], stdout=subprocess.PIPE,
        env=os.environ | {"MUSTER_BENCH_SCALE": "100"}, check=True)
    cases = {case["name"].removesuffix("/iterations:1"): case
             for case in json.loads(run.stdout)["benchmarks"]}
    found = list(problems(cases))
    print("\n".join(found) or "all counters are there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
