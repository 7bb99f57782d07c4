#!/usr/bin/env python3
"""A Job whose podFailurePolicy ignores disruptions is preempted again and again, and ends well.

    preempted_job_test.py MUSTER_KUBE
"""

import muster
import testbed
from muster import DEFAULT, JOBS, pod


class PreemptedJobTest(muster.StoryTest):
    flags = ("--nodes=1", "--gpus=1")
    shared = True
    times = 10

    def forget_back_off(self):
        """The Job controller makes the next pod after a time that doubles with each failure, ten
        seconds at first, and which it keeps in its memory alone once the failure is counted."""
        self.checker.wait("the failure is counted", lambda: not any(
            one["metadata"]["name"].startswith("patient") for one in list(self.checker.pods.values())))
        testbed.wait("none is uncounted", lambda: not self.plane.get(f"{JOBS}/patient")["status"].get(
            "uncountedTerminatedPods"))
        self.plane.run("kill", "kube-controller-manager")
        self.plane.run("start", "kube-controller-manager")

    def runs(self, prefix):
        return any(one["metadata"]["name"].startswith(prefix) and "deletionTimestamp" not in one["metadata"]
                   and one["status"]["phase"] == "Running" for one in list(self.checker.pods.values()))

    def test_it_survives_ten_preemptions_with_a_backoff_limit_of_zero(self):
        self.priorities(high=1000)
        self.run_muster(*self.muster_flags, "--eviction-protection=0")
        self.job("patient", gpus=1, run_for="6s")
        for i in range(self.times):
            self.checker.wait("the Job runs", lambda: self.runs("patient"), 30)
            self.plane.create(f"{DEFAULT}/pods", pod(1, name=f"high-{i}", priority="high"))
            self.checker.wait("it is preempted", lambda: self.runs(f"high-{i}"), 30)
            self.forget_back_off()
            self.delete(f"high-{i}")
        job = testbed.wait("it is done", lambda: (one := self.plane.get(f"{JOBS}/patient"))["status"].get(
            "completionTime") and one)
        self.assertEqual(1, job["status"]["succeeded"])
        self.assertEqual([], [one for one in job["status"]["conditions"] if one["type"] == "Failed"])
        stopped = [one for one in self.checker.ever.values() if one["metadata"]["name"].startswith("patient") and any(
            condition["type"] == "DisruptionTarget" for condition in one["status"].get("conditions", []))]
        self.assertEqual(self.times, len(stopped))
        self.assertNotIn("patient", self.warned())

    def warned(self):
        """Jobs with an Event that tells what a preemption does to them."""
        return {one["regarding"]["name"] for one in
                self.plane.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
                if one["regarding"]["kind"] == "Job" and "DisruptionTarget" in one["note"]}

    def test_a_job_that_does_not_ignore_disruptions_is_told_what_a_preemption_does(self):
        self.priorities(high=1000)
        self.run_muster()
        self.plane.create(JOBS, {"metadata": {"name": "hasty"}, "spec": {"backoffLimit": 0, "template": pod(1)}})
        self.checker.wait("the Job runs", lambda: self.runs("hasty"), 30)
        self.plane.create(f"{DEFAULT}/pods", pod(1, name="high", priority="high"))
        testbed.wait("the Job has failed", lambda: "Failed" in [
            one["type"] for one in self.plane.get(f"{JOBS}/hasty")["status"].get("conditions", [])])
        testbed.wait("it has an Event", lambda: self.warned() == {"hasty"})


if __name__ == "__main__":
    muster.main()
