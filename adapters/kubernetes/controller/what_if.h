// What the scheduler would decide if something were otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/controller/state.h"

namespace muster::kubernetes {

// What happens first, in this order.
struct WhatIfQuestion {
  struct GroupName {
    std::string namespace_name{};
    std::string name{};
  };

  std::vector<GroupName> finish{};          // These groups are over.
  std::vector<std::string> remove_nodes{};  // These are gone.
  // So many nodes come that are as this one.
  std::string node_like{};
  uint32_t add_nodes = 0;
};

struct WhatIfDecision {
  std::string kind{};  // muster::DecisionKind.
  std::string namespace_name{};
  std::string group{};               // For people.
  std::string on_behalf_of{};        // namespace/name; "": for no other group.
  std::vector<std::string> nodes{};  // Where, each once, sorted.
  uint32_t pods = 0;
};

struct WhatIfAnswer {
  std::vector<WhatIfDecision> decisions{};
  bool complete = true;  // False: the first pass would not look at everything.
};

// Changes of one question.
inline constexpr uint32_t kMostWhatIfChanges = 1'000;

// What one pass would decide now, without and besides what it decides anyway.
// Nothing changes. As Scheduler::WhatIf, on its thread. NOT_FOUND,
// FAILED_PRECONDITION, INVALID_ARGUMENT name what is wrong with the question.
absl::StatusOr<WhatIfAnswer> WhatIf(const WhatIfQuestion& question,
                                    ControllerState* state);

}  // namespace muster::kubernetes
