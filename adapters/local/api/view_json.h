// What else can be seen, as JSON: docs/local-api.yaml. Pure functions; O(what
// there is).
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "adapters/local/api/job_json.h"
#include "adapters/local/controller/submission.h"
#include "adapters/local/controller/views.h"
#include "adapters/local/model/other_process.h"
#include "muster/config.h"
#include "muster/device.h"
#include "muster/reason.h"

namespace muster::local {

// What a node has, its healthy devices as thousandths of the device kind.
Resources CapacityOf(const Node& node, const SchedulerConfig& config);

nlohmann::ordered_json ReasonJson(const NamedReason& reason);
nlohmann::ordered_json SubmitJson(const SubmitResult& result);
nlohmann::ordered_json ForecastJson(const ForecastResult& result);
nlohmann::ordered_json ExplanationJson(uint64_t job,
                                       const JobExplanation& explanation);
// Resources by their names in the configuration, in its units. `visible`: as in
// ApiOptions.
nlohmann::ordered_json NodeJson(
    const NodeView& view, const std::vector<OtherProcess>& others,
    const std::function<std::string(const DeviceShare&)>& visible,
    const SchedulerConfig& config);
// `reader`: what became of the last time is the owner's to know.
nlohmann::ordered_json CronJson(const CronView& view, Reader reader);
nlohmann::ordered_json QueueJson(const QueueView& view,
                                 const SchedulerConfig& config);

}  // namespace muster::local
