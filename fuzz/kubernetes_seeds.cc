// Seeds of the target kubernetes: an object of each kind, and a list.
#include <string>

#include "fuzz/targets.h"

namespace muster::fuzz {

std::vector<Seed> KubernetesSeeds() {
  const std::string pod =
      R"({"metadata": {"name": "p", "namespace": "ns", "uid": "u",
  "creationTimestamp": "2026-03-01T10:20:30Z", "labels": {"a": "b\n\u00e9"},
  "ownerReferences": [{"kind": "Job", "name": "j", "controller": true}]},
 "spec": {"nodeName": "n", "priority": -7, "overhead": {"cpu": "1.5e1"},
  "containers": [{"name": "c", "ports": [{"hostPort": 80}],
   "resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": "8"}}}],
  "initContainers": [{"name": "i", "restartPolicy": "Always",
   "resources": {"requests": {"memory": "2Gi"}}}],
  "affinity": {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
     {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}},
   "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}},
  "tolerations": [{"key": "t", "tolerationSeconds": 9}],
  "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
  "topologySpreadConstraints": [{"maxSkew": 1, "labelSelector": {}}]},
 "status": {"phase": "Running", "startTime": "2026-03-01T10:20:30.5Z",
  "conditions": [{"type": "Ready", "status": "True"}],
  "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "1"},
   "resources": {"requests": {"cpu": 2}}}]}})";
  return {{"pod", "pod\n" + pod},
          {"podlist", "pod\n{\"items\": [" + pod +
                          ", 5, {}], \"metadata\": {\"continue\": \"x\"}}"},
          {"event", "pod\n{\"type\": \"MODIFIED\", \"object\": " + pod + "}"},
          {"bookmark",
           "pod\n{\"type\": \"BOOKMARK\", \"object\": {\"metadata\": "
           "{\"resourceVersion\": \"7\"}}}"},
          {"node", R"(node
{"metadata": {"name": "n"}, "spec": {"unschedulable": true, "taints": [
  {"key": "k", "effect": "NoExecute", "timeAdded": "2026-03-01T10:20:30Z"}]},
 "status": {"allocatable": {"cpu": "95500m", "pods": 110}, "images": [{}],
  "conditions": [{"type": "Ready", "status": "True"}]}})"},
          {"podgroup", R"(podgroup
{"metadata": {"name": "g"}, "spec": {"schedulingPolicy": {"gang":
  {"minCount": 8}}, "schedulingConstraints": {"topology": [{"key": "rack"}]},
  "disruptionMode": {"all": {}}, "priority": 5, "new": [1]}})"},
          {"volcano", R"(volcano
{"metadata": {"name": "g"}, "spec": {"minMember": 4, "queue": "q",
  "minTaskMember": {"worker": 3}, "minResources": {"cpu": "1"}}})"},
          {"queue", R"(queue
{"metadata": {"name": "q"}, "spec": {"parent": "r", "weight": 2,
  "ordering": "StrictFIFO", "closed": false, "quotas": [{"resource": "cpu",
  "guarantee": "1", "limit": 2, "borrowLimit": 1}], "preemption": {
  "within": "Never", "borrowingThreshold": 3}, "namespaces": {"names": ["a"]}, "x": {}}})"},
          {"muster", R"(muster
{"metadata": {"name": "g"}, "spec": {"queue": "q", "minMember": 2,
  "groups": [{"name": "w", "minMember": 2, "topology": {"required": "rack",
  "slices": [{"required": "host", "size": 4}]}}]}})"},
          {"owner", R"(owner
{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
 "spec": {"parallelism": 2, "replicas": 3, "workerGroupSpecs": [
   {"groupName": "g", "numOfHosts": 2}], "tfReplicaSpecs": {"PS": {}},
  "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [
   {"type": "DisruptionTarget"}]}]}}})"},
          {"volume", R"(volume
{"metadata": {"name": "v"}, "spec": {"claimRef": {"name": "c"},
  "nodeAffinity": {"required": {"nodeSelectorTerms": [{}]}}},
 "status": {"phase": "Bound"}})"}};
}

}  // namespace muster::fuzz
