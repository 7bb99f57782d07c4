// What the daemon answers, as text for people. Pure functions; O(bytes).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "adapters/local/grid/parameter_point.h"

namespace muster::local {

// Of /v1/history. `users`: whose each job is.
std::string HistoryText(const nlohmann::ordered_json& jobs, bool users);
// Of /v1/history/removed.
std::string RemovedText(const nlohmann::ordered_json& jobs);
// Of /v1/crons. `users`: whose each is.
std::string CronsText(const nlohmann::ordered_json& crons, bool users);
// Of /v1/nodes: a line for the machine, and one for each device.
std::string NodesText(const nlohmann::ordered_json& nodes);
// Of /v1/queues.
std::string QueuesText(const nlohmann::ordered_json& queues);
// Of /v1/what-if.
std::string ForecastText(const nlohmann::ordered_json& forecast);
// Of /v1/jobs/ID. `now`: seconds since 1970.
std::string JobText(const nlohmann::ordered_json& job, double now);

// What people call the phase: "queued" with a hold is "held", "forgotten" is
// "cancelled".
std::string StateOf(std::string_view phase, bool held);
std::string StateOf(const nlohmann::ordered_json& job);
// "7", or "5_3" of an array.
std::string IdText(uint64_t id, uint64_t array, uint64_t index);
std::string IdText(const nlohmann::ordered_json& job);
// Of a point of a grid; else empty.
ParameterPoint PointOf(const nlohmann::ordered_json& job);
// "0:07", "1:02:03", "2d 03:04"
std::string SpanText(double seconds);
// "2026-01-31 12:00:00", local time.
std::string TimeText(double seconds);
// "16.0G"
std::string BytesText(int64_t bytes);
// "0.5", "8" of thousandths.
std::string MilliText(int64_t milli);

}  // namespace muster::local
