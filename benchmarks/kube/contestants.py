"""Who binds pods: kube-scheduler, muster-kube, and a program that only writes."""

import json
import os
import pathlib
import subprocess

import workloads


class Contestant:
    """Its process runs from start() to stop(), and writes into `log`."""

    name = ""
    scheduler = ""  # schedulerName of its pods.

    def __init__(self, plane, flags=()):
        self.plane = plane
        self.flags = list(flags)
        self.process = None

    def launch(self, command, **options):
        with open(os.path.join(self.plane.scratch.name, f"{self.name}.log"), "ab") as log:
            self.process = subprocess.Popen(command, stderr=log, **options)
        return self.process.pid

    def prepare(self, workload, namespace):
        """What is to be done before the clock runs."""

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(30)


class KubeScheduler(Contestant):
    """With limits on its requests that do not limit, without other replicas, and without the
    expected node in the status of pods that wait, which are writes that nobody here reads.

    For gangs without a topology it looks at 10 % of the nodes, which takes half of the CPU of
    what it does by itself. With a topology that is no gain; single pods fail at times, and
    wait, so that fewer are bound a second."""

    name = "kube-scheduler"
    scheduler = "default-scheduler"

    def __init__(self, plane, flags=()):
        super().__init__(plane, flags)
        self.kubeconfig = plane.run("user", "system:kube-scheduler").strip()
        self.config = os.path.join(plane.scratch.name, "kube-scheduler.yaml")

    def prepare(self, workload, namespace):
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": self.kubeconfig, "qps": 10_000, "burst": 10_000},
        }
        if workload.gangs and not workload.key:
            config["percentageOfNodesToScore"] = 10
        pathlib.Path(self.config).write_text(json.dumps(config), encoding="utf-8")

    def start(self):
        gates = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,NominatedNodeNameForExpectation=false"
        return self.launch([self.plane.program, "kube-scheduler", f"--config={self.config}",
                            f"--feature-gates={gates}", "--secure-port=0", *self.flags])


class Muster(Contestant):
    name = "muster"
    scheduler = "muster"

    def __init__(self, plane, binaries, kubeconfig, flags=()):
        super().__init__(plane, flags)
        self.command = [binaries / "muster-kube", "--kubeconfig", kubeconfig, "--no-leader-elect"]

    def start(self):
        return self.launch([*self.command, *self.flags])


class Writes(Contestant):
    """Binds each pod to a node that was chosen before, then sends as many Events: what the API
    server can do."""

    name = "writes"
    scheduler = "nobody"

    def __init__(self, plane, binaries, kubeconfig, flags=()):
        super().__init__(plane, flags)
        self.command = [binaries / "kube_requests", "--kubeconfig", kubeconfig]
        self.requests = os.path.join(plane.scratch.name, "writes.txt")

    def prepare(self, workload, namespace):
        pods = self.plane.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
        pods.sort(key=lambda pod: int(pod["metadata"]["name"].removeprefix("pod-")))  # Gangs together.
        with open(self.requests, "w", encoding="utf-8") as file:
            for i, pod in enumerate(pods):
                file.write(self.binding(i, pod["metadata"]))
            for i, pod in enumerate(pods):
                file.write(self.event(i, pod["metadata"]))

    @staticmethod
    def binding(i, meta):
        return workloads.line("POST", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/binding", {
            "apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"],
                         "annotations": {"muster.dev/task": "0", "muster.dev/decision": str(i)}},
            "target": {"apiVersion": "v1", "kind": "Node", "name": f"node-{i // workloads.GPUS_PER_NODE}"}})

    @staticmethod
    def event(i, meta):
        return workloads.line("POST", f"/apis/events.k8s.io/v1/namespaces/{meta['namespace']}/events", {
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": f"{meta['name']}.{i:x}", "namespace": meta["namespace"]},
            "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal", "reason": "Scheduled",
            "action": "Binding", "note": f"Assigned to node-{i // workloads.GPUS_PER_NODE}",
            "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": meta["namespace"],
                          "name": meta["name"], "uid": meta["uid"]},
            "reportingController": "muster.dev/writes", "reportingInstance": "writes"})

    def start(self):
        with open(self.requests, "rb") as requests:
            return self.launch([*self.command, *self.flags], stdin=requests, stdout=subprocess.DEVNULL)
