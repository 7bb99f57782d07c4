"""What a scheduler must never do, read from the API server alone: every change of every pod, node
and group, in the order in which they were made."""

import http.client
import json
import re
import threading
import time

import testbed

GROUPS = "/apis/scheduling.k8s.io/v1beta1/podgroups"
RESOURCES = ("cpu", "memory", "pods", "nvidia.com/gpu")

_SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
             "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def quantity(text):
    """In thousandths."""
    number, suffix = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text)).groups()
    return round(float(number) * (1 if suffix == "m" else 1000 * _SUFFIXES[suffix]))


def requests(pod):
    """What a pod uses of RESOURCES, in thousandths."""
    total = {"pods": 1000}
    for container in pod["spec"]["containers"]:
        for name, amount in container["resources"].get("requests", {}).items():
            if name in RESOURCES:
                total[name] = total.get(name, 0) + quantity(amount)
    return total


class Checker:
    """Watches from its making to stop(). Nothing of it asks the scheduler."""

    def __init__(self, plane):
        self.plane = plane
        self.errors = []
        self.changed = threading.Condition()
        self.pods = {}  # By UID, the newest state of those that are there.
        self.ever = {}  # Likewise of all that ever were.
        self.room = {}  # Allocatable, by node; also of deleted ones.
        self.used = {}  # By node and resource.
        self.minimum = {}  # By namespace and group; also of deleted ones.
        self._markers = 0
        self._stopped = False
        self._threads = []
        for path, kind in (("/api/v1/nodes", "node"), (GROUPS, "group"), ("/api/v1/pods", "pod")):
            version = self._list(path, kind)
            thread = threading.Thread(target=self._watch, args=(path, kind, version), daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self):
        self._stopped = True

    # --- Questions ---------------------------------------------------------------

    def wait(self, what, condition, seconds=60):
        """The first true value of condition(), which is asked at each change."""
        end = time.monotonic() + seconds
        with self.changed:
            while not (value := condition()):
                left = end - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"not within {seconds} s: {what}")
                self.changed.wait(min(left, 0.2))
        return value

    def catch_up(self):
        """Returns when everything that was done before this call is known here."""
        self._markers += 1
        name = f"marker-{self._markers}-{time.monotonic_ns()}"
        self.plane.create("/api/v1/namespaces/default/pods", {
            "metadata": {"name": name},
            "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": "example.com/main"}]}})
        self.wait("the checker is up to date", lambda: any(
            one["metadata"]["name"] == name for one in list(self.ever.values())))
        self.plane.api("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")

    def placed(self, group=None):
        """Pods that have a node and neither ended without success nor are about to, by group."""
        count = {}
        for one in list(self.pods.values()):
            name = one["spec"].get("schedulingGroup", {}).get("podGroupName")
            if name and "nodeName" in one["spec"] and one["status"]["phase"] != "Failed" \
                    and "deletionTimestamp" not in one["metadata"]:
                key = (one["metadata"]["namespace"], name)
                count[key] = count.get(key, 0) + 1
        return count if group is None else count.get(("default", group), 0)

    def in_part(self):
        """Gangs of which some pods are placed, but less than the minimum."""
        return {key: count for key, count in self.placed().items() if 0 < count < self.minimum.get(key, 1)}

    def check(self, seconds=30):
        """Raises AssertionError if a node was ever overbooked or a pod ever bound anew, or if a gang
        is in part and stays so."""
        self.catch_up()
        self.wait("no gang is in part", lambda: not self.in_part(), seconds)
        if self.errors:
            raise AssertionError("\n".join(self.errors))

    # --- What the API server tells -----------------------------------------------

    def _list(self, path, kind):
        code, answer = self.plane.api("GET", path)
        if code != 200:
            raise AssertionError(f"GET {path}: {code}: {answer.get('message')}")
        there = {one["metadata"]["uid"] for one in answer["items"]}
        with self.changed:
            if kind == "pod":
                for uid in set(self.pods) - there:
                    self._pod("DELETED", self.pods[uid])
            for one in answer["items"]:
                self._take(kind, "ADDED", one)
            self.changed.notify_all()
        return answer["metadata"]["resourceVersion"]

    def _watch(self, path, kind, version):
        while not self._stopped:
            try:
                version = self._watch_once(path, kind, version)
            except (OSError, http.client.HTTPException, AssertionError, ValueError):
                time.sleep(0.1)  # The API server is away, perhaps on purpose.

    def _watch_once(self, path, kind, version):
        if version is None:
            return self._list(path, kind)
        with self.plane.open(f"{path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=300"
                             f"&resourceVersion={version}") as answer:
            if answer.status != 200:
                return None
            try:
                for line in answer:
                    if self._stopped:
                        return version
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        return None  # Too old: what changed meanwhile is known by a list only.
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        with self.changed:
                            self._take(kind, event["type"], event["object"])
                            self.changed.notify_all()
            except (OSError, http.client.HTTPException, ValueError):
                pass  # Cut; goes on from the last version.
        return version

    def _take(self, kind, change, one):
        name = one["metadata"]["name"]
        if kind == "node":
            self.room[name] = {resource: quantity(one["status"].get("allocatable", {}).get(resource, 0))
                               for resource in RESOURCES}
        elif kind == "group":
            gang = one["spec"].get("schedulingPolicy", {}).get("gang")
            self.minimum[one["metadata"]["namespace"], name] = gang["minCount"] if gang else 1
        else:
            self._pod(change, one)

    def _pod(self, change, one):
        uid, name = one["metadata"]["uid"], one["metadata"]["name"]
        before = self.ever.get(uid)
        node = one["spec"].get("nodeName")
        if before and before["spec"].get("nodeName") not in (None, node):
            self.errors.append(f"pod {name} was on {before['spec']['nodeName']}, and is on {node}")
        if "OutOf" in one["status"].get("reason", ""):
            self.errors.append(f"pod {name} on {node}: {one['status']['reason']}")
        if uid in self.pods:
            self._use(self.pods[uid], -1)
        self.ever[uid] = one
        if change == "DELETED":
            self.pods.pop(uid, None)
            return
        self.pods[uid] = one
        self._use(one, 1)

    def _use(self, pod, sign):
        node = pod["spec"].get("nodeName")
        if node is None or pod["status"]["phase"] not in ("Pending", "Running"):
            return
        used = self.used.setdefault(node, {})
        for resource, amount in requests(pod).items():
            used[resource] = used.get(resource, 0) + sign * amount
            room = self.room.get(node, {}).get(resource)
            if sign > 0 and room is not None and used[resource] > room:
                self.errors.append(f"node {node} has {room / 1000} {resource}, and "
                                   f"{used[resource] / 1000} are used with pod {pod['metadata']['name']}")
