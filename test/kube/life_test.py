#!/usr/bin/env python3
"""What pods, nodes and Jobs tell while they live, and what they are told, on a real control plane.

    life_test.py MUSTER_KUBE
"""

import time

import muster
import testbed
from muster import DEFAULT, JOBS, pod

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


class LifeTest(muster.StoryTest):
    shared = True
    muster_flags = ("--no-leader-elect", "--spot-taint=example.com/goes")

    def setUp(self):
        super().setUp()
        self.priorities(high=1000)
        self.run_muster()

    def job_of_one(self, name):
        """A Job of one pod, which fails with it."""
        template = pod(gpus=1, labels={"job": name})
        template["spec"]["terminationGracePeriodSeconds"] = 5  # A busy machine looks at it meanwhile.
        self.plane.create(JOBS, {"metadata": {"name": name}, "spec": {"template": template}})
        return testbed.wait(f"{name} runs", lambda: self.running(name))

    def running(self, job):
        return next((one for one in self.pods(f"job={job}").values() if one["status"]["phase"] == "Running"), None)

    def events(self, reason):
        return [one for one in self.plane.get(EVENTS)["items"] if one["reason"] == reason]

    def test_the_pod_that_saved_last_makes_room_and_its_job_is_told(self):
        names = [f"saves-{i}" for i in range(4)]
        for name in names:
            self.job_of_one(name)
        victim = self.running("saves-2")
        time.sleep(1.1)
        checkpoint = f"muster.dev/checkpoint={int(time.time())}"
        self.plane.kubectl("annotate", "pod", victim["metadata"]["name"], checkpoint)
        self.plane.kubectl("annotate", "pod", self.running("saves-1")["metadata"]["name"], "muster.dev/checkpoint=soon")
        testbed.wait("the annotation that is none is told", lambda: self.events("InvalidAnnotation"))
        self.plane.create(f"{DEFAULT}/pods", pod(gpus=1, name="urgent", priority="high"))
        read = lambda: self.plane.get(f"{DEFAULT}/pods/urgent")
        shown = testbed.wait("it shows its node", lambda: read()["status"].get("nominatedNodeName"))
        self.assertEqual(victim["spec"]["nodeName"], shown)
        # The API server says so of its own, when it has evicted it.
        conditions = lambda: {one["type"]: one.get("reason") for one in self.plane.get(
            f"{DEFAULT}/pods/{victim['metadata']['name']}")["status"]["conditions"]}
        why = testbed.wait("it is evicted", lambda: conditions().get("DisruptionTarget"))
        self.assertEqual("EvictionByEvictionAPI", why)
        testbed.wait("it runs", lambda: read()["status"]["phase"] == "Running")
        self.assertEqual(["saves-2"], [name for name in names if not self.running(name)])
        told = testbed.wait("the Job is told", lambda: [
            one["regarding"]["name"] for one in self.events("PreemptionCountsAsFailure")
            if one["regarding"]["kind"] == "Job" and one["regarding"]["name"].startswith("saves")])
        self.assertEqual(["saves-2"], told)

    def test_a_node_that_goes_away_is_left(self):
        first = self.job_of_one("moves")["spec"]["nodeName"]
        self.plane.kubectl("taint", "node", first, "example.com/goes=1:NoSchedule")
        testbed.wait("it runs on the other", lambda: (
            self.running("moves") or {"spec": {"nodeName": first}})["spec"]["nodeName"] != first)
        self.plane.kubectl("taint", "node", first, "example.com/goes-")

    def test_a_queue_without_its_parent_is_told(self):
        queue = {"apiVersion": "muster.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "child"},
                 "spec": {"parent": "nobody"}}
        uid = self.plane.create("/apis/muster.dev/v1alpha1/queues", queue)["metadata"]["uid"]
        told = testbed.wait("it is told", lambda: self.events("Refused"))
        self.assertEqual(uid, told[0]["regarding"]["uid"])
        self.assertIn("nobody", told[0]["note"])


if __name__ == "__main__":
    muster.main()
