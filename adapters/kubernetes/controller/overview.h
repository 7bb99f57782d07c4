// Overview: what the controller knows, for people who ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/controller/state.h"
#include "muster/ids.h"

namespace muster::kubernetes {

struct QueueOverview {
  std::string name{};
  std::string parent{};
  bool closed = false;
  bool held = false;
  std::string refused{};  // Why the scheduler does not take it; "": it does.
  QueueCounts counts{};
  api::ResourceList used{};  // Thousandths; with the queues below.
  std::vector<api::QueueQuota> quotas{};
};

struct PodOverview {
  std::string name{};
  std::string node{};   // "": it is bound to none.
  std::string phase{};  // "pending", "gated", "binding", "running", ...
};

struct GangOverview {
  std::string kind{};  // Of its object: "PodGroup", "Job", "Pod", ...
  std::string namespace_name{};
  std::string name{};
  std::string queue{};
  // As muster::GangPhase; "unknown" while the scheduler does not know it.
  std::string phase{};
  std::string priority_class{};
  int64_t min_pods = 0;  // 0: nobody has said yet.
  GangCounts counts{};
  Time submitted = 0;
  std::string reason{};   // muster::ReasonCode, of one that waits.
  std::string message{};  // Why it waits, for people.
};

struct GangExplanation {
  GangOverview gang{};
  uint32_t ahead = 0;               // Gangs before it in its queue.
  std::vector<PodOverview> pods{};  // By name; at most kMostPods.
  size_t all_pods = 0;
};

// Values are copies. Functions are O(groups) unless said otherwise; on the
// controller's thread.
class Overview {
 public:
  static constexpr size_t kMostGangs = 1'000;
  static constexpr size_t kMostPods = 1'000;

  // The state is not owned.
  explicit Overview(const ControllerState* state) : s_(*state) {}

  // By name. O(queues x resources).
  std::vector<QueueOverview> Queues() const;
  // On which more is in use than they have, to the resources: ExcessBook.
  const std::map<std::string, std::vector<std::string>>& ExceededNodes() const {
    return s_.excess.nodes();
  }
  // Of a namespace; "": of all. Those that wait first, then by age; at most
  // kMostGangs. `all`, which may be null, gets how many there are.
  // O(groups x log).
  std::vector<GangOverview> Gangs(const std::string& namespace_name,
                                  size_t* all) const;
  // The group of this name, or that of the pod of this name; one of them is
  // "". NOT_FOUND; FAILED_PRECONDITION: several kinds of objects have the name.
  absl::StatusOr<GangExplanation> Explain(const std::string& namespace_name,
                                          const std::string& group,
                                          const std::string& pod) const;
  // The same group's key, by which the scheduler knows it; FAILED_PRECONDITION:
  // it does not.
  absl::StatusOr<std::string> KeyOf(const std::string& namespace_name,
                                    const std::string& group) const;

 private:
  absl::StatusOr<const GangRecord*> Find(const std::string& namespace_name,
                                         const std::string& group,
                                         const std::string& pod) const;
  GangOverview Describe(const GangRecord& gang) const;

  const ControllerState& s_;
};

// The name for people: that of its object, or of its only pod.
std::string NameOf(const GangRecord& gang);

}  // namespace muster::kubernetes
