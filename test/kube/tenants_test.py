#!/usr/bin/env python3
"""Ten tenants, who may create pods in their own namespaces and nothing else, against what is others'.

    tenants_test.py MUSTER_KUBE

What pods of higher priority take by Kubernetes' own rules is theirs; so no tenant has such a class here.
"""

import threading
import time

import muster
import testbed
from muster import DEFAULT, GROUPS, QUEUES, pod

TENANTS = [f"tenant-{i}" for i in range(10)]
RBAC = "/apis/rbac.authorization.k8s.io/v1"
# As a scheduler's own groups and their objects are named by others.
GROUP_MARKS = (
    {"spec": {"schedulingGroup": {"podGroupName": "calm"}}},
    {"labels": {"muster.dev/pod-group": "calm"}},
    {"labels": {"muster.dev/pod-group": "calm", "muster.dev/subgroup": "calm-0"}},
    {"labels": {"muster.dev/pod-group": "calm"}, "annotations": {"muster.dev/min-pods": "1048576"}},
    {"annotations": {"scheduling.k8s.io/group-name": "default/calm"}},
    {"annotations": {"scheduling.volcano.sh/group-name": "../default/calm", "volcano.sh/task-spec": "calm"}},
    {"labels": {"scheduling.x-k8s.io/pod-group": "calm"}},
    {"labels": {"kueue.x-k8s.io/pod-group-name": "calm"},
     "annotations": {"kueue.x-k8s.io/pod-group-total-count": "99999999999999999999"}},
    {"labels": {"leaderworkerset.sigs.k8s.io/name": "calm", "leaderworkerset.sigs.k8s.io/group-index": "-1",
                "leaderworkerset.sigs.k8s.io/worker-index": "4294967296"}},
    {"labels": {"jobset.sigs.k8s.io/jobset-name": "calm"}},
    {"labels": {"training.kubeflow.org/job-name": "calm", "training.kubeflow.org/replica-type": "launcher"}},
)
ODD_VALUES = ("", "-1", "0", "1e9", "18446744073709551616", "\u0661", "\x7f", "a" * 10_000, "{", "2999-01-01T00:00:00Z",
              "1970-01-01T00:00:00+99:99", "NaN")
READ_ANNOTATIONS = ("muster.dev/min-pods", "muster.dev/checkpoint", "muster.dev/task", "muster.dev/decision",
                    "batch.kubernetes.io/job-completion-index", "kueue.x-k8s.io/pod-group-total-count")
# Nobody's request, but of what the API server or a limit of it does not take.
TAKEN_OR_NOT = (201, 400, 403, 422)


