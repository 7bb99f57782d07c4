"""What a control plane and its machine do meanwhile, seen from outside of the schedulers."""

import http.client
import os
import re
import ssl
import threading
import time
import urllib.parse

TICK = os.sysconf("SC_CLK_TCK")
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def cpu_of(pid):
    """CPU seconds of a process until now."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def cpu_of_machine():
    """CPU seconds of all processes until now."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / TICK


def connect(plane, timeout=None):
    """A connection to the API server as its administrator."""
    context = ssl.create_default_context(cafile=plane.info["certificate_authority"])
    context.load_cert_chain(f"{plane.dir}/users/admin.crt", f"{plane.dir}/users/admin.key")
    return http.client.HTTPSConnection(urllib.parse.urlsplit(plane.server).netloc,
                                       context=context, timeout=timeout)


def writes(plane):
    """How many requests that change something the API server has answered, leases left out."""
    connection = connect(plane, 30)
    connection.request("GET", "/metrics", headers={"User-Agent": "bench"})
    text = connection.getresponse().read().decode()
    connection.close()
    total = 0
    for labels, value in re.findall(r"^apiserver_request_total\{(.*?)\} (\S+)$", text, re.M):
        verb = re.search(r'verb="(\w+)"', labels)[1]
        if verb in ("POST", "PUT", "PATCH", "DELETE") and 'resource="leases"' not in labels:
            total += float(value)
    return total


class BoundPods(threading.Thread):
    """Counts the pods of a namespace that become bound, and when. A watch that sends no more
    than their metadata: it costs the API server the same whoever binds."""

    def __init__(self, plane, namespace):
        super().__init__(daemon=True)
        self.plane = plane
        self.path = f"/api/v1/namespaces/{namespace}/pods"
        self.version = plane.get(f"{self.path}?limit=1")["metadata"]["resourceVersion"]
        self.times = []  # Of each, by time.monotonic().
        self.over = False
        self.start()

    def run(self):
        while not self.over:  # A watch may end at any time.
            try:
                self.watch()
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)

    def watch(self):
        connection = connect(self.plane, 5)
        query = urllib.parse.urlencode({"watch": "1", "fieldSelector": "spec.nodeName!=",
                                        "resourceVersion": self.version})
        connection.request("GET", f"{self.path}?{query}", headers={"Accept": METADATA, "User-Agent": "bench"})
        answer = connection.getresponse()
        rest = b""
        while not self.over and (data := answer.read1(1 << 20)):
            now = time.monotonic()
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if b'"type":"ADDED"' in line:
                    self.times.append(now)
                if found := re.search(rb'"resourceVersion":"(\d+)"', line):
                    self.version = found[1].decode()
        connection.close()

    def stop(self):
        """It ends by itself, some seconds later."""
        self.over = True


class Cpu:
    """CPU seconds since it was made: of processes by name, and of all others on the machine."""

    def __init__(self, pids):
        self.pids = {**pids, "this": os.getpid()}
        self.start = {name: cpu_of(pid) for name, pid in self.pids.items()}
        self.machine = cpu_of_machine()
        self.begin = time.monotonic()

    def add(self, name, pid):
        """A process that has just been started."""
        self.pids[name], self.start[name] = pid, 0.0

    def read(self):
        """By name; `others`: in cores, the mean."""
        used = {name: cpu_of(pid) - self.start[name] for name, pid in self.pids.items()}
        rest = cpu_of_machine() - self.machine - sum(used.values())
        return {**used, "others": max(0.0, rest) / (time.monotonic() - self.begin)}
