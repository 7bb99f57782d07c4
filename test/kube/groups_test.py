#!/usr/bin/env python3
"""Groups that other objects describe, on a real control plane: those of a training operator, of
Volcano, CompositePodGroups, groups of a PodGroup of muster.dev.

    groups_test.py MUSTER_KUBE
"""

import json
import threading

import muster
import testbed
from muster import DEFAULT, MUSTER_GROUPS, pod

EXAMPLES = testbed.ROOT / "adapters/kubernetes/examples"
ALPHA = "/apis/scheduling.k8s.io/v1alpha3/namespaces/default"
GATES = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"
SERVED = "scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true"


class Operator(threading.Thread):
    """What a training operator does, as far as a scheduler sees it: it makes the pods that a PyTorchJob
    lacks, of several jobs in turn, so that they mix."""

    def __init__(self, plane, path):
        super().__init__()
        self.plane, self.path, self.ends = plane, path, threading.Event()
        self.start()

    def lacking(self):
        there = {one["metadata"]["name"] for one in self.plane.get(f"{DEFAULT}/pods")["items"]}
        for job in self.plane.get(self.path)["items"]:
            for kind, replicas in job["spec"]["pytorchReplicaSpecs"].items():
                for index in range(replicas["replicas"]):
                    name = f"{job['metadata']['name']}-{kind.lower()}-{index}"
                    if name not in there:
                        yield index, name, kind, job, replicas["template"]

    def run(self):
        while not self.ends.wait(0.1):
            for _, name, kind, job, template in sorted(self.lacking(), key=lambda one: one[:2]):
                meta = {**template.get("metadata", {}), "name": name, "labels": {
                    "training.kubeflow.org/job-name": job["metadata"]["name"],
                    "training.kubeflow.org/replica-type": kind.lower()}}
                meta["ownerReferences"] = [{
                    "apiVersion": job["apiVersion"], "kind": job["kind"], "name": job["metadata"]["name"],
                    "uid": job["metadata"]["uid"], "controller": True}]
                self.plane.api("POST", f"{DEFAULT}/pods", {"metadata": meta, "spec": template["spec"]})

    def stop(self):
        self.ends.set()
        self.join()


