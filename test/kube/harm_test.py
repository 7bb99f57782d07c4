#!/usr/bin/env python3
"""What runs is not stopped for what a kubelet settles, and what others are given is not given away.

    harm_test.py MUSTER_KUBE
"""

import json
import time

import muster
import testbed
from muster import DEFAULT, GROUPS, pod

NODE = "/api/v1/nodes/node-0"
# Longer than muster-kube takes to see a change and to decide.
A_WHILE = 3


class HarmTest(muster.StoryTest):
    """One node of four processors."""

    flags = ("--nodes=1", "--cpu=4", "--gpus=2", "--resource=rdma/hca=2")
    shared = True

    def setUp(self):
        super().setUp()
        self.priorities(low=100, high=1000)
        self.kept = {}

    def keep(self, *names):
        """Pods that run, and are never to be stopped."""
        testbed.wait(f"{names} run", lambda: all(
            self.pods().get(name, {"status": {}})["status"].get("phase") == "Running" for name in names))
        for name in names:
            self.kept[self.pods()[name]["metadata"]["uid"]] = name

    def check_kept(self):
        self.checker.catch_up()
        for uid, name in self.kept.items():
            last = self.checker.ever[uid]
            self.assertNotIn("deletionTimestamp", last["metadata"], name)
            self.assertEqual("Running", last["status"]["phase"], name)

    def nothing_happens(self, *names):
        """For a while those that are kept run, and these wait."""
        time.sleep(A_WHILE)
        self.check_kept()
        for name in names:
            self.assertNotIn(name, self.bound())

    def create(self, name, cpu, node=None, **more):
        one = pod(cpu=cpu, name=name, **more)
        if node:
            one["spec"].update(schedulerName="somebody", nodeName=node)
        return self.plane.create(f"{DEFAULT}/pods", one)

    def resize(self, name, cpu):
        path = f"{DEFAULT}/pods/{name}"
        one = testbed.wait("it runs", lambda: (one := self.plane.get(path))["status"]["phase"] == "Running" and one)
        one["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu
        code, answer = self.plane.api("PUT", f"{path}/resize", one)
        self.assertEqual(200, code, answer)

    def has(self, name):
        """What the kubelet says that the pod has."""
        return self.plane.get(f"{DEFAULT}/pods/{name}")["status"]["containerStatuses"][0]["allocatedResources"]["cpu"]

    def set_allocatable(self, resource, amount):
        body = json.dumps({"status": {"allocatable": {resource: amount}}})
        self.plane.kubectl("patch", "node", "node-0", "--subresource=status", "--type=merge", "-p", body)

    def test_a_pod_that_is_bound_past_the_scheduler_stops_nothing(self):
        self.run_muster()
        self.gang("calm", 2, gpus=0, cpu="2", priority="high")
        self.keep("calm-0", "calm-1")
        for i in range(10):
            self.create(f"intruder-{i}", "3", node="node-0")
        testbed.wait("the kubelet has refused them", lambda: all(
            self.plane.get(f"{DEFAULT}/pods/intruder-{i}")["status"]["phase"] == "Failed" for i in range(10)))
        self.nothing_happens()

    def test_a_neighbour_that_asks_for_more_where_it_runs_stops_nothing(self):
        self.run_muster()
        self.gang("calm", 2, gpus=0, cpu="1500m", priority="high")
        self.keep("calm-0", "calm-1")
        self.create("neighbour", "500m", node="node-0")
        self.keep("neighbour")
        self.resize("neighbour", "3")
        testbed.wait("the kubelet puts it off", lambda: any(
            one["type"] == "PodResizePending" for one in self.pods()["neighbour"]["status"]["conditions"]))
        self.create("next", "200m")
        self.nothing_happens("next")
        told = [one for one in self.plane.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
                if one["reason"] == "MoreInUse"]
        self.assertEqual(["node-0"], [one["regarding"]["name"] for one in told])
        self.resize("neighbour", "500m")
        testbed.wait("there is room again", lambda: "next" in self.bound())
        self.check_kept()

    def test_a_pod_that_is_resized_where_it_runs_counts_what_it_has(self):
        self.run_muster()
        self.create("grow", "1")
        self.resize("grow", "3")
        testbed.wait("it has them", lambda: self.has("grow") == "3")
        self.keep("grow")
        self.create("next", "2")
        self.nothing_happens("next")
        self.resize("grow", "1")
        testbed.wait("there is room", lambda: "next" in self.bound())
        self.create("last", "1")
        testbed.wait("and more", lambda: "last" in self.bound())
        self.check_kept()

    def test_a_node_that_has_less_for_some_seconds_stops_nothing(self):
        self.run_muster()
        self.group("train", 2)
        for i in range(2):
            one = pod(1, cpu="1500m", group="train", name=f"train-{i}")
            one["spec"]["containers"][0]["resources"]["limits"]["rdma/hca"] = 1
            self.plane.create(f"{DEFAULT}/pods", one)
        self.keep("train-0", "train-1")
        before = self.plane.get(NODE)["status"]["allocatable"]
        for resource, less in (("nvidia.com/gpu", "0"), ("rdma/hca", "0"), ("cpu", "2")):
            with self.subTest(resource):
                self.set_allocatable(resource, less)
                self.nothing_happens()
                self.set_allocatable(resource, before[resource])
        self.create("cpu-only", "1")
        testbed.wait("a pod starts", lambda: "cpu-only" in self.bound())
        self.check_kept()

    def test_a_minimum_that_grows_stops_nothing(self):
        self.run_muster()
        self.gang("job", 2, gpus=0, cpu="2")
        self.keep("job-0", "job-1")
        self.plane.kubectl("patch", "podgroup.scheduling.k8s.io", "job", "--type=merge", "-p",
                           '{"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}')
        self.assertEqual(3, self.plane.get(f"{GROUPS}/job")["spec"]["schedulingPolicy"]["gang"]["minCount"])
        self.create("job-2", "2", group="job")
        self.nothing_happens("job-2")

    def test_what_is_being_deleted_is_room_on_its_way(self):
        self.run_muster()
        self.gang("four", 4, minimum=2, gpus=0, cpu="1", stop_for="8s")
        testbed.wait("four run", lambda: len(self.bound()) == 4)
        self.keep("four-0", "four-1")
        for name in ("four-2", "four-3"):  # Its owner wants no more than its minimum.
            self.plane.api("DELETE", f"{DEFAULT}/pods/{name}", {"gracePeriodSeconds": 30})
        self.create("mate", "2")
        testbed.wait("the room comes", lambda: "mate" in self.bound())
        self.check_kept()

    def test_nobody_else_is_stopped_while_one_goes(self):
        self.run_muster()
        self.create("one", "2", priority="low", stop_for="8s")
        self.create("two", "2", priority="low", stop_for="8s")
        self.keep("two")
        testbed.wait("one runs", lambda: self.pods()["one"]["status"]["phase"] == "Running")
        self.plane.api("DELETE", f"{DEFAULT}/pods/one", {"gracePeriodSeconds": 30})
        self.create("urgent", "2", priority="high")
        testbed.wait("it has the room", lambda: "urgent" in self.bound())
        self.check_kept()


if __name__ == "__main__":
    muster.main()
