#include "adapters/translate/topologies.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>

#include "absl/status/status.h"

namespace muster::translate {
namespace {

constexpr char kTierPrefix[] = "tier-";

std::optional<int64_t> TierOf(const std::string& level) {
  if (!level.starts_with(kTierPrefix)) return std::nullopt;
  return std::strtoll(level.c_str() + sizeof(kTierPrefix) - 1, nullptr, 10);
}

std::string LabelKey(const TopologySpec& topology, const std::string& level) {
  return topology.domains.empty() ? level : topology.name + "/" + level;
}

// The levels of a list of domains, widest first.
std::vector<std::string> TiersOf(const std::vector<DomainSpec>& domains) {
  std::set<int64_t, std::greater<>> tiers;
  for (const DomainSpec& domain : domains) tiers.insert(domain.tier);
  std::vector<std::string> levels;
  for (int64_t tier : tiers)
    levels.push_back(kTierPrefix + std::to_string(tier));
  return levels;
}

// The node's domain at each level, widest first; "" where it has none.
absl::StatusOr<std::vector<std::string>> PathOf(const TopologySpec& topology,
                                                const std::string& node) {
  std::vector<std::string> path(topology.levels.size());
  for (const DomainSpec& domain : topology.domains) {
    if (std::find(domain.nodes.begin(), domain.nodes.end(), node) ==
        domain.nodes.end()) {
      continue;
    }
    const auto level = std::find(topology.levels.begin(), topology.levels.end(),
                                 kTierPrefix + std::to_string(domain.tier));
    if (level == topology.levels.end()) continue;
    std::string& at = path[level - topology.levels.begin()];
    if (!at.empty()) {
      return absl::UnimplementedError("node " + node +
                                      " is in two domains of "
                                      "level " +
                                      *level);
    }
    at = domain.name;
  }
  return path;
}

// A domain without one of the wider levels around it is its own there.
absl::Status FillGaps(const std::string& node, std::vector<std::string>* path) {
  for (size_t i = path->size(); i-- > 1;) {
    if ((*path)[i].empty() && !(*path)[i - 1].empty()) {
      return absl::UnimplementedError(
          "node " + node + " is in a wide domain and in no narrow one");
    }
    if ((*path)[i - 1].empty()) (*path)[i - 1] = (*path)[i];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Topologies> Topologies::Create(
    std::span<const TopologySpec> specs, std::span<const std::string> nodes) {
  Topologies result;
  for (const TopologySpec& spec : specs) {
    if (spec.levels.empty() && spec.domains.empty()) continue;
    result.specs_.push_back(spec);
    if (spec.levels.empty()) {
      result.specs_.back().levels = TiersOf(spec.domains);
    }
  }
  for (const TopologySpec& spec : result.specs_) {
    Topology& topology = result.topologies_.emplace_back();
    topology.key = spec.name;
    for (const std::string& level : spec.levels) {
      topology.levels.push_back(LabelKey(spec, level));
    }
    if (spec.domains.empty()) continue;
    for (const std::string& node : nodes) {
      auto path = PathOf(spec, node);
      if (!path.ok()) return path.status();
      if (auto status = FillGaps(node, &*path); !status.ok()) {
        return status;
      }
      for (size_t i = 0; i < path->size(); ++i) {
        if ((*path)[i].empty()) continue;
        result.labels_[node][topology.levels[i]] = (*path)[i];
      }
    }
  }
  return result;
}

LabelMap Topologies::LabelsOf(const std::string& node) const {
  const auto it = labels_.find(node);
  return it == labels_.end() ? LabelMap{} : it->second;
}

const TopologySpec* Topologies::Find(const std::string& name) const {
  for (const TopologySpec& spec : specs_) {
    if (name.empty() || spec.name == name) return &spec;
  }
  return nullptr;
}

const std::vector<std::string>* Topologies::LevelsOf(
    const std::string& name) const {
  for (const Topology& topology : topologies_) {
    if (name.empty() || topology.key == name) return &topology.levels;
  }
  return nullptr;
}

absl::StatusOr<std::string> Topologies::Level(const TopologySpec& topology,
                                              const std::string& asked,
                                              bool required,
                                              bool* unknown) const {
  const auto alias = topology.aliases.find(asked);
  const std::string level =
      alias == topology.aliases.end() ? asked : alias->second;
  const auto& levels = topology.levels;
  if (std::find(levels.begin(), levels.end(), level) != levels.end()) {
    return LabelKey(topology, level);
  }
  for (const auto& [name, other] : topology.aliases) {
    if (other == level) return LabelKey(topology, name);
  }
  if (topology.domains.empty()) {
    *unknown = true;
    return level;
  }
  const std::optional<int64_t> tier = TierOf(level);
  if (!tier) {
    return absl::UnimplementedError(
        "the scenario does not tell the tier of "
        "level " +
        level);
  }
  // "At most this tier": the widest that is no wider. One wider than all there
  // are is the whole cluster.
  if (const auto widest = TierOf(levels.front()); widest && *tier > *widest) {
    return std::string();
  }
  for (const std::string& narrower : levels) {
    if (const auto t = TierOf(narrower); t && *t < *tier) {
      return LabelKey(topology, narrower);
    }
  }
  if (!required) return std::string(kHostLevel);
  return absl::UnimplementedError("no domains of level " + level);
}

absl::StatusOr<TranslatedConstraint> Topologies::Translate(
    const TopologyRequest& request) const {
  TranslatedConstraint result;
  if (request.required.empty() && request.preferred.empty() &&
      request.slices.empty()) {
    return result;
  }
  TopologyConstraint& c = result.constraint;
  c.topology = request.topology;
  const TopologySpec* topology = Find(request.topology);
  if (topology == nullptr) {
    c.required = request.required;
    c.preferred = request.preferred;
    result.unknown = true;
    return result;
  }
  c.topology = topology->name;
  const auto translate = [&](const std::string& asked, bool required,
                             std::string* out) {
    if (asked.empty()) return absl::OkStatus();
    auto level = Level(*topology, asked, required, &result.unknown);
    if (level.ok()) *out = *level;
    return level.status();
  };
  absl::Status status = translate(request.required, true, &c.required);
  status.Update(translate(request.preferred, false, &c.preferred));
  for (const SliceSpec& slice : request.slices) {
    if (slice.required.empty()) {
      if (slice.size.value_or(1) == 1) continue;
      return absl::UnimplementedError("a slice without a level");
    }
    Slice& s = c.slices.emplace_back();
    s.size = static_cast<uint32_t>(slice.size.value_or(0));
    status.Update(translate(slice.required, true, &s.level));
    // Without a size the peers refuse it; so must the library.
    result.unknown |= s.size == 0;
  }
  if (!status.ok()) return status;
  // Peers refuse slices in domains wider than the one all must be in.
  const auto wider = [&](const std::string& a, const std::string& b) {
    const Topology& t = topologies_[topology - specs_.data()];
    const auto at = [&](const std::string& level) {
      return std::find(t.levels.begin(), t.levels.end(), level);
    };
    return !b.empty() && at(a) < at(b);
  };
  for (const Slice& slice : c.slices) {
    result.unknown |= wider(slice.level, c.required);
  }
  return result;
}

}  // namespace muster::translate
