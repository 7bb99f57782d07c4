#include "lib/scoring/node_policy.h"

namespace muster::scoring {

Allocation NodePolicy::Choose(const NodeLedger& at,
                              const NodeQuestion& question) const {
  Allocation chosen{.node = at.node, .shape = question.shape};
  // It has room, so this cannot fail.
  (void)at.cluster.Choose(at.node, question.shape, at.ledger, &chosen,
                          question.rails);
  return chosen;
}

std::unique_ptr<NodePolicy> NewNodePolicy(const PlacementOptions& options) {
  for (const auto make : {NewByTypicalMix, NewFullness, NewFgdRival}) {
    if (std::unique_ptr<NodePolicy> policy = make(options)) return policy;
  }
  return nullptr;  // Not reached: a policy is one of theirs.
}

}  // namespace muster::scoring
