#!/usr/bin/env python3
"""Runs one benchmark whole and keeps what it says: docs/performance/NAME.json, and the tables of it.

    benchmarks/record.py NAME BIN [--out FILE] [ARGS...]
    benchmarks/record.py --names | --targets NAME

BIN is the folder of the programs. The record has the commit, when and for how long it ran, the
machine, its load before and what others used meanwhile, and by case its counters: a number, or of
several rounds [median, least, most]. All of it is of this one run. What is not committed has no
record, but with --out, which writes that file alone and no table. ARGS go to the benchmark; then, too,
--out has to be given: a record is of all cases.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import tables

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Parts of a name that say how a case was run.
HOW = re.compile(r"^(iterations|repeats|min_time|min_warmup_time):|^(real_time|process_time|manual_time)$")
# What Google Benchmark says beside the counters.
BESIDE = {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
          "real_time", "cpu_time"}
IN_NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# Changes of these do not change what is measured.
NOT_MEASURED = [":!docs", ":!*.md", ":!test", ":!.ci", ":!benchmarks/*.json"]


class Benchmark:
    """A program that writes Google Benchmark's JSON."""

    def __init__(self, program, *arguments, out="--benchmark_out={}", targets=()):
        self.program, self.arguments, self.out = program, arguments, out
        self.targets = [program, *targets]

    def command(self, binaries, out):
        return [binaries / self.program, *self.arguments, self.out.format(out)]

    def cases(self, binaries, more):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out.json")
            subprocess.run([*self.command(binaries, out), *more], check=True, stdout=sys.stderr)
            return cases_of(json.loads(out.read_text(encoding="utf-8"))["benchmarks"])


class Script(Benchmark):
    """The same of a script in this folder, which gets BIN."""

    def __init__(self, script, *arguments, targets):
        super().__init__("", *arguments, out="--json={}", targets=targets)
        self.script, self.targets = script, list(targets)

    def command(self, binaries, out):
        return [sys.executable, ROOT / "benchmarks" / self.script, binaries, *self.arguments, self.out.format(out)]


KUBE = ["muster-kube", "kube_requests"]
RECORDS = {
    **{name: Benchmark(f"{name}_benchmark") for name in (
        "backlog", "peers", "cliffs", "placement", "scheduler", "wire", "kubernetes", "workload")},
    "heap": Benchmark("heap_benchmark", "--benchmark_repetitions=5"),
    "local": Benchmark("local_benchmark", targets=["musterd", "muster", "muster-shim", "local_stamp"]),
    "local-parts": Script("several.py", "local_controller_benchmark", "local_store_benchmark",
                          "local_shim_benchmark", targets=[
                              "local_controller_benchmark", "local_store_benchmark", "local_shim_benchmark",
                              "muster-shim"]),
    "kube": Script("kube/bench.py", targets=KUBE),
    "kube-fsync": Script("kube/bench.py", "--fsync", "--rounds=1", targets=KUBE),
    "sim-large": Script("sim.py", "large", targets=["muster-sim"]),
    "trace": Script("sim.py", "trace", targets=["muster-sim"]),
}


def short_name(name):
    return "/".join(part for part in name.split("/") if not HOW.search(part))


def rounded(value):
    return float(f"{value:.5g}")


def cases_of(benchmarks):
    """By case: its counters, times in nanoseconds as cpu_ns and real_ns, a label, an error."""
    rounds = collections.defaultdict(lambda: collections.defaultdict(list))
    texts = collections.defaultdict(dict)
    for one in benchmarks:
        if one.get("run_type", "iteration") != "iteration":
            continue
        name = short_name(one.get("run_name", one["name"]))
        if one.get("error_occurred"):
            texts[name]["error"] = one["error_message"]
            continue
        if one.get("label"):
            texts[name]["label"] = one["label"]
        for kind in ("cpu", "real"):
            if f"{kind}_time" in one:
                rounds[name][f"{kind}_ns"].append(one[f"{kind}_time"] * IN_NANOSECONDS[one.get("time_unit", "ns")])
        for counter, value in one.items():
            if counter not in BESIDE and isinstance(value, (int, float)) and not isinstance(value, bool):
                rounds[name][counter].append(value)
    return {name: {**texts[name], **{counter: figure_of(values) for counter, values in rounds[name].items()}}
            for name in [*rounds, *(texts.keys() - rounds.keys())]}


