#!/usr/bin/env python3
"""Stories told by Slurm's names, with real processes: slurm_test.py PROGRAMS"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon, main

NAMES = ["sacct", "sbatch", "scancel", "sinfo", "squeue", "srun"]


class SlurmTest(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        config = folder / "musterd.yaml"
        config.write_text("node: {name: box, cpus: 4, gpus: 2}\n")
        self.d = Daemon(PROGRAMS, "--config", config)
        self.d.start()
        self.addCleanup(self.d.end)
        self.bin = self.d.folder / "bin"
        self.bin.mkdir()
        self.d.run("slurm", "install", str(self.bin))
        self.here = self.d.folder / "work"
        self.here.mkdir()
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM_", "SBATCH_", "MUSTER_", "SQUEUE_",
                                                    "SINFO_", "SACCT_"))}
        self.environment.update(MUSTER_SOCKET=self.d.socket,
                                PATH=f"{self.bin}:{os.environ['PATH']}")

    def run_it(self, *words, code=0, **more):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              timeout=20, cwd=self.here, env=self.environment, check=False, **more)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def out(self, *words, **more):
        return self.run_it(*words, **more).stdout

    def script(self, name, *lines):
        path = self.here / name
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        return path

    def start(self, *words):
        return subprocess.Popen(words, cwd=self.here, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_a_script_from_submission_to_the_history(self):
        go = self.here / "go"
        script = self.script("train.sh", "#SBATCH --job-name=train --time=10 --output=%x-%j.txt",
                             f"until [ -e {go} ]; do sleep 0.02; done",
                             'echo "$SLURM_JOB_ID $SLURM_JOB_NAME $1 $2 $CUDA_VISIBLE_DEVICES"',
                             "echo problem >&2", "exit 3")
        self.assertEqual(self.out("sbatch", "-G1", "-t", "20", script, "--lr", "a b"),
                         "Submitted batch job 1\n")
        self.d.until(lambda: self.out("squeue", "-ho", "%t") == "R\n")
        self.assertEqual(self.out("squeue", "--me", "-ho", "%i %j %l %b"),
                         "1 train 20:00 gres/gpu:1\n")
        self.assertIn("mix", self.out("sinfo", "-ho", "%t"))
        go.touch()
        self.assertEqual(self.d.finished(1)["exit_code"], 3)
        self.assertEqual((self.here / "train-1.txt").read_text(),
                         "1 train --lr a b 0\nproblem\n")
        self.assertEqual(self.out("sacct", "-nPj", 1, "-o", "JobName,State,ExitCode,AllocTRES"),
                         "train|FAILED|3:0|cpu=1,node=1,gres/gpu=1\n")
        self.run_it("sbatch", "--wait", "--wrap", "exit 5", code=5)

    def test_tasks_of_an_array_write_files_of_their_own_and_are_cancelled_alone(self):
        script = self.script("sweep.sh", "#SBATCH --array=1-3",
                             "[ $SLURM_ARRAY_TASK_ID = 2 ] && exec sleep 1000",
                             "echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT")
        self.assertEqual(self.out("sbatch", "--parsable", script), "1\n")
        self.d.until(lambda: self.out("squeue", "-rho", "%i %t") == "1_2 R\n")
        self.run_it("scancel", "1_2")
        self.d.until(lambda: self.out("squeue", "-h") == "")
        self.assertEqual((self.here / "slurm-1_3.out").read_text(), "1 3 3\n")
        self.assertEqual(self.out("sacct", "-nPj", 1, "-o", "JobID,State"),
                         "1_1|COMPLETED\n1_2|CANCELLED\n1_3|COMPLETED\n")

    def test_so_many_tasks_of_an_array_run_at_a_time(self):
        tell = f"echo on >> {self.here}/log; sleep 0.2; echo off >> {self.here}/log"
        self.run_it("sbatch", "--wait", "--array=0-6%2", "--wrap", tell)
        runs = most = 0
        for line in (self.here / "log").read_text().split():
            runs += 1 if line == "on" else -1
            most = max(most, runs)
        self.assertEqual(runs, 0)
        self.assertLessEqual(most, 2)

    def test_a_step_has_the_tasks_and_the_devices_of_its_job(self):
        tell = "echo $SLURM_PROCID of $SLURM_NTASKS: $CUDA_VISIBLE_DEVICES"
        script = self.script("step.sh", "#SBATCH --ntasks=2 --gpus-per-task=1 -o out",
                             f"srun sh -c '{tell}' | sort",
                             f"srun --gpus-per-task=1 sh -c '{tell}' | sort",
                             "echo to the first | srun -n 2 cat",
                             "srun -n 3 true; echo too many: $?",
                             "srun -n 2 sh -c 'exit $((SLURM_PROCID * 7))'")
        self.run_it("sbatch", "--wait", script, code=7)
        lines = (self.here / "out").read_text().splitlines()
        for line in ["0 of 2: 0,1", "1 of 2: 0,1", "0 of 2: 0", "1 of 2: 1", "to the first",
                     "too many: 1"]:
            self.assertIn(line, lines)

    def test_a_command_as_a_job_tells_its_output_errors_and_code(self):
        done = self.run_it("srun", "-J", "talk", "sh", "-c",
                           'echo "it\'s" out; echo err >&2; exit 9', code=9)
        self.assertEqual((done.stdout, done.stderr), ("it's out\n", "err\n"))
        self.assertEqual(self.out("sacct", "-nPo", "JobName,ExitCode"), "talk|9:0\n")
        tasks = self.out("srun", "-n2", "-G2", "sh", "-c", "echo $SLURM_PROCID $CUDA_VISIBLE_DEVICES")
        self.assertEqual(sorted(tasks.splitlines()), ["0 0,1", "1 0,1"])
        many = self.out("srun", "sh", "-c", "yes 0123456789 | head -c 3000000")
        self.assertEqual(len(many), 3_000_000)

    def test_an_interrupt_cancels_the_job_and_leaves_nothing(self):
        pid = self.here / "pid"
        srun = self.start("srun", "sh", "-c", f"echo $$ > {pid}; exec sleep 1000")
        self.d.until(lambda: pid.exists() and pid.read_text().strip())
        srun.send_signal(signal.SIGINT)
        _, err = srun.communicate(timeout=20)
        self.assertEqual(srun.returncode, 143, err)
        self.assertIn("srun: job 1 is cancelled", err)
        self.assertEqual(self.out("squeue", "-h"), "")
        self.assertEqual(self.out("sacct", "-nPo", "State"), "CANCELLED\n")
        self.assertFalse(os.path.exists(f"/proc/{pid.read_text().strip()}"))

    def test_a_command_outlives_a_daemon_that_is_killed(self):
        go = self.here / "go"
        srun = self.start("srun", "sh", "-c",
                          f"echo before; until [ -e {go} ]; do sleep 0.02; done; echo after; exit 4")
        self.assertEqual(srun.stdout.readline(), "before\n")
        sbatch = self.start("sbatch", "--wait", "--wrap",
                            f"until [ -e {go} ]; do sleep 0.02; done; exit 6")
        self.assertEqual(sbatch.stdout.readline(), "Submitted batch job 2\n")
        self.d.kill()
        self.d.start()
        go.touch()
        out, err = srun.communicate(timeout=20)
        self.assertEqual((out, srun.returncode), ("after\n", 4), err)
        _, err = sbatch.communicate(timeout=20)
        self.assertEqual(sbatch.returncode, 6, err)

    def test_who_waits_is_told_why_and_what_would_become_of_a_script(self):
        hold = self.script("hold.sh", "sleep 1000")
        self.run_it("sbatch", "-G2", hold)
        self.d.until(lambda: self.out("squeue", "-ht", "R", "-o", "%i") == "1\n")
        self.run_it("sbatch", "-G1", "-J", "next", hold)
        self.assertIn("gpu", self.out("squeue", "-hj", 2, "-o", "%R"))
        self.assertIn("would wait", self.run_it("sbatch", "--test-only", "-G1", hold).stderr)
        self.assertIn("--dependency",
                      self.run_it("sbatch", "-d", "afterok:1", hold, code=1).stderr)
        queue = json.loads(self.out("squeue", "--json"))["jobs"]
        self.assertEqual([job["job_state"] for job in queue], [["RUNNING"], ["PENDING"]])
        self.run_it("scancel", "--me")
        self.d.until(lambda: self.out("squeue", "-h") == "")

    def test_a_real_slurm_is_not_overwritten(self):
        (self.bin / "squeue").unlink()
        (self.bin / "squeue").write_text("#!/bin/sh\necho real\n")
        (self.bin / "squeue").chmod(0o755)
        done = self.d.run("slurm", "install", str(self.bin), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("squeue: is another program", done.stderr)
        self.assertEqual(self.out("squeue"), "real\n")
        self.assertEqual(sorted(path.name for path in self.bin.iterdir()), NAMES)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main()
