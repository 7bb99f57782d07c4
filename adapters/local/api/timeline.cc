#include "adapters/local/api/timeline.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapters/local/api/context.h"
#include "adapters/local/api/error_answer.h"
#include "adapters/local/api/job_json.h"
#include "muster/ids.h"

namespace muster::local {

using Json = nlohmann::ordered_json;

namespace {

struct Entry {
  Time at = 0;
  std::string what{};
  std::string text{};
  Duration lost = -1;  // Below 0: none, or not known yet.
};

// The tasks that were started as the same attempt.
struct Start {
  Time at = kForever;
  size_t tasks = 0;
  std::set<uint32_t> devices{};
};

void AddStarts(const std::vector<TaskRow>& tasks, std::vector<Entry>* entries) {
  std::map<uint32_t, Start> starts;  // By attempt.
  for (const TaskRow& task : tasks) {
    if (task.started == kForever) continue;
    Start& start = starts[task.key.attempt];
    start.at = std::min(start.at, task.started);
    start.devices.insert(task.devices.begin(), task.devices.end());
    ++start.tasks;
  }
  for (const auto& [attempt, start] : starts) {
    std::string text = absl::StrCat(
        start.tasks, start.tasks == 1 ? " task" : " tasks",
        start.devices.empty()
            ? ""
            : absl::StrCat(", GPU ", absl::StrJoin(start.devices, ", ")));
    entries->push_back({start.at, attempt == 1 ? "started" : "started again",
                        std::move(text)});
  }
}

// What the attempts that were alive then had done since they, or the last
// checkpoint, began. Below 0: they have not ended.
Duration LostWork(const std::vector<TaskRow>& tasks,
                  const std::vector<NewsRow>& news, Time stop) {
  Time begin = kForever;
  Time end = 0;
  for (const TaskRow& task : tasks) {
    if (task.started > stop || task.ended < stop) continue;
    begin = std::min(begin, task.started);
    end = std::max(end, task.ended);
  }
  if (begin == kForever || end == kForever) return -1;
  for (const NewsRow& row : news) {
    if (row.what == "checkpoint" && row.at <= end) {
      begin = std::max(begin, row.at);
    }
  }
  return end - begin;
}

Json EntryJson(const Entry& entry) {
  Json json{{"at", SecondsOf(entry.at)}, {"what", entry.what}};
  if (!entry.text.empty()) json["text"] = entry.text;
  if (entry.lost >= 0) json["lost"] = SecondsOf(entry.lost);
  return json;
}

}  // namespace

Json TimelineJson(const JobRow& row, const std::vector<TaskRow>& tasks,
                  const std::vector<NewsRow>& news) {
  std::vector<Entry> entries{{row.submitted, "submitted", ""}};
  AddStarts(tasks, &entries);
  for (const NewsRow& one : news) {
    const bool stops = one.what == "preempted" || one.what == "restarting";
    entries.push_back({one.at, one.what, one.text,
                       stops ? LostWork(tasks, news, one.at) : -1});
  }
  if (row.finished != kForever) {
    const bool cancelled = row.phase == "forgotten";
    entries.push_back(
        {row.finished, cancelled ? "cancelled" : row.phase, row.reason});
  }
  std::ranges::stable_sort(entries, {}, &Entry::at);
  Json events = Json::array();
  for (const Entry& entry : entries) events.push_back(EntryJson(entry));
  const TaskNames names(row);
  Json attempts = Json::array();
  for (const TaskRow& task : tasks) {
    attempts.push_back(TaskJson(task, names.Of(task.key)));
  }
  return {{"id", row.id},
          {"events", std::move(events)},
          {"attempts", std::move(attempts)}};
}

serve::HttpResponse TimelineAnswer(const ApiContext& context,
                                   const Asked& asked) {
  const auto known = FindOwnJob(context, asked);
  if (!known.ok()) return ErrorAnswer(known.status());
  const auto row = context.history.Find(asked.job);  // With its manifest.
  if (!row.ok()) return ErrorAnswer(row.status());
  const auto tasks = context.history.Tasks(asked.job);
  if (!tasks.ok()) return ErrorAnswer(tasks.status());
  const auto news = context.history.News(asked.job);
  if (!news.ok()) return ErrorAnswer(news.status());
  return JsonAnswer(ToText(TimelineJson(*row, *tasks, *news)));
}

}  // namespace muster::local
