#!/usr/bin/env python3
"""muster-kube on a real control plane, as its users meet it.

    muster_kube_test.py MUSTER_KUBE
"""

import json
import signal
import subprocess
import sys
import threading
import time
import unittest

import testbed

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "muster-kube"
DEFAULT = "/api/v1/namespaces/default"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"


class MusterKube:
    """The program under test; it ends with `with`."""

    def __init__(self, kubeconfig, *flags):
        self.lines = []
        self.process = subprocess.Popen(
            [PROGRAM, "--kubeconfig", kubeconfig, *flags],
            stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stderr))
        self.reader.start()

    def ready(self):
        testbed.wait("muster-kube is in step", lambda: any("in step" in line for line in self.lines), 30)
        return self

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(30)
        self.reader.join()
        self.process.stderr.close()

    def __enter__(self):
        return self.ready()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill(signal.SIGTERM)


def pod(gpus=0, cpu="100m", run_for=None, group=None, priority=None, **metadata):
    spec = {
        "schedulerName": "muster",
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 2,
        "containers": [{"name": "main", "image": "example.com/main", "resources": {
            "requests": {"cpu": cpu}, **({"limits": {"nvidia.com/gpu": gpus}} if gpus else {})}}],
    }
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    if priority:
        spec["priorityClassName"] = priority
    annotations = {"testbed.muster.dev/run-for": run_for} if run_for else {}
    return {"metadata": {"annotations": annotations, **metadata}, "spec": spec}


