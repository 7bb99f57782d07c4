#!/usr/bin/env python3
"""muster-kube on a control plane of its own: three stories, told by the API server.

    demo.py MUSTER_KUBE [FACTOR]

The manifests are those of adapters/kubernetes/examples. Everything takes the FACTOR-th
part of the time that it would take in earnest (default: 20). Nothing stays behind.
"""

import signal
import subprocess
import sys
import threading
import time

import testbed

EXAMPLES = testbed.ROOT / "adapters/kubernetes/examples"
PODS = "/api/v1/namespaces/default/pods"


class TimeLine(threading.Thread):
    """Prints what becomes of each pod, as the API server tells it."""

    def __init__(self, plane):
        super().__init__(daemon=True)
        self.plane = plane
        self.begin = time.monotonic()
        self.known = {}
        self.stop = threading.Event()

    def say(self, text):
        print(f"{time.monotonic() - self.begin:7.1f} s  {text}", flush=True)

    @staticmethod
    def what(pod):
        """What a person calls it, in a word or two."""
        if "deletionTimestamp" in pod["metadata"]:
            return "is stopped"
        if pod["status"]["phase"] == "Running":
            return f"runs on {pod['spec']['nodeName']}"
        if pod["status"]["phase"] in ("Succeeded", "Failed"):
            return {"Succeeded": "is done", "Failed": "has failed"}[pod["status"]["phase"]]
        if "nodeName" in pod["spec"]:
            return None  # It is about to run.
        for condition in pod["status"].get("conditions", []):
            if condition["type"] == "PodScheduled":
                return f"waits: {condition.get('message', '')}"
        return "waits"

    def look(self):
        pods = {}
        for pod in self.plane.get(PODS)["items"]:
            name = pod["metadata"]["name"].rsplit("-", 1)[0]  # Without the random end.
            pods[pod["metadata"]["uid"]] = (name, self.what(pod))
        for uid, (name, what) in sorted(pods.items(), key=lambda item: item[1][0]):
            if what and self.known.get(uid) != what:
                self.say(f"{name:16} {what}")
                self.known[uid] = what

    def run(self):
        while not self.stop.wait(0.1):
            self.look()


def apply(plane, name, **values):
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(key, str(value))
    plane.kubectl("apply", "-f", "-", stdin=text)


def done(plane, job):
    found = plane.get(f"/apis/batch/v1/namespaces/default/jobs/{job}")
    return "completionTime" in found["status"]


def running(plane, prefix):
    return [pod for pod in plane.get(PODS)["items"]
            if pod["metadata"]["name"].startswith(prefix) and pod["status"]["phase"] == "Running"]


def stories(plane, say, factor):
    seconds = 100 / factor
    plane.kubectl("label", "node", "node-0", "node-type=my-precious")
    apply(plane, "priorities.yaml")
    say("-- test1, test2 and test3 need the precious node; test-p1 comes with a high priority")
    for name in ("test1", "test2", "test3"):
        apply(plane, "job.yaml", NAME=name, PRIORITY="low", SECONDS=seconds)
        time.sleep(0.5)
    testbed.wait("test2 runs", lambda: running(plane, "test2"))
    apply(plane, "job.yaml", NAME="test-p1", PRIORITY="high", SECONDS=seconds)
    for name in ("test-p1", "test2", "test3"):
        testbed.wait(f"{name} is done", lambda job=name: done(plane, job))
    say("-- two jobs of four workers, of one GPU each, on four GPUs")
    for name in ("red", "blue"):
        apply(plane, "gang.yaml", NAME=name, SECONDS=seconds)
    for name in ("red", "blue"):
        testbed.wait(f"{name} is done", lambda job=name: done(plane, job))
    say("-- a parameter server beside its workers")
    apply(plane, "parameter-server.yaml", NAME="model", SECONDS=seconds)
    testbed.wait("the model is trained", lambda: done(plane, "model-ps") and done(plane, "model-workers"))


def main():
    testbed.require()
    program, factor = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    with testbed.Testbed("--nodes=2", "--gpus=2", "--cpu=3") as plane:
        muster = subprocess.Popen(
            [program, "--kubeconfig", plane.install_muster(), "--no-leader-elect",
             "--topology", "nodes=kubernetes.io/hostname"], stderr=subprocess.DEVNULL)
        line = TimeLine(plane)
        line.say(f"Kubernetes {plane.status()['kubernetes']}; 100 s take {100 / factor:g} s")
        line.start()
        try:
            stories(plane, line.say, factor)
        finally:
            line.stop.set()
            line.join()
            muster.send_signal(signal.SIGTERM)
            muster.wait(30)
            line.look()


if __name__ == "__main__":
    main()
