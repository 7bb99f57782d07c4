// A few nodes, a task and a policy: which node would it take?
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/scoring/node_policy.h"
#include "muster/gang.h"
#include "muster/placement_policy.h"

namespace muster::policy_test {

// Kinds: cpu (thousandths) 0, memory 1, gpu 2 (the device kind).
inline constexpr ResourceKind kGpu = 2;

Role Task(int64_t cpu, uint32_t gpus, int32_t milli = kWholeDevice);
// The same, on devices of these models only.
Role TaskOn(std::vector<std::string> models, int64_t cpu, uint32_t gpus,
            int32_t milli = kWholeDevice);
TypicalTask Typical(const Role& role, int64_t weight = 1);

class PolicyWorld {
 public:
  PolicyWorld();

  // A node with so many cpus and so much memory; devices with what is free of
  // each, in thousandths.
  PolicyWorld& Add(const std::string& key, int64_t cpu,
                   std::vector<int32_t> free_milli,
                   const std::string& model = "G");
  // Starts such a task there.
  PolicyWorld& Run(const std::string& key, const Role& role);
  // Takes cpus away.
  PolicyWorld& UseCpu(const std::string& key, int64_t cpu);

  void Use(PlacementOptions options);
  uint32_t NodeCost(const std::string& key, const Role& role,
                    const std::string& gang = "g");
  // The node of the least cost, the first of equals; "" if none has room.
  std::string Best(const Role& role, const std::string& gang = "g");
  // All of them, best first, those that cost equal joined: "a b=c".
  std::string Order(const Role& role, const std::string& gang = "g");
  // The devices it would take there, as numbers.
  std::vector<uint32_t> Devices(const std::string& key, const Role& role,
                                const std::string& gang = "g");

  Cluster cluster;
  std::unique_ptr<scoring::NodePolicy> policy;

 private:
  ShapeId Intern(const Role& role) { return cluster.Intern(role, 0); }
};

}  // namespace muster::policy_test
