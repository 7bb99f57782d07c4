// Events about nodes.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/node_changes.h"
#include "lib/scheduler/validate.h"

namespace muster {

namespace {

bool NamesNodeSet(const GangSpec& spec, const std::string& set) {
  const auto names = [&](const auto& of) {
    return std::ranges::find(of.node_sets, set) != of.node_sets.end();
  };
  return std::ranges::any_of(spec.gang().roles, [&](const Role& role) {
    return names(role) || names(role.shape) ||
           std::ranges::any_of(role.alternatives, names);
  });
}

}  // namespace

absl::Status Take(EventContext& context, const NodeChanged& e) {
  const Core& core = context.core;
  const NodeId known = core.cluster.Find(e.node.key);
  Resources others = core.cluster.nodes_capacity();
  for (ResourceKind k = 0; known.valid() && k < others.size(); ++k) {
    others.Set(k, others[k] - core.cluster.capacity(known.index, k));
  }
  if (!known.valid() && core.cluster.nodes().size() >= kMaxNodes) {
    return Invalid("node '", e.node.key, "': the cluster has ", kMaxNodes,
                   " nodes, the most there can be");
  }
  MUSTER_RETURN_IF_ERROR(ValidateTotal(core.config, others, {&e.node, 1}));
  UpsertNode(context, e.node);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const NodeDown& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(context.core, e.node));
  NodeBook::Facts facts = context.core.nodes.facts(n);
  facts.down = true;
  SetFacts(context, n, facts);
  LoseTasksOn(context, n);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const NodeUp& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(context.core, e.node));
  NodeBook::Facts facts = context.core.nodes.facts(n);
  facts.down = false;
  facts.spot_notice = kForever;
  SetFacts(context, n, facts);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const NodeRemoved& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(context.core, e.node));
  NodeBook::Facts facts = context.core.nodes.facts(n);
  facts.down = true;
  SetFacts(context, n, facts);
  LoseTasksOn(context, n);
  RemoveNode(context, n);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const NodeDrained& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(context.core, e.node));
  NodeBook::Facts facts = context.core.nodes.facts(n);
  facts.draining = e.drain;
  SetFacts(context, n, facts);
  if (e.drain) FlagGangsOn(context, n);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const SpotNotice& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(context.core, e.node));
  NodeBook::Facts facts = context.core.nodes.facts(n);
  facts.spot_notice = e.at;
  SetFacts(context, n, facts);
  FlagGangsOn(context, n);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const OthersChanged& e) {
  Core& core = context.core;
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(core, e.usage.node));
  MUSTER_RETURN_IF_ERROR(
      ValidateDevices("usage of", core.cluster.node(n), e.usage));
  NodeBook::Facts facts = core.nodes.facts(n);
  facts.others = e.usage;
  SetFacts(context, n, facts);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const NodeSetChanged& e) {
  Core& core = context.core;
  NodeSet set = e.set;
  std::sort(set.nodes.begin(), set.nodes.end());
  set.nodes.erase(std::unique(set.nodes.begin(), set.nodes.end()),
                  set.nodes.end());
  const auto known = core.node_sets.find(set.key);
  const bool is_new = known == core.node_sets.end();
  if (!is_new && known->second == set) return absl::OkStatus();
  const NodeSet old = is_new ? NodeSet{.key = set.key} : known->second;
  core.undo.Changed([&core, old, is_new] {
    if (is_new) {
      core.cluster.RemoveNodeSet(old.key);
      core.node_sets.erase(old.key);
    } else {
      core.cluster.SetNodeSet(old);
      core.node_sets[old.key] = old;
    }
  });
  std::vector<std::string> changed;
  std::set_symmetric_difference(old.nodes.begin(), old.nodes.end(),
                                set.nodes.begin(), set.nodes.end(),
                                std::back_inserter(changed));
  core.cluster.SetNodeSet(set);
  for (const std::string& key : changed) {
    const NodeId node = core.cluster.Find(key);
    if (node.valid()) core.opener.RoomFreed(node.index);
  }
  core.opener.StructureChanged();
  core.node_sets[set.key] = std::move(set);
  return absl::OkStatus();
}

absl::Status Take(EventContext& context, const NodeSetRemoved& e) {
  Core& core = context.core;
  const auto known = core.node_sets.find(e.set);
  if (known == core.node_sets.end()) {
    return NotFound("node set '", e.set, "' is not known");
  }
  for (GangIndex g = 0; g < core.gangs.limit(); ++g) {
    if (core.gangs.at(g).exists && NamesNodeSet(core.SpecOf(g), e.set)) {
      return NotNow("node set '", e.set, "' is named by gang '",
                    core.gangs.at(g).key, "'");
    }
  }
  core.undo.Changed([&core, old = known->second] {
    core.cluster.SetNodeSet(old);
    core.node_sets[old.key] = old;
  });
  core.cluster.RemoveNodeSet(e.set);
  core.node_sets.erase(known);
  return absl::OkStatus();
}

}  // namespace muster
