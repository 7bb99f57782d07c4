// The queue in the order in which it is decided.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/api/context.h"
#include "adapters/local/api/error_answer.h"
#include "adapters/local/api/job_json.h"
#include "adapters/local/api/view_json.h"
#include "adapters/local/controller/job_maker.h"
#include "muster/state.h"

namespace muster::local {
namespace {

constexpr uint64_t kMostRows = 10'000;

struct Entry {
  const JobRow* row = nullptr;
  bool waits = false;
  bool asked = false;  // Whether it can start as far as its owner wants.
  uint32_t ahead = 0;  // Jobs that wait before it in its queue.
};

// Jobs that run, by id; those that wait, by how many are before them; those
// that are held or suspended.
auto OrderOf(const Entry& entry) {
  const std::string_view queue =
      entry.waits ? std::string_view(entry.row->queue) : "";
  return std::tuple(entry.waits, !entry.asked, entry.ahead, queue,
                    entry.row->id);
}

// What its tasks ask for altogether, in thousandths of a device; of an elastic
// job, what it would like to have.
int64_t GpusOf(const Scheduler& scheduler, uint64_t job) {
  const auto gang = scheduler.Find(GangKey(job));
  if (!gang.ok()) return 0;
  int64_t milli = 0;
  for (const Role& role : gang->gang.roles) {
    const DeviceRequest& devices = role.shape.devices;
    milli += int64_t{role.desired_tasks} * devices.count * devices.milli;
  }
  return milli;
}

std::string RowText(const ApiContext& context, const Viewer& viewer,
                    const Entry& entry) {
  JobExplanation explanation;
  if (entry.waits) {
    auto known = context.controller.Explain(entry.row->id);
    if (known.ok()) explanation = *std::move(known);
  }
  std::string text =
      JobLine(*entry.row, ReaderOf(viewer, *entry.row), explanation.text);
  text.pop_back();  // The brace.
  if (explanation.reason.code != ReasonCode::kNone) {
    absl::StrAppend(&text,
                    ",\"blocked_by\":", ToText(ReasonJson(explanation.reason)));
  }
  return absl::StrCat(
      text, ",\"gpus\":", GpusOf(context.controller.scheduler(), entry.row->id),
      ",\"ahead\":", entry.ahead, "}");
}

}  // namespace

serve::HttpResponse QueueAnswer(const ApiContext& context, const Asked& asked) {
  const auto limit = asked.Number("limit", 200, kMostRows);
  if (!limit.ok()) return ErrorAnswer(limit.status());
  const Scheduler& scheduler = context.controller.scheduler();
  std::vector<Entry> entries;
  size_t waiting = 0;
  for (const JobRow* row : context.controller.Jobs()) {
    if (row->finished != kForever) continue;
    Entry entry{.row = row, .waits = Waits(*row)};
    if (entry.waits) {
      ++waiting;
      entry.asked = !row->held && row->phase == "queued";
      const auto why = scheduler.Explain(GangKey(row->id));
      if (why.ok()) entry.ahead = why->ahead;
    }
    entries.push_back(entry);
  }
  std::ranges::sort(entries, {}, OrderOf);
  const size_t shown = std::min<size_t>(*limit, entries.size());
  std::string rows;
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppend(&rows, i == 0 ? "" : ",",
                    RowText(context, asked.viewer, entries[i]));
  }
  return JsonAnswer(absl::StrCat("{\"jobs\":[", rows, "],\"waiting\":", waiting,
                                 ",\"running\":", entries.size() - waiting,
                                 ",\"left_out\":", entries.size() - shown,
                                 "}"));
}

}  // namespace muster::local
