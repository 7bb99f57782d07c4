#!/usr/bin/env python3
"""Claims of volumes on a real control plane: its controllers bind them, this file makes them.

    volumes_test.py MUSTER_KUBE
"""

import threading
import time

import muster
import testbed
from muster import DEFAULT, pod

CLAIMS = f"{DEFAULT}/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
SELECTED = "volume.kubernetes.io/selected-node"
PROVISIONER = "example.com/disks"


def on_node(name):
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [name]}]}]}}


def volume(name, node, storage_class, size="1Gi", **spec):
    return {"metadata": {"name": name}, "spec": {
        "storageClassName": storage_class, "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain", "local": {"path": "/mnt"}, "nodeAffinity": on_node(node), **spec}}


def claim_spec(storage_class, size="1Gi", **spec):
    return {"storageClassName": storage_class, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}}, **spec}


def with_claim(name, claim, **metadata):
    made = pod(name=name, **metadata)
    made["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    return made


class Provisioner:
    """Makes volumes of class "made" as an external provisioner does; it ends with `with`."""

    def __init__(self, plane, refuses=()):
        self.plane, self.refuses = plane, set(refuses)
        self.asked, self.failure = [], None
        self.hold = threading.Event()  # Set: claims are seen, and nothing is done.
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.ends.wait(0.1):
                for one in self.plane.get(CLAIMS)["items"]:
                    self.serve(one)
        except Exception as error:  # Told by __exit__: a thread's exception fails no test.
            self.failure = error

    def serve(self, claim):
        annotations = claim["metadata"].get("annotations", {})
        node, name = annotations.get(SELECTED), claim["metadata"]["name"]
        # The annotation by which the volume controller hands a claim over.
        if annotations.get("volume.kubernetes.io/storage-provisioner") != PROVISIONER or not node:
            return
        if claim["spec"].get("volumeName") or self.plane.get(f"{VOLUMES}/pv-{claim['metadata']['uid']}"):
            return
        if (name, node) not in self.asked:
            self.asked.append((name, node))
        if self.hold.is_set():
            return
        if node in self.refuses:
            self.plane.kubectl("annotate", "pvc", name, SELECTED + "-")
            return
        self.plane.create(VOLUMES, volume(f"pv-{claim['metadata']['uid']}", node, "made", claimRef={
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default", "name": name,
            "uid": claim["metadata"]["uid"]}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()
        if self.failure:
            raise self.failure


class VolumesTest(muster.StoryTest):
    flags = ("--nodes=3", "--gpus=2")
    shared = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, provisioner in (("made", PROVISIONER), ("local", "kubernetes.io/no-provisioner")):
            cls.plane.create(CLASSES, {"metadata": {"name": name}, "provisioner": provisioner,
                                       "volumeBindingMode": "WaitForFirstConsumer"})

    def setUp(self):
        super().setUp()
        self.run_muster()

    def clear(self):
        super().clear()
        self.plane.kubectl("delete", "pvc,pv", "--all", "--wait=true", "--timeout=30s")

    def claim(self, name, storage_class, **spec):
        self.plane.create(CLAIMS, {"metadata": {"name": name}, "spec": claim_spec(storage_class, **spec)})

    def node_of(self, name):
        return self.plane.get(f"{DEFAULT}/pods/{name}")["spec"].get("nodeName")

    def condition(self, name):
        conditions = self.plane.get(f"{DEFAULT}/pods/{name}")["status"].get("conditions", [])
        return next((c for c in conditions if c["type"] == "PodScheduled"), {})

    def test_a_pod_runs_where_its_bound_volume_is(self):
        self.plane.create(f"{DEFAULT}/pods", with_claim("late", "data"))
        testbed.wait("the claim is named", lambda: "claim 'data' is not there" in
                     self.condition("late").get("message", ""))
        self.assertEqual("Pending", self.condition("late")["reason"])
        self.plane.create(VOLUMES, volume("pv-of-data", "node-1", "static", claimRef={
            "namespace": "default", "name": "data"}))
        self.claim("data", "static", volumeName="pv-of-data")
        testbed.wait("it runs", lambda: self.node_of("late"))
        self.assertEqual("node-1", self.node_of("late"))

    def test_a_volume_is_made_for_the_node_that_was_chosen(self):
        with Provisioner(self.plane) as provisioner:
            provisioner.hold.set()
            self.claim("scratch", "made")
            self.plane.create(f"{DEFAULT}/pods", with_claim("one", "scratch"))
            testbed.wait("a node is selected", lambda: provisioner.asked)
            time.sleep(1)
            self.assertIsNone(self.node_of("one"))
            provisioner.hold.clear()
            testbed.wait("it runs", lambda: self.node_of("one"))
            self.assertEqual([("scratch", self.node_of("one"))], provisioner.asked)
            self.assertEqual("Bound", self.plane.get(f"{CLAIMS}/scratch")["status"]["phase"])

    def test_where_none_can_be_made_another_node_is_tried(self):
        with Provisioner(self.plane, refuses=("node-0", "node-1")) as provisioner:
            self.claim("scratch", "made")
            self.plane.create(f"{DEFAULT}/pods", with_claim("one", "scratch"))
            testbed.wait("it runs", lambda: self.node_of("one"))
            self.assertEqual("node-2", self.node_of("one"))
            self.assertEqual(("scratch", "node-2"), provisioner.asked[-1])

    def test_no_pod_of_a_gang_is_bound_before_all_have_their_volumes(self):
        with Provisioner(self.plane) as provisioner:
            provisioner.hold.set()
            self.group("g", 3)
            for i in range(3):
                made = pod(name=f"g-{i}", gpus=1, group="g")
                made["spec"]["volumes"] = [] if i == 0 else [{"name": "own", "ephemeral": {
                    "volumeClaimTemplate": {"spec": claim_spec("made")}}}]
                self.plane.create(f"{DEFAULT}/pods", made)
            testbed.wait("nodes are selected", lambda: len(provisioner.asked) == 2)
            time.sleep(1)
            self.assertEqual([None] * 3, [self.node_of(f"g-{i}") for i in range(3)])
            provisioner.hold.clear()
            testbed.wait("all run", lambda: all(self.node_of(f"g-{i}") for i in range(3)))

    def test_each_pod_has_a_local_volume_of_its_own(self):
        for node in ("node-0", "node-2"):
            for size in ("5Gi", "2Gi"):
                self.plane.create(VOLUMES, volume(f"{node}-{size.lower()}", node, "local", size))
        for name in ("a", "b"):
            self.claim(name, "local", size="2Gi")
            self.plane.create(f"{DEFAULT}/pods", with_claim(name, name))
        testbed.wait("both run", lambda: self.node_of("a") and self.node_of("b"))
        taken = {}
        for name in ("a", "b"):
            claim = self.plane.get(f"{CLAIMS}/{name}")
            self.assertEqual("Bound", claim["status"]["phase"])
            taken[claim["spec"]["volumeName"]] = name
            self.assertEqual(self.node_of(name), claim["spec"]["volumeName"].rsplit("-", 1)[0])
        self.assertEqual(2, len(taken))


if __name__ == "__main__":
    muster.main()
