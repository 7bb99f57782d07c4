// The queue in the order in which it is decided.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/api/context.h"
#include "adapters/local/api/error_answer.h"
#include "adapters/local/api/job_json.h"
#include "adapters/local/api/view_json.h"
#include "adapters/local/controller/job_maker.h"
#include "muster/gang.h"

namespace muster::local {
namespace {

constexpr uint64_t kMostRows = 10'000;

struct Entry {
  const JobRow* row = nullptr;
  GangId gang{};
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
int64_t GpusOf(std::span<const Role> roles) {
  int64_t milli = 0;
  for (const Role& role : roles) {
    const DeviceRequest& devices = role.shape.devices;
    milli += int64_t{role.desired_tasks} * devices.count * devices.milli;
  }
  return milli;
}

// Why the jobs wait. Those of one class of gangs do so for the same reason,
// which is asked for once.
class Explanations {
 public:
  explicit Explanations(const ApiContext& context) : context_(context) {}

  // Valid until the next call.
  const JobExplanation& Of(uint64_t job, GangId gang) {
    const uint64_t known =
        context_.controller.scheduler().WaitingGangClass(gang);
    if (known == 0) return Ask(job, &alone_);
    const auto [it, added] = by_class_.try_emplace(known);
    const bool told = !added && it->second.reason.code != ReasonCode::kNone;
    return told ? it->second : Ask(job, &it->second);
  }

 private:
  const JobExplanation& Ask(uint64_t job, JobExplanation* explanation) {
    auto answer = context_.controller.Explain(job);
    *explanation = answer.ok() ? *std::move(answer) : JobExplanation{};
    return *explanation;
  }

  const ApiContext& context_;
  std::unordered_map<uint64_t, JobExplanation> by_class_;
  JobExplanation alone_;
};

std::string RowText(const Viewer& viewer, const Entry& entry,
                    std::span<const Role> roles,
                    const JobExplanation& explanation) {
  std::string text =
      JobLine(*entry.row, ReaderOf(viewer, *entry.row), explanation.text);
  text.pop_back();  // The brace.
  if (explanation.reason.code != ReasonCode::kNone) {
    absl::StrAppend(&text,
                    ",\"blocked_by\":", ToText(ReasonJson(explanation.reason)));
  }
  return absl::StrCat(text, ",\"gpus\":", GpusOf(roles),
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
    Entry entry{.row = row,
                .gang = scheduler.FindGang(GangKey(row->id)),
                .waits = Waits(*row)};
    if (entry.waits) {
      ++waiting;
      entry.asked = !row->held && row->phase == "queued";
      entry.ahead = scheduler.CountAhead(entry.gang);
    }
    entries.push_back(entry);
  }
  std::ranges::sort(entries, {}, OrderOf);
  const size_t shown = std::min<size_t>(*limit, entries.size());
  const JobExplanation none;
  Explanations explanations(context);
  std::string rows;
  for (size_t i = 0; i < shown; ++i) {
    const Entry& entry = entries[i];
    absl::StrAppend(
        &rows, i == 0 ? "" : ",",
        RowText(
            asked.viewer, entry, scheduler.RolesOf(entry.gang),
            entry.waits ? explanations.Of(entry.row->id, entry.gang) : none));
  }
  return JsonAnswer(absl::StrCat("{\"jobs\":[", rows, "],\"waiting\":", waiting,
                                 ",\"running\":", entries.size() - waiting,
                                 ",\"left_out\":", entries.size() - shown,
                                 "}"));
}

}  // namespace muster::local
