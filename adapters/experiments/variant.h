// Variants: what a comparison changes of one input, by the names that scenario
// files use.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/inprocess/host_model.h"
#include "adapters/inprocess/workload.h"
#include "adapters/workloads/trace.h"

namespace muster::inprocess {

// Keys with dots and their values, as they were written.
using Settings = std::vector<std::pair<std::string, std::string>>;

struct Variant {
  std::string name{};
  Settings settings{};  // None: the input as it is.
};

// "KEY=VALUE,KEY=VALUE", or "". Errors begin with `where`; whether keys and
// values exist is not looked at.
absl::StatusOr<Settings> ParseSettings(std::string_view where,
                                       std::string_view text);

// "NAME", or "NAME:KEY=VALUE,KEY=VALUE". INVALID_ARGUMENT says what is wrong;
// whether keys and values exist is not looked at.
absl::StatusOr<Variant> ParseVariant(std::string_view text);

// "placement.policy=least-allocated,scheduler.preemption=false".
std::string SettingsText(const Variant& variant);

// What a variant changes; each must be there but `policy`, which is that of a
// trace, or null.
struct VariantTarget {
  SchedulerConfig* config = nullptr;
  HostModel* host = nullptr;
  std::vector<Queue>* queues = nullptr;
  TracePolicy* policy = nullptr;
};
// Keys: those under `scheduler`, `placement` and `host` of a scenario file
// whose values are single; `queues.ordering`, of all queues; `policy`, of a
// trace. INVALID_ARGUMENT names the key and what is allowed.
absl::Status ApplySettings(std::string_view where, const Settings& settings,
                           const VariantTarget& target);
absl::Status ApplyVariant(const Variant& variant, const VariantTarget& target);

}  // namespace muster::inprocess
