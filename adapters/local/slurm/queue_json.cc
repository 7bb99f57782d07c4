#include "adapters/local/slurm/queue_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "muster/version.h"

namespace muster::local::slurm {
namespace {

// A number that may be missing.
Json Number(std::optional<int64_t> number) {
  return {{"set", number.has_value()},
          {"infinite", false},
          {"number", number.value_or(0)}};
}

Json Limit(const std::optional<Asked>& asked) {
  if (!asked) return Number(std::nullopt);
  if (asked->limit) return Number((*asked->limit + 59) / 60);
  return {{"set", false}, {"infinite", true}, {"number", 0}};
}

Json Moment(const Json& job, const char* member) {
  if (!job.contains(member)) return Number(std::nullopt);
  return Number(static_cast<int64_t>(std::floor(job.value(member, 0.0))));
}

}  // namespace

Json QueueJson(const Json& job, const std::optional<Asked>& asked,
               const std::string& nodes) {
  const auto number = [&](const char* member) -> std::optional<int64_t> {
    if (!job.contains(member)) return std::nullopt;
    return job.value(member, int64_t{0});
  };
  const uint32_t uid = job.value("uid", 0u);
  const ExitCode code = ExitCodeOf(job);
  Json json{
      {"job_id", job.value("id", uint64_t{0})},
      {"array_job_id", Number(number("array").value_or(0))},
      {"array_task_id", Number(number("array_index"))},
      {"name", NameOfJob(job)},
      {"user_id", uid},
      {"user_name", UserName(uid)},
      {"partition", job.value("queue", "")},
      {"qos", job.value("priority", "")},
      {"job_state", Json::array({std::string(StateOf(job))})},
      {"state_reason", ReasonOf(job)},
      {"hold", job.value("held", false)},
      {"submit_time", Moment(job, "submitted")},
      {"start_time", Moment(job, "started")},
      {"end_time", Moment(job, "finished")},
      {"time_limit", Limit(asked)},
      {"nodes", nodes},
      {"node_count", Number(1)},
      {"restart_cnt", job.value("restarts", 0) + job.value("preemptions", 0)},
  };
  json["exit_code"] = {
      {"return_code",
       Number(number("exit_code") ? std::optional(code.code) : std::nullopt)},
      {"signal",
       {{"id", Number(code.signal == 0 ? std::nullopt
                                       : std::optional(code.signal))}}}};
  if (job.contains("directory")) {
    json["current_working_directory"] = job["directory"];
  }
  if (asked) {
    json["cpus"] = Number(asked->cpus);
    json["tasks"] = Number(asked->tasks);
    json["tres_req_str"] = TresText(*asked);
    json["standard_output"] = asked->output;
    json["standard_error"] = asked->error;
  }
  return json;
}

Json Envelope(const std::string& program, Json jobs) {
  return {{"jobs", std::move(jobs)},
          {"meta",
           {{"plugin", {{"type", "muster/" + program}, {"name", "muster"}}},
            {"muster", {{"release", MUSTER_VERSION}}}}},
          {"errors", Json::array()},
          {"warnings", Json::array()}};
}

std::string IndexText(const std::vector<uint32_t>& indices) {
  std::string text;
  for (size_t i = 0; i < indices.size();) {
    size_t end = i + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ",", indices[i]);
    if (end > i + 1) absl::StrAppend(&text, "-", indices[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace muster::local::slurm
