"""What a benchmark has measured, for plots: Google Benchmark's JSON, or a record of docs/performance."""

import json
import pathlib


def runs(path):
    """Each run of each case: its name and counters. Of a record's rounds: the median, least and most."""
    found = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    if "benchmarks" in found:
        return [run for run in found["benchmarks"]
                if run.get("run_type") != "aggregate" and not run.get("error_occurred")]
    return [{"name": case, **{counter: value[i] if isinstance(value, list) else value
                              for counter, value in counters.items()}}
            for case, counters in found["cases"].items() if "error" not in counters
            for i in range(3 if any(isinstance(value, list) for value in counters.values()) else 1)]