class GroupsTest(muster.StoryTest):
    flags = ("--nodes=2", "--gpus=2", f"--feature-gates={GATES}", f"--runtime-config={SERVED}")
    shared = True
    schedulers = ("muster", "volcano")
    muster_flags = ("--no-leader-elect", "--scheduler-name", "muster", "--scheduler-name", "volcano")

    @classmethod
    def prepare(cls, plane):
        cls.jobs = plane.make_kind("kubeflow.org", "v1", "PyTorchJob")
        cls.sets = plane.make_kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet")
        cls.volcano = plane.make_kind("scheduling.volcano.sh", "v1beta1", "PodGroup")
        return super().prepare(plane)

    def setUp(self):
        super().setUp()
        self.run_muster()

    def clear(self):
        for path in (self.jobs, self.sets, self.volcano, f"{ALPHA}/compositepodgroups"):
            self.plane.api("DELETE", f"{path}?propagationPolicy=Background", {"gracePeriodSeconds": 0})
        super().clear()

    def bound_of(self, prefix):
        return [name for name in self.bound() if name.startswith(prefix)]

    def told(self, name):
        return next((one["message"] for one in self.pods()[name]["status"].get("conditions", [])
                     if one["type"] == "PodScheduled" and one["status"] == "False"), "")

    def create(self, name, **metadata):
        self.plane.create(f"{DEFAULT}/pods", pod(gpus=1, name=name, **metadata))

    def apply(self, example, name):
        text = (EXAMPLES / f"{example}.yaml").read_text(encoding="utf-8")
        self.plane.kubectl("apply", "-f", "-", stdin=text.replace("NAME", name).replace("SECONDS", "600"))

    def test_of_two_training_jobs_one_runs_whole(self):
        for name in ("red", "blue"):
            self.apply("pytorchjob", name)
        operator = Operator(self.plane, self.jobs)
        self.addCleanup(operator.stop)
        testbed.wait("all pods are there", lambda: len(self.pods()) == 8)
        testbed.wait("four run", lambda: len(self.bound()) == 4)
        first, second = ("red", "blue") if self.bound_of("red") else ("blue", "red")
        self.assertEqual(4, len(self.bound_of(first)))
        testbed.wait("the others are told", lambda: "nvidia.com/gpu" in self.told(f"{second}-master-0"))
        # A pod that is made again goes on in the place that was kept.
        before = self.pods()[f"{first}-worker-1"]
        self.plane.api("DELETE", f"{DEFAULT}/pods/{first}-worker-1?gracePeriodSeconds=0")
        testbed.wait("it is made again and runs", lambda: (
            len(self.bound_of(first)) == 4
            and self.pods()[f"{first}-worker-1"]["metadata"]["uid"] != before["metadata"]["uid"]))
        self.assertEqual([], self.bound_of(second))
        self.plane.api("DELETE", f"{self.jobs}/{first}")
        for name in self.bound_of(first):  # The garbage collector takes half a minute to know a new kind.
            self.plane.api("DELETE", f"{DEFAULT}/pods/{name}?gracePeriodSeconds=0")
        testbed.wait("the other one runs", lambda: len(self.bound_of(second)) == 4)
        operator.stop()

    def test_each_replica_of_a_leader_worker_set_is_a_gang(self):
        """With the labels that its operator gives its pods."""
        self.plane.create(self.sets, {
            "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "serve"},
            "spec": {"replicas": 2, "startupPolicy": "LeaderCreated", "leaderWorkerTemplate": {"size": 3}}})
        names = "leaderworkerset.sigs.k8s.io"

        def add(replica, worker):
            self.create(f"serve-{replica}-{worker}", labels={
                f"{names}/name": "serve", f"{names}/group-index": str(replica), f"{names}/worker-index": str(worker)})

        for replica, worker in ((0, 0), (0, 1), (1, 0), (1, 1), (1, 2)):
            add(replica, worker)
        testbed.wait("one runs", lambda: self.bound() == ["serve-1-0", "serve-1-1", "serve-1-2"])
        testbed.wait("the other is told", lambda: "of 3 pods are there" in self.told("serve-0-0"))
        add(0, 2)
        testbed.wait("it has no room", lambda: "3 nvidia.com/gpu needed" in self.told("serve-0-0"))
        self.assertEqual(3, len(self.bound()))

    def test_a_volcano_manifest_runs_unchanged(self):
        def add(name, task):
            one = pod(gpus=1, name=name)
            one["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "v", "volcano.sh/task-spec": task}
            one["spec"]["schedulerName"] = "volcano"
            self.plane.create(f"{DEFAULT}/pods", one)

        for i in range(3):
            add(f"worker-{i}", "worker")
        testbed.wait("it is told", lambda: "PodGroup 'v' is not there" in self.told("worker-0"))
        self.plane.create(self.volcano, {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "v"},
            "spec": {"minMember": 3, "minTaskMember": {"ps": 1, "worker": 2}, "queue": "default",
                     "minResources": {"nvidia.com/gpu": "3"}}})
        testbed.wait("it is told", lambda: "'ps': 0 of 1 pods are there" in self.told("worker-0"))
        self.assertEqual([], self.bound())
        add("ps-0", "ps")
        testbed.wait("all run", lambda: len(self.bound()) == 4)

    def test_a_composite_group_of_kubernetes(self):
        template = {"workloadName": "w", "templateName": "t"}
        for name in ("left", "right"):
            self.plane.create(f"{ALPHA}/podgroups", {
                "metadata": {"name": name},
                "spec": {"parentCompositePodGroupName": "both", "workloadRef": template,
                         "schedulingPolicy": {"gang": {"minCount": 2}}}})
            for i in range(2):
                self.create(f"{name}-{i}", group=name)
        testbed.wait("it is told", lambda: "CompositePodGroup 'both' is not there" in self.told("left-0"))
        self.plane.create(f"{ALPHA}/compositepodgroups", {
            "metadata": {"name": "both"},
            "spec": {"workloadRef": template, "schedulingPolicy": {"gang": {"minGroupCount": 2}}}})
        testbed.wait("all run", lambda: len(self.bound()) == 4)

    def test_groups_of_a_group_of_muster(self):
        self.apply("subgroups", "g")
        testbed.wait("all run", lambda: len(self.bound()) == 4)
        self.assertIn("worker", self.plane.kubectl("get", "mpg", "g", "-o", "wide"))
        for spec in ({"groups": [{}]}, {"groups": [{"name": "a"}, {"name": "a"}]},
                     {"groups": [{"name": "a", "minMember": 0}]}, {"groups": [{"name": "a", "most": 3}]},
                     {"groups": [{"name": "a", "topology": {"slices": [{"size": 2}]}}]}):
            code, answer = self.plane.api("POST", MUSTER_GROUPS, {
                "apiVersion": "muster.dev/v1alpha1", "kind": "PodGroup", "metadata": {"name": "bad"}, "spec": spec})
            self.assertIn(code, (400, 422), json.dumps([spec, answer]))


if __name__ == "__main__":
    muster.main()
