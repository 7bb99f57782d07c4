#!/usr/bin/env python3
"""What a daemon does by itself, with real processes: upkeep_test.py PROGRAMS"""

import pathlib
import shutil
import sqlite3
import sys
import tempfile
import time
import unittest

from daemon import Daemon, Refused, main


class UpkeepTest(unittest.TestCase):
    def daemon(self, *options):
        return Daemon.of(self, PROGRAMS, *options)

    def test_what_is_kept_of_a_job_goes_when_its_time_is_over(self):
        d = self.daemon("--gpus", 1)
        said = d.run("submit", "--ttl", "1s", "--name", "short", "--wait", "--", "echo", "hello")
        self.assertEqual(said.stdout, "Submitted job 1\n")
        self.assertIn("goes 1 seconds after its end", said.stderr)
        d.run("submit", "--ttl", "1h", "--name", "long", "--wait", "--", "true")
        folder = d.folder / "state/jobs"
        self.assertEqual(sorted(f.name for f in folder.iterdir()), ["1", "2"])
        d.kill()  # The next one goes on with it.
        d.start()
        d.until(lambda: not (folder / "1").exists())
        self.assertTrue((folder / "2").exists())
        d.until(lambda: [job["id"] for job in d.get("/v1/history")["jobs"]] == [2])
        with self.assertRaises(Refused):
            d.job(1)
        self.assertNotIn("short", d.run("history").stdout)
        removed = d.run("history", "--removed").stdout.splitlines()
        self.assertEqual(len(removed), 2)
        self.assertEqual(removed[1].split()[:2] + removed[1].split()[-1:], ["1", "short", "ttl"])

    def test_a_command_is_told_of_jobs_once_over_a_crash(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        said = folder / "said"
        tell = folder / "tell"
        tell.write_text(f"#!/bin/sh\necho $MUSTER_EVENT $MUSTER_JOB_NAME $MUSTER_JOB_CODE >> {said}\n")
        tell.chmod(0o755)
        config = folder / "musterd.yaml"
        config.write_text(f"notify: {{command: [{tell}], on: [preempted, succeeded, failed]}}\n")
        d = self.daemon("--gpus", 1, "--config", config)
        d.run("submit", "--name", "low", "--gpus", "1", "--", "sh", "-c",
              f"until [ -e {folder}/go ]; do sleep 0.05; done; exit 3")
        d.until(lambda: d.jobs()[0]["phase"] == "running")
        d.run("submit", "--name", "high", "--gpus", "1", "--priority", "high", "--", "true")
        d.until(lambda: said.exists() and len(said.read_text().splitlines()) == 2)
        d.kill()
        d.start()
        (folder / "go").touch()
        self.assertEqual(d.finished(1)["exit_code"], 3)
        d.until(lambda: len(said.read_text().splitlines()) == 3)
        self.assertEqual(said.read_text().splitlines(),
                         ["preempted low", "succeeded high 0", "failed low 3"])

    def test_a_calendar_survives_a_crash_and_a_missed_time_starts_once(self):
        d = self.daemon("--gpus", 1)
        said = d.run("submit", "--cron", "* * * * *", "--time-zone", "UTC", "--name", "tick",
                     "--concurrency", "Forbid", "--", "sh", "-c", "echo tick; sleep 1000").stdout
        self.assertIn("Submitted calendar 1: its next start is 20", said)
        self.assertEqual(d.jobs(), [])
        d.kill()
        # As if the machine had been off for a day.
        with sqlite3.connect(d.folder / "state/muster.db") as store:
            store.execute("UPDATE crons SET last = last - 86400 * 1000000000")
        store.close()
        d.start()
        d.until(lambda: [job["phase"] for job in d.jobs()] == ["running"])
        job = d.jobs()[0]
        self.assertRegex(job["name"], r"^tick-\d+$")
        d.until(lambda: d.output(job["id"]) == "tick\n")
        cron = d.get("/v1/crons")["crons"][0]
        self.assertEqual(cron["jobs"], [job["id"]])
        self.assertLess(abs(cron["last"] - time.time()), 130)
        self.assertLess(abs(cron["next"] - cron["last"] - 60), 61)
        self.assertIn(f"job {job['id']}", d.run("cron", "list").stdout)
        d.run("cron", "suspend", "tick")
        self.assertIn("suspended", d.run("cron", "list").stdout)
        d.run("cron", "resume", "1")
        d.run("cron", "remove", "tick")
        self.assertEqual(d.get("/v1/crons"), {"crons": []})
        self.assertEqual(d.run("cron", "remove", "tick", check=False).returncode, 1)
        self.assertEqual(d.job(job["id"])["phase"], "running")

    def test_a_device_on_which_jobs_fail_one_after_the_other_goes_out_of_service(self):
        d = self.daemon("--gpus", 1)
        for _ in range(3):
            job = d.submit(["sh", "-c", "kill -ABRT $$$$"], gpus=1)
            self.assertEqual(d.finished(job)["exit_code"], 134)
        waits = d.submit(["true"], gpus=1)
        d.until(lambda: "quarantine" in d.run("nodes").stdout)
        d.kill()
        d.start()
        self.assertIn("jobs 1, 2, 3 failed soon", d.run("nodes").stdout)
        self.assertEqual(d.job(waits)["phase"], "queued")
        node = d.get("/v1/nodes")["nodes"][0]["name"]
        d.run("node", "resume", node)
        self.assertEqual(d.finished(waits)["exit_code"], 0)
        d.run("node", "drain", node, "--reason", "moves")
        self.assertIn("drained: moves", d.run("nodes").stdout)
        self.assertIn(" drain ", d.run("slurm", "sinfo").stdout)
        waits = d.submit(["true"])
        self.assertEqual(d.job(waits)["phase"], "queued")
        d.run("node", "resume", node)
        self.assertEqual(d.finished(waits)["exit_code"], 0)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main()
