#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "boost/graph/adjacency_list.hpp"
#include "boost/graph/topological_sort.hpp"
#include "lib/base/status_macros.h"
#include "lib/scheduler/validate.h"

namespace muster {

namespace {

constexpr uint32_t kMaxTasks = 1'000'000;

absl::Status ValidateTerm(const std::string& field, const SelectorTerm& term) {
  for (size_t i = 0; i < term.all_of.size(); ++i) {
    const Requirement& r = term.all_of[i];
    const std::string at = absl::StrCat(field, ".all_of[", i, "]");
    if (r.key.empty()) return Invalid(at + ".key: is empty");
    const bool wants_none =
        r.op == SelectorOp::kExists || r.op == SelectorOp::kDoesNotExist;
    const bool wants_one = r.op == SelectorOp::kGt || r.op == SelectorOp::kLt;
    if (wants_none != r.values.empty() || (wants_one && r.values.size() != 1)) {
      return Invalid(absl::StrCat(
          at,
          ".values: In and NotIn take values, Gt and Lt one, Exists and "
          "DoesNotExist none"));
    }
    if (wants_one) {
      int64_t value = 0;
      const std::string& s = r.values[0];
      const auto [end, error] =
          std::from_chars(s.data(), s.data() + s.size(), value);
      if (error != std::errc() || end != s.data() + s.size()) {
        return Invalid(
            absl::StrCat(at, ".values[0]: '", s, "' is not an integer"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateTolerations(const std::string& field,
                                 const std::vector<Toleration>& all) {
  constexpr int64_t kMost = int64_t{1} << 31;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string at = absl::StrCat(field, "[", i, "]");
    if (all[i].seconds < -1 || all[i].seconds > kMost) {
      return Invalid(absl::StrCat(at, ".seconds: ", all[i].seconds,
                                  " is neither -1 (for ever) nor in 0..",
                                  kMost));
    }
    if (all[i].key.empty() && all[i].op != TolerationOp::kExists) {
      return Invalid(at + ".key: is empty; only Exists tolerates every taint");
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateShape(const SchedulerConfig& config,
                           const std::string& field, const TaskShape& shape) {
  MUSTER_RETURN_IF_ERROR(
      ValidateTolerations(field + ".tolerations", shape.tolerations));
  if (shape.resources.size() > config.resources.size()) {
    return Invalid(absl::StrCat(
        field, ".resources: has ", shape.resources.size(),
        " kinds; the configuration has ", config.resources.size()));
  }
  for (ResourceKind k = 0; k < shape.resources.size(); ++k) {
    const int64_t amount = shape.resources[k];
    const std::string at =
        absl::StrCat(field, ".resources.", config.resources[k]);
    if (amount < 0 || amount > Resources::kMaxQuantity) {
      return Invalid(absl::StrCat(at, ": ", amount, " is not in 0..",
                                  Resources::kMaxQuantity));
    }
    if (amount != 0 && config.resources[k] == config.device_resource) {
      return Invalid(at + ": is counted by devices and must be 0");
    }
  }
  for (size_t i = 0; i < shape.selector.any_of.size(); ++i) {
    MUSTER_RETURN_IF_ERROR(
        ValidateTerm(absl::StrCat(field, ".selector.any_of[", i, "]"),
                     shape.selector.any_of[i]));
  }
  return ValidateDeviceRequest(config, field + ".devices", shape.devices);
}

namespace {

// `one_domain`: all tasks must share a domain of the level they spread over.
absl::Status ValidateSpread(const std::string& field,
                            const TopologyConstraint& c, bool one_domain) {
  const Spread& s = c.spread;
  const bool asks = s.max_per_domain > 0 || s.max_skew > 0 || s.min_domains > 0;
  if (s.level.empty()) {
    if (!asks) return absl::OkStatus();
    return Invalid(field + ".level: is empty, but the spread has bounds");
  }
  if (!asks) {
    return Invalid(field +
                   ".max_per_domain: is 0, as are .max_skew and .min_domains: "
                   "one of them must be 1 or more");
  }
  if (s.min_domains > 1 && one_domain) {
    return Invalid(absl::StrCat(
        field, ".min_domains: ", s.min_domains, " of level '", s.level,
        "' cannot be used inside one required '", c.required, "'"));
  }
  return absl::OkStatus();
}

absl::Status ValidateConstraint(const SchedulerConfig& config,
                                const std::string& field,
                                const TopologyConstraint& c) {
  if (c == TopologyConstraint()) return absl::OkStatus();
  const absl::StatusOr<bool> fabric = ValidateOnFabric(config, field, c);
  if (!fabric.ok() || *fabric) return fabric.status();
  const Topology* topology = nullptr;
  for (const Topology& t : config.topologies) {
    if (t.key == c.topology || (c.topology.empty() && topology == nullptr)) {
      topology = &t;
    }
  }
  if (topology == nullptr && !c.topology.empty()) {
    return Invalid(
        absl::StrCat(field, ".topology: there is no '", c.topology, "'"));
  }
  auto position = [&](const std::string& level) -> int {
    const size_t count = topology == nullptr ? 0 : topology->levels.size();
    if (level == kHostLevel) return static_cast<int>(count);
    for (size_t i = 0; i < count; ++i) {
      if (topology->levels[i] == level) return static_cast<int>(i);
    }
    return -1;
  };
  for (const auto& [name, level] :
       {std::pair(".required", &c.required),
        std::pair(".preferred", &c.preferred),
        std::pair(".spread.level", &c.spread.level)}) {
    if (!level->empty() && position(*level) < 0) {
      return Invalid(
          absl::StrCat(field, name, ": there is no level '", *level, "'"));
    }
  }
  MUSTER_RETURN_IF_ERROR(ValidateSpread(
      field + ".spread", c,
      !c.required.empty() && position(c.required) >= position(c.spread.level)));
  for (size_t i = 0; i < c.slices.size(); ++i) {
    const std::string at = absl::StrCat(field, ".slices[", i, "]");
    const Slice& slice = c.slices[i];
    if (position(slice.level) < 0) {
      return Invalid(
          absl::StrCat(at, ".level: there is no level '", slice.level, "'"));
    }
    if (slice.size == 0) return Invalid(at + ".size: is 0");
    if (!c.required.empty() && position(slice.level) < position(c.required)) {
      return Invalid(absl::StrCat(at, ".level: '", slice.level,
                                  "' is wider than the required '", c.required,
                                  "'"));
    }
    if (i == 0) continue;
    if (c.slices[i - 1].size % slice.size != 0) {
      return Invalid(absl::StrCat(at, ".size: ", slice.size,
                                  " does not divide the slice around it, ",
                                  c.slices[i - 1].size));
    }
    if (position(slice.level) < position(c.slices[i - 1].level)) {
      return Invalid(at + ".level: is wider than that of the slice around it");
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateRole(const SchedulerConfig& config, const Gang& gang,
                          size_t r) {
  const Role& role = gang.roles[r];
  const std::string field =
      absl::StrCat("gang '", gang.key, "'.roles[", r, "]");
  if (role.group >= std::max<size_t>(1, gang.groups.size())) {
    return Invalid(absl::StrCat(field, ".group: ", role.group,
                                " is not a position in groups"));
  }
  if (role.desired_tasks < 1 || role.desired_tasks > kMaxTasks ||
      role.min_tasks > role.desired_tasks) {
    return Invalid(
        absl::StrCat(field, ".min_tasks: ", role.min_tasks,
                     " and .desired_tasks: ", role.desired_tasks,
                     "; 0 <= min <= desired, 1 <= desired <= ", kMaxTasks));
  }
  MUSTER_RETURN_IF_ERROR(ValidateShape(config, field + ".shape", role.shape));
  for (size_t i = 0; i < role.alternatives.size(); ++i) {
    MUSTER_RETURN_IF_ERROR(
        ValidateShape(config, absl::StrCat(field, ".alternatives[", i, "]"),
                      role.alternatives[i]));
  }
  for (size_t i = 0; i < role.preferences.size(); ++i) {
    const std::string at = absl::StrCat(field, ".preferences[", i, "]");
    const int32_t weight = role.preferences[i].weight;
    if (weight < 1 || weight > 100) {
      return Invalid(
          absl::StrCat(at, ".weight: ", weight, " is not in 1..100"));
    }
    MUSTER_RETURN_IF_ERROR(
        ValidateTerm(at + ".term", role.preferences[i].term));
  }
  MUSTER_RETURN_IF_ERROR(
      ValidateTolerations(field + ".tolerations", role.tolerations));
  return ValidateConstraint(config, field + ".topology", role.topology);
}

absl::Status ValidateGroups(const SchedulerConfig& config, const Gang& gang) {
  std::vector<uint64_t> children(gang.groups.size(), 0);
  std::vector<uint64_t> tasks(gang.groups.size(), 0);
  for (const Role& role : gang.roles) {
    if (role.group >= gang.groups.size()) continue;
    ++children[role.group];
    tasks[role.group] += role.desired_tasks;
  }
  for (size_t g = gang.groups.size(); g-- > 1;) {
    const uint32_t parent = gang.groups[g].parent;
    if (parent >= g) {
      return Invalid(absl::StrCat("gang '", gang.key, "'.groups[", g,
                                  "].parent: ", parent,
                                  " is not a position before it"));
    }
    ++children[parent];
    tasks[parent] += tasks[g];
  }
  for (size_t g = 0; g < gang.groups.size(); ++g) {
    const Group& group = gang.groups[g];
    const std::string field =
        absl::StrCat("gang '", gang.key, "'.groups[", g, "]");
    if (g == 0 && group.parent != 0) {
      return Invalid(field + ".parent: the root's parent is itself, 0");
    }
    if (children[g] == 0) return Invalid(field + ": has no role and no group");
    if (group.min_children > children[g]) {
      return Invalid(absl::StrCat(field, ".min_children: ", group.min_children,
                                  " of ", children[g], " children"));
    }
    if (group.min_tasks > tasks[g]) {
      return Invalid(absl::StrCat(field, ".min_tasks: ", group.min_tasks,
                                  " of ", tasks[g], " desired tasks"));
    }
    MUSTER_RETURN_IF_ERROR(
        ValidateConstraint(config, field + ".topology", group.topology));
  }
  return absl::OkStatus();
}

// Whether the gang would be satisfied without a single task. Its groups are
// valid.
bool ContentWithNothing(const Gang& gang) {
  const size_t n = std::max<size_t>(1, gang.groups.size());
  // By group: groups in it that are content, and that all children must be.
  std::vector<uint32_t> content(n, 0);
  std::vector<bool> lacking(n, false);
  for (const Role& role : gang.roles) {
    if (role.min_tasks > 0) lacking[role.group] = true;
  }
  for (size_t g = n; g-- > 0;) {
    const Group group = gang.groups.empty() ? Group() : gang.groups[g];
    const bool children =
        group.min_children > 0 ? content[g] >= group.min_children : !lacking[g];
    const bool all = children && group.min_tasks == 0;
    if (g == 0) return all;
    if (all) {
      ++content[group.parent];
    } else {
      lacking[group.parent] = true;
    }
  }
  return false;
}

absl::Status ValidateNames(const Gang& gang) {
  std::set<std::string_view> names;
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    if (!names.insert(gang.roles[r].name).second) {
      return Invalid(absl::StrCat("gang '", gang.key, "'.roles[", r,
                                  "].name: '", gang.roles[r].name, "' twice"));
    }
  }
  for (size_t i = 0; i < gang.traffic.size(); ++i) {
    const Traffic& t = gang.traffic[i];
    const std::string at =
        absl::StrCat("gang '", gang.key, "'.traffic[", i, "]");
    if (!names.contains(t.from)) {
      return Invalid(
          absl::StrCat(at, ".from: there is no role '", t.from, "'"));
    }
    if (!names.contains(t.to)) {
      return Invalid(absl::StrCat(at, ".to: there is no role '", t.to, "'"));
    }
    if (t.weight < 1 || t.weight > 1'000'000) {
      return Invalid(
          absl::StrCat(at, ".weight: ", t.weight, " is not in 1..1000000"));
    }
  }
  return absl::OkStatus();
}

// "a after b after a": some roles that wait for each other, in a graph (from a
// role to those after it) that has such.
template <class Graph>
std::string CircleOf(const Gang& gang, const Graph& graph) {
  std::vector<uint32_t> missing(gang.roles.size(), 0);  // Roles before it.
  for (auto [e, end] = boost::edges(graph); e != end; ++e) {
    ++missing[boost::target(*e, graph)];
  }
  std::vector<size_t> free;
  for (size_t r = 0; r < missing.size(); ++r) {
    if (missing[r] == 0) free.push_back(r);
  }
  for (size_t i = 0; i < free.size(); ++i) {
    for (auto [e, end] = boost::out_edges(free[i], graph); e != end; ++e) {
      const size_t later = boost::target(*e, graph);
      if (--missing[later] == 0) free.push_back(later);
    }
  }
  // Each role that is left comes after another that is left.
  const auto before = [&](size_t r) {
    for (auto [e, end] = boost::edges(graph); e != end; ++e) {
      const size_t from = boost::source(*e, graph);
      if (boost::target(*e, graph) == r && missing[from] > 0) return from;
    }
    return r;
  };
  size_t at = 0;
  while (missing[at] == 0) ++at;
  for (size_t i = 0; i < missing.size(); ++i) at = before(at);
  std::string text = absl::StrCat("'", gang.roles[at].name, "'");
  for (size_t r = before(at);; r = before(r)) {
    absl::StrAppend(&text, " after '", gang.roles[r].name, "'");
    if (r == at) return text;
  }
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> StartWaves(const Gang& gang) {
  using Graph =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Graph graph(gang.roles.size());
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    for (const std::string& name : gang.roles[r].start_after) {
      size_t before = 0;
      while (before < gang.roles.size() && gang.roles[before].name != name) {
        ++before;
      }
      if (before == gang.roles.size()) {
        return Invalid(absl::StrCat("gang '", gang.key, "'.roles[", r,
                                    "].start_after: there is no role '", name,
                                    "'"));
      }
      boost::add_edge(before, r, graph);
    }
  }
  std::vector<size_t> last_first;
  try {
    boost::topological_sort(graph, std::back_inserter(last_first));
  } catch (const boost::not_a_dag&) {
    return Invalid(absl::StrCat("gang '", gang.key,
                                "'.roles: start_after goes round in a circle: ",
                                CircleOf(gang, graph)));
  }
  std::vector<uint32_t> waves(gang.roles.size(), 0);
  for (auto r = last_first.rbegin(); r != last_first.rend(); ++r) {
    for (auto [e, end] = boost::out_edges(*r, graph); e != end; ++e) {
      uint32_t& later = waves[boost::target(*e, graph)];
      later = std::max(later, waves[*r] + 1);
    }
  }
  return waves;
}

absl::Status ValidateGang(const SchedulerConfig& config, const Gang& gang) {
  MUSTER_RETURN_IF_ERROR(ValidateKey("gang.key", gang.key));
  const std::string field = absl::StrCat("gang '", gang.key, "'");
  if (gang.roles.empty() || gang.roles.size() > 1024) {
    return Invalid(absl::StrCat(field, ".roles: has ", gang.roles.size(),
                                " roles, not 1..1024"));
  }
  if (!gang.affinity.empty()) return NotSupportedYet(field + ".affinity");
  if (gang.deadline != kForever) return NotSupportedYet(field + ".deadline");
  if (!gang.depends_on.empty()) return NotSupportedYet(field + ".depends_on");
  if (!gang.speed.empty()) return NotSupportedYet(field + ".speed");
  for (const auto& [name, value] :
       {std::pair(".max_runtime", gang.max_runtime),
        std::pair(".expected_runtime", gang.expected_runtime),
        std::pair(".restart_cost", gang.restart_cost)}) {
    if (value < 0 || value > kForever / 4) {
      return Invalid(absl::StrCat(field, name, ": ", value, " is not in 0..",
                                  kForever / 4));
    }
  }
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    MUSTER_RETURN_IF_ERROR(ValidateRole(config, gang, r));
  }
  MUSTER_RETURN_IF_ERROR(ValidateNames(gang));
  MUSTER_RETURN_IF_ERROR(ValidateGroups(config, gang));
  MUSTER_RETURN_IF_ERROR(ValidateFabricGang(config, gang));
  if (ContentWithNothing(gang)) {
    return Invalid(field + ".roles: no role needs any task");
  }
  return StartWaves(gang).status();
}

}  // namespace muster
