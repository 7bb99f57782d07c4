#!/usr/bin/env python3
"""Grids of parameters, and jobs that are changed while they wait: edit_test.py PROGRAMS"""

import sys
import unittest

from daemon import Daemon


class EditTest(unittest.TestCase):
    def daemon(self, *options):
        daemon = Daemon(PROGRAMS, *options)
        daemon.start()
        self.addCleanup(daemon.end)
        return daemon

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


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    unittest.main(verbosity=2)
