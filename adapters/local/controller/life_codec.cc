#include "adapters/local/controller/life_codec.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace muster::local {
namespace {

using Json = nlohmann::json;
using workload::LifeEvent;

Json TaskJson(TaskId id) { return Json::array({id.role, id.index}); }

Json TasksJson(const std::vector<TaskId>& ids) {
  Json list = Json::array();
  for (const TaskId id : ids) list.push_back(TaskJson(id));
  return list;
}

struct Writer {
  Json operator()(const workload::Submitted&) const { return {"submitted"}; }
  Json operator()(const workload::Placed& e) const {
    return {"placed", TasksJson(e.places)};
  }
  Json operator()(const workload::PlacesTaken& e) const {
    return {"places-taken", TasksJson(e.places), e.notice, e.moved};
  }
  Json operator()(const workload::Preempted& e) const {
    return {"preempted", e.notice};
  }
  Json operator()(const workload::TaskStarted& e) const {
    return {"task-started", TaskJson(e.task), e.attempt};
  }
  Json operator()(const workload::TaskReady& e) const {
    return {"task-ready", TaskJson(e.task), e.attempt};
  }
  Json operator()(const workload::TaskExited& e) const {
    return {"task-exited", TaskJson(e.task), e.attempt, e.code,
            std::string(Name(e.reason))};
  }
  Json operator()(const workload::CheckpointDone& e) const {
    return {"checkpoint-done", e.version};
  }
  Json operator()(const workload::ResizeAsked& e) const {
    return {"resize-asked", e.role, e.size};
  }
  Json operator()(const workload::SuspendAsked&) const {
    return {"suspend-asked"};
  }
  Json operator()(const workload::ResumeAsked&) const {
    return {"resume-asked"};
  }
  Json operator()(const workload::Paused&) const { return {"paused"}; }
  Json operator()(const workload::Continued&) const { return {"continued"}; }
  Json operator()(const workload::LimitChanged& e) const {
    return {"limit-changed", e.limit};
  }
  Json operator()(const workload::TimePassed&) const { return {"time-passed"}; }
  Json operator()(const workload::DeletionAsked&) const {
    return {"deletion-asked"};
  }
  Json operator()(const workload::TasksListed& e) const {
    Json list = Json::array();
    for (const workload::LiveTask& live : e.live) {
      list.push_back({TaskJson(live.task), live.attempt, live.ready});
    }
    return {"tasks-listed", std::move(list)};
  }
};

// The members of one event, one behind the other. What is not there, or of
// another kind, makes it bad.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  bool Done() const { return !bad_ && at_ == json_.size(); }
  template <class I>
  I Number() {
    const Json* v = Next();
    if (v == nullptr || !v->is_number_integer()) return Bad<I>();
    const auto n = v->get<int64_t>();
    if (!std::in_range<I>(n)) return Bad<I>();
    return static_cast<I>(n);
  }
  bool Bool() {
    const Json* v = Next();
    return v != nullptr && v->is_boolean() ? v->get<bool>() : Bad<bool>();
  }
  std::string Text() {
    const Json* v = Next();
    return v != nullptr && v->is_string() ? v->get<std::string>()
                                          : Bad<std::string>();
  }
  TaskId Task() {
    const Json* v = Next();
    if (v == nullptr || !v->is_array()) return Bad<TaskId>();
    return TaskOf(*v);
  }
  std::vector<TaskId> Tasks() {
    const Json* v = Next();
    if (v == nullptr || !v->is_array()) return Bad<std::vector<TaskId>>();
    std::vector<TaskId> ids;
    for (const Json& one : *v) ids.push_back(TaskOf(one));
    return ids;
  }
  std::vector<workload::LiveTask> LiveTasks() {
    const Json* v = Next();
    std::vector<workload::LiveTask> list;
    if (v == nullptr || !v->is_array()) return Bad<decltype(list)>();
    for (const Json& one : *v) {
      Reader r(one);
      const TaskId task = r.Task();
      const auto attempt = r.Number<uint32_t>();
      list.push_back({task, attempt, r.Bool()});
      bad_ |= !one.is_array() || !r.Done();
    }
    return list;
  }
  template <class T>
  T Bad() {
    bad_ = true;
    return {};
  }

 private:
  const Json* Next() {
    return json_.is_array() && at_ < json_.size() ? &json_[at_++] : nullptr;
  }
  TaskId TaskOf(const Json& json) {
    Reader r(json);
    const auto role = r.Number<uint32_t>();
    const TaskId id{role, r.Number<uint32_t>()};
    bad_ |= !json.is_array() || !r.Done();
    return id;
  }

  const Json& json_;
  size_t at_ = 0;
  bool bad_ = false;
};

workload::TaskExited ReadExit(Reader* r) {
  workload::TaskExited e;
  e.task = r->Task();
  e.attempt = r->Number<uint32_t>();
  e.code = r->Number<int32_t>();
  const auto reason = FromName<workload::ExitReason>(r->Text());
  e.reason = reason ? *reason : r->Bad<workload::ExitReason>();
  return e;
}

std::optional<LifeEvent> Read(const std::string& name, Reader* r) {
  if (name == "submitted") return workload::Submitted{};
  if (name == "placed") return workload::Placed{r->Tasks()};
  if (name == "places-taken") {
    workload::PlacesTaken e{.places = r->Tasks()};
    e.notice = r->Number<Duration>();
    e.moved = r->Bool();
    return e;
  }
  if (name == "preempted") return workload::Preempted{r->Number<Duration>()};
  if (name == "task-started") {
    const TaskId task = r->Task();
    return workload::TaskStarted{task, r->Number<uint32_t>()};
  }
  if (name == "task-ready") {
    const TaskId task = r->Task();
    return workload::TaskReady{task, r->Number<uint32_t>()};
  }
  if (name == "task-exited") return ReadExit(r);
  if (name == "checkpoint-done") {
    return workload::CheckpointDone{r->Number<uint32_t>()};
  }
  if (name == "resize-asked") {
    const auto role = r->Number<uint32_t>();
    return workload::ResizeAsked{role, r->Number<uint32_t>()};
  }
  if (name == "suspend-asked") return workload::SuspendAsked{};
  if (name == "resume-asked") return workload::ResumeAsked{};
  if (name == "paused") return workload::Paused{};
  if (name == "continued") return workload::Continued{};
  if (name == "limit-changed") {
    return workload::LimitChanged{r->Number<Duration>()};
  }
  if (name == "time-passed") return workload::TimePassed{};
  if (name == "deletion-asked") return workload::DeletionAsked{};
  if (name == "tasks-listed") return workload::TasksListed{r->LiveTasks()};
  return std::nullopt;
}

}  // namespace

std::string ToJson(const LifeEvent& event) {
  return std::visit(Writer(), event).dump();
}

absl::StatusOr<LifeEvent> LifeEventFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  Reader reader(json);
  const std::string name = reader.Text();
  std::optional<LifeEvent> event = Read(name, &reader);
  if (json.is_discarded() || !event || !reader.Done()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(text.substr(0, 80)), "' is no event"));
  }
  return *std::move(event);
}

}  // namespace muster::local