def figure_of(values):
    if len(values) == 1:
        return rounded(values[0])
    return [rounded(statistics.median(values)), rounded(min(values)), rounded(max(values))]


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()


def first_match(pattern, text, otherwise=""):
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else otherwise


def machine(binaries):
    cpus = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    cache = pathlib.Path(binaries).parent / "CMakeCache.txt"
    built = cache.read_text(encoding="utf-8") if cache.exists() else ""
    compiler = subprocess.run([first_match(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", built, "c++"), "--version"],
                              capture_output=True, text=True).stdout.splitlines()
    kind = first_match(r"^CMAKE_BUILD_TYPE:\w+=(.*)$", built)
    return {
        "cores": os.cpu_count(),
        "cpu": first_match(r"^model name\s*:(.*)$", cpus, platform.machine()),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "os": first_match(r'^PRETTY_NAME="(.*)"', pathlib.Path("/etc/os-release").read_text(encoding="utf-8")),
        "compiler": re.sub(r" \([^)]*\)", "", compiler[0]) if compiler else "",
        "flags": first_match(rf"^CMAKE_CXX_FLAGS_{kind.upper()}:\w+=(.*)$", built),
    }


def busy_seconds():
    """CPU seconds of all processes of the machine until now."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    """Of those that this process has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def record(name, binaries, more=()):
    binaries = pathlib.Path(binaries).resolve()
    benchmark = RECORDS[name]
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *NOT_MEASURED)
    head = {
        "record": name,
        "commit": git("rev-parse", "--short=8", "HEAD") + ("+changes" if changed else ""),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes"),
        "load_before": [round(load, 2) for load in os.getloadavg()],
        "machine": machine(binaries),
    }
    begin, busy, own = time.monotonic(), busy_seconds(), own_seconds()
    cases = benchmark.cases(binaries, more)
    seconds = time.monotonic() - begin
    head["seconds"] = round(seconds)
    # Of daemons that nobody waits for, as a control plane, their scripts tell by themselves.
    if type(benchmark) is Benchmark and name != "local":
        head["others_cores"] = round(max(0.0, busy_seconds() - busy - (own_seconds() - own)) / seconds, 2)
    return {**head, "cases": cases}


def write(path, found):
    """A case on each line: what changed from run to run is seen in a diff."""
    head = {key: value for key, value in found.items() if key != "cases"}
    lines = ",\n".join(f"  {json.dumps(case)}: {json.dumps(counters)}" for case, counters in found["cases"].items())
    text = json.dumps(head, indent=1)[:-2]
    path.write_text(f'{text},\n "cases": {{\n{lines}\n }}\n}}\n', encoding="utf-8")


def main():
    if sys.argv[1:] == ["--names"]:
        print(*RECORDS)
        return
    if sys.argv[1:2] == ["--targets"]:
        if len(sys.argv) != 3 or sys.argv[2] not in RECORDS:
            sys.exit(f"record: NAME is one of {', '.join(RECORDS)}")
        print(*RECORDS[sys.argv[2]].targets)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=RECORDS, metavar="NAME")
    parser.add_argument("binaries", type=pathlib.Path, metavar="BIN")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE")
    args, more = parser.parse_known_args()
    if more and not args.out:
        parser.error(f"{' '.join(more)}: a record is of all cases; with --out FILE it is for yourself")
    if not args.out and git("status", "--porcelain", "--untracked-files=no", "--", ".", *NOT_MEASURED):
        sys.exit("record: what is measured has changes that no commit has; commit them, or give --out FILE")
    found = record(args.name, args.binaries, more)
    if args.out:
        write(args.out, found)
        return
    write(tables.record_file(ROOT, args.name), found)
    tables.write(ROOT)
    print(f"record: {tables.record_file(ROOT, args.name).relative_to(ROOT)}, and the tables that are made of it")


if __name__ == "__main__":
    main()
