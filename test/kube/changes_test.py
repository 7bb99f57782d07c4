#!/usr/bin/env python3
"""What users and others change while muster-kube decides: pods, nodes, and who binds them.

    changes_test.py MUSTER_KUBE
"""

import threading

import muster
import testbed
from muster import DEFAULT, MUSTER_GROUPS, QUEUES, pod
from proxy import ProxiedTest


class ChangesTest(ProxiedTest):
    flags = ("--nodes=3", "--gpus=2")
    shared = True

    def setUp(self):
        super().setUp()
        self.priorities(high=1000)
        self.run_muster(kubeconfig=self.proxy.kubeconfig)

    def runs(self, group, pods, seconds=30):
        self.checker.wait(f"{pods} of {group} run", lambda: self.checker.placed(group) == pods, seconds)

    def condition(self, name):
        """Of PodScheduled: reason and message."""
        for one in self.plane.get(f"{DEFAULT}/pods/{name}")["status"].get("conditions", []):
            if one["type"] == "PodScheduled" and one["status"] == "False":
                return one["reason"], one["message"]
        return None

    def test_pods_are_deleted_while_they_wait(self):
        self.gang("red", 6)
        self.runs("red", 6)
        self.gang("blue", 4)  # Waits for room.
        self.gang("green", 2)  # Behind it.
        testbed.wait("blue is told", lambda: self.condition("blue-0"))
        self.delete("blue-1")
        self.delete("red-0", "red-1", "red-2", "red-3", "red-4", "red-5")
        # Three pods of blue are less than its minimum.
        self.runs("green", 2)
        testbed.wait("blue is told", lambda: "3 of 4" in (self.condition("blue-0") or ("", ""))[1])
        self.assertEqual(0, self.checker.placed("blue"))
        self.plane.create(f"{DEFAULT}/pods", pod(1, group="blue", name="blue-4"))
        self.runs("blue", 4)

    def test_pods_are_relabelled_while_they_wait(self):
        queue = {"apiVersion": "muster.dev/v1alpha1", "kind": "Queue"}
        self.plane.create(QUEUES, {**queue, "metadata": {"name": "held"}, "spec": {"held": True}})
        self.plane.create(QUEUES, {**queue, "metadata": {"name": "open"}, "spec": {}})
        for i in range(2):
            self.plane.create(f"{DEFAULT}/pods", pod(
                1, name=f"one-{i}", labels={"muster.dev/queue": "held"}))
        for i in range(3):  # Two of them are wanted; one is of another group.
            self.plane.create(f"{DEFAULT}/pods", pod(
                1, name=f"pair-{i}", labels={"muster.dev/pod-group": "pair" if i else "other"},
                annotations={"muster.dev/min-pods": "3"}))
        testbed.wait("all are told", lambda: all(map(self.condition, ("one-0", "one-1", "pair-0", "pair-1", "pair-2"))))
        self.plane.kubectl("label", "--overwrite", "pod", "one-0", "muster.dev/queue=open")
        testbed.wait("it runs where nothing is held", lambda: self.bound() == ["one-0"])
        self.plane.kubectl("label", "--overwrite", "pod", "pair-0", "muster.dev/pod-group=pair")
        testbed.wait("the group is whole", lambda: self.bound() == ["one-0", "pair-0", "pair-1", "pair-2"])
        self.assertIn("held", self.condition("one-1")[1])

    def test_a_pod_has_another_priority_if_it_is_made_anew(self):
        self.gang("red", 6)
        self.runs("red", 6)
        for name in ("first", "second"):
            self.plane.create(f"{DEFAULT}/pods", pod(2, name=name))
        testbed.wait("both are told", lambda: self.condition("first") and self.condition("second"))
        # The API server lets nobody change the priority of a pod.
        code, answer = self.plane.api("PUT", f"{DEFAULT}/pods/second", {
            **(one := self.plane.get(f"{DEFAULT}/pods/second")), "spec": {**one["spec"], "priority": 7}})
        self.assertEqual(422, code, answer)
        self.delete("second")
        self.plane.create(f"{DEFAULT}/pods", pod(2, name="second", priority="high"))
        testbed.wait("it runs, and the gang in its way does not", lambda: "second" in self.bound() and
                     self.checker.placed("red") == 0)

    def test_a_node_is_deleted_while_it_is_bound_to(self):
        self.plane.run("nodes", "--prefix=lost-", "--count=1", "--gpus=2", "--label=kind=lost")
        self.addCleanup(self.plane.api, "DELETE", "/api/v1/nodes/lost-0")

        def before(request):
            if request.kind == "bind" and b"lost-0" in request.body:
                self.plane.api("DELETE", "/api/v1/nodes/lost-0")

        self.proxy.before = before
        self.gang("red", 8)  # Needs all nodes.
        testbed.wait("the node is gone, and all is answered", lambda: len(self.proxy.of("bind")) >= 8 and all(
            one.status for one in self.proxy.of("bind")) and not self.plane.get("/api/v1/nodes/lost-0"))
        lost = [name for name, one in self.pods().items() if one["spec"].get("nodeName") == "lost-0"]
        self.assertTrue(lost)
        self.delete(*lost)  # As the garbage collector of pods does, within a minute.
        # Less than its minimum: the others give their places to those that have room for all.
        self.checker.wait("no pod of it runs", lambda: self.checker.placed("red") == 0)
        self.gang("blue", 6)
        self.runs("blue", 6)

    def test_bindings_that_somebody_else_won(self):
        thief = {"apiVersion": "v1", "kind": "Binding", "target": {"apiVersion": "v1", "kind": "Node"}}
        stolen = []

        def before(request):
            if request.kind == "bind" and not stolen:
                stolen.append(request.name)
                used = {one["spec"]["nodeName"] for one in list(self.checker.pods.values()) if "nodeName" in one["spec"]}
                wanted = [f"node-{i}" for i in range(3)
                          if f"node-{i}" not in used and f"node-{i}".encode() not in request.body]
                code, answer = self.plane.api("POST", f"{DEFAULT}/pods/{request.name}/binding", {
                    **thief, "metadata": {"name": request.name}, "target": {**thief["target"], "name": wanted[-1]}})
                self.assertEqual(201, code, answer)

        gone = threading.Event()

        def after(request):
            # muster-kube asks whose pod it is now; the watch may be faster than the answer.
            if request.kind == "read":
                gone.wait(5)

        self.proxy.before, self.proxy.after = before, after
        for i in range(8):
            stolen.clear()
            gone.clear()
            self.proxy.forget()
            self.gang(f"g{i}", 2)
            self.runs(f"g{i}", 2)
            testbed.wait("it asks", lambda: [one for one in self.proxy.of("read") if one.status])
            self.assertEqual([201, 409], sorted(one.status for one in self.proxy.of("bind")))
            self.delete(f"g{i}-0", f"g{i}-1")
            self.checker.catch_up()
            gone.set()

    def malformed(self):
        """Objects that the API server takes and nobody can use, and pods that name them."""
        mine = {"apiVersion": "muster.dev/v1alpha1"}
        self.plane.create(QUEUES, {**mine, "kind": "Queue", "metadata": {"name": "odd"}, "spec": {
            "quotas": [{"resource": "nvidia.com/gpu", "limit": "several"}]}})
        self.plane.create(QUEUES, {**mine, "kind": "Queue", "metadata": {"name": "orphan"}, "spec": {
            "parent": "nowhere"}})
        self.plane.create(MUSTER_GROUPS, {**mine, "kind": "PodGroup", "metadata": {"name": "flat"}, "spec": {
            "topology": {"slices": [{"required": "example.com/no-level", "size": 2}]}}})
        for name, labels, annotations in (
                ("of-odd", {"muster.dev/queue": "odd"}, {}), ("of-orphan", {"muster.dev/queue": "orphan"}, {}),
                ("of-flat", {"muster.dev/pod-group": "flat"}, {}),
                ("many", {"muster.dev/pod-group": "many"}, {"muster.dev/min-pods": "many"})):
            self.plane.create(f"{DEFAULT}/pods", pod(1, name=name, labels=labels, annotations=annotations))

    def events(self, reason=None):
        """The notes of warnings, by the name of the object."""
        return {one["regarding"]["name"]: one["note"] for one in
                self.plane.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
                if one["type"] == "Warning" and reason in (None, one["reason"])}

    def test_what_cannot_be_used_is_told_and_stops_nothing_else(self):
        self.malformed()
        self.gang("red", 4)
        self.runs("red", 4)
        told = {"of-odd": "odd", "of-orphan": "nowhere", "of-flat": "spec.topology",
                "many": "metadata.annotations[muster.dev/min-pods]"}
        testbed.wait("each pod has an Event", lambda: all(
            words in self.events("FailedScheduling").get(name, "") for name, words in told.items()))
        self.assertEqual([], [name for name in self.bound() if name in told])
        # So has each object, for those who wrote it.
        told = {"odd": "spec.quotas[0].limit", "orphan": "nowhere", "flat": "spec.topology"}
        testbed.wait("each object has an Event", lambda: all(
            words in self.events().get(name, "") for name, words in told.items()))
        # Once they say what can be used, their pods run.
        self.plane.kubectl("patch", "queue.muster.dev", "odd", "--type=merge", "-p",
                           '{"spec": {"quotas": [{"resource": "nvidia.com/gpu", "limit": 1}]}}')
        self.plane.kubectl("patch", "podgroup.muster.dev", "flat", "--type=merge", "-p", '{"spec": {"topology": null}}')
        testbed.wait("two run", lambda: {"of-odd", "of-flat"} <= set(self.bound()))


if __name__ == "__main__":
    muster.main()
