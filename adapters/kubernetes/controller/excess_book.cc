#include "adapters/kubernetes/controller/excess_book.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/kubernetes/controller/object_refs.h"

namespace muster::kubernetes {
namespace {

constexpr Duration kTellAgain = 600 * kSecond;

// Names of what a node has less of than is in use; empty: of nothing.
std::vector<std::string> LackingOn(NodeIndex node, const ClusterView& cluster,
                                   const ResourceKinds& kinds) {
  std::vector<std::string> names;
  if (!cluster.overcommitted(node, Ledger::kNow)) return names;
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
    if (k != cluster.device_kind() && cluster.free(node, k, Ledger::kNow) < 0) {
      names.push_back(kinds.names()[k]);
    }
  }
  if (names.empty()) names.push_back(kinds.device_resource());
  return names;
}

}  // namespace

void ExcessBook::Look(Time now, const std::set<std::string>& nodes,
                      const ClusterView& cluster, const ResourceKinds& kinds) {
  std::set<std::string> doubtful = nodes;
  for (const auto& [name, lacking] : exceeded_) doubtful.insert(name);
  for (const std::string& name : doubtful) {
    exceeded_.erase(name);
    const NodeId id = cluster.Find(name);
    if (!id.valid()) {
      told_.erase(name);
      continue;
    }
    std::vector<std::string> lacking = LackingOn(id.index, cluster, kinds);
    if (lacking.empty()) continue;
    const auto [told, first] = told_.try_emplace(name, now);
    if (first || now - told->second >= kTellAgain) {
      told->second = now;
      outbox_.Ask(EventRequest{
          .object = NodeObject(name),
          .warning = true,
          .reason = "MoreInUse",
          .action = "Scheduling",
          .note = absl::StrCat("More is in use than the node has of ",
                               absl::StrJoin(lacking, ", "),
                               ": what runs goes on, nothing new starts")});
    }
    exceeded_.emplace(name, std::move(lacking));
  }
}

}  // namespace muster::kubernetes
