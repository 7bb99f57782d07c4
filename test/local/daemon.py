"""A musterd of its own for a test or a story: its folder, its socket, what it answers."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test"))
from reported import main  # noqa: E402, F401

# Where ctest kills a test that takes too long, its daemon does not stay. It is the thread that counts.
ENDS_WITH_US = [word, "--pdeathsig", "KILL"] if (word := shutil.which("setpriv")) else []


class Refused(Exception):
    """The daemon's answer is no success: `status` and `error`."""

    def __init__(self, status, error):
        super().__init__(f"{status}: {error}")
        self.status = status
        self.error = error


def cgroups_with(controller):
    """Where this user may make groups of version 2 with it; None: nowhere."""
    lines = pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    mounts = [line.split() for line in lines]
    at = next((pathlib.Path(words[1]) for words in mounts if words[2] == "cgroup2"), None)
    if (at is None or not os.access(at, os.W_OK)
            or controller not in (at / "cgroup.controllers").read_text().split()):
        return None
    return at


class _Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # With a time limit it would fail where many connect at once.
        self.sock.connect(self.path)
        self.sock.settimeout(self.timeout)


class Daemon:
    """`programs` is the folder of musterd, muster and muster-shim."""

    def __init__(self, programs, *options, folder=None):
        self.programs = pathlib.Path(programs)
        self.options = [str(option) for option in options]
        self.owned = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="muster-"))
        self.folder.chmod(0o755)
        self.socket = str(self.folder / "socket")
        self.process = None

    @classmethod
    def of(cls, test, programs, *options, **more):
        """One that runs, until the test is over."""
        daemon = cls(programs, *options, **more)
        daemon.start()
        test.addCleanup(daemon.end)
        return daemon

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()

    def start(self):
        with open(self.folder / "musterd.log", "ab") as log:
            self.process = subprocess.Popen(
                [*ENDS_WITH_US, self.programs / "musterd", "--state", self.folder / "state", "--socket",
                 self.socket, *self.options], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while True:
            try:
                return self.get("/v1/healthz")
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError("musterd does not start:\n" + self.said()) from None
                time.sleep(0.01)

    def said(self):
        return (self.folder / "musterd.log").read_text(errors="replace")

    def kill(self):
        """As a crash: kill -9."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def end(self):
        """Jobs are cancelled, and nothing stays behind."""
        try:
            if self.process.poll() is not None:
                self.start()
            for job in self.jobs():
                try:
                    self.delete(f"/v1/jobs/{job['id']}")
                except Refused:
                    pass  # It has finished by itself.
            self.until(lambda: not self.jobs(), 60)
            self.stop()
        finally:
            if self.process.poll() is None:
                self.kill()
            if self.owned:
                shutil.rmtree(self.folder, ignore_errors=True)

    # --- Requests ---

    def request(self, method, path, body=None, raw=False, timeout=100):
        connection = _Connection(self.socket, timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        if answer.status >= 400:
            try:
                error = json.loads(data)["error"]
            except (ValueError, KeyError):
                error = data.decode(errors="replace")
            raise Refused(answer.status, error)
        return data if raw else json.loads(data)

    def get(self, path, raw=False):
        return self.request("GET", path, raw=raw)

    def post(self, path, body=None):
        return self.request("POST", path, {} if body is None else body)

    def delete(self, path):
        return self.request("DELETE", path)

    def jobs(self):
        return self.get("/v1/jobs")["jobs"]

    def job(self, number):
        return self.get(f"/v1/jobs/{number}")

    def output(self, number, task="0-0", attempt=0):
        query = f"task={task}" + (f"&attempt={attempt}" if attempt else "")
        return self.get(f"/v1/jobs/{number}/logs?{query}", raw=True).decode(errors="replace")

    def submit(self, command, name="job", gpus=0, tasks=1, grace=None, environment=(), directory="/",
               annotations=None, backoff=0, cpus=None, **more):
        """One job of so many tasks, which all run the command; its id."""
        container = {"name": "main", "image": "", "command": [str(word) for word in command]}
        if gpus:
            container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
        if cpus is not None:
            container.setdefault("resources", {})["requests"] = {"cpu": str(cpus)}
        pod = {"restartPolicy": "Never", "containers": [container]}
        if grace is not None:
            pod["terminationGracePeriodSeconds"] = grace
        manifest = {
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"parallelism": tasks, "completions": tasks, "backoffLimit": backoff,
                     "template": {"spec": pod}}}
        answer = self.post("/v1/jobs", {
            "manifest": json.dumps(manifest), "directory": directory,
            "environment": [f"PATH={os.environ['PATH']}", *environment], **more})
        return answer["jobs"][0]["id"]

    def finished(self, number, seconds=60):
        """The job, when it has finished."""
        until = time.monotonic() + seconds
        while True:
            job = self.get(f"/v1/jobs/{number}?wait=5")
            if job.get("finished"):
                return job
            if time.monotonic() > until:
                raise AssertionError(f"job {number} has not finished: {job}")

    @staticmethod
    def until(true, seconds=30):
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                raise AssertionError("it did not come true")
            time.sleep(0.02)

    def run(self, *words, check=True, **more):
        """`muster WORDS`: what it printed."""
        done = subprocess.run([self.programs / "muster", "--socket", self.socket, *words],
                              capture_output=True, text=True, timeout=100, check=False, **more)
        if check and done.returncode != 0:
            raise AssertionError(f"muster {' '.join(words)}: {done.returncode}\n{done.stderr}")
        return done
