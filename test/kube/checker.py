"""What a scheduler must never do, read from the API server alone: every change of every pod, node
and group, in the order in which they were made.

A scheduler answers for the pods that it has bound. A pod that was created with a node, or that names
another scheduler, is foreign: what it takes is the kubelet's to refuse. It counts against a binding
once it has run for long enough to be known; a binding beside one that had not is no fault."""

import decimal
import http.client
import json
import math
import re
import threading
import time

import testbed

GROUPS = "/apis/scheduling.k8s.io/v1beta1/podgroups"
RESOURCES = ("cpu", "memory", "pods", "nvidia.com/gpu")

KNOWN_AFTER = 2  # Seconds: by then a scheduler has heard that a foreign pod runs.

_SUFFIXES = {**{suffix: decimal.Decimal(1000)**i for i, suffix in enumerate(("n", "u", "m", "", *"kMGTPE"), -3)},
             **{f"{suffix}i": decimal.Decimal(1024)**i for i, suffix in enumerate("KMGTPE", 1)}}


def quantity(text):
    """In thousandths."""
    number, exponent, suffix = re.fullmatch(r"([+-]?[0-9.]+)(?:[eE]([+-]?[0-9]+))?([A-Za-z]*)", str(text)).groups()
    return round(1000 * decimal.Decimal(number) * decimal.Decimal(10)**int(exponent or 0) * _SUFFIXES[suffix])


def requests(pod):
    """What a pod uses of RESOURCES, in thousandths: what the kubelet has allocated, where it says so. A
    resize that it has not carried out takes nothing yet."""
    allocated = {one["name"]: one["allocatedResources"] for one in pod["status"].get("containerStatuses", [])
                 if "allocatedResources" in one}
    total = {"pods": 1000}
    for container in pod["spec"]["containers"]:
        asked = container["resources"].get("requests", {})
        for name, amount in {**asked, **allocated.get(container["name"], {})}.items():
            if name in RESOURCES:
                total[name] = total.get(name, 0) + quantity(amount)
    return total


class Unsafe(AssertionError):
    """What a scheduler must never do was done, or nobody can tell."""


