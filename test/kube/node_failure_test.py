#!/usr/bin/env python3
"""What becomes of a node that is silent, and of one that is tainted."""

import stories
import testbed

PODS = "/api/v1/namespaces/default/pods"


def pod(name, node, tolerate):
    return {"metadata": {"name": name}, "spec": {
        "nodeName": node,
        "containers": [{"name": "main", "image": "example.com/main"}],
        "tolerations": [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": tolerate}
                        for key in ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready")]}}


class NodeFailureTest(stories.ClusterTest):
    """No scheduler runs: the checker sees that nothing was bound anew."""

    flags = ("--lifecycle", "--nodes=2")

    def taints(self, node):
        return {taint["key"] for taint in self.plane.get(f"/api/v1/nodes/{node}")["spec"].get("taints", [])}

    def run_pod(self, name, node, tolerate):
        self.plane.create(PODS, pod(name, node, tolerate))
        testbed.wait(f"{name} runs", lambda: self.plane.get(f"{PODS}/{name}")["status"]["phase"] == "Running")

    def test_a_silent_node_is_tainted_and_its_pods_are_deleted_until_it_is_back(self):
        testbed.wait("the new node is not tainted", lambda: not self.taints("node-0"))
        self.run_pod("leaves", "node-0", 0)
        self.run_pod("stays", "node-0", 3600)
        self.plane.kubectl("annotate", "node", "node-0", "testbed.muster.dev/silent=true")
        testbed.wait("it is tainted", lambda: "node.kubernetes.io/unreachable" in self.taints("node-0"))
        testbed.wait("the pod is deleted", lambda: "deletionTimestamp" in self.plane.get(f"{PODS}/leaves")["metadata"])
        self.assertNotIn("deletionTimestamp", self.plane.get(f"{PODS}/stays")["metadata"])
        self.plane.kubectl("annotate", "node", "node-0", "testbed.muster.dev/silent-")
        testbed.wait("the deleted pod is gone", lambda: self.plane.get(f"{PODS}/leaves") is None)
        testbed.wait("it is not tainted any more", lambda: not self.taints("node-0"))
        self.assertEqual("Running", self.plane.get(f"{PODS}/stays")["status"]["phase"])

    def test_a_taint_evicts_a_pod_that_does_not_tolerate_it(self):
        self.run_pod("evicted", "node-1", 3600)
        self.plane.kubectl("taint", "node", "node-1", "maintenance=soon:NoExecute")
        testbed.wait("it is gone", lambda: self.plane.get(f"{PODS}/evicted") is None)


if __name__ == "__main__":
    stories.main()
