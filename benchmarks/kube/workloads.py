"""What has to be scheduled: pods and their groups, and what must be true of them when they
are bound."""

import collections
import json

RACK = "topology.testbed.muster.dev/rack"
GPU = "nvidia.com/gpu"
GPUS_PER_NODE = 8
PODS_PER_GANG = 8


class Workload:
    """Pods of one GPU, `gangs` of 8 of them or `pods` by themselves."""

    def __init__(self, name, pods, gangs=0, key=None):
        self.name = name
        self.gangs = gangs
        self.pods = gangs * PODS_PER_GANG or pods
        self.key = key  # The node label of which all pods of a gang need the same value.

    @property
    def units(self):
        """What is counted: gangs if there are some, else pods."""
        return self.gangs or self.pods

    @property
    def unit(self):
        return "gang" if self.gangs else "pod"

    def group_of(self, pod):
        return f"gang-{pod // PODS_PER_GANG}" if self.gangs else None

    def groups(self):
        constraints = {"schedulingConstraints": {"topology": [{"key": self.key}]}} if self.key else {}
        for i in range(self.gangs):
            yield {"metadata": {"name": f"gang-{i}"},
                   "spec": {"schedulingPolicy": {"gang": {"minCount": PODS_PER_GANG}}, **constraints}}

    def pod(self, i, scheduler):
        spec = {
            "schedulerName": scheduler,
            "containers": [{"name": "main", "image": "example.com/train", "resources": {
                "requests": {"cpu": "1", "memory": "1Gi"}, "limits": {GPU: 1}}}],
        }
        if group := self.group_of(i):
            spec["schedulingGroup"] = {"podGroupName": group}
        return {"metadata": {"name": f"pod-{i}"}, "spec": spec}

    def check(self, pods, rack_of):
        """Raises AssertionError unless every pod is bound where it may be. `rack_of`: by node."""
        on = collections.Counter(pod["spec"].get("nodeName") for pod in pods)
        assert len(pods) == self.pods and None not in on, f"{on[None]} of {len(pods)} pods are not bound"
        assert max(on.values()) <= GPUS_PER_NODE, f"overbooked: {on.most_common(1)}"
        if not self.key:
            return
        racks = collections.defaultdict(set)
        for pod in pods:
            racks[pod["spec"]["schedulingGroup"]["podGroupName"]].add(rack_of[pod["spec"]["nodeName"]])
        split = [group for group, found in racks.items() if len(found) > 1]
        assert not split, f"{len(split)} gangs in more than one rack, {split[0]} for one"


def line(method, path, body, content_type="application/json"):
    """A request for kube_requests."""
    return f"{method}\t{path}\t{content_type}\t{json.dumps(body)}\n"