class Checker:
    """Watches from its making to stop(). Nothing of it asks the scheduler."""

    def __init__(self, plane, schedulers=("muster",)):
        """`schedulers`: the names, in pods, of the one that is looked at."""
        self.plane = plane
        self.schedulers = schedulers
        self.errors = []
        self.changed = threading.Condition()
        self.pods = {}  # By UID, the newest state of those that are there.
        self.ever = {}  # Likewise of all that ever were.
        self.room = {}  # Allocatable, by node; also of deleted ones.
        self.minimum = {}  # By namespace and group; also of deleted ones.
        self.owed = {}  # Likewise, what a group must have, which has less than its minimum since that was raised.
        self._nodes = {}  # UIDs of the pods of a node.
        self._created_there = set()  # UIDs of pods that were created with a node.
        self._runs_since = {}  # By UID, when it was first seen to run.
        self._beside_unknown = set()  # UIDs of pods bound beside foreign ones which nobody knew of, or before.
        self._to_check = []  # Pods that were bound, since room was last looked at.
        self._listing = False
        self._begun = False  # What is there before is not looked at.
        self._markers = 0
        self._stopped = False
        self._threads = []
        for path, kind in (("/api/v1/nodes", "node"), (GROUPS, "group"), ("/api/v1/pods", "pod")):
            version = self._list(path, kind)
            self._begun = kind == "pod"
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
                    raise testbed.TimedOut(f"not within {seconds} s: {what}")
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
            key = self._group(one)
            if key and "nodeName" in one["spec"] and one["status"]["phase"] != "Failed" \
                    and "deletionTimestamp" not in one["metadata"]:
                count[key] = count.get(key, 0) + 1
        return count if group is None else count.get(("default", group), 0)

    @staticmethod
    def _group(pod):
        """Namespace and name of its group, or None."""
        name = pod["spec"].get("schedulingGroup", {}).get("podGroupName")
        return (pod["metadata"]["namespace"], name) if name else None

    def in_part(self):
        """Gangs of which some pods were placed by the scheduler, and altogether less than the minimum. So is one
        of which nothing else is known yet."""
        placed = self.placed()
        ours = {self._group(one) for one in list(self.pods.values()) if "nodeName" in one["spec"] and self.bound(one)}
        for key, owed in list(self.owed.items()):
            # What ran when its minimum was raised goes on as it is, until it is whole or over.
            if not owed <= placed.get(key, 0) < self.minimum[key]:
                self.owed.pop(key, None)
        return {key: count for key, count in placed.items()
                if key in ours and count < self.owed.get(key, self.minimum.get(key, math.inf))}

    def check(self, seconds=30):
        """Raises Unsafe if a node was ever overbooked or a pod ever bound anew, or if a gang is in part and
        stays so."""
        try:
            self.catch_up()
        except testbed.TimedOut as error:
            raise Unsafe(f"{error}; known by then: {self.errors}") from None
        try:
            self.wait("no gang is in part", lambda: not self.in_part(), seconds)
        except testbed.TimedOut:
            self.errors.append(f"gangs are in part for {seconds} s: {self.in_part()}")
        if self.errors:
            raise Unsafe("\n".join(self.errors))

    def bound(self, pod):
        """Whether it is the scheduler's that the pod is where it is."""
        return (pod["spec"].get("schedulerName") in self.schedulers
                and pod["metadata"]["uid"] not in self._created_there)

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
            self._listing = True
            for one in answer["items"]:
                self._take(kind, "ADDED", one)
            self._listing = False
            self._check_room()
            self.changed.notify_all()
        return answer["metadata"]["resourceVersion"]

    def _watch(self, path, kind, version):
        while not self._stopped:
            try:
                version = self._watch_once(path, kind, version)
            except (OSError, http.client.HTTPException, AssertionError, ValueError):
                time.sleep(0.1)  # The API server is away, perhaps on purpose.
            except Exception as error:  # Else nobody would look any more, and nobody would know.
                self.errors.append(f"the checker does not understand what it reads: {error!r}")
                version = None
                time.sleep(0.1)

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
                            self._check_room()
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
            self._take_group((one["metadata"]["namespace"], name), change, one)
        else:
            self._pod(change, one)

    def _take_group(self, key, change, one):
        gang = one["spec"].get("schedulingPolicy", {}).get("gang")
        minimum = gang["minCount"] if gang else 1
        before = self.minimum.get(key, minimum)
        self.minimum[key] = minimum
        if (change == "ADDED" and not self._listing) or minimum <= before:
            self.owed.pop(key, None)
        elif self.placed().get(key, 0) >= self.owed.get(key, before):
            self.owed.setdefault(key, before)

    def _pod(self, change, one):
        uid, name = one["metadata"]["uid"], one["metadata"]["name"]
        before = self.ever.get(uid)
        node = one["spec"].get("nodeName")
        if before is None and node and change == "ADDED" and not self._listing:
            self._created_there.add(uid)
        if before and before["spec"].get("nodeName") not in (None, node):
            self.errors.append(f"pod {name} was on {before['spec']['nodeName']}, and is on {node}")
        self.ever[uid] = one
        if change == "DELETED":
            self.pods.pop(uid, None)
            self._nodes.get(node, set()).discard(uid)
            return
        self.pods[uid] = one
        if one["status"]["phase"] == "Running":
            self._runs_since.setdefault(uid, time.monotonic())
        if node:
            self._nodes.setdefault(node, set()).add(uid)
        if not self._begun:
            self._beside_unknown.add(uid)
        elif node and self.bound(one):
            if before is None or "nodeName" not in before["spec"]:
                self._to_check.append(one)
            if "OutOf" in one["status"].get("reason", "") and uid not in self._beside_unknown:
                self.errors.append(f"pod {name} on {node}: {one['status']['reason']}")

    def _check_room(self):
        to_check, self._to_check = self._to_check, []
        for pod in to_check:
            node, room = pod["spec"]["nodeName"], self.room.get(pod["spec"]["nodeName"], {})
            used = self._used_beside(node, pod)
            for resource, amount in room.items():
                if used.get(resource, 0) > amount:
                    self.errors.append(f"node {node} has {amount / 1000} {resource}, and {used[resource] / 1000} "
                                       f"are used with pod {pod['metadata']['name']}")

    def _used_beside(self, node, pod):
        """What is used on the node, with this pod, which was bound to it now."""
        used, now = {}, time.monotonic()
        for one in map(self.pods.get, self._nodes[node]):
            if one["status"]["phase"] not in ("Pending", "Running"):
                continue
            if not self.bound(one) and now - self._runs_since.get(one["metadata"]["uid"], now) < KNOWN_AFTER:
                self._beside_unknown.add(pod["metadata"]["uid"])
                continue
            for resource, amount in requests(one).items():
                used[resource] = used.get(resource, 0) + amount
        return used