class MusterKubeTest(unittest.TestCase):
    flags = ("--nodes=2", "--gpus=2")

    def setUp(self):
        self.plane = testbed.Testbed(*self.flags)
        self.addCleanup(self.plane.__exit__)
        self.kubeconfig = self.plane.install_muster()

    def run_muster(self, *flags):
        muster = MusterKube(self.kubeconfig, *(flags or ("--no-leader-elect",)))
        self.addCleanup(muster.__exit__)
        return muster.ready()

    def pods(self, label=None):
        """Pods that are not being deleted, by name."""
        query = f"?labelSelector={label}" if label else ""
        return {one["metadata"]["name"]: one for one in self.plane.get(f"{DEFAULT}/pods{query}")["items"]
                if "deletionTimestamp" not in one["metadata"]}

    def bound(self, label=None):
        return sorted(name for name, one in self.pods(label).items()
                      if "nodeName" in one["spec"] and one["status"]["phase"] in ("Pending", "Running"))

    def job(self, name, pods=1, **template):
        self.plane.create(JOBS, {
            "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0,
                     "podFailurePolicy": {"rules": [{
                         "action": "Ignore",
                         "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]},
                     "template": pod(**template)}})

    def gang(self, name, pods, minimum=None, key=None):
        constraints = {"schedulingConstraints": {"topology": [{"key": key}]}} if key else {}
        self.plane.create(GROUPS, {
            "metadata": {"name": name},
            "spec": {"schedulingPolicy": {"gang": {"minCount": minimum or pods}}, **constraints}})
        for i in range(pods):
            self.plane.create(f"{DEFAULT}/pods", pod(gpus=1, group=name, name=f"{name}-{i}", labels={"gang": name}))

    def check(self):
        """What the API server says: no node overbooked, no gang in part."""
        used, gangs = {}, {}
        for one in self.plane.get(f"{DEFAULT}/pods")["items"]:
            self.assertNotIn("OutOf", one["status"].get("reason", ""))
            group = one["spec"].get("schedulingGroup", {}).get("podGroupName")
            node = one["spec"].get("nodeName")
            if group:
                gangs.setdefault(group, []).append(node)
            if node and one["status"]["phase"] in ("Pending", "Running"):
                for container in one["spec"]["containers"]:
                    gpus = int(container["resources"].get("limits", {}).get("nvidia.com/gpu", 0))
                    used[node] = used.get(node, 0) + gpus
        for node, gpus in used.items():
            self.assertLessEqual(gpus, 2, node)
        return gangs

    # --- Stories -----------------------------------------------------------------

    def test_jobs_run_in_turn_and_a_high_priority_one_preempts(self):
        self.plane.create("/apis/scheduling.k8s.io/v1/priorityclasses",
                          {"metadata": {"name": "high"}, "value": 1_000_000})
        self.run_muster()
        for node in ("node-0", "node-1"):
            patch = {"spec": {"unschedulable": node != "node-0"}}
            self.plane.kubectl("patch", "node", node, "-p", json.dumps(patch))
        for name in ("test1", "test2", "test3"):
            self.job(name, gpus=2, run_for="8s" if name == "test1" else "30s")
            time.sleep(1.1)  # The order in which they come is told in seconds.
        self.assertTrue(self.bound()[0].startswith("test1"))
        testbed.wait("test2 runs", lambda: [n[:5] for n in self.bound()] == ["test2"])
        self.job("test-p1", gpus=2, run_for="2s", priority="high")
        testbed.wait("test-p1 runs", lambda: [n[:7] for n in self.bound()] == ["test-p1"])
        testbed.wait("test2 runs again", lambda: [n[:5] for n in self.bound()] == ["test2"])
        self.assertNotIn("failed", [
            condition["type"].lower() for condition in
            self.plane.get(f"{JOBS}/test2")["status"].get("conditions", [])])
        self.check()

    def test_two_gangs_of_four_on_four_gpus(self):
        self.run_muster()
        self.gang("red", 4)
        self.gang("blue", 4)
        testbed.wait("red runs", lambda: len(self.bound("gang=red")) == 4)
        self.assertEqual([], self.bound("gang=blue"))
        waiting = self.pods("gang=blue")["blue-0"]
        condition = testbed.wait("why is told", lambda: [
            c for c in self.pods("gang=blue")["blue-0"]["status"].get("conditions", [])
            if c["type"] == "PodScheduled"])[0]
        self.assertEqual("Unschedulable", condition["reason"], waiting)
        self.assertIn("nvidia.com/gpu", condition["message"])
        for name in self.pods("gang=red"):
            self.plane.api("DELETE", f"{DEFAULT}/pods/{name}")
        testbed.wait("blue runs", lambda: len(self.bound("gang=blue")) == 4)
        self.check()

    def test_a_bound_pod_has_an_event(self):
        self.run_muster()
        self.plane.create(f"{DEFAULT}/pods", pod(name="one"))
        testbed.wait("it runs", lambda: self.bound() == ["one"])
        events = testbed.wait("an event", lambda: [
            e for e in self.plane.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
            if e["reason"] == "Scheduled"])
        self.assertEqual("one", events[0]["regarding"]["name"])

    def test_the_deployment_is_one_that_the_api_server_takes(self):
        self.plane.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", testbed.DEPLOY / "deployment.yaml")

    def test_what_the_objects_may_not_say_is_refused(self):
        queues = "/apis/muster.dev/v1alpha1/queues?fieldValidation=Strict"
        for spec in ({"weight": 0}, {"ordering": "Fastest"}, {"quotas": [{"limit": 1}]},
                     {"quotas": [{"resource": "cpu"}, {"resource": "cpu"}]}, {"borrowLimit": 3}):
            code, _ = self.plane.api("POST", queues, {
                "apiVersion": "muster.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "q"}, "spec": spec})
            self.assertIn(code, (400, 422), spec)

    def test_queues_have_limits_and_owners(self):
        self.run_muster()
        queues = "/apis/muster.dev/v1alpha1/queues"
        queue = {"apiVersion": "muster.dev/v1alpha1", "kind": "Queue"}
        self.plane.create(queues, {**queue, "metadata": {"name": "small"}, "spec": {
            "quotas": [{"resource": "nvidia.com/gpu", "limit": 1}]}})
        self.plane.create(queues, {**queue, "metadata": {"name": "theirs"}, "spec": {
            "namespaces": {"names": ["elsewhere"]}}})
        for name, where in (("s0", "small"), ("s1", "small"), ("t0", "theirs"), ("u0", "missing")):
            self.plane.create(f"{DEFAULT}/pods", pod(gpus=1, name=name, labels={"muster.dev/queue": where}))
        told = {}

        def all_told():
            for name, one in self.pods().items():
                for condition in one["status"].get("conditions", []):
                    if condition["type"] == "PodScheduled" and condition["status"] == "False":
                        told[name] = (condition["reason"], condition["message"])
            return len(self.bound()) == 1 and len(told) == 3

        testbed.wait("one runs, three are told why not", all_told)
        first = self.bound()[0]
        second = {"s0": "s1", "s1": "s0"}[first]
        # No node would help: nothing for an autoscaler.
        self.assertEqual("Pending", told[second][0])
        self.assertIn("queue-limit (small)", told[second][1])
        self.assertIn("takes no pods of namespace 'default'", told["t0"][1])
        self.assertIn("queue 'missing' is not there", told["u0"][1])
        self.plane.create(queues, {**queue, "metadata": {"name": "missing"}, "spec": {}})
        self.plane.api("DELETE", f"{DEFAULT}/pods/{first}")
        testbed.wait("both run", lambda: self.bound() == sorted([second, "u0"]))

    # --- Faults ------------------------------------------------------------------

    def test_it_is_killed_while_a_gang_is_bound(self):
        for round_ in range(6):
            name = f"g{round_}"
            muster = MusterKube(self.kubeconfig, "--no-leader-elect").ready()
            self.gang(name, 4)
            # Between none and all of the four are bound.
            end = time.monotonic() + 0.015 * round_
            testbed.wait("it begins", lambda: self.bound(f"gang={name}") or time.monotonic() > end)
            muster.kill()
            with MusterKube(self.kubeconfig, "--no-leader-elect"):
                testbed.wait("the gang is whole", lambda: len(self.bound(f"gang={name}")) == 4)
                self.check()
            for pod_name in self.pods(f"gang={name}"):
                self.plane.api("DELETE", f"{DEFAULT}/pods/{pod_name}")
            testbed.wait("it is gone", lambda: not self.plane.get(f"{DEFAULT}/pods")["items"])

    def test_the_api_server_restarts(self):
        self.run_muster()
        self.gang("red", 4)
        testbed.wait("red runs", lambda: len(self.bound("gang=red")) == 4)
        self.plane.run("kill", "kube-apiserver")
        self.plane.run("start", "kube-apiserver")
        testbed.wait("it is back", lambda: self.plane.component("kube-apiserver")["healthy"])
        for name in self.pods("gang=red"):
            self.plane.api("DELETE", f"{DEFAULT}/pods/{name}")
        self.gang("blue", 4)
        testbed.wait("blue runs", lambda: len(self.bound("gang=blue")) == 4)
        self.check()

    def test_the_second_replica_takes_over(self):
        flags = ("--lease-duration=3", "--longest-request=1")
        first = self.run_muster(*flags)
        second = MusterKube(self.kubeconfig, *flags)
        self.addCleanup(second.__exit__)
        self.gang("red", 4)
        testbed.wait("red runs", lambda: len(self.bound("gang=red")) == 4)
        self.assertFalse(any("in step" in line for line in second.lines))
        first.kill(signal.SIGTERM)  # It gives its lease back.
        second.ready()
        for name in self.pods("gang=red"):
            self.plane.api("DELETE", f"{DEFAULT}/pods/{name}")
        self.gang("blue", 4)
        testbed.wait("blue runs", lambda: len(self.bound("gang=blue")) == 4)
        self.check()

    def test_a_binding_that_somebody_else_won(self):
        self.run_muster()
        for i in range(20):
            name = f"p{i}"
            self.plane.create(f"{DEFAULT}/pods", pod(name=name))
            self.plane.api("POST", f"{DEFAULT}/pods/{name}/binding", {
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                "target": {"apiVersion": "v1", "kind": "Node", "name": f"node-{i % 2}"}})
        testbed.wait("all are bound", lambda: len(self.bound()) == 20)
        self.gang("red", 4)
        testbed.wait("red runs", lambda: len(self.bound("gang=red")) == 4)
        self.check()


if __name__ == "__main__":
    testbed.require()
    result = unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2, exit=False).result
    # All of it shares two cores with a whole control plane: one more try, which is told.
    failed = [test.id().removeprefix("__main__.") for test, _ in result.failures + result.errors]
    if failed and len(failed) < 3:
        print("tried again:", *failed, file=sys.stderr, flush=True)
        result = unittest.main(argv=sys.argv[:1] + failed, verbosity=2, exit=False).result
    sys.exit(not result.wasSuccessful())
