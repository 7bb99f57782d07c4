#!/usr/bin/env python3
"""Grids of parameters, and jobs that are changed while they wait: edit_test.py PROGRAMS"""

import os
import sys
import unittest

from daemon import Daemon, main


class EditTest(unittest.TestCase):
    def daemon(self, *options):
        return Daemon.of(self, PROGRAMS, *options)

    def test_each_point_of_a_grid_runs_with_its_values(self):
        d = self.daemon("--gpus", 2)
        points = d.folder / "points.csv"
        points.write_text("opt,wd\nsgd,0\nadam,0.1\n")
        said = d.run("submit", "--name", "sweep", "--gpus", "1", "--grid", "lr=0.1,0.01",
                     "--grid-file", points, "--", "sh", "-c",
                     "echo {lr} {opt} $MUSTER_PARAM_wd ${lr} $MUSTER_PARAM_lr").stdout
        self.assertEqual(said, "Submitted array 1, 4 jobs\n")
        expected = ["0.1 sgd 0 0.1", "0.1 adam 0.1 0.1", "0.01 sgd 0 0.01", "0.01 adam 0.1 0.01"]
        for job, text in enumerate(expected, 1):
            self.assertEqual(d.finished(job)["exit_code"], 0)
            self.assertEqual(d.output(job), text + "\n")
        d.kill()
        d.start()
        self.assertIn("lr=0.01 opt=adam wd=0.1", d.run("history").stdout)
        self.assertEqual(d.job(3)["parameters"], {"lr": "0.01", "opt": "sgd", "wd": "0"})

    def test_jobs_that_wait_are_edited_and_ordered_and_a_crash_forgets_nothing(self):
        d = self.daemon("--gpus", 2)
        go = d.folder / "go"
        wait = ["sh", "-c", f"until [ -e {go} ]; do sleep 0.02; done"]
        first = d.submit(wait, name="first", gpus=2)
        d.until(lambda: d.job(first)["phase"] == "running")
        order = d.folder / "order"
        jobs = {name: d.submit(["sh", "-c", f"echo {name} >> {order}"], name=name, gpus=2)
                for name in ("a", "b", "c")}
        d.run("move", "c", "--before", "b")
        d.run("edit", "b", "--", "sh", "-c", f"echo $MUSTER_JOB_NAME $MUSTER_GPUS >> {order}")
        editor = "sed -i -e 's/^name: .*/name: other/' -e 's|nvidia.com/gpu: .*|nvidia.com/gpu: 1|'"
        d.run("edit", "b", env={**os.environ, "EDITOR": editor})
        d.run("edit", "first", "--time", "1h")
        refused = d.run("edit", "first", "--gpus", "1", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("runs: its command and what it asks for", refused.stderr)
        d.run("move", "a", "--last")
        d.kill()
        d.start()
        self.assertEqual(d.get(f"/v1/jobs/{first}/edit")["time"], 3600)
        go.touch()
        for job in jobs.values():
            self.assertEqual(d.finished(job)["exit_code"], 0, d.output(job))
        self.assertEqual(order.read_text().split(), ["c", "other", "0", "a"])

    def test_a_limit_that_is_lowered_ends_a_job_that_runs(self):
        d = self.daemon("--gpus", 1)
        job = d.submit(["sleep", "1000"], gpus=1)
        d.until(lambda: d.job(job).get("started"))
        d.run("edit", str(job), "--time", "1s")
        self.assertEqual(d.finished(job)["exit_code"], 124)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main()
