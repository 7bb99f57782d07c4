"""What tests of muster-kube on a real control plane share: the program, pods, and the end of each
test, at which a checker that reads the API server alone has the word (stories.py)."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

import stories
import testbed
from checker import Unsafe
from stories import DEFAULT, GROUPS, main  # noqa: F401

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "muster-kube"
PLUGIN = pathlib.Path(PROGRAM).with_name("kubectl-muster")
# Where ctest kills a test that takes too long, the program does not stay. It is the thread that counts.
ENDS_WITH_US = [word, "--pdeathsig", "KILL"] if (word := shutil.which("setpriv")) else []
JOBS = "/apis/batch/v1/namespaces/default/jobs"
MUSTER_GROUPS = "/apis/muster.dev/v1alpha1/namespaces/default/podgroups"
QUEUES = "/apis/muster.dev/v1alpha1/queues"


class MusterKube:
    """The program under test; it ends with `with`."""

    def __init__(self, kubeconfig, *flags):
        self.lines = []
        with open(kubeconfig, encoding="utf-8") as file:
            self.token = json.load(file)["users"][0]["user"]["token"]
        self.process = subprocess.Popen(
            [*ENDS_WITH_US, PROGRAM, "--kubeconfig", kubeconfig, *flags],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout))
        self.reader.start()

    def says(self, text):
        return any(text in line for line in list(self.lines))

    def ready(self, seconds=30):
        testbed.wait("muster-kube is in step", lambda: self.says("in step"), seconds)
        return self

    def send(self, number):
        """A signal, without waiting for what becomes of it."""
        self.process.send_signal(number)

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(30)
        self.reader.join()
        self.process.stdout.close()
        self.check_output()

    def check_output(self):
        """A token is a secret: whoever reads logs could act as the scheduler."""
        for line in self.lines:
            if self.token in line or any(part in line for part in self.token.split(".")):
                raise AssertionError("the token is in the output of muster-kube")
            if "a defect of muster" in line:
                raise AssertionError(line)

    def running(self):
        return self.process.poll() is None

    def __enter__(self):
        return self.ready()

    def __exit__(self, *_):
        if self.running():
            self.process.send_signal(signal.SIGCONT)
            self.kill(signal.SIGTERM)


def ask(*command, kubeconfig):
    """Exit code, output and errors of a program that asks muster-kube; kubectl finds kubectl-muster on its PATH."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={
        **os.environ, "KUBECONFIG": kubeconfig, "PATH": f"{PLUGIN.parent}:{os.environ['PATH']}"})
    return done.returncode, done.stdout, done.stderr


def pod(gpus=0, cpu="100m", run_for=None, group=None, priority=None, stop_for=None, **metadata):
    spec = {
        "schedulerName": "muster",
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 2,
        "containers": [{"name": "main", "image": "example.com/main", "resources": {
            "requests": {"cpu": cpu}, **({"limits": {"nvidia.com/gpu": gpus}} if gpus else {})}}],
    }
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    if priority:
        spec["priorityClassName"] = priority
    annotations = {f"testbed.muster.dev/{name}": value
                   for name, value in (("run-for", run_for), ("stop-for", stop_for)) if value}
    annotations.update(metadata.pop("annotations", {}))
    return {"metadata": {"annotations": annotations, **metadata}, "spec": spec}


class StoryTest(stories.ClusterTest):
    """A story of muster-kube. `flags` are of the control plane; a class may have other `muster_flags`."""

    shared = False
    muster_flags = ("--no-leader-elect",)

    @classmethod
    def prepare(cls, plane):
        return plane.install_muster()

    def setUp(self):
        super().setUp()
        self.muster = None  # Which was started last.
        if self.shared:
            self.addCleanup(self.clear)

    def finish(self):
        """The end of each test. Whatever was done: nothing was bound twice, no gang is in part, and once all is over
        a gang runs that needs the whole cluster."""
        super().finish()
        self.clear()
        if not self.muster or not self.muster.running():
            self.run_muster()
        self.run_on_all_nodes()
        self.checker.check()

    def run_on_all_nodes(self):
        """Nothing else is there: where it does not run, something was taken and never given back. Unsafe, then."""
        nodes = {one["metadata"]["name"]: one["status"]["allocatable"]
                 for one in self.plane.get("/api/v1/nodes")["items"] if not one["spec"].get("unschedulable")}
        self.group("whole", len(nodes))
        for node, room in nodes.items():
            one = pod(int(room.get("nvidia.com/gpu", 0)), cpu=room["cpu"], group="whole", name=f"whole-{node}")
            self.plane.create(f"{DEFAULT}/pods", one)
        try:
            self.checker.wait("a gang has the whole cluster", lambda: self.checker.placed("whole") == len(nodes), 30)
        except testbed.TimedOut as error:
            raise Unsafe(f"{error}\nconditions: {self.conditions()}\noutput: {self.muster.lines}") from None

    def conditions(self):
        """What is said of pods that wait, by name."""
        return {name: condition["message"] for name, one in self.pods().items()
                for condition in one["status"].get("conditions", [])
                if condition["type"] == "PodScheduled" and condition["status"] == "False"}

    def clear(self):
        """Takes away everything that runs or waits."""
        for path in (JOBS, GROUPS, MUSTER_GROUPS, QUEUES, f"{DEFAULT}/pods"):
            self.plane.api("DELETE", f"{path}?propagationPolicy=Background", {"gracePeriodSeconds": 0})
        testbed.wait("all pods and groups are gone", lambda: not any(
            self.plane.get(path)["items"] for path in (JOBS, GROUPS, MUSTER_GROUPS, QUEUES, f"{DEFAULT}/pods")))

    def run_muster(self, *flags, kubeconfig=None):
        self.muster = MusterKube(kubeconfig or self.kubeconfig, *(flags or self.muster_flags))
        self.addCleanup(self.muster.__exit__)
        return self.muster.ready()

    def pods(self, label=None):
        """Pods that are not being deleted, by name."""
        query = f"?labelSelector={label}" if label else ""
        return {one["metadata"]["name"]: one for one in self.plane.get(f"{DEFAULT}/pods{query}")["items"]
                if "deletionTimestamp" not in one["metadata"]}

    def bound(self, label=None):
        return sorted(name for name, one in self.pods(label).items()
                      if "nodeName" in one["spec"] and one["status"]["phase"] in ("Pending", "Running"))

    def priorities(self, **values):
        for name, value in values.items():
            self.plane.ensure("/apis/scheduling.k8s.io/v1/priorityclasses",
                              {"metadata": {"name": name}, "value": value})

    def job(self, name, pods=1, **template):
        self.plane.create(JOBS, {
            "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0,
                     "podFailurePolicy": {"rules": [{
                         "action": "Ignore",
                         "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]},
                     "template": pod(**template)}})

    def group(self, name, minimum, key=None, priority=None):
        """`priority`: the class of its pods, which it has to name as well."""
        more = {"schedulingConstraints": {"topology": [{"key": key}]}} if key else {}
        if priority:
            more["priorityClassName"] = priority
        self.plane.create(GROUPS, {
            "metadata": {"name": name},
            "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}, **more}})

    def gang(self, name, pods, minimum=None, key=None, **more):
        self.group(name, minimum or pods, key, more.get("priority"))
        for i in range(pods):
            self.plane.create(f"{DEFAULT}/pods", pod(
                **{"gpus": 1, **more}, group=name, name=f"{name}-{i}", labels={"gang": name}))

    def delete(self, *names):
        for name in names:
            self.plane.api("DELETE", f"{DEFAULT}/pods/{name}?gracePeriodSeconds=0")
