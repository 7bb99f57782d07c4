#!/usr/bin/env python3
"""What goes wrong on one machine, with real processes: faults_test.py PROGRAMS"""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from daemon import Daemon, Refused, cgroups_with, main


def alive(marker):
    """How many processes have this in their command line."""
    count = 0
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                count += 1
        except OSError:
            pass
    return count


class FaultsTest(unittest.TestCase):
    def daemon(self, *options):
        return Daemon.of(self, PROGRAMS, *options)

    def test_the_kernel_holds_a_job_to_its_memory(self):
        at = cgroups_with("memory")
        if at is None:
            self.skipTest("no memory controller of cgroup version 2 for this user")
        cgroups = at / f"muster-faults-{os.getpid()}"
        config = pathlib.Path(tempfile.mkdtemp()) / "musterd.yaml"
        self.addCleanup(shutil.rmtree, config.parent)
        config.write_text(f"node: {{cgroup: {cgroups}}}\n")
        d = Daemon(PROGRAMS, "--config", config)
        d.start()
        self.addCleanup(cgroups.rmdir)
        self.addCleanup(d.end)
        eat = "b = bytearray(400 << 20); print('held', len(b) >> 20)"
        for memory, code, says in [("64M", 137, ""), ("1G", 0, "held 400\n")]:
            said = d.run("submit", "--mem", memory, "--", sys.executable, "-c", eat).stdout
            job = d.finished(int(re.search(r"\d+", said)[0]))
            self.assertEqual((job["exit_code"], d.output(job["id"])), (code, says), job)

    def test_kill_9_of_the_daemon_at_any_moment_loses_no_job_and_runs_none_twice(self):
        d = self.daemon("--gpus", 4)
        dice = random.Random(int(os.environ.get("MUSTER_SEED", "17")))
        ran = d.folder / "ran"
        jobs, codes = [], {}
        stop = threading.Event()

        def submit():
            while not stop.is_set() and len(jobs) < 150:
                code = len(jobs) % 7
                script = f"echo $MUSTER_JOB_ID.$MUSTER_ATTEMPT >> {ran}; sleep 0.0{code}; exit {code}"
                try:
                    job = d.submit(["sh", "-c", script], gpus=1)
                except (OSError, Refused):
                    time.sleep(0.01)
                    continue
                jobs.append(job)
                codes[job] = code

        client = threading.Thread(target=submit)
        client.start()
        kills = 0
        until = time.monotonic() + 8
        while time.monotonic() < until:
            time.sleep(dice.uniform(0, 0.25))
            d.kill()
            kills += 1
            d.start()
        stop.set()
        client.join()
        self.assertGreater(kills, 10)
        self.assertGreater(len(jobs), 20)
        for job in jobs:
            ended = d.finished(job)
            self.assertEqual(ended["exit_code"], codes[job], ended)
        lines = ran.read_text().split()
        self.assertEqual(len(lines), len(set(lines)), "an attempt ran twice")
        self.assertLessEqual({f"{job}.1" for job in jobs}, set(lines), "a job never ran")
        # A submission that was not answered may have been kept; it ran once, too.
        print(f"{kills} kills, {len(jobs)} jobs", flush=True)

    def test_the_exit_code_of_what_ended_while_no_daemon_ran_is_known(self):
        d = self.daemon("--gpus", 1)
        job = d.submit(["sh", "-c", "sleep 0.5; exit 42"], gpus=1)
        d.until(lambda: d.job(job)["phase"] == "running")
        d.kill()
        time.sleep(1)
        d.start()
        self.assertEqual(d.finished(job)["exit_code"], 42)

    def test_a_second_daemon_is_refused(self):
        d = self.daemon("--gpus", 1)
        second = subprocess.run(
            [d.programs / "musterd", "--state", d.folder / "state", "--socket", d.socket],
            capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn(str(d.process.pid), second.stderr)
        self.assertEqual(d.get("/v1/healthz"), d.get("/v1/healthz"))

    def test_who_does_not_stop_is_killed_with_all_that_it_started(self):
        d = self.daemon("--gpus", 1)
        marker = f"sleep 98765.{os.getpid() % 1000}"
        script = f"trap '' TERM; (setsid sh -c '{marker} & {marker}' &) ; echo up; {marker} & wait; wait"
        job = d.submit(["sh", "-c", script], gpus=1, grace=1)
        d.until(lambda: alive(marker.split()[1]) >= 3)
        d.delete(f"/v1/jobs/{job}")
        ended = d.finished(job)
        self.assertEqual(ended["phase"], "forgotten")
        self.assertEqual(alive(marker.split()[1]), 0)

    def test_of_a_shim_that_is_killed_the_task_is_gone_and_starts_anew(self):
        d = self.daemon("--gpus", 1)
        marker = f"87654.{os.getpid() % 1000}"
        job = d.submit(["sleep", marker], gpus=1)
        d.until(lambda: alive(marker) == 1)
        folder = f"/jobs/{job}/0-0/1"
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and folder.encode() in (entry / "cmdline").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass
        # Nobody knows how it ended, and it is nobody's failure: it starts anew.
        d.until(lambda: d.job(job)["tasks"] and d.job(job)["tasks"][0]["attempt"] == 2)
        d.until(lambda: d.job(job)["tasks"][0]["state"] == "run")
        d.until(lambda: alive(marker) == 1)  # The first attempt is gone.

    def test_much_output_is_not_held_in_memory(self):
        d = self.daemon("--gpus", 1)
        # 5 GiB, more than 32 bits can say. Written is only the last half GiB, which is more than the daemon may
        # have; before it is a hole, which costs no disk.
        job = d.submit(["dd", "if=/dev/zero", "bs=1M", "seek=4608", "count=512", "status=none"], gpus=1)
        self.assertEqual(d.finished(job)["exit_code"], 0)
        size = (d.folder / f"state/jobs/{job}/0-0/1/output").stat().st_size
        self.assertEqual(size, 5 << 30)
        status = pathlib.Path(f"/proc/{d.process.pid}/status").read_text()
        most = int(status.split("VmHWM:")[1].split()[0])
        self.assertLess(most, 400 << 10, "kB")

    @unittest.skipUnless(os.geteuid() == 0, "other users: needs root")
    def test_another_user_neither_stops_a_job_nor_reads_it(self):
        d = self.daemon("--gpus", 1)
        job = d.submit(["sh", "-c", "echo secret; sleep 1000"], gpus=1)
        d.until(lambda: "secret" in d.output(job))

        def as_nobody(method, path, body=""):
            """In a process of that user; the status."""
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    os.setgroups([])
                    os.setgid(65534)
                    os.setuid(65534)
                    with socket.socket(socket.AF_UNIX) as s:
                        s.connect(d.socket)
                        s.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                  f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
                        data = s.makefile("rb").read()
                        os.write(write, data[:60000])
                finally:
                    os._exit(0)
            os.close(write)
            with os.fdopen(read, "rb") as pipe:
                data = pipe.read()
            os.waitpid(child, 0)
            return int(data.split()[1]), data

        self.assertEqual(as_nobody("DELETE", f"/v1/jobs/{job}")[0], 403)
        self.assertEqual(as_nobody("POST", f"/v1/jobs/{job}/hold")[0], 403)
        status, data = as_nobody("GET", f"/v1/jobs/{job}/logs")
        self.assertEqual(status, 403)
        self.assertNotIn(b"secret", data)
        status, data = as_nobody("GET", f"/v1/jobs/{job}")
        self.assertNotIn(b"secret", data)
        self.assertEqual(d.job(job)["phase"], "running")
        # His own job runs as himself, and cannot touch what the daemon keeps.
        manifest = ('{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"own"},"spec":'
                    '{"backoffLimit":0,"template":{"spec":{"restartPolicy":"Never","containers":'
                    '[{"name":"m","image":"","command":["sh","-c","id -u; touch ../x; '
                    'cat ' + str(d.folder) + '/state/muster.db"]}]}}}}')

        status, data = as_nobody("POST", "/v1/jobs", json.dumps(
            {"manifest": manifest, "directory": "/", "environment": ["PATH=/usr/bin:/bin"]}))
        self.assertEqual(status, 201, data)
        own = max(j["id"] for j in d.get("/v1/history")["jobs"])
        self.assertNotEqual(d.finished(own)["exit_code"], 0)
        text = d.output(own)
        self.assertIn("65534", text)
        self.assertIn("Permission denied", text)

    @unittest.skipUnless(os.geteuid() == 0, "a full disk: needs root")
    def test_a_full_disk_is_told_and_nothing_is_lost(self):
        disk = Daemon(PROGRAMS).folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "none", disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("a full disk: nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        d = Daemon(PROGRAMS, "--gpus", 1, folder=disk)
        d.start()
        self.addCleanup(d.end)
        first = d.submit(["sleep", "1000"], gpus=1)
        d.until(lambda: d.job(first)["phase"] == "running")
        self.addCleanup((disk / "filler").unlink, missing_ok=True)  # First of all.
        with open(disk / "filler", "wb", buffering=0) as filler, self.assertRaises(OSError):
            while True:
                filler.write(bytes(4096))
        kept = [first]
        with self.assertRaises(Refused) as refused:
            for i in range(1000):
                kept.append(d.submit(["true"], gpus=1, environment=[f"X={i}" + "x" * 5000]))
        self.assertEqual(refused.exception.status, 503, refused.exception.error)
        self.assertIn("full", refused.exception.error)
        (disk / "filler").unlink()
        d.until(lambda: not self.refused(d), 20)
        self.assertLessEqual(set(kept), {job["id"] for job in d.jobs()})
        self.assertEqual(d.job(first)["phase"], "running")

    @staticmethod
    def refused(daemon):
        try:
            daemon.submit(["true"], gpus=1)
            return False
        except Refused:
            return True

    def test_requests_that_make_no_sense_end_nothing(self):
        d = self.daemon("--gpus", 1)
        dice = random.Random(5)
        for _ in range(300):
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(20)
                s.connect(d.socket)
                path = "/v1/" + "".join(dice.choice("jobs/12%?=&..\\") for _ in range(dice.randrange(20)))
                body = dice.randbytes(dice.randrange(200))
                head = f"{dice.choice(['GET', 'POST', 'DELETE', 'X'])} {path} HTTP/1.1\r\nHost: x\r\n"
                s.sendall(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
                s.shutdown(socket.SHUT_WR)
                s.recv(100)
        job = d.submit(["true"])
        self.assertEqual(d.finished(job)["exit_code"], 0)

    def test_a_thousand_clients_wait_and_others_are_served(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 2100:
            self.skipTest("this user may not open so many files")
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        # Most begin with so few, or 1,024.
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        d = self.daemon("--gpus", 1)
        resource.setrlimit(resource.RLIMIT_NOFILE, (2100, hard))
        go = d.folder / "go"
        job = d.submit(["sh", "-c", f"while test ! -e {go}; do sleep 0.05; done; exit 3"])
        waiting = []
        for _ in range(1000):
            client = socket.socket(socket.AF_UNIX)
            self.addCleanup(client.close)
            client.connect(d.socket)
            client.settimeout(60)
            client.sendall(f"GET /v1/jobs/{job}?wait=60 HTTP/1.0\r\n\r\n".encode())
            waiting.append(client)
        # As many come and go meanwhile.
        failed = []

        def ask():
            try:
                for _ in range(5):
                    d.jobs()
            except (OSError, Refused) as error:
                failed.append(error)

        clients = [threading.Thread(target=ask) for _ in range(200)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(failed, [])
        self.assertEqual(len(d.jobs()), 1)
        go.touch()
        for client in waiting:
            answer = b""
            while part := client.recv(1 << 16):
                answer += part
            head, _, body = answer.partition(b"\r\n\r\n")
            self.assertIn(b" 200 ", head.splitlines()[0])
            self.assertEqual(json.loads(body)["exit_code"], 3)


if __name__ == "__main__":
    PROGRAMS = sys.argv.pop(1)
    main()
