#!/usr/bin/env python3
"""Looks for a watch that tells nothing (docs/kubernetes.md, "Known defects"): many short tries, and what
was asked where one is silent.

    silent_watch.py MUSTER_KUBE [RUNS]

First RUNS kinds come one after another, and each is watched from the moment at which it can be listed.
Then muster-kube runs RUNS times through a proxy, in every third run over a restart of the API server:
a pod waits for its queue, which comes a little later. Fails if something was silent for SILENT seconds.
"""

import json
import sys
import threading
import time

import muster
import proxy
import testbed
from muster import DEFAULT, QUEUES, pod

SILENT = 20  # Seconds.


class Watch(threading.Thread):
    """Of one collection, from a version on; its events with the seconds since its beginning."""

    def __init__(self, plane, path, version):
        super().__init__(daemon=True)
        self.plane, self.path = plane, f"{path}?watch=1&timeoutSeconds=300&resourceVersion={version}"
        self.begun, self.status, self.events, self.ended = time.monotonic(), None, [], None
        self.start()

    def run(self):
        try:
            with self.plane.open(self.path) as answer:
                self.status = answer.status
                for line in answer:
                    self.events.append((round(time.monotonic() - self.begun, 2), json.loads(line)["type"]))
        except (OSError, ValueError) as error:
            self.ended = repr(error)
        self.ended = self.ended or "cleanly"


def until_served(plane, method, path, body=None):
    """The answer, once there is one: a kind that is new is not there, or is being set up."""
    def ask():
        try:
            code, answer = plane.api(method, path, body)
        except (OSError, ValueError):  # Gone, or 404 as plain text.
            return None
        return answer if code in (200, 201) else None

    return testbed.wait(f"{method} {path}", ask)


def try_kinds(plane, runs):
    """How many of so many new kinds had a watch that told nothing."""
    watches = []
    for i in range(runs):
        path = f"/apis/example.com/v1/thing{i}s"
        plane.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "metadata": {"name": f"thing{i}s.example.com"},
            "spec": {"group": "example.com", "scope": "Cluster", "names": {"kind": f"Thing{i}", "plural": f"thing{i}s"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                         "type": "object"}}}]}})
        version = until_served(plane, "GET", path)["metadata"]["resourceVersion"]
        watches.append(Watch(plane, path, version))
        until_served(plane, "POST", path, {
            "apiVersion": "example.com/v1", "kind": f"Thing{i}", "metadata": {"name": "one"}})
    time.sleep(SILENT)
    silent = [one for one in watches if not one.events and not one.ended]
    for one in silent:
        print(f"silent: {one.path}, status {one.status}")
    return len(silent)


def try_muster(plane, kubeconfig, run):
    """Whether a pod waited for a change that was not told."""
    queue = {"apiVersion": "muster.dev/v1alpha1", "kind": "Queue", "metadata": {"name": f"q{run}"}, "spec": {}}
    with proxy.Proxy(plane, kubeconfig) as between, muster.MusterKube(between.kubeconfig, "--no-leader-elect") as program:
        if run % 3 == 2:
            plane.run("kill", "kube-apiserver")
            plane.run("start", "kube-apiserver")
        until_served(plane, "POST", f"{DEFAULT}/pods", pod(name=f"p{run}", labels={"muster.dev/queue": f"q{run}"}))
        time.sleep(run % 4 * 0.3)
        until_served(plane, "POST", QUEUES, queue)
        made = time.monotonic()
        try:
            testbed.wait("it is bound", lambda: "nodeName" in plane.get(f"{DEFAULT}/pods/p{run}")["spec"], SILENT)
        except testbed.TimedOut:
            print(f"silent: run {run}; seconds from the change, kind, status, request:")
            for one in between.of("list", "watch"):
                print(f"  {one.at - made:.2f} {one.kind} {one.status} {one.target}")
            print(*program.lines, sep="  ")
            return True
    plane.api("DELETE", f"{DEFAULT}/pods", {"gracePeriodSeconds": 0})
    return False


def main():
    testbed.require()
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with testbed.Testbed("--nodes=2") as plane:
        kinds = try_kinds(plane, runs)
        print(f"{kinds} of {runs} kinds were silent", flush=True)
        kubeconfig = plane.install_muster()
        stories = sum(try_muster(plane, kubeconfig, run) for run in range(runs))
        print(f"{stories} of {runs} runs were silent", flush=True)
    sys.exit(bool(kinds or stories))


if __name__ == "__main__":
    main()
