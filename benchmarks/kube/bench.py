#!/usr/bin/env python3
"""muster-kube beside kube-scheduler, on one control plane, one at a time.

    benchmarks/kube/bench.py BIN [--json FILE] [--filter REGEX] [--rounds N]
                             [--pods N] [--gangs N] [--nodes N] [--fsync]

BIN is the folder of muster-kube and kube_requests. In each round the pods are made, one of
the two is started, and what it does is measured until the last Event is written; then the
same pods again for the other one, and for a program that makes the same writes and decides
nothing. Each of the three is first, in the middle and last in turn. etcd does not wait for the disk,
but with --fsync. FILE gets Google Benchmark's JSON.

    BM_Pods         single pods of 1 GPU
    BM_Gangs        gangs of 8 such pods, by PodGroups of scheduling.k8s.io
    BM_GangsInRack  the same, each inside one rack

A rate is counted from the first pod that is bound to the last one; `total` from the start of the
process to the last binding; `drained` from there until all Events are written, too, which is the
whole work. CPU is that of a whole run, the reading of all nodes and pods included.

The program that only writes does so as fast as it can: before the rounds each of CEILINGS is tried
with some of the pods, and the one that binds them fastest is the ceiling.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/kube"), str(ROOT / "benchmarks"), str(pathlib.Path(__file__).parent)]

import contestants  # noqa: E402
import goals  # noqa: E402
import measure  # noqa: E402
import testbed  # noqa: E402
import workloads  # noqa: E402

GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/{}/podgroups"
EVENTS = "/apis/events.k8s.io/v1/namespaces/{}/events"
PODS = "/api/v1/namespaces/{}/pods"
# A turn is given up after so many seconds, and waits for no further Event after so many.
LONGEST_TURN = 180
EVENTS_STILL = 3
# Ways of kube_requests to write; HTTP/2 unless they say otherwise.
CEILINGS = [["--http1", "--in-flight=8"], ["--http1", "--in-flight=16"], ["--http1", "--in-flight=32"],
            ["--in-flight=16"], ["--in-flight=32"]]


class Bench:
    """A control plane with nodes, and the turns on it."""

    def __init__(self, binaries, nodes, fsync):
        self.binaries = binaries
        self.plane = testbed.Testbed(
            *(["--fsync"] if fsync else []),
            "--kubelet=false", "--controller-manager=false", f"--nodes={nodes}",
            f"--gpus={workloads.GPUS_PER_NODE}", "--arg", "kube-apiserver=--delete-collection-workers=16")
        self.turns = 0
        self.rack_of = {node["metadata"]["name"]: node["metadata"]["labels"][workloads.RACK]
                        for node in self.plane.get("/api/v1/nodes")["items"]}
        self.kubeconfig = self.plane.install_muster()
        self.pids = {one["name"]: one["pid"] for one in self.plane.status()["components"]
                     if one["name"] in ("etcd", "kube-apiserver")}

    def close(self):
        self.plane.__exit__()

    def send(self, lines, allowed):
        """Makes many requests as the administrator. AssertionError at another answer than allowed."""
        done = subprocess.run(
            [self.binaries / "kube_requests", "--kubeconfig", self.plane.info["kubeconfig"]],
            input="".join(lines), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert set(result["statuses"]) <= set(allowed), result

    def create(self, workload, namespace, scheduler):
        self.plane.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        self.send([workloads.line("POST", GROUPS.format(namespace), {
            "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", **group})
            for group in workload.groups()], {"201"})
        self.send([workloads.line("POST", PODS.format(namespace), {
            "apiVersion": "v1", "kind": "Pod", **workload.pod(i, scheduler)})
            for i in range(workload.pods)], {"201"})

    def clear(self, workload, namespace):
        for path in (EVENTS, PODS):
            code, answer = self.plane.api("DELETE", path.format(namespace), {
                "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}, timeout=120)
            assert code == 200, answer
        groups = [f"{GROUPS.format(namespace)}/{group['metadata']['name']}" for group in workload.groups()]
        self.send([workloads.line("PATCH", group, {"metadata": {"finalizers": None}},  # No controller does.
                                  "application/merge-patch+json") for group in groups], {"200"})
        self.send([workloads.line("DELETE", group, {}) for group in groups], {"200"})

    def rest(self):
        """Waits until the control plane has nothing to do any more, at most 10 s."""
        for _ in range(20):
            cpu = measure.Cpu(self.pids)
            time.sleep(0.5)
            if sum(cpu.read()[name] for name in self.pids) < 0.05:
                return

    def events(self, namespace):
        found = self.plane.get(f"{EVENTS.format(namespace)}?limit=1")
        return len(found["items"]) + found["metadata"].get("remainingItemCount", 0)

    def wait_for_events(self, namespace, wanted):
        """Until all are written, or no more are. Returns their number and when the last was seen."""
        count, changed = self.events(namespace), time.monotonic()
        while count < wanted and time.monotonic() < changed + EVENTS_STILL:
            time.sleep(0.1)
            if (now := self.events(namespace)) > count:
                count, changed = now, time.monotonic()
        return count, changed

    def turn(self, workload, contestant):
        """Measures one contestant once; returns figures by name."""
        self.turns += 1
        namespace = f"turn-{self.turns}"
        self.create(workload, namespace, contestant.scheduler)
        contestant.prepare(workload, namespace)
        self.rest()
        bound = measure.BoundPods(self.plane, namespace)
        writes = measure.writes(self.plane)
        cpu = measure.Cpu(self.pids)
        start = time.monotonic()
        try:
            cpu.add("scheduler", contestant.start())
            while len(bound.times) < workload.pods:
                assert time.monotonic() < start + LONGEST_TURN, (
                    f"{contestant.name}: {len(bound.times)} of {workload.pods} pods bound in {LONGEST_TURN} s")
                time.sleep(0.02)
            events, drained = self.wait_for_events(namespace, workload.pods)
            used = cpu.read()
        finally:
            bound.stop()
            contestant.stop()
        assert events >= workload.units, f"{contestant.name}: {events} Events of {workload.units} {workload.unit}s"
        times = sorted(bound.times)
        workload.check(self.plane.get(PODS.format(namespace))["items"], self.rack_of)
        figures = {
            # Of few pods all may be seen at once, and less than a tick be used.
            "per_second": workload.units / max(times[-1] - times[0], 1e-3),
            "first_s": times[0] - start,
            "total_s": times[-1] - start,
            "drained_s": drained - start,
            "events": events,
            "writes_per_pod": (measure.writes(self.plane) - writes) / workload.pods,
            "cpu_ms": 1e3 * max(used["scheduler"], 1 / measure.TICK) / workload.units,
            "api_cpu_ms": 1e3 * used["kube-apiserver"] / workload.units,
            "etcd_cpu_ms": 1e3 * used["etcd"] / workload.units,
            "server_cpu_ms": 1e3 * (used["kube-apiserver"] + used["etcd"]) / workload.units,
            "other_cores": used["others"],
        }
        self.clear(workload, namespace)
        return figures


def all_cpu_of(figures):
    """CPU milliseconds a unit of the scheduler, the API server and etcd together."""
    return figures["cpu_ms"] + figures["server_cpu_ms"]


def counters_of(workload, kube, muster, writes):
    """What one round says; names ending in _kube and _writes are of the others."""
    unit = workload.unit
    counters = {
        f"{unit}s_per_second": muster["per_second"],
        "vs_kube_scheduler": muster["per_second"] / kube["per_second"],
        "cpu_vs_kube_scheduler": kube["cpu_ms"] / muster["cpu_ms"],
        "ceiling_share": muster["per_second"] / writes["per_second"],
        "total_vs_kube_scheduler": kube["total_s"] / muster["total_s"],
        "drained_vs_kube_scheduler": kube["drained_s"] / muster["drained_s"],
        "all_cpu_vs_kube_scheduler": all_cpu_of(kube) / all_cpu_of(muster),
        "writes_per_pod": muster["writes_per_pod"],
        f"{unit}s_per_second_kube": kube["per_second"],
        f"{unit}s_per_second_writes": writes["per_second"],
        "writes_per_pod_kube": kube["writes_per_pod"],
        "writes_per_pod_writes": writes["writes_per_pod"],
    }
    for end, figures in (("", muster), ("_kube", kube), ("_writes", writes)):
        for name in ("cpu_ms", "api_cpu_ms", "etcd_cpu_ms", "server_cpu_ms", "first_s", "total_s", "drained_s",
                     "events", "other_cores"):
            counters[name + end] = figures[name]
    return counters


def record(name, counters, **more):
    return {"name": name, "threads": 1, "iterations": 1, "time_unit": "ms",
            "real_time": 1e3 * counters["total_s"], "cpu_time": counters["cpu_ms"], **more,
            **{key: float(value) for key, value in counters.items()}}


def print_turn(workload, round_, contestant, figures):
    unit = workload.unit
    print(f"{workload.name:15} {round_ + 1} {contestant.name:14} {figures['per_second']:7.1f} {unit}s/s "
          f"{figures['cpu_ms']:7.2f} ms CPU a {unit}, API server {figures['api_cpu_ms']:6.2f}, "
          f"etcd {figures['etcd_cpu_ms']:5.2f}; first {figures['first_s']:5.2f} s, all {figures['total_s']:6.2f} s, "
          f"drained {figures['drained_s']:6.2f} s; {figures['events']} Events, "
          f"{figures['writes_per_pod']:.2f} writes a pod; others used {figures['other_cores']:.2f} cores",
          flush=True)


def print_medians(rows):
    print(f"\n{'medians':28}{'a second':>10}{'x kube':>8}{'all x':>8}{'drained x':>11}{'CPU x':>8}{'all CPU x':>11}"
          f"{'ceiling':>9}{'writes':>8}{'kube: a second':>16}{'CPU ms':>8}{'Muster: CPU ms':>16}")
    for workload, medians in rows:
        unit = workload.unit
        print(f"{workload.name + f' ({workload.units} {unit}s)':28}{medians[f'{unit}s_per_second']:10.1f}"
              f"{medians['vs_kube_scheduler']:8.2f}{medians['total_vs_kube_scheduler']:8.2f}"
              f"{medians['drained_vs_kube_scheduler']:11.2f}{medians['cpu_vs_kube_scheduler']:8.2f}"
              f"{medians['all_cpu_vs_kube_scheduler']:11.2f}"
              f"{medians['ceiling_share']:9.2f}{medians['writes_per_pod']:8.2f}"
              f"{medians[f'{unit}s_per_second_kube']:16.1f}{medians['cpu_ms_kube']:8.2f}{medians['cpu_ms']:16.2f}")
    print("\nx: rates from the first to the last binding; all: from the start to the last binding;"
          "\ndrained: from the start until all Events are written, which is the whole work")


def print_goals(medians_of):
    """What the goals of goals.json say of these medians, {case: counters}."""
    print()
    for goal in goals.load(ROOT):
        if goal["record"] != "kube" or (met := goals.met(goal, medians_of)) is None:
            continue
        print(f"{'met' if met else 'MISSED':7} {goal['name']}: {goals.measured(goal, medians_of):.2f}, "
              f"goal {goals.limit(goal)[1]:g}{' or 0.8 of the ceiling' if 'or' in goal else ''}")


def fastest_writes(bench, writes, pods):
    """Lets the ceiling be that of the way which binds `pods` pods fastest."""
    workload = workloads.Workload("ceiling", pods)
    given, rates = list(writes.flags), {}
    for way in CEILINGS:
        writes.flags = given + way
        rates[tuple(way)] = bench.turn(workload, writes)["per_second"]
        print(f"ceiling  {' '.join(way):30} {rates[tuple(way)]:7.1f} pods/s", flush=True)
    writes.flags = given + list(max(rates, key=rates.get))


def case_of(bench, workload):
    return f"{workload.name}/nodes:{len(bench.rack_of)}/{workload.unit}s:{workload.units}"


def measure_workload(bench, workload, rounds, fields):
    """All rounds of a workload: records for the JSON, and the medians of the counters."""
    name = case_of(bench, workload)
    records, seen = [], collections.defaultdict(list)
    for round_ in range(rounds):
        order = fields[round_ % len(fields):] + fields[:round_ % len(fields)]
        figures = {}
        for contestant in order:
            figures[contestant.name] = bench.turn(workload, contestant)
            print_turn(workload, round_, contestant, figures[contestant.name])
        counters = counters_of(workload, figures["kube-scheduler"], figures["muster"], figures["writes"])
        for key, value in counters.items():
            seen[key].append(value)
        records.append(record(name, counters, run_name=name, run_type="iteration",
                              repetitions=rounds, repetition_index=round_))
    medians = {key: statistics.median(values) for key, values in seen.items()}
    records.append(record(f"{name}_median", medians, run_name=name, run_type="aggregate",
                          aggregate_name="median", repetitions=rounds))
    return records, medians


def context(bench):
    return {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "executable": "benchmarks/kube/bench.py", "num_cpus": os.cpu_count(),
            "load_avg": list(os.getloadavg()), "kubernetes": bench.plane.status()["kubernetes"],
            "library_build_type": "release"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path, metavar="BIN")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--filter", default="", metavar="REGEX", help="of benchmarks to run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--gangs", type=int, default=200)
    parser.add_argument("--fsync", action="store_true", help="etcd waits for the disk at each write")
    parser.add_argument("--muster-flag", action="append", default=[], metavar="FLAG", help="for muster-kube")
    parser.add_argument("--writes-flag", action="append", default=[], metavar="FLAG", help="for kube_requests")
    args = parser.parse_args()
    testbed.require()
    room = args.nodes * workloads.GPUS_PER_NODE
    if max(args.pods, args.gangs * workloads.PODS_PER_GANG) > room or min(args.pods, args.gangs, args.rounds) < 1:
        parser.error(f"at least 1 of each, and at most the {room} GPUs of {args.nodes} nodes")

    wanted = [one for one in (
        workloads.Workload("BM_Pods", args.pods),
        workloads.Workload("BM_Gangs", 0, args.gangs),
        workloads.Workload("BM_GangsInRack", 0, args.gangs, workloads.RACK),
    ) if re.search(args.filter, one.name)]
    bench = Bench(args.binaries.resolve(), args.nodes, args.fsync)
    try:
        fields = [contestants.KubeScheduler(bench.plane),
                  contestants.Muster(bench.plane, bench.binaries, bench.kubeconfig, args.muster_flag),
                  contestants.Writes(bench.plane, bench.binaries, bench.kubeconfig, args.writes_flag)]
        if not args.writes_flag:
            fastest_writes(bench, fields[-1], min(1000, args.pods))
        records, rows, medians_of = [], [], {}
        for workload in wanted:
            found, medians = measure_workload(bench, workload, args.rounds, fields)
            records += found
            rows.append((workload, medians))
            medians_of[case_of(bench, workload)] = medians
        print_medians(rows)
        print_goals(medians_of)
        if args.json:
            args.json.write_text(json.dumps({"context": context(bench), "benchmarks": records}, indent=1) + "\n",
                                 encoding="utf-8")
    finally:
        bench.close()


if __name__ == "__main__":
    main()
