#!/usr/bin/env python3
"""The control plane that the other tests of Kubernetes stand on."""

import json
import os
import signal
import subprocess
import time
import unittest

import stories
import testbed
from stories import DEFAULT, GROUPS


def pod(name, annotations=None, grace=30, labels=None, **spec):
    return {
        "metadata": {"name": name, "annotations": annotations or {}, "labels": labels or {}},
        "spec": {
            "terminationGracePeriodSeconds": grace,
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "example.com/main",
                            "resources": {"limits": {"nvidia.com/gpu": 1}}}],
            **spec,
        },
    }


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


class ControlPlaneTest(stories.ClusterTest):
    flags = ("--scheduler", "--nodes=4", "--gpus=8")
    schedulers = ("default-scheduler",)

    @classmethod
    def start_plane(cls):
        start = time.monotonic()
        plane = super().start_plane()
        cls.start_seconds = time.monotonic() - start
        return plane

    def phase(self, name):
        found = self.plane.get(f"{DEFAULT}/pods/{name}")
        return found and found["status"]["phase"]

    def run_pod(self, name, annotations=None, **spec):
        self.plane.create(f"{DEFAULT}/pods", pod(name, annotations, **spec))
        testbed.wait(f"{name} runs", lambda: self.phase(name) == "Running")
        return self.plane.get(f"{DEFAULT}/pods/{name}")

    def test_it_is_up_within_twenty_seconds(self):
        self.assertLess(self.start_seconds, 20)

    def test_status_tells_of_each_component(self):
        status = self.plane.status()
        self.assertTrue(status["healthy"])
        self.assertRegex(status["kubernetes"], r"^v1\.\d+\.\d+$")
        self.assertRegex(status["etcd_server"], r"^3\.\d+\.\d+$")
        self.assertEqual(
            ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "guard"],
            [one["name"] for one in status["components"]])
        self.assertEqual({"running"}, {one["state"] for one in status["components"]})

    def test_nodes_are_ready_and_in_racks(self):
        nodes = [node for node in self.plane.get("/api/v1/nodes")["items"]
                 if node["metadata"]["name"].startswith("node-")]
        self.assertEqual(4, len(nodes))
        for node in nodes:
            self.assertEqual("8", node["status"]["allocatable"]["nvidia.com/gpu"])
            self.assertEqual("rack-0", node["metadata"]["labels"]["topology.testbed.muster.dev/rack"])
            self.assertNotIn("taints", node["spec"])

    def test_a_job_runs_to_completion(self):
        template = pod("", {"testbed.muster.dev/run-for": "1s"})
        del template["metadata"]["name"]
        jobs = "/apis/batch/v1/namespaces/default/jobs"
        self.plane.create(jobs, {
            "metadata": {"name": "job"},
            "spec": {"parallelism": 2, "completions": 2, "template": template}})
        testbed.wait("the job is complete", lambda:
                     "completionTime" in self.plane.get(f"{jobs}/job")["status"])
        self.assertEqual(2, self.plane.get(f"{jobs}/job")["status"]["succeeded"])
        pods = self.plane.get(f"{DEFAULT}/pods?labelSelector=job-name%3Djob")["items"]
        self.assertEqual(["Succeeded"] * 2, [one["status"]["phase"] for one in pods])
        for one in pods:
            self.assertRegex(one["spec"]["nodeName"], r"^node-\d$")
            self.assertEqual(0, one["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"])

    def test_a_pod_that_fails_says_with_which_code(self):
        self.plane.create(f"{DEFAULT}/pods", pod("fails", {
            "testbed.muster.dev/run-for": "100ms", "testbed.muster.dev/exit-code": "3"}))
        testbed.wait("it fails", lambda: self.phase("fails") == "Failed")
        state = self.plane.get(f"{DEFAULT}/pods/fails")["status"]["containerStatuses"][0]["state"]
        self.assertEqual(3, state["terminated"]["exitCode"])

    def test_a_container_starts_again_as_the_restart_policy_says(self):
        self.plane.create(f"{DEFAULT}/pods", pod("again", {
            "testbed.muster.dev/run-for": "100ms", "testbed.muster.dev/exit-code": "1"},
            restartPolicy="OnFailure"))
        testbed.wait("two restarts", lambda: any(
            one["restartCount"] >= 2 for one in
            self.plane.get(f"{DEFAULT}/pods/again")["status"].get("containerStatuses", [])))

    def test_an_annotation_that_cannot_be_read_fails_the_pod(self):
        self.plane.create(f"{DEFAULT}/pods", pod("odd", {"testbed.muster.dev/run-for": "soon"}))
        testbed.wait("it fails", lambda: self.phase("odd") == "Failed")
        self.assertIn("run-for", self.plane.get(f"{DEFAULT}/pods/odd")["status"]["message"])

    def test_an_overbooked_node_fails_the_pod_that_comes_last(self):
        self.plane.run("nodes", "--prefix=small-", "--gpus=1", "--taint=kept=yes:NoSchedule")
        self.run_pod("fits", nodeName="small-0")
        self.plane.create(f"{DEFAULT}/pods", pod("too-much", nodeName="small-0"))
        testbed.wait("it fails", lambda: self.phase("too-much") == "Failed")
        self.assertEqual("OutOfnvidia.com/gpu", self.plane.get(f"{DEFAULT}/pods/too-much")["status"]["reason"])
        self.plane.api("DELETE", f"{DEFAULT}/pods/fits")
        testbed.wait("it is gone", lambda: self.phase("fits") is None)
        self.run_pod("fits-again", nodeName="small-0")

    def test_a_deleted_pod_ends_by_itself_or_with_its_grace(self):
        for name, stop_for, grace, seconds in (("gentle", "2s", 30, 2), ("stubborn", "60s", 3, 3)):
            with self.subTest(name):
                self.run_pod(name, {"testbed.muster.dev/stop-for": stop_for}, grace=grace)
                start = time.monotonic()
                self.plane.api("DELETE", f"{DEFAULT}/pods/{name}")
                self.assertEqual("Running", self.phase(name))
                testbed.wait("it is gone", lambda: self.phase(name) is None)
                self.assertGreaterEqual(time.monotonic() - start, seconds - 0.1)
                self.assertLess(time.monotonic() - start, seconds + 10)

    def test_gangs_are_served_and_scheduled(self):
        self.plane.create(GROUPS, {
            "metadata": {"name": "gang"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}})
        member = {"schedulingGroup": {"podGroupName": "gang"}}
        self.plane.create(f"{DEFAULT}/pods", pod("member-0", **member))
        time.sleep(1)
        self.assertEqual("Pending", self.phase("member-0"))
        self.run_pod("member-1", **member)
        testbed.wait("member-0 runs", lambda: self.phase("member-0") == "Running")
        for path in (f"{DEFAULT}/pods/member-0", f"{DEFAULT}/pods/member-1", f"{GROUPS}/gang"):
            self.plane.api("DELETE", path)
        testbed.wait("the group is gone", lambda: self.plane.get(f"{GROUPS}/gang") is None)

    def test_an_eviction_respects_a_disruption_budget(self):
        self.run_pod("guarded", labels={"app": "guarded"})
        budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
        self.plane.create(budgets, {"metadata": {"name": "budget"}, "spec": {
            "minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}}})
        testbed.wait("the budget is counted", lambda: self.plane.get(f"{budgets}/budget").get(
            "status", {}).get("currentHealthy") == 1)
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "guarded"}}
        code, answer = self.plane.api("POST", f"{DEFAULT}/pods/guarded/eviction", eviction)
        self.assertEqual(429, code, answer)
        self.plane.api("DELETE", f"{budgets}/budget")
        testbed.wait("the eviction is let through", lambda: self.plane.api(
            "POST", f"{DEFAULT}/pods/guarded/eviction", eviction)[0] == 201)
        testbed.wait("it is gone", lambda: self.phase("guarded") is None)

    def test_a_user_without_a_role_may_do_nothing(self):
        path = self.plane.run("user", "nobody:testers").strip()
        self.assertTrue(os.path.exists(path))
        code, answer = self.plane.api("GET", f"{DEFAULT}/pods", user="nobody")
        self.assertEqual(403, code)
        self.assertIn('User "nobody" cannot list', answer["message"])

    def test_kubectl_is_there(self):
        self.assertIn("node-3", self.plane.kubectl("get", "nodes"))
        version = json.loads(self.plane.kubectl("version", "-o", "json"))
        self.assertEqual(version["serverVersion"]["gitVersion"], version["clientVersion"]["gitVersion"])

    def test_a_killed_api_server_comes_back_with_its_data(self):
        self.plane.create(f"{DEFAULT}/configmaps", {"metadata": {"name": "kept"}, "data": {"a": "b"}})
        before = self.plane.component("kube-apiserver")
        self.plane.run("kill", "kube-apiserver")
        self.assertFalse(alive(before["pid"]))
        self.assertEqual("dead", self.plane.component("kube-apiserver")["state"])
        self.assertFalse(self.plane.status()["healthy"])
        self.plane.run("start", "kube-apiserver")
        after = self.plane.component("kube-apiserver")
        self.assertTrue(after["healthy"])
        self.assertNotEqual(before["pid"], after["pid"])
        self.assertEqual({"a": "b"}, self.plane.get(f"{DEFAULT}/configmaps/kept")["data"])

    def test_a_killed_etcd_comes_back_with_its_data(self):
        self.plane.create(f"{DEFAULT}/configmaps", {"metadata": {"name": "safe"}, "data": {"c": "d"}})
        self.plane.run("kill", "etcd")
        self.plane.run("start", "etcd")
        testbed.wait("the API server is well", lambda: self.plane.component("kube-apiserver")["healthy"])
        self.assertEqual({"c": "d"}, self.plane.get(f"{DEFAULT}/configmaps/safe")["data"])

    def test_a_killed_kubelet_finds_the_pods_again(self):
        self.run_pod("ends", {"testbed.muster.dev/run-for": "5s"})
        self.run_pod("leaves")
        self.plane.run("kill", "kubelet")
        self.plane.api("DELETE", f"{DEFAULT}/pods/leaves")
        self.plane.create(f"{DEFAULT}/pods", pod("comes"))
        time.sleep(1)
        self.assertEqual("Running", self.phase("leaves"))
        self.assertEqual("Pending", self.phase("comes"))
        self.plane.run("start", "kubelet")
        testbed.wait("all go on", lambda: (self.phase("ends"), self.phase("leaves"), self.phase("comes")) ==
                     ("Succeeded", None, "Running"))

    def test_a_watch_from_before_a_compaction_is_told_so(self):
        path = f"{DEFAULT}/configmaps"
        self.plane.create(path, {"metadata": {"name": "first"}})
        version = self.plane.get(path)["metadata"]["resourceVersion"]
        self.plane.create(path, {"metadata": {"name": "second"}})
        oldest = int(self.plane.run("compact"))
        self.assertGreater(oldest, int(version))
        # What the API server remembers itself goes with its process.
        self.plane.run("kill", "kube-apiserver")
        self.plane.run("start", "kube-apiserver")
        _, answer = self.plane.api("GET", f"{path}?watch=1&timeoutSeconds=5&resourceVersion={version}")
        self.assertEqual(410, answer.get("code") or answer["object"]["code"])

    def test_a_paused_component_is_silent_until_it_is_resumed(self):
        self.plane.run("pause", "kube-apiserver")
        self.assertEqual("paused", self.plane.component("kube-apiserver")["state"])
        with self.assertRaises(OSError):
            self.plane.api("GET", "/version", timeout=1)
        self.plane.run("resume", "kube-apiserver")
        self.assertEqual(200, self.plane.api("GET", "/version")[0])


class EndTest(unittest.TestCase):
    """How control planes begin and end, with nothing in them: there is nothing to check."""

    bare = ("--controller-manager=false", "--kubelet=false")

    def test_down_leaves_no_process_and_no_directory(self):
        with testbed.Testbed(*self.bare) as plane:
            pids = [one["pid"] for one in plane.status()["components"]]
            self.assertTrue(all(map(alive, pids)))
            plane.run("down")
            self.assertFalse(any(map(alive, pids)))
            self.assertFalse(os.path.exists(plane.dir))

    def test_two_stand_side_by_side(self):
        with testbed.Testbed(*self.bare) as one, testbed.Testbed(*self.bare) as other:
            one.create("/api/v1/namespaces", {"metadata": {"name": "mine"}})
            self.assertIsNone(other.get("/api/v1/namespaces/mine"))

    def test_it_ends_with_its_owner(self):
        with testbed.Testbed(*self.bare) as plane, subprocess.Popen(["sleep", "600"]) as owner:
            orphan = os.path.join(plane.scratch.name, "orphan")
            status = json.loads(subprocess.run(
                [plane.program, "up", f"--dir={orphan}", f"--owner={owner.pid}", "--json", *self.bare],
                check=True, capture_output=True, text=True).stdout)
            owner.send_signal(signal.SIGKILL)
            owner.wait()
            testbed.wait("it is gone", lambda: not os.path.exists(orphan) and not any(
                alive(one["pid"]) for one in status["components"]))

    def test_nothing_stays_of_one_that_does_not_start(self):
        with testbed.Testbed(*self.bare) as plane:
            broken = os.path.join(plane.scratch.name, "broken")
            failed = subprocess.run(
                [plane.program, "up", f"--dir={broken}", "--feature-gates=NoSuchGate=true", *self.bare],
                capture_output=True, text=True)
            self.assertEqual(1, failed.returncode)
            self.assertIn("NoSuchGate", failed.stderr)
            self.assertFalse(os.path.exists(broken))

    def test_a_directory_with_other_content_is_left_alone(self):
        with testbed.Testbed(*self.bare) as plane:
            for command in ("up", "down"):
                failed = subprocess.run([plane.program, command, f"--dir={plane.scratch.name}"],
                                        capture_output=True, text=True)
                self.assertEqual(1, failed.returncode)
            self.assertEqual(200, plane.api("GET", "/version")[0])


if __name__ == "__main__":
    stories.main()
