#!/usr/bin/env python3
"""muster-kube on a real control plane, as its users meet it.

    muster_kube_test.py MUSTER_KUBE
"""

import signal
import time

import muster
import testbed
from muster import DEFAULT, JOBS, MusterKube, pod


class MusterKubeTest(muster.StoryTest):
    shared = True

    # --- Stories -----------------------------------------------------------------

    def test_jobs_run_in_turn_and_a_high_priority_one_preempts(self):
        self.priorities(high=1_000_000)
        self.run_muster()
        self.addCleanup(self.plane.kubectl, "uncordon", "node-1")
        self.plane.kubectl("cordon", "node-1")
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

    def test_a_bound_pod_has_an_event(self):
        self.run_muster()
        self.plane.create(f"{DEFAULT}/pods", pod(name="one"))
        testbed.wait("it runs", lambda: self.bound() == ["one"])
        events = testbed.wait("an event", lambda: [
            e for e in self.plane.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
            if e["reason"] == "Scheduled" and e["regarding"]["name"] == "one"])
        self.assertEqual(self.pods()["one"]["metadata"]["uid"], events[0]["regarding"]["uid"])

    def test_what_the_objects_may_not_say_is_refused(self):
        queues = "/apis/muster.dev/v1alpha1/queues"
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

    def test_the_second_replica_takes_over(self):
        flags = ("--lease-duration=3", "--longest-request=1")
        first = self.run_muster(*flags)
        second = self.muster = MusterKube(self.kubeconfig, *flags)
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


if __name__ == "__main__":
    muster.main()
