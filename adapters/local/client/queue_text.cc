#include "adapters/local/client/queue_text.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/tables.h"
#include "adapters/local/client/user_names.h"
#include "adapters/local/grid/parameter_point.h"
#include "adapters/text/table.h"

namespace muster::local {
namespace {

namespace dom = simdjson::dom;

struct QueuedJob {
  uint64_t id = 0;
  uint64_t array = 0;
  uint64_t array_index = 0;
  uint64_t uid = 0;
  bool held = false;
  std::string_view name{};
  std::string_view queue{};
  std::string_view priority{};
  std::string_view phase{};
  std::string_view why{};
  std::string_view reason{};
  std::string parameters{};  // "lr=0.1 bs=32"
  std::optional<double> started{};
  std::optional<double> finished{};
};

void Read(const dom::element& value, std::string_view* to) {
  if (value.is_string()) *to = value.get_string();
}
void Read(const dom::element& value, uint64_t* to) {
  if (value.is_uint64()) *to = value.get_uint64();
}
void Read(const dom::element& value, std::optional<double>* to) {
  if (value.is_number()) *to = value.get_double();
}
void ReadParameters(const dom::element& value, std::string* to) {
  dom::object parameters;
  if (value.get(parameters) != simdjson::SUCCESS) return;
  ParameterPoint point;
  for (const auto& [name, of] : parameters) {
    if (of.is_string()) {
      point.emplace_back(name, std::string_view(of.get_string()));
    }
  }
  *to = TextOf(point);
}
void Read(const dom::element& value, bool* to) {
  if (value.is_bool()) *to = value.get_bool();
}

QueuedJob ReadJob(const dom::object& object) {
  QueuedJob job;
  for (const auto& [key, value] : object) {
    if (key == "id") Read(value, &job.id);
    if (key == "array") Read(value, &job.array);
    if (key == "array_index") Read(value, &job.array_index);
    if (key == "uid") Read(value, &job.uid);
    if (key == "held") Read(value, &job.held);
    if (key == "name") Read(value, &job.name);
    if (key == "queue") Read(value, &job.queue);
    if (key == "priority") Read(value, &job.priority);
    if (key == "phase") Read(value, &job.phase);
    if (key == "why") Read(value, &job.why);
    if (key == "reason") Read(value, &job.reason);
    if (key == "started") Read(value, &job.started);
    if (key == "finished") Read(value, &job.finished);
    if (key == "parameters") ReadParameters(value, &job.parameters);
  }
  return job;
}

std::string RunTime(const QueuedJob& job, double now) {
  if (!job.started) return "-";
  return SpanText(job.finished.value_or(now) - *job.started);
}

}  // namespace

std::string QueueText(std::string_view answer, double now, bool users) {
  std::vector<std::string> head{"ID",    "NAME", "QUEUE", "PRIORITY",
                                "STATE", "TIME", "REASON"};
  if (users) head.insert(head.begin() + 2, "USER");
  dom::parser parser;
  dom::array elements;
  const simdjson::padded_string padded(answer);
  if (parser.parse(padded)["jobs"].get(elements) != simdjson::SUCCESS)
    return text::Table(head).Text();
  std::vector<QueuedJob> jobs;
  for (const dom::element& element : elements) {
    if (element.is_object()) jobs.push_back(ReadJob(element.get_object()));
  }
  const bool parameters = std::ranges::any_of(
      jobs, [](const QueuedJob& job) { return !job.parameters.empty(); });
  if (parameters) head.insert(head.end() - 1, "PARAMETERS");
  text::Table table(head);
  UserNames names;
  std::vector<std::string_view> row;
  for (const QueuedJob& job : jobs) {
    const std::string id = IdText(job.id, job.array, job.array_index);
    const std::string state = StateOf(job.phase, job.held);
    const std::string time = RunTime(job, now);
    std::string user;
    row.assign({id, job.name});
    if (users) {
      user = names.Of(static_cast<uint32_t>(job.uid));
      row.push_back(user);
    }
    row.insert(row.end(), {job.queue, job.priority, state, time});
    if (parameters) {
      row.push_back(job.parameters.empty() ? "-"
                                           : std::string_view(job.parameters));
    }
    row.push_back(job.why.empty() ? job.reason : job.why);
    table.Add(row);
  }
  return table.Text();
}

}  // namespace muster::local
