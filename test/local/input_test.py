#!/usr/bin/env python3
"""What jobs read on their standard input: input_test.py PROGRAMS"""

import sys
import unittest

from daemon import Daemon, main


class InputTest(unittest.TestCase):
    def daemon(self, *options):
        return Daemon.of(self, PROGRAMS, *options)

    def test_a_job_is_told_lines_and_then_the_end_also_by_a_daemon_that_was_killed(self):
        d = self.daemon()
        d.run("submit", "--input", "--", "sh", "-c", "read a; echo got $a; cat; echo over")
        d.until(lambda: d.job(1)["phase"] == "running")
        d.run("send", "last", "hello", "there")
        d.until(lambda: "hello there" in d.output(1))
        d.kill()
        d.start()
        bulk = "".join(f"line {i}\n" for i in range(20_000))
        d.run("send", "1", input=bulk)
        self.assertEqual(d.job(1)["phase"], "running")
        d.run("send", "1", "--end")
        self.assertEqual(d.finished(1)["exit_code"], 0)
        self.assertEqual(d.output(1), "got hello there\n" + bulk + "over\n")
        refused = d.run("send", "1", "more", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("does not run", refused.stderr)

    def test_tasks_of_a_gang_are_told_apart_and_one_without_has_none(self):
        d = self.daemon()
        d.run("submit", "--input", "-n", "2", "--", "sh", "-c", "read a; echo $a")
        d.until(lambda: all(t["state"] == "run" for t in d.job(1)["tasks"]))
        d.run("send", "1.1", "for the second")
        d.run("send", "1.0", "for the first")
        d.finished(1)
        self.assertEqual([d.output(1, "0"), d.output(1, "1")], ["for the first\n", "for the second\n"])
        d.run("submit", "--", "sleep", "60")
        d.until(lambda: d.job(2)["phase"] == "running")
        refused = d.run("send", "2", "x", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("job 2: the task has no input", refused.stderr)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main()
