#include "adapters/local/api/job_json.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "muster/workload/parse.h"

namespace muster::local {

using Json = nlohmann::ordered_json;

namespace {

// One object, member by member: lists have many of them, and a tree of each
// would cost most of the answer.
class ObjectWriter {
 public:
  void Add(std::string_view name, std::string_view value) {
    Begin(name);
    const bool plain = std::ranges::all_of(value, [](char c) {
      return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    });
    if (plain) {
      text_.append(1, '"').append(value).append(1, '"');
    } else {
      text_ += ToText(Json(std::string(value)));
    }
  }
  void Add(std::string_view name, std::same_as<bool> auto value) {
    Begin(name);
    text_ += value ? "true" : "false";
  }
  template <class Number>
    requires std::is_arithmetic_v<Number> && (!std::is_same_v<Number, bool>)
  void Add(std::string_view name, Number value) {
    Begin(name);
    char digits[32];
    text_.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
  }
  // What is JSON already.
  void AddJson(std::string_view name, std::string_view value) {
    Begin(name);
    text_ += value;
  }
  std::string Text() && {
    text_ += '}';
    return std::move(text_);
  }

 private:
  void Begin(std::string_view name) {
    text_.append(text_.size() > 1 ? ",\"" : "\"").append(name).append("\":");
  }

  std::string text_ = "{";
};

void AddTime(const char* name, Time time, Json* json) {
  if (time != kForever) (*json)[name] = SecondsOf(time);
}

}  // namespace

double SecondsOf(Time time) {
  constexpr Time kMicrosecond = 1'000;
  const int64_t microseconds = time / kMicrosecond;
  return static_cast<double>(microseconds) / 1e6;
}

std::string JobLine(const JobRow& row, Reader reader, std::string_view why) {
  ObjectWriter job;
  job.Add("id", row.id);
  job.Add("name", row.name);
  job.Add("uid", row.uid);
  job.Add("queue", row.queue);
  job.Add("priority", row.priority_class);
  job.Add("phase", row.phase);
  job.Add("submitted", SecondsOf(row.submitted));
  if (row.held) job.Add("held", true);
  if (row.array != 0) job.Add("array", row.array);
  if (row.array_index) job.Add("array_index", *row.array_index);
  if (row.array_limit > 0) job.Add("array_limit", row.array_limit);
  if (row.started != kForever) job.Add("started", SecondsOf(row.started));
  if (row.finished != kForever) job.Add("finished", SecondsOf(row.finished));
  if (!row.reason.empty()) job.Add("reason", row.reason);
  if (row.exit_code) job.Add("exit_code", *row.exit_code);
  if (row.restarts > 0) job.Add("restarts", row.restarts);
  if (row.preemptions > 0) job.Add("preemptions", row.preemptions);
  if (!why.empty()) job.Add("why", why);
  if (reader == Reader::kOwner && !row.parameters.empty()) {
    job.AddJson("parameters", row.parameters);
  }
  return std::move(job).Text();
}

Json JobJson(const JobRow& row, Reader reader) {
  return Json::parse(JobLine(row, reader));
}

Json RemovedJson(const RemovedRow& row) {
  Json json{{"id", row.job},
            {"name", row.name},
            {"uid", row.uid},
            {"phase", row.phase},
            {"finished", SecondsOf(row.finished)},
            {"removed", SecondsOf(row.at)},
            {"why", row.why}};
  if (row.bytes >= 0) json["bytes"] = row.bytes;
  return json;
}

Json TaskJson(const TaskRow& row, const std::string& name) {
  Json json{{"task", name},
            {"attempt", row.key.attempt},
            {"state", row.state},
            {"node", row.node},
            {"devices", row.devices}};
  AddTime("started", row.started, &json);
  AddTime("ended", row.ended, &json);
  if (row.code) json["exit_code"] = *row.code;
  if (!row.reason.empty()) json["reason"] = row.reason;
  return json;
}

Json WholeJobJson(const JobRow& row, const std::vector<TaskRow>& tasks,
                  const std::vector<TaskView>& alive) {
  Json json = JobJson(row, Reader::kOwner);
  json["gid"] = row.gid;
  json["directory"] = row.directory;
  json["umask"] = UmaskText(row.umask);
  const TaskNames names(row);
  std::map<TaskKey, const TaskView*> views;
  for (const TaskView& view : alive) views.emplace(view.row.key, &view);
  Json list = Json::array();
  for (const TaskRow& task : tasks) {
    Json& one = list.emplace_back(TaskJson(task, names.Of(task.key)));
    const auto view = views.find(task.key);
    if (view == views.end() || view->second->cpus.empty()) continue;
    one["cpus"] = view->second->cpus;
  }
  json["tasks"] = std::move(list);
  json["manifest"] = row.manifest;
  json["document"] = row.document;
  json["environment"] = row.environment;
  if (!row.edits.empty()) json["edits"] = Json::parse(row.edits);
  if (!names.images().empty()) json["images"] = names.images();
  return json;
}

void AddDetails(const JobDetails& details, Json* job) {
  Json conditions = Json::array();
  for (const workload::Condition& c : details.conditions) {
    conditions.push_back({{"type", Name(c.type)},
                          {"status", c.status},
                          {"reason", std::string(c.reason)}});
  }
  (*job)["conditions"] = std::move(conditions);
  for (const ElasticRole& role : details.elastic) {
    (*job)["elastic"].push_back({{"role", role.name},
                                 {"size", role.size},
                                 {"min", role.min},
                                 {"max", role.max}});
  }
  if (details.checkpoint_at != 0) {
    (*job)["checkpoint_at"] = SecondsOf(details.checkpoint_at);
  }
}

TaskNames::TaskNames(const JobRow& row) {
  const auto parsed = workload::Parse(row.manifest);
  if (!parsed.ok() || row.document >= parsed->size()) return;
  for (const workload::Role& role : (*parsed)[row.document].job.roles) {
    roles_.push_back(role.name);
    if (!role.task.image.empty()) images_[role.name] = role.task.image;
  }
}

std::string TaskNames::Of(const TaskKey& key) const {
  return key.role < roles_.size()
             ? absl::StrCat(roles_[key.role], "-", key.index)
             : absl::StrCat(key.role, "-", key.index);
}

bool TaskNames::Find(const std::string& name, uint32_t* role,
                     uint32_t* index) const {
  *role = 0;
  *index = 0;
  if (absl::SimpleAtoi(name, index)) return true;
  const auto find = [&](const std::string& text) {
    const auto it = std::ranges::find(roles_, text);
    *role = static_cast<uint32_t>(it - roles_.begin());
    return it != roles_.end() || absl::SimpleAtoi(text, role);
  };
  const size_t dash = name.rfind('-');
  if (dash != std::string::npos &&
      absl::SimpleAtoi(name.substr(dash + 1), index)) {
    return find(name.substr(0, dash));
  }
  *index = 0;
  return find(name);
}

std::vector<TaskRow> LastAttempts(const std::vector<TaskRow>& tasks) {
  std::vector<TaskRow> last;
  for (const TaskRow& task : tasks) {
    if (!last.empty() && last.back().key.role == task.key.role &&
        last.back().key.index == task.key.index) {
      last.back() = task;
    } else {
      last.push_back(task);
    }
  }
  return last;
}

std::string ToText(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace);
}

}  // namespace muster::local
