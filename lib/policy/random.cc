// Any node, any device: a hash, so that it is the same everywhere.
#include <algorithm>

#include "lib/base/hash.h"
#include "lib/policy/node_state.h"
#include "lib/policy/policies.h"

namespace muster::policy {
namespace {

class Random final : public NodePolicy {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}

  uint32_t Rank(const NodeLedger& at, const Question& q) const override {
    return std::min(static_cast<uint32_t>(Hash(at, q) >> 32), kMostRank);
  }
  bool PerGang() const override { return true; }

  Allocation Choose(const NodeLedger& at, const Question& q) const override {
    if (!SharesOneDevice(at.cluster.device_request(q.shape))) {
      return NodePolicy::Choose(at, q);
    }
    const DeviceSet usable = DevicesWithRoom(at, q);
    if (usable.empty()) return NodePolicy::Choose(at, q);
    const uint64_t skip = (Hash(at, q) & 0xffffffff) % usable.size();
    const uint32_t chosen =
        *std::ranges::next(usable.begin(), static_cast<int64_t>(skip));
    return {.node = at.node, .shape = q.shape, .devices = {chosen}};
  }

 private:
  uint64_t Hash(const NodeLedger& at, const Question& q) const {
    StableHash hash;
    hash.Add(seed_);
    hash.Add(q.gang);
    hash.Add(std::string_view(at.cluster.node(at.node).key));
    return hash.value();
  }

  uint64_t seed_;
};

}  // namespace

std::unique_ptr<NodePolicy> NewRandom(uint64_t seed) {
  return std::make_unique<Random>(seed);
}

}  // namespace muster::policy
