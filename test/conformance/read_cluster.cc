#include "test/conformance/scenario_reader.h"

namespace muster::conformance {
namespace {

void ReadNode(JsonFields& f, NodeSpec* node) {
  f.Require("name", &node->name);
  f.Require("capacity", &node->capacity);
  f.Read("labels", &node->labels);
  f.Read("gpuMemoryMiB", &node->gpu_memory_mib);
  f.Read("unschedulable", &node->unschedulable);
  f.Read("ready", &node->ready);
  ReadTaints(f, &node->taints);
  // How a partitioned GPU names its parts; the parts are in the capacity.
  f.Ignore({"migStrategy"});
}

void ReadTopology(JsonFields& f, TopologySpec* topology) {
  f.Require("name", &topology->name);
  f.Read("levels", &topology->levels);
  f.Read("aliases", &topology->aliases);
  f.Each("domains", [&](JsonFields& d) {
    DomainSpec& domain = topology->domains.emplace_back();
    d.Require("name", &domain.name);
    d.Read("tier", &domain.tier);
    d.Require("nodes", &domain.nodes);
    d.Ignore({"parent"});  // The nodes tell it.
  });
}

void ReadFlavor(JsonFields& f, FlavorSpec* flavor) {
  f.Read("name", &flavor->name);
  f.Read("nodeLabels", &flavor->node_labels);
  ReadTaints(f, &flavor->taints);
  ReadTolerations(f, &flavor->tolerations);
  f.Read("topology", &flavor->topology);
}

void ReadForeignPod(JsonFields& f, ForeignPodSpec* pod) {
  f.Read("name", &pod->name);
  f.Read("node", &pod->node);
  f.Read("phase", &pod->phase);
  f.Read("requests", &pod->requests);
}

void ReadDevices(JsonFields& f, ClusterSpec* cluster) {
  f.Ignore({"classes"});
  f.Each("slices", [&](JsonFields& s) {
    DeviceSliceSpec& slice = cluster->device_slices.emplace_back();
    s.Read("name", &slice.name);
    s.Require("class", &slice.device_class);
    s.Read("node", &slice.node);
    s.Require("count", &slice.count);
  });
  f.Each("claims", [&](JsonFields& c) {
    DeviceClaimSpec& claim = cluster->device_claims.emplace_back();
    c.Require("name", &claim.name);
    c.Require("class", &claim.device_class);
    c.Require("count", &claim.count);
    claim.allocated = c.Raw("allocatedTo") != nullptr;
    c.Ignore({"labels"});
  });
}

}  // namespace

void ReadCluster(JsonFields& f, ClusterSpec* cluster) {
  f.Each("nodes",
         [&](JsonFields& n) { ReadNode(n, &cluster->nodes.emplace_back()); });
  f.Each("topologies", [&](JsonFields& t) {
    ReadTopology(t, &cluster->topologies.emplace_back());
  });
  f.Each("flavors", [&](JsonFields& v) {
    ReadFlavor(v, &cluster->flavors.emplace_back());
  });
  f.Read("nodeFilter", &cluster->node_filter);
  f.Read("namespaces", &cluster->namespaces);
  f.Each("foreignPods", [&](JsonFields& p) {
    ReadForeignPod(p, &cluster->foreign_pods.emplace_back());
  });
  f.Each("domainUsage", [&](JsonFields& u) {
    DomainUsageSpec& usage = cluster->domain_usage.emplace_back();
    u.Require("domain", &usage.domain);
    u.Require("perPod", &usage.per_pod);
    u.Require("count", &usage.count);
    u.Read("by", &usage.by);
  });
  f.Object("deviceInventory", [&](JsonFields& d) { ReadDevices(d, cluster); });
}

}  // namespace muster::conformance
