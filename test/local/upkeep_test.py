#!/usr/bin/env python3
"""What a daemon does by itself, with real processes: upkeep_test.py PROGRAMS"""

import sys
import unittest

from daemon import Daemon, Refused


class UpkeepTest(unittest.TestCase):
    def daemon(self, *options):
        daemon = Daemon(PROGRAMS, *options)
        daemon.start()
        self.addCleanup(daemon.end)
        return daemon

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


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    unittest.main(verbosity=2)
