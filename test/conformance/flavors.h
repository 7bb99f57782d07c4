// Flavours: named kinds of nodes on which a queue has a quota each.
#pragma once

#include <string>
#include <vector>

#include "muster/resources.h"
#include "muster/selector.h"
#include "test/conformance/kinds.h"
#include "test/conformance/scenario.h"

namespace muster::conformance {

// Which flavour each resource of a pod is taken from.
using FlavorChoice = StringMap;

// Quota per flavour, said in the library's terms: `cpu@spot` is a resource
// kind of its own, with which a pod that uses spot's cpu is charged too, and
// which exists only on spot's nodes. A flavour without a topology is quota
// alone: its pods go to a node that stands for the quotas of their queue tree.
class Flavors {
 public:
  explicit Flavors(const Scenario& scenario) : scenario_(scenario) {}

  // Whether the scenario has flavours at all.
  bool any() const;
  // The choices open to the pod, best first; never empty. Resources of one
  // quota group share a flavour. `fixed` is decided already.
  std::vector<FlavorChoice> Choices(const PodSpec& pod, const QueueSpec& queue,
                                    const FlavorChoice& fixed) const;
  // Whether pods with this choice go to the nodes the scenario describes.
  bool OnNodes(const FlavorChoice& choice) const;
  // The topology the choice's flavours have; "" for none.
  std::string TopologyOf(const FlavorChoice& choice) const;
  // What the nodes for this choice have in common.
  std::vector<Requirement> NodesFor(const FlavorChoice& choice) const;
  std::vector<Toleration> TolerationsOf(const FlavorChoice& choice) const;
  // Adds what a pod is charged beside its plain request.
  void Charge(const PodSpec& pod, const FlavorChoice& choice,
              const Kinds& kinds, Resources* request) const;
  // Adds what a node has beside its plain capacity.
  void AddCapacity(const NodeSpec& node, const Kinds& kinds,
                   Resources* capacity) const;

 private:
  const FlavorSpec* Find(const std::string& name) const;
  bool Takes(const FlavorSpec& flavor, const PodSpec& pod) const;

  const Scenario& scenario_;
};

}  // namespace muster::conformance