class Tenant:
    """One of ten, with the certificate of a user and a namespace."""

    def __init__(self, story, name):
        self.story, self.plane, self.name = story, story.plane, name
        self.pods = f"/api/v1/namespaces/{name}/pods"
        self.made = 0

    def settle(self):
        """What an administrator gives a tenant."""
        plane, name = self.plane, self.name
        plane.run("user", name)
        plane.create("/api/v1/namespaces", {"metadata": {"name": name}})
        path = f"{RBAC}/namespaces/{name}"
        plane.create(f"{path}/roles", {"metadata": {"name": "pods"}, "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "get", "list", "delete"]},
            {"apiGroups": [""], "resources": ["pods/resize"], "verbs": ["update"]}]})
        plane.create(f"{path}/rolebindings", {
            "metadata": {"name": "pods"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "pods"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]})
        plane.create(f"/api/v1/namespaces/{name}/resourcequotas", {
            "metadata": {"name": "no-priority"}, "spec": {"hard": {"pods": "0"}, "scopeSelector": {
                "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": [
                    "high", "system-node-critical", "system-cluster-critical"]}]}}})

    def ask(self, method, path, body=None):
        return self.plane.api(method, path, body, user=self.name)

    def make(self, scheduler="muster", spec=None, allowed=TAKEN_OR_NOT, **more):
        """A pod with these fields besides; its name, whether it came to be or not."""
        self.made += 1
        name = f"{self.name}-{self.made}"
        one = pod(name=name, **more)
        one["spec"].update({"schedulerName": scheduler, **(spec or {})})
        code, answer = self.ask("POST", self.pods, one)
        self.story.assertIn(code, allowed, answer)
        return name

    # --- What a tenant tries -------------------------------------------------------

    def bind_past_the_scheduler(self):
        for node in self.story.nodes:
            for scheduler in ("muster", "somebody"):
                for cpu in ("3", "4000"):
                    self.make(scheduler, cpu=cpu, spec={"nodeName": node, "tolerations": [{"operator": "Exists"}]})
                self.make(scheduler, gpus=2, spec={"nodeName": node})
        self.make(spec={"nodeName": "nowhere"})

    def ask_for_very_much(self):
        for cpu in ("9223372036854775807", "1e18", "9223372036854775807m", "100000E"):
            self.make(cpu=cpu)
            self.make("somebody", cpu=cpu, spec={"nodeName": "node-0"})

    def ask_for_what_nobody_has(self):
        for i in range(12):
            one = {"limits": {f"example.com/{self.name}-{i}": "1"}}
            self.make(spec={"containers": [{"name": "main", "image": "example.com/main", "resources": one}]})
            self.make(labels={"app": "spread", "muster.dev/pod-group": f"spread-{i}"},
                      annotations={"muster.dev/min-pods": "1"},
                      spec={"topologySpreadConstraints": [{
                          "maxSkew": 1, "topologyKey": f"example.com/{self.name}-{i}",
                          "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "spread"}}}]})

    def take_ports(self):
        for node in self.story.nodes:
            self.make("somebody", spec={"nodeName": node, "containers": [{
                "name": "main", "image": "example.com/main", "ports": [{"containerPort": 80, "hostPort": 80}]}]})
        self.make(spec={"hostNetwork": True})

    def name_groups_of_others(self):
        for mark in GROUP_MARKS:
            self.make(spec=mark.get("spec"), labels=mark.get("labels", {}), annotations=mark.get("annotations", {}))

    def name_owners_of_others(self):
        for kind, version, name, uid in self.story.owners:
            self.make(ownerReferences=[{"apiVersion": version, "kind": kind, "name": name, "uid": uid,
                                        "controller": True, "blockOwnerDeletion": False}])

    def write_odd_annotations(self):
        for value in ODD_VALUES:
            self.make(annotations={name: value for name in READ_ANNOTATIONS}, labels={"muster.dev/pod-group": "odd"})
        self.make(annotations={"x": "y" * 200_000})

    def name_queues_of_others(self):
        for queue in ("theirs", "nowhere", "default", "default.default", "muster-system"):
            self.make(labels={"muster.dev/queue": queue})
            self.make(labels={"muster.dev/queue": queue, "muster.dev/pod-group": queue},
                      annotations={"muster.dev/min-pods": "1"})

    def take_a_higher_priority(self):
        self.make(priority="high", allowed=(403,))
        self.make(priority="system-node-critical", allowed=(403,))
        self.make(spec={"priority": 2_000_000_000}, allowed=(403,))

    def hold_many_back(self):
        for _ in range(10):
            self.make(spec={"schedulingGates": [{"name": "example.com/never"}]},
                      labels={"muster.dev/pod-group": "gated"}, annotations={"muster.dev/min-pods": "1048576"})

    def come_and_go(self):
        for i in range(10):
            name = self.make(cpu="3", finalizers=["example.com/never"] if i % 2 else [])
            self.ask("DELETE", f"{self.pods}/{name}", {"gracePeriodSeconds": 30 if i % 3 else 0})

    def resize_again_and_again(self):
        name = self.make("somebody", cpu="10m", spec={"nodeName": "node-0"})
        path = f"{self.pods}/{name}"
        for cpu in ("1", "4", "4000", "10m", "900m", "4", "10m"):
            code, one = self.ask("GET", path)
            if code != 200 or one["status"]["phase"] not in ("Pending", "Running"):
                return  # The node had no room for it.
            one["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu
            self.story.assertIn(self.ask("PUT", f"{path}/resize", one)[0], (200, 403, 409, 422))
            time.sleep(0.3)

    def touch_what_is_others(self):
        for method, path, body in (
                ("GET", f"{DEFAULT}/pods", None), ("GET", f"{DEFAULT}/pods/calm-0", None),
                ("DELETE", f"{DEFAULT}/pods/calm-0", None), ("DELETE", f"{GROUPS}/calm", None),
                ("POST", f"{DEFAULT}/pods/calm-0/eviction", {
                    "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "calm-0"}}),
                ("POST", f"{DEFAULT}/pods", pod(name="mine")), ("GET", "/api/v1/nodes", None),
                ("POST", QUEUES, {"apiVersion": "muster.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "mine"}}),
                ("POST", f"{self.pods}/{self.make()}/binding", {
                    "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "x"}, "target": {"name": "node-0"}})):
            self.story.assertEqual(403, self.ask(method, path, body)[0], (method, path))

    def attack(self):
        attacks = [self.bind_past_the_scheduler, self.ask_for_very_much, self.ask_for_what_nobody_has, self.take_ports,
                   self.name_groups_of_others, self.name_owners_of_others, self.write_odd_annotations,
                   self.name_queues_of_others, self.take_a_higher_priority, self.hold_many_back, self.come_and_go,
                   self.resize_again_and_again, self.touch_what_is_others]
        first = TENANTS.index(self.name)
        for one in attacks[first:] + attacks[:first]:  # Each in an order of its own.
            one()


class TenantsTest(muster.StoryTest):
    flags = ("--nodes=4", "--cpu=4", "--gpus=2")
    nodes = [f"node-{i}" for i in range(4)]

    def setUp(self):
        super().setUp()
        self.priorities(high=1000)
        self.tenants = [Tenant(self, name) for name in TENANTS]
        for tenant in self.tenants:
            tenant.settle()
        for tenant in self.tenants:
            testbed.wait("pods may be made there", lambda: self.plane.get(
                f"/api/v1/namespaces/{tenant.name}/serviceaccounts/default"))

    def owner(self, path):
        one = self.plane.get(path)
        return one["kind"], one["apiVersion"], one["metadata"]["name"], one["metadata"]["uid"]

    def prepare_victims(self):
        """A gang of a high priority and one of none, both of others, and a queue that is not the tenants'."""
        self.plane.create(QUEUES, {"apiVersion": "muster.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "theirs"},
                                   "spec": {"namespaces": {"names": ["default"]}}})
        self.gang("calm", 2, gpus=2, cpu="3", priority="high")
        self.gang("low", 2, gpus=0, cpu="3")
        self.job("job", cpu="100m")
        testbed.wait("both gangs run", lambda: len([one for one in self.pods().values()
                                                    if one["status"]["phase"] == "Running"]) == 5)
        uids = {name: one["metadata"]["uid"] for name, one in self.pods().items()}
        self.owners = [self.owner(f"{GROUPS}/calm"), self.owner(f"{muster.JOBS}/job"),
                       self.owner(f"{DEFAULT}/pods/calm-0"), self.owner("/api/v1/nodes/node-0"),
                       ("PyTorchJob", "kubeflow.org/v1", "calm", self.owner(f"{GROUPS}/calm")[3]),
                       ("JobSet", "jobset.x-k8s.io/v1alpha2", "calm", "0"), ("Job", "batch/v1", "../default/job", "1")]
        return uids

    def test_they_stop_nothing_and_keep_nothing_from_others(self):
        self.run_muster()
        uids = self.prepare_victims()
        threads, errors = [], []

        def run(tenant):
            try:
                tenant.attack()
            except Exception as error:  # Told by the thread that waits.
                errors.append((tenant.name, error))

        for tenant in self.tenants:
            threads.append(threading.Thread(target=run, args=(tenant,)))
            threads[-1].start()
        for thread in threads:
            thread.join()
        self.assertEqual([], errors)
        self.assertTrue(all(tenant.made > 80 for tenant in self.tenants))
        # What is there for all is shared with them, and what is more important comes first as ever.
        self.plane.create(f"{DEFAULT}/pods", pod(name="guest", priority="high"))
        testbed.wait("others are served", lambda: "guest" in self.bound(), 30)
        time.sleep(5)
        self.assertTrue(self.muster.running(), self.muster.lines)
        self.checker.catch_up()
        for name, uid in uids.items():
            last = self.checker.ever[uid]
            self.assertNotIn("deletionTimestamp", last["metadata"], name)
            self.assertEqual("Running", last["status"]["phase"], name)
        for one in self.checker.ever.values():
            if one["metadata"].get("labels", {}).get("muster.dev/queue") == "theirs":
                self.assertNotIn("nodeName", one["spec"], one["metadata"]["name"])
        self.take_away_their_pods()

    def take_away_their_pods(self):
        for tenant in self.tenants:
            for one in self.plane.get(tenant.pods)["items"]:
                if one["metadata"].get("finalizers"):
                    self.plane.kubectl("patch", "pod", one["metadata"]["name"], "-n", tenant.name, "--type=merge",
                                       "-p", '{"metadata": {"finalizers": null}}')
            self.plane.api("DELETE", tenant.pods, {"gracePeriodSeconds": 0})
        testbed.wait("their pods are gone", lambda: not any(
            self.plane.get(tenant.pods)["items"] for tenant in self.tenants))


if __name__ == "__main__":
    muster.main()
