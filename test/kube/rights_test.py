#!/usr/bin/env python3
"""What muster-kube may do (deploy/rbac.yaml) is what it needs, and no more; and who it is stays secret.

    rights_test.py MUSTER_KUBE

The API server's audit log tells which rights were used. Then each is taken away alone: the API
server refuses that one, the program says which, and what it is for does not happen.
"""

import copy
import itertools
import json
import time

import muster
import testbed
from muster import DEFAULT, MusterKube, pod
from proxy import Cut, ProxiedTest

ACCOUNT = "system:serviceaccount:muster-system:muster-kube"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES = {"": f"{RBAC}/clusterroles/muster-kube",
         "muster-system": f"{RBAC}/namespaces/muster-system/roles/muster-kube"}
LEASE = "/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-kube"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
CLAIMS = f"{DEFAULT}/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
PROVISIONER = "example.com/disks"
SELECTED = "volume.kubernetes.io/selected-node"
ELECT = ("--lease-duration=3", "--longest-request=1")


def right_of(entry):
    """Of an entry in the audit log."""
    asked = entry["objectRef"]
    resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
    namespace = asked.get("namespace", "")
    return (namespace if namespace == "muster-system" else "", asked.get("apiGroup", ""), resource, entry["verb"])


class RightsTest(ProxiedTest):
    # All that the API server has itself is served: other programs cannot bring it.
    flags = ("--nodes=1", "--gpus=2",
             "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true",
             "--runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true")
    shared = True

    @classmethod
    def start_plane(cls):
        return testbed.Testbed(*cls.flags, audit=ACCOUNT)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with MusterKube(cls.kubeconfig, "--no-leader-elect"):
            pass
        entries, _ = cls.plane.audited()
        for one in entries:
            if one["verb"] == "list" and one["responseStatus"]["code"] == 404:
                # It comes with another program. There are none, for who looks for it.
                asked = one["objectRef"]
                cls.plane.make_kind(asked["apiGroup"], asked["apiVersion"], asked["resource"].capitalize(),
                                    asked["resource"])

    def setUp(self):
        super().setUp()
        self.priorities(high=1000)
        _, self.begin = self.plane.audited()

    def granted(self):
        """Rights in deploy/rbac.yaml: namespace ("" for all), group, resource and verb."""
        return [(one["metadata"].get("namespace", "") if one["kind"] == "Role" else "", group, resource, verb)
                for one in self.plane.manifest(testbed.DEPLOY / "rbac.yaml") for rule in one.get("rules", [])
                for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]]

    def used(self, refused=False):
        """The rights that were asked for since the beginning of the test, or those that were denied."""
        entries, _ = self.plane.audited(self.begin)
        return {right_of(one) for one in entries
                if not refused or one["annotations"]["authorization.k8s.io/decision"] == "forbid"}

    # --- What each right is for ----------------------------------------------------

    def pod_runs(self, name, seconds=10):
        self.checker.wait(f"{name} runs", lambda: name in self.running(), seconds)

    def running(self):
        return {one["metadata"]["name"] for one in list(self.checker.pods.values())
                if "nodeName" in one["spec"] and "deletionTimestamp" not in one["metadata"]}

    def lose_a_binding(self):
        """A binding that was not carried out, and of which nobody knows."""
        lost = []

        def before(request):
            if request.kind == "bind" and not lost:
                lost.append(request)
                raise Cut

        self.proxy.before = before
        self.plane.create(f"{DEFAULT}/pods", pod(name="lost"))
        testbed.wait("a binding is lost", lambda: lost)

    def bind(self, name="one"):
        self.plane.create(f"{DEFAULT}/pods", pod(name=name))

    def preempt(self):
        self.plane.create(f"{DEFAULT}/pods", pod(2, name="low"))
        self.pod_runs("low")
        self.plane.create(f"{DEFAULT}/pods", pod(2, name="high", priority="high"))

    def make_queue(self):
        self.plane.create(muster.QUEUES, {"apiVersion": "muster.dev/v1alpha1", "kind": "Queue",
                                          "metadata": {"name": "q"}, "spec": {}})

    def has_status(self):
        return "status" in self.plane.get(f"{muster.QUEUES}/q")

    def make_group(self):
        self.plane.create(muster.MUSTER_GROUPS, {"apiVersion": "muster.dev/v1alpha1", "kind": "PodGroup",
                                                 "metadata": {"name": "g"}, "spec": {"minMember": 2}})
        self.plane.create(f"{DEFAULT}/pods", pod(name="member", labels={"muster.dev/pod-group": "g"}))

    def group_has_status(self):
        return "status" in self.plane.get(f"{muster.MUSTER_GROUPS}/g")

    def wait_for_room(self):
        self.plane.create(f"{DEFAULT}/pods", pod(3, name="large"))

    def claim(self, provisioner):
        """A pod with a claim that is bound once the pod has a node; a free volume for it."""
        name = "made" if provisioner == PROVISIONER else "local"
        self.plane.api("POST", CLASSES, {"metadata": {"name": name}, "provisioner": provisioner,
                                         "volumeBindingMode": "WaitForFirstConsumer"})
        self.plane.create(CLAIMS, {"metadata": {"name": name}, "spec": {
            "storageClassName": name, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}})
        if name == "local":
            self.plane.create(VOLUMES, {"metadata": {"name": "free"}, "spec": {
                "storageClassName": name, "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                "hostPath": {"path": "/mnt"}}})
        one = pod(name=f"claims-{name}")
        one["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
        self.plane.create(f"{DEFAULT}/pods", one)

    def is_selected(self):
        return SELECTED in self.plane.get(f"{CLAIMS}/made")["metadata"].get("annotations", {})

    def is_given(self):
        return "claimRef" in self.plane.get(f"{VOLUMES}/free")["spec"]

    def clear(self):
        super().clear()
        self.plane.kubectl("delete", "pvc,pv", "--all", "--wait=true", "--timeout=30s")

    def is_told(self, name="large"):
        return any(one["type"] == "PodScheduled" and one["status"] == "False" for one in
                   self.plane.get(f"{DEFAULT}/pods/{name}")["status"].get("conditions", []))

    def events(self):
        return [one for one in self.plane.get(EVENTS)["items"] if one["reason"] == "Scheduled"]

    def test_each_right_is_used_and_no_other(self):
        self.plane.api("DELETE", LEASE)
        self.run_muster(*ELECT, kubeconfig=self.proxy.kubeconfig)
        self.lose_a_binding()
        self.pod_runs("lost")
        self.preempt()
        self.pod_runs("high")
        self.make_queue()
        testbed.wait("the queue's status is written", self.has_status)
        self.make_group()
        testbed.wait("the group's status is written", self.group_has_status)
        self.wait_for_room()
        testbed.wait("it is told why it waits", self.is_told)
        self.claim(PROVISIONER)
        testbed.wait("a node is selected", self.is_selected)
        self.claim("kubernetes.io/no-provisioner")
        testbed.wait("a volume is given", self.is_given)
        testbed.wait("an Event tells of the binding", self.events)
        testbed.wait("the lease is renewed", lambda: any(right[3] == "update" for right in self.used()))
        self.assertEqual(sorted(self.granted()), sorted(self.used()))
        self.assertEqual(set(), self.used(refused=True))

    def test_each_right_is_needed(self):
        for right in self.granted():
            with self.subTest(right):
                role = self.plane.get(ROLES[right[0]])
                self.take_away(right, role)
                try:
                    self.run_without(right)
                finally:
                    self.muster.__exit__()
                    self.put(role)
                self.assertEqual({right}, self.used(refused=True))
                self.clear()

    def put(self, role):
        role["metadata"].pop("resourceVersion")
        code, answer = self.plane.api("PUT", ROLES[role["metadata"].get("namespace", "")], role)
        self.assertEqual(200, code, answer)

    def take_away(self, right, role):
        namespace, group, resource, verb = right
        rules = []
        for rule in role["rules"]:
            for its, one in itertools.product(rule["apiGroups"], rule["resources"]):
                rules.append(copy.deepcopy({**rule, "apiGroups": [its], "resources": [one]}))
                if its == group and one == resource and verb in rule["verbs"]:
                    rules[-1]["verbs"].remove(verb)
        self.put({**role, "metadata": dict(role["metadata"]), "rules": [one for one in rules if one["verbs"]]})
        name, _, sub = resource.partition("/")
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
            "user": ACCOUNT, "groups": ["system:serviceaccounts", "system:authenticated"],
            "resourceAttributes": {"namespace": namespace, "group": group, "resource": name,
                                   "subresource": sub, "verb": verb}}}
        testbed.wait("the API server denies it", lambda: not self.plane.create(
            "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"])
        _, self.begin = self.plane.audited()

    def start_without(self, *flags):
        self.proxy.before = lambda request: None
        self.muster = MusterKube(self.proxy.kubeconfig, *(flags or ("--no-leader-elect",)))
        self.addCleanup(self.muster.__exit__)
        return self.muster

    def says_what_it_may_not(self, right):
        _, _, resource, verb = right
        testbed.wait(f"it says that it cannot {verb} {resource}", lambda: any(
            f"cannot {verb} resource" in line and f'"{resource}"' in line for line in list(self.muster.lines)), 15)

    def run_without(self, right):
        """What this right is for does not happen, and the program says that it lacks the right."""
        _, _, resource, verb = right
        if resource == "leases":
            if verb == "create":
                self.plane.api("DELETE", LEASE)
            self.start_without(*ELECT)
            self.says_what_it_may_not(right)
            self.assertFalse(self.muster.says("leads"))
        elif verb == "list":
            self.start_without()
            self.says_what_it_may_not(right)
            self.assertFalse(self.muster.says("in step"))
        elif verb == "watch":
            self.start_without()
            self.says_what_it_may_not(right)
        else:
            act, happens = {
                "pods": (self.lose_a_binding, lambda: "lost" in self.running()),
                "pods/binding": (self.bind, self.running),
                "persistentvolumeclaims": (lambda: self.claim(PROVISIONER), self.is_selected),
                "persistentvolumes": (lambda: self.claim("kubernetes.io/no-provisioner"), self.is_given),
                "pods/eviction": (self.preempt, lambda: "high" in self.running()),
                "pods/status": (self.wait_for_room, self.is_told),
                "podgroups/status": (self.make_group, self.group_has_status),
                "queues/status": (self.make_queue, self.has_status),
                "events": (self.bind, lambda: any(
                    one["regarding"]["uid"] in self.checker.pods for one in self.events())),
            }[resource]
            self.start_without().ready()
            act()
            self.says_what_it_may_not(right)
            time.sleep(0.5)
            self.assertFalse(happens())

    def test_the_token_is_in_no_line(self):
        """MusterKube looks for it in what every test prints; here the API server does not take it."""
        with open(self.kubeconfig, encoding="utf-8") as file:
            config = json.load(file)
        token = config["users"][0]["user"]["token"]
        config["users"][0]["user"]["token"] = token[:-8] + token[:8]
        path = f"{self.plane.scratch.name}/wrong.kubeconfig"
        for server in (self.plane.server, self.plane.server.replace("127.0.0.1", "127.0.0.2")):
            config["clusters"][0]["cluster"]["server"] = server
            with open(path, "w", encoding="utf-8") as file:
                json.dump(config, file)
            wrong = MusterKube(path, *ELECT)
            self.addCleanup(wrong.__exit__)
            testbed.wait("it complains", lambda: wrong.lines, 15)
            wrong.kill()
            self.assertFalse(wrong.says("leads"))
            self.assertFalse(wrong.says(token[:40]))


if __name__ == "__main__":
    muster.main()
