#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "test/conformance/compare.h"

namespace muster::conformance {
namespace {

std::string Show(const std::string& state, const std::string& node) {
  return node.empty() ? state : state + " on " + node;
}

class PodComparison {
 public:
  explicit PodComparison(const Played& played)
      : s_(played.scenario),
        t_(played.translation),
        session_(played.session),
        played_(played),
        several_passes_(s_.kind == "converge"),
        compare_nodes_(s_.grade != "generic-relaxed") {
    for (size_t u = 0; u < t_.units.size(); ++u) by_name_[t_.units[u].name] = u;
  }

  absl::StatusOr<std::string> Run() const {
    for (const auto& [name, unused] : s_.expect.pods) {
      if (!by_name_.contains(name)) {
        return absl::UnimplementedError("an expectation of pod " + name +
                                        ", which is in no gang");
      }
    }
    for (std::string difference :
         {Singles(), Groups(), Exactness(), NominatedGangs()}) {
      if (!difference.empty()) return difference;
    }
    return Nodes();
  }

 private:
  const UnitOutcome& OutcomeOf(const std::string& name) const {
    return session_.outcomes()[by_name_.at(name)];
  }

  bool Matches(const PodExpectation& expected,
               const UnitOutcome& actual) const {
    if (!StateMatches(expected.state, actual.state, several_passes_)) {
      return false;
    }
    // A pod that waits again after its eviction is on no node any more.
    const bool gone = actual.node.empty() && actual.state == "evicted";
    return !compare_nodes_ || expected.node.empty() || gone ||
           expected.node == actual.node;
  }

  // Pods that are not interchangeable with others.
  std::string Singles() const {
    std::set<std::string> grouped;
    for (const auto& group : s_.expect.interchangeable) {
      grouped.insert(group.begin(), group.end());
    }
    for (const auto& [name, expected] : s_.expect.pods) {
      const UnitOutcome& actual = OutcomeOf(name);
      if (grouped.contains(name) || Matches(expected, actual)) continue;
      return name + ": expected " +
             Show(expected.state, compare_nodes_ ? expected.node : "") +
             ", is " + Show(actual.state, actual.node);
    }
    return "";
  }

  // Every expectation of a group met by a pod of its own: a matching.
  std::string Groups() const {
    for (const auto& group : s_.expect.interchangeable) {
      std::vector<const PodExpectation*> wanted;
      std::vector<const UnitOutcome*> found;
      for (const std::string& name : group) {
        const auto it = s_.expect.pods.find(name);
        if (it != s_.expect.pods.end()) wanted.push_back(&it->second);
        if (by_name_.contains(name)) found.push_back(&OutcomeOf(name));
      }
      std::vector<int> taken(found.size(), -1);
      for (size_t w = 0; w < wanted.size(); ++w) {
        std::vector<bool> tried(found.size(), false);
        if (!Assign(wanted, found, static_cast<int>(w), &tried, &taken)) {
          std::string is;
          for (const UnitOutcome* o : found)
            is += " " + Show(o->state, o->node);
          return group.front() + " and its like: none is " +
                 Show(wanted[w]->state, wanted[w]->node) + "; they are" + is;
        }
      }
    }
    return "";
  }

  bool Assign(const std::vector<const PodExpectation*>& wanted,
              const std::vector<const UnitOutcome*>& found, int w,
              std::vector<bool>* tried, std::vector<int>* taken) const {
    for (size_t f = 0; f < found.size(); ++f) {
      if ((*tried)[f] || !Matches(*wanted[w], *found[f])) continue;
      (*tried)[f] = true;
      if ((*taken)[f] < 0 || Assign(wanted, found, (*taken)[f], tried, taken)) {
        (*taken)[f] = w;
        return true;
      }
    }
    return false;
  }

  std::string Exactness() const {
    const Expectation& e = s_.expect;
    for (size_t u = 0; u < t_.units.size(); ++u) {
      const std::string& name = t_.units[u].name;
      const std::string& state = session_.outcomes()[u].state;
      if (e.pods.contains(name)) continue;
      if (e.placed_exact && state == "placed") {
        return name + ": expected not to be placed";
      }
      if (e.evicted_exact && (state == "evicted" || state == "moved")) {
        return name + ": expected not to be evicted";
      }
    }
    if (e.placed_count && session_.placed() != *e.placed_count) {
      return "expected " + std::to_string(*e.placed_count) +
             " pods to be placed, " + std::to_string(session_.placed()) +
             " are";
    }
    if (e.placed_per_domain_counts) {
      std::vector<int64_t> expected = *e.placed_per_domain_counts;
      std::sort(expected.begin(), expected.end());
      if (PlacedPerDomain(played_) != expected) {
        return "pods are placed in other numbers per domain";
      }
    }
    return "";
  }

  std::string NominatedGangs() const {
    for (const auto& [name, nodes] : s_.expect.nominated_gangs) {
      bool any = false;
      for (size_t u = 0; u < t_.units.size(); ++u) {
        if (s_.gangs[t_.units[u].gang].name != name) continue;
        const UnitOutcome& outcome = session_.outcomes()[u];
        if (outcome.state != "nominated") continue;
        any = true;
        if (!nodes.empty() && std::find(nodes.begin(), nodes.end(),
                                        outcome.node) == nodes.end()) {
          return name + ": nominated to " + outcome.node;
        }
      }
      if (!any) return name + ": expected to be nominated";
    }
    return "";
  }

  absl::StatusOr<std::string> Nodes() const {
    for (const auto& [name, expected] : s_.expect.nodes) {
      for (const auto& [what, wanted, actual] :
           {std::tuple("idle", expected.idle_gpus, session_.IdleDevices(name)),
            std::tuple("releasing", expected.releasing_gpus,
                       session_.ReleasingDevices(name))}) {
        if (!wanted || !actual) continue;
        if (*wanted != static_cast<double>(static_cast<int64_t>(*wanted))) {
          return absl::UnimplementedError("part of a GPU that is " +
                                          std::string(what));
        }
        if (static_cast<int64_t>(*wanted) == *actual) continue;
        return name + ": expected " +
               std::to_string(static_cast<int64_t>(*wanted)) + " GPUs " + what +
               ", are " + std::to_string(*actual);
      }
    }
    return "";
  }

  const Scenario& s_;
  const Translation& t_;
  const Session& session_;
  const Played& played_;
  const bool several_passes_;
  const bool compare_nodes_;
  std::map<std::string, size_t> by_name_;
};

}  // namespace

bool StateMatches(const std::string& expected, const std::string& actual,
                  bool several_passes) {
  if (expected == actual) return true;
  if (expected == "unplaced") {
    return actual == "pending" || actual == "nominated";
  }
  if (!several_passes) return false;
  return (expected == "placed" && actual == "running") ||
         (expected == "pending" && actual == "evicted");
}

absl::StatusOr<std::string> ComparePods(const Played& played) {
  return PodComparison(played).Run();
}

}  // namespace muster::conformance
