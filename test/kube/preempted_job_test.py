#!/usr/bin/env python3
"""A Job whose podFailurePolicy ignores disruptions is preempted again and again, and ends well.

    preempted_job_test.py MUSTER_KUBE
"""

import muster
import testbed
from muster import DEFAULT, JOBS, pod


class PreemptedJobTest(muster.StoryTest):
    flags = ("--nodes=1", "--gpus=1")
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
        self.run_muster()
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
        self.finish()


if __name__ == "__main__":
    muster.main()
