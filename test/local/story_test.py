#!/usr/bin/env python3
"""Stories of jobs on one machine, with real processes: story_test.py PROGRAMS"""

import json
import os
import shutil
import sys
import textwrap
import time
import unittest

from daemon import ROOT, Daemon, Refused, main

TRAIN = ROOT / "examples/local_jobs/train.py"
MEET = textwrap.dedent("""\
    # All ranks meet at the master and add up their ranks; rank 0 tells the sum.
    import os, socket, sys
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    at = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    if rank == 0:
        with socket.create_server(at) as server:
            total = 0
            for _ in range(world - 1):
                peer, _ = server.accept()
                total += int(peer.makefile().readline())
                peer.close()
        print("sum", total, flush=True)
    else:
        while True:
            try:
                with socket.create_connection(at, timeout=1) as master:
                    master.sendall(f"{rank}\\n".encode())
                break
            except OSError:
                pass
    """)

SUM = textwrap.dedent("""\
    # Workers tell the parameter servers their numbers; each server answers all of them with the
    # sum, and goes on until it is stopped.
    import json, os, socket
    config = json.loads(os.environ["TF_CONFIG"])
    cluster, task = config["cluster"], config["task"]
    def place(kind, index):
        host, port = cluster[kind][index].rsplit(":", 1)
        return host, int(port)
    if task["type"] == "ps":
        with socket.create_server(place("ps", task["index"])) as server:
            while True:
                peers = [server.accept()[0] for _ in cluster["worker"]]
                total = sum(int(peer.makefile().readline()) for peer in peers)
                for peer in peers:
                    peer.sendall(f"{total}\\n".encode())
                    peer.close()
    for index in range(len(cluster["ps"])):
        while True:
            try:
                with socket.create_connection(place("ps", index), timeout=30) as server:
                    server.sendall(f"{task['index']}\\n".encode())
                    print("sum", server.makefile().readline().strip(), flush=True)
                break
            except ConnectionRefusedError:
                pass
    """)


