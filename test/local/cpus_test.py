#!/usr/bin/env python3
"""Stories of tasks with CPUs of their own, on this machine's: cpus_test.py PROGRAMS"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon, cgroups_with, main

CPUS = len(os.sched_getaffinity(0))


def numbers(text):
    """Of "0-3,8": the set of them."""
    cpus = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def allowed(pid):
    """What the kernel lets each thread of the process run on: one set for all."""
    sets = set()
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        sets.add(re.search(r"^Cpus_allowed_list:\s*(.*)$", status.read_text(), re.M)[1])
    assert len(sets) == 1, sets
    return numbers(sets.pop())


class CpusTest(unittest.TestCase):
    """Of the machine's CPUs, tasks have two."""

    def daemon(self, more="", cgroup=""):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        config = folder / "musterd.yaml"
        config.write_text("node: {gpus: 0, cpus: {amount: 2, bind: cores, unit: thread}" +
                          (f", cgroup: {cgroup}" if cgroup else "") + "}\n" + more)
        self.d = Daemon(PROGRAMS, "--config", config)
        self.d.start()
        self.addCleanup(self.d.end)
        self.all = set(self.cpus()["all"])
        self.assertEqual(len(self.all), 2)
        return self.d

    def setUp(self):
        self.known = {}

    def cpus(self):
        return self.d.get("/v1/nodes")["nodes"][0]["cpus"]

    def wait(self, name, **more):
        """A job that tells the number of its process, and its child, and waits for the file `name`."""
        go = self.d.folder / name
        script = (f"sh -c 'echo $$; until [ -e {go} ]; do sleep 0.05; done' & "
                  "echo $$; echo \"[$MUSTER_CPUS] [$OMP_NUM_THREADS]\"; wait")
        # In a manifest "$(" is a variable and "$$" a dollar.
        return self.d.submit(["sh", "-c", script.replace("$", "$$")], name=name, **more)

    def pids(self, job):
        if job not in self.known:
            self.d.until(lambda: len(self.d.output(job).splitlines()) >= 3)
            self.known[job] = [int(line) for line in self.d.output(job).splitlines()
                               if line.isdigit()]
        return self.known[job]

    def told(self, job):
        return re.findall(r"\[(.*?)\]", self.d.output(job))

    def is_on(self, job, cpus):
        """All processes of the job come to run on these."""
        self.d.until(lambda: all(allowed(pid) == cpus for pid in self.pids(job)), 10)

    def end(self, job, name):
        (self.d.folder / name).touch()
        self.assertEqual(self.d.finished(job)["exit_code"], 0)

    def own(self, job):
        return set(self.d.job(job)["tasks"][0].get("cpus", []))

    def test_cpus_are_a_tasks_own_for_its_life_and_over_a_crash_of_the_daemon(self):
        d = self.daemon()
        half = self.wait("half", cpus="500m")
        self.is_on(half, self.all)
        self.assertEqual(self.told(half), ["", ""])
        one = self.wait("one", cpus=1)
        self.pids(one)
        own = self.own(one)
        self.assertEqual(len(own), 1)
        self.assertEqual(self.told(one), [str(min(own)), "1"])
        self.is_on(one, own)
        self.is_on(half, self.all - own)
        self.assertEqual(set(self.cpus()["shared"]), self.all - own)
        self.assertIn("CPUS", d.run("describe", str(one)).stdout)
        (mine,), (rest,) = own, self.all - own
        self.assertRegex(d.run("nodes").stdout,
                         rf"  CPUS  HELD BY\n  {mine} +{one} \(\S+\)\n  {rest} +all others\n")
        waits = self.wait("waits", cpus=1)
        d.kill()
        self.is_on(one, own)
        d.start()
        self.assertEqual(self.own(one), own)
        self.assertEqual([(held["job"], set(held["cpus"])) for held in self.cpus()["held"]],
                         [(one, own)])
        self.assertEqual(d.job(waits)["phase"], "queued")
        self.is_on(one, own)
        self.is_on(half, self.all - own)
        self.end(half, "half")
        self.pids(waits)
        self.is_on(waits, self.all - own)
        self.assertEqual(self.own(waits), self.all - own)
        self.end(waits, "waits")
        # What ends while nobody looks gives its own back, too.
        half = self.wait("rest", cpus="500m")
        self.is_on(half, self.all - own)
        gone = self.pids(one)
        d.kill()
        (d.folder / "one").touch()
        d.until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in gone))
        d.start()
        self.assertEqual(d.finished(one)["exit_code"], 0)
        self.is_on(half, self.all)
        self.end(half, "rest")

    def test_the_kernel_lets_no_task_leave_its_cpus(self):
        at = cgroups_with("cpuset")
        if at is None:
            self.skipTest("no cpuset controller of cgroup version 2 for this user")
        cgroup = at / f"muster-cpus-{os.getpid()}"
        self.addCleanup(cgroup.rmdir)
        d = self.daemon(cgroup=cgroup)
        leave = ("import os, time; os.sched_setaffinity(0, range(os.cpu_count())); "
                 "print(*os.sched_getaffinity(0), flush=True); "
                 "[time.sleep(0.05) for _ in iter(lambda: os.path.exists('GO'), True)]; "
                 "os.sched_setaffinity(0, range(os.cpu_count())); print(*os.sched_getaffinity(0))")

        def submit(name, cpus):
            script = leave.replace("GO", str(d.folder / name))
            job = d.submit([sys.executable, "-c", script], name=name, cpus=cpus)
            d.until(lambda: len(d.output(job).splitlines()) == 1)
            return job, {int(word) for word in d.output(job).split()}

        one, own = submit("one", 1)
        self.assertEqual(own, self.own(one))
        self.assertEqual(len(own), 1)
        half, rest = submit("half", "500m")
        self.assertEqual(rest, self.all - own)
        self.end(one, "one")
        d.until(lambda: set(self.cpus()["shared"]) == self.all)
        self.end(half, "half")
        self.assertEqual({int(word) for word in d.output(half).splitlines()[1].split()}, self.all)

    def test_elements_of_an_array_have_different_ones(self):
        d = self.daemon()
        first = self.wait("sweep", cpus=1, array=[0, 1, 2])
        jobs = [first, first + 1, first + 2]
        sets = [self.own(job) for job in jobs[:2] if self.pids(job)]
        self.assertEqual([len(cpus) for cpus in sets], [1, 1])
        self.assertEqual(sets[0] | sets[1], self.all)
        for job, cpus in zip(jobs, sets):
            self.is_on(job, cpus)
        self.assertEqual(d.job(jobs[2])["phase"], "queued")
        (d.folder / "sweep").touch()
        self.assertEqual([d.finished(job)["exit_code"] for job in jobs], [0, 0, 0])

    def test_what_is_suspended_leaves_its_own_to_others_and_has_some_again(self):
        d = self.daemon("priority_classes:\n"
                        "- {key: normal, on_preempted: suspend}\n"
                        "- {key: high, value: 10}\n")
        low = self.wait("low", cpus=2)
        self.is_on(low, self.all)
        high = self.wait("high", cpus=1, priority="high")
        self.pids(high)
        own = self.own(high)
        self.is_on(high, own)
        self.assertEqual(self.own(low), set())
        self.is_on(low, self.all - own)
        d.kill()
        d.start()
        self.is_on(low, self.all - own)
        self.end(high, "high")
        self.is_on(low, self.all)
        self.assertEqual(self.own(low), self.all)
        self.end(low, "low")

    def test_steps_of_srun_are_bound_each_to_its_own(self):
        d = self.daemon()
        folder = d.folder / "bin"
        folder.mkdir()
        d.run("slurm", "install", str(folder))
        tell = "echo $SLURM_PROCID $MUSTER_CPUS; grep Cpus_allowed_list /proc/self/status"
        script = d.folder / "step.sh"
        script.write_text(f"#!/bin/sh\n#SBATCH -n 2 -c 1 -o {d.folder}/out-%j\n"
                          "echo script $MUSTER_CPUS; grep Cpus_allowed_list /proc/self/status\n"
                          f"for i in 0 1; do srun sh -c '[ $SLURM_PROCID != '$i' ] || {{ {tell}; }}'; done\n"
                          "srun -n 1 grep Cpus_allowed_list /proc/self/status\n")
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("SLURM_", "SBATCH_", "MUSTER_"))}
        environment.update(MUSTER_SOCKET=d.socket, PATH=f"{folder}:{os.environ['PATH']}")
        done = subprocess.run([folder / "sbatch", "--wait", script], env=environment, timeout=60,
                              capture_output=True, text=True, check=False, cwd=d.folder)
        text = (d.folder / "out-1").read_text()
        self.assertEqual(done.returncode, 0, done.stderr + text)
        lines = [line.split() for line in text.splitlines()]
        self.assertEqual([line[0] for line in lines[::2]], ["script", "0", "1", "Cpus_allowed_list:"])
        self.assertEqual(numbers(lines[0][1]), self.all)
        lists = [numbers(line[1]) for line in lines[1::2]]
        self.assertEqual(lists[0], self.all)
        self.assertEqual(numbers(lines[2][1]), lists[1])
        self.assertEqual(numbers(lines[4][1]), lists[2])
        self.assertEqual([len(cpus) for cpus in lists[1:]], [1, 1])
        self.assertEqual(lists[1] | lists[2], self.all)
        self.assertEqual(numbers(lines[6][1]), self.all)

    def test_mpiruns_ranks_run_where_their_workers_do(self):
        d = self.daemon()
        see = "echo [$MUSTER_CPUS]; grep Cpus_allowed_list /proc/self/status"
        script = (f"{see}; {d.programs.resolve()}/muster exec worker-0 '{see}'").replace("$", "$$")

        def role(command, cpus):
            container = {"name": "mpi", "image": "", "resources": {"requests": {"cpu": cpus}}}
            if command:
                container["command"] = command
            return {"replicas": 1, "template": {"spec": {"containers": [container]}}}

        manifest = {"apiVersion": "kubeflow.org/v1", "kind": "MPIJob", "metadata": {"name": "mpi"},
                    "spec": {"mpiReplicaSpecs": {"Launcher": role(["sh", "-c", script], "500m"),
                                                 "Worker": role(None, "1")}}}
        job = d.post("/v1/jobs", {"manifest": json.dumps(manifest), "directory": "/",
                                  "environment": [f"PATH={os.environ['PATH']}"]})["jobs"][0]["id"]
        self.assertEqual(d.finished(job)["exit_code"], 0, d.output(job, task="launcher-0"))
        lines = d.output(job, task="launcher-0").split()
        self.assertEqual(lines[0], "[]", "it shares, with all that its worker has")
        self.assertEqual(numbers(lines[2]), self.all)
        self.assertEqual(len(numbers(lines[5])), 1)
        self.assertEqual(lines[3], f"[{lines[5]}]")
        self.assertEqual(self.cpus()["held"], [])

    def test_more_than_there_is_is_refused(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        config = folder / "musterd.yaml"
        config.write_text("node: {cpus: {amount: 100000, bind: cores}}\n")
        done = subprocess.run([pathlib.Path(PROGRAMS) / "musterd", "--config", config, "--state",
                               folder / "state", "--socket", folder / "socket"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("node.cpus.amount: 100000 cpus (cores), and there are", done.stderr)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main(skip="this machine has one CPU" if CPUS < 2 else None)