class StoryTest(unittest.TestCase):
    def daemon(self, *options):
        d = Daemon(PROGRAMS, *options)
        if "--config" not in options:
            # Equal jobs get equal ports: other daemons on this machine, of other tests, have theirs.
            ports = d.folder / "ports.yaml"
            first = 20_000 + os.getpid() % 100 * 100
            ports.write_text(f"ports: {{first: {first}, last: {first + 99}}}\n")
            d.options += ["--config", str(ports)]
        self.addCleanup(d.end)
        d.start()
        return d

    def test_jobs_choose_gpus_by_number_or_do_with_something_else(self):
        d = self.daemon("--gpus", 3)
        told = "echo $CUDA_VISIBLE_DEVICES/$MUSTER_ALTERNATIVE; "
        go = d.folder / "go"
        wait = f"until [ -e {go} ]; do sleep 0.02; done"
        d.run("submit", "--gpu-ids", "0,2", "--cpus", "0.1", "--", "sh", "-c", told + wait)
        d.run("submit", "--gpus", "2", "--or", "gpus=1,cpus=0.1", "--", "sh", "-c", told + wait)
        d.run("submit", "--gpus", "1", "--or", "cpus=0.1", "--", "sh", "-c", told + wait)
        d.run("submit", "--gpu-ids", "2", "--", "sh", "-c", told + wait)
        d.until(lambda: all(d.job(job)["phase"] == "running" for job in (1, 2, 3)))
        d.until(lambda: all(d.output(job) for job in (1, 2, 3)))
        self.assertEqual([d.output(job) for job in (1, 2, 3)], ["0,2/\n", "1/1\n", "/1\n"])
        self.assertIn("too few of the GPUs 2, which it chooses, are free", d.run("explain", "4").stdout)
        go.touch()
        self.assertEqual(d.finished(4)["exit_code"], 0)
        self.assertEqual(d.output(4), "2/\n")

    def test_a_job_of_high_priority_has_the_device_and_its_victim_resumes(self):
        d = self.daemon("--gpus", 1)
        files = {}

        def train(name, steps, **more):
            files[name] = d.folder / f"{name}.json"
            return d.submit([sys.executable, TRAIN, steps, 0.05, 5, files[name]], name=name, gpus=1,
                            grace=5, **more)

        test = [train(f"test{i}", 30) for i in (1, 2, 3)]
        d.finished(test[0])
        d.until(lambda: files["test2"].exists())
        self.assertEqual(d.job(test[1])["phase"], "running")
        self.assertEqual(d.job(test[2])["phase"], "queued")
        urgent = train("test-p1", 4, priority="high")
        ended = [d.finished(job) for job in (urgent, test[1], test[2])]
        self.assertEqual([job["exit_code"] for job in ended], [0, 0, 0])
        self.assertEqual(ended[1]["preemptions"], 1)
        self.assertLess(ended[0]["finished"], ended[1]["finished"])
        self.assertLess(ended[1]["finished"], ended[2]["started"] + 1)
        stopped = int(d.output(test[1], attempt=1).split()[-1])
        resumed = int(d.output(test[1], attempt=2).split("resumes at step ")[1].split()[0])
        self.assertGreaterEqual(resumed, 5)
        self.assertLess(stopped - resumed, 5, "less than one checkpoint's work is lost")

    def test_two_gangs_of_four_on_four_devices_run_one_after_the_other(self):
        d = self.daemon("--gpus", 4)
        go = d.folder / "go"
        command = ["sh", "-c", f"until [ -e {go} ]; do sleep 0.02; done"]
        gangs = [d.submit(command, name=f"gang{i}", gpus=1, tasks=4,
                          annotations={"muster.dev/min-pods": "4"}) for i in (1, 2)]
        d.until(lambda: d.job(gangs[0])["phase"] == "running")
        self.assertEqual(len(d.job(gangs[0])["tasks"]), 4)
        self.assertEqual(d.job(gangs[1])["phase"], "queued")
        self.assertEqual(d.job(gangs[1])["tasks"], [])
        self.assertIn("gpu", d.get(f"/v1/jobs/{gangs[1]}/explain")["why"])
        go.touch()
        self.assertEqual([d.finished(gang)["phase"] for gang in gangs], ["succeeded"] * 2)

    def fifty_jobs(self, manifest, sum_of, task):
        """Ten times five at once; what the task says of each."""
        d = self.daemon("--gpus", 4)
        for wave in range(10):
            jobs = []
            for i in range(5):
                answer = d.post("/v1/jobs", {
                    "manifest": json.dumps(manifest(f"meet-{wave}-{i}")), "directory": "/",
                    "environment": []})
                jobs.append(answer["jobs"][0]["id"])
            for job in jobs:
                self.assertEqual(d.finished(job)["phase"], "succeeded", d.output(job, task))
                self.assertEqual(d.output(job, task).splitlines(), sum_of)

    def test_ranks_of_pytorch_jobs_meet_five_jobs_at_once(self):
        task = {"spec": {"containers": [{
            "name": "pytorch", "image": "", "command": [sys.executable, "-c", MEET]}]}}
        self.fifty_jobs(lambda name: {
            "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name},
            "spec": {"pytorchReplicaSpecs": {
                "Master": {"replicas": 1, "restartPolicy": "Never", "template": task},
                "Worker": {"replicas": 3, "restartPolicy": "Never", "template": task}}}},
            ["sum 6"], "master-0")

    def test_workers_of_tf_jobs_meet_their_servers_five_jobs_at_once(self):
        task = {"spec": {"containers": [{
            "name": "tensorflow", "image": "", "command": [sys.executable, "-c", SUM],
            "resources": {"requests": {"cpu": "0.1"}}}]}}
        self.fifty_jobs(lambda name: {
            "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name},
            "spec": {"runPolicy": {"cleanPodPolicy": "Running"}, "tfReplicaSpecs": {
                "PS": {"replicas": 2, "restartPolicy": "Never", "template": task},
                "Worker": {"replicas": 3, "restartPolicy": "Never", "template": task}}}},
            ["sum 3", "sum 3"], "worker-0")

    def test_a_gang_of_which_a_rank_is_killed_is_back_as_a_whole(self):
        d = self.daemon("--gpus", 2)
        script = (f"echo $$$$ > {d.folder}/pid-$MUSTER_TASK-$MUSTER_ATTEMPT; "
                  "[ $MUSTER_ATTEMPT = 2 ] || exec sleep 1000")
        task = {"spec": {"containers": [{
            "name": "pytorch", "image": "", "command": ["sh", "-c", script]}]}}
        manifest = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
                    "metadata": {"name": "killed"},
                    "spec": {"pytorchReplicaSpecs": {"Worker": {
                        "replicas": 2, "restartPolicy": "OnFailure", "template": task}}}}
        job = d.post("/v1/jobs", {"manifest": json.dumps(manifest), "directory": "/",
                                  "environment": ["PATH=/usr/bin:/bin"]})["jobs"][0]["id"]
        pid = d.folder / "pid-worker-1-1"
        d.until(lambda: pid.exists() and pid.read_text().strip())
        os.kill(int(pid.read_text()), 9)
        ended = d.finished(job)
        self.assertEqual(ended["phase"], "succeeded", ended)

    def test_a_job_held_at_submission_starts_when_it_is_released(self):
        d = self.daemon("--gpus", 1)
        job = d.submit(["true"], hold=True)
        time.sleep(0.2)
        self.assertTrue(d.job(job)["held"])
        d.post(f"/v1/jobs/{job}/release")
        self.assertEqual(d.finished(job)["exit_code"], 0)

    def test_what_is_suspended_for_another_keeps_its_processes(self):
        config = None
        folder = Daemon(PROGRAMS).folder
        config = folder / "musterd.yaml"
        config.write_text(textwrap.dedent("""\
            node: {gpus: 1}
            priority_classes:
            - {key: normal, on_preempted: suspend}
            - {key: high, value: 10}
            """))
        d = self.daemon("--config", config)
        go = d.folder / "go"
        os.mkfifo(go)
        # One process, which starts no other: in vfork it would not be said to be stopped.
        low = d.submit(["sh", "-c", f"echo $$$$; read line < {go}"], gpus=1)
        d.until(lambda: d.output(low))
        pid = int(d.output(low))
        # A kernel that is busy takes its time with a stop that was asked.
        look = f"for i in 1 2 3 4 5 6 7 8 9; do grep '(stopped)' /proc/{pid}/status && exit; sleep 0.2; done"
        high = d.submit(["sh", "-c", look], gpus=1, priority="high")
        self.assertEqual(d.finished(high)["exit_code"], 0)
        self.assertIn("T (stopped)", d.output(high))
        go.write_text("\n")
        self.assertEqual(d.finished(low)["exit_code"], 0)
        self.assertEqual(len(d.output(low).splitlines()), 1, "it was not started anew")

    def test_a_job_runs_the_code_that_was_there_when_it_was_submitted(self):
        d = self.daemon("--gpus", 1)
        project, go = d.folder / "project", d.folder / "go"
        project.mkdir()
        (project / "train.sh").write_text("echo old\n")
        blocks = d.submit(["sh", "-c", f"until [ -e {go} ]; do sleep 0.02; done"], gpus=1)
        said = d.run("submit", "--snapshot", "--gpus", "1", "--", "sh", "train.sh", cwd=project,
                        env={**os.environ, "MUSTER_CODE": str(d.folder / "code")}).stdout
        (project / "train.sh").write_text("echo new\n")
        go.touch()
        job = int(said.split()[-1])
        d.finished(blocks)
        self.assertEqual(d.finished(job)["exit_code"], 0)
        self.assertEqual(d.output(job).strip(), "old")

    @unittest.skipUnless(shutil.which("mpirun"), "there is no mpirun")
    def test_mpirun_starts_its_ranks_in_the_places_of_workers(self):
        d = self.daemon("--gpus", 2)
        d.run("apply", "-f", ROOT / "examples/local_jobs/mpi.yaml")
        self.assertEqual(d.finished(1)["exit_code"], 0, d.output(1, task="launcher-0"))
        # mpirun itself may warn, of a race with its child.
        said = sorted(line for line in d.output(1, task="launcher-0").splitlines()
                      if line.startswith("rank"))
        self.assertEqual([line.split(" has ")[0] for line in said], ["rank 0 of 2", "rank 1 of 2"])
        self.assertEqual({line.split()[-1] for line in said}, {"0", "1"}, said)

    def test_arrays_and_what_is_refused(self):
        d = self.daemon("--gpus", 2)
        script = "#!/bin/sh\n#SBATCH --job-name=sweep\n#SBATCH --array=1-5\necho $SLURM_ARRAY_TASK_ID\n"
        answer = d.post("/v1/jobs", {"manifest": script, "directory": str(d.folder),
                                     "environment": ["PATH=/usr/bin:/bin"]})
        jobs = [job["id"] for job in answer["jobs"]]
        self.assertEqual(len(jobs), 5)
        for index, job in enumerate(jobs, 1):
            self.assertEqual(d.finished(job)["exit_code"], 0)
            written = d.folder / f"slurm-{jobs[0]}_{index}.out"
            text = written.read_text() if written.exists() else d.output(job)
            self.assertEqual(text.strip(), str(index))
        with self.assertRaises(Refused) as refused:
            d.post("/v1/jobs", {"manifest": "kind: Pod\napiVersion: v1\n", "directory": "/",
                                "environment": []})
        self.assertIn(refused.exception.status, (400, 422))
        self.assertIn("'Pod' is none of", refused.exception.error)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main()
