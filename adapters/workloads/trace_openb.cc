#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "adapters/workloads/openb_csv.h"
#include "adapters/workloads/trace.h"

namespace muster::inprocess {
namespace {

constexpr int64_t kMaxSeconds = int64_t{1} << 32;

std::string ClassOf(std::string_view qos) {
  if (qos == "LS" || qos == "Guaranteed") return "high";
  return qos == "Burstable" ? "middle" : "low";
}

Job ReadPod(CsvTable* table, size_t r, const OpenbOptions& options) {
  Job job;
  Gang& gang = job.gang;
  gang.key = table->Text(r, "name");
  gang.queue = "default";
  const Time created =
      table->Integer(r, "creation_time", 0, kMaxSeconds) * kSecond;
  const Time deleted =
      table->Integer(r, "deletion_time", 0, kMaxSeconds) * kSecond;
  Time started = created;
  if (!table->Text(r, "scheduled_time").empty()) {
    started = table->Integer(r, "scheduled_time", 0, kMaxSeconds) * kSecond;
  }
  gang.submitted = created;
  job.work = std::max<Duration>(0, deleted - started);
  job.checkpoint_every = options.checkpoint_every;
  if (options.policy == TracePolicy::kPriority) {
    gang.priority_class = ClassOf(table->Text(r, "qos"));
  }
  gang.roles.emplace_back().shape = ReadOpenbShape(table, r);
  return job;
}

// The pods, over and over, each copy a while later.
class CopiesSource final : public JobSource {
 public:
  CopiesSource(std::vector<Job> base, uint32_t copies, Duration shift)
      : base_(std::move(base)), shift_(shift) {
    due_.reserve(base_.size() * copies);
    for (uint32_t c = 0; c < copies; ++c) {
      for (uint32_t i = 0; i < base_.size(); ++i) {
        due_.push_back({base_[i].gang.submitted + c * shift, c, i});
      }
    }
    std::ranges::sort(due_);
  }

  bool Next(Job* job) override {
    if (next_ == due_.size()) return false;
    const Due& due = due_[next_++];
    *job = base_[due.index];
    job->gang.submitted = due.at;
    if (due.copy > 0) {
      job->gang.key += '+';
      job->gang.key += std::to_string(due.copy);
    }
    return true;
  }
  uint64_t size() const override { return due_.size(); }

 private:
  struct Due {
    Time at = 0;
    uint32_t copy = 0;
    uint32_t index = 0;
    friend auto operator<=>(const Due&, const Due&) = default;
  };
  std::vector<Job> base_;
  Duration shift_;
  std::vector<Due> due_;
  size_t next_ = 0;
};

}  // namespace

absl::StatusOr<Trace> LoadOpenb(const OpenbOptions& options) {
  absl::StatusOr<std::vector<Node>> nodes = LoadOpenbNodes(options.nodes);
  if (!nodes.ok()) return nodes.status();
  absl::StatusOr<CsvTable> table = CsvTable::Load(options.pods);
  if (!table.ok()) return table.status();
  std::vector<Job> pods;
  std::set<std::string> keys;
  for (size_t r = 0; r < table->rows(); ++r) {
    pods.push_back(ReadPod(&*table, r, options));
    if (!table->status().ok()) return table->status();
    if (!keys.insert(pods.back().gang.key).second) {
      return table->Wrong(r, "name",
                          "'" + pods.back().gang.key + "' appears twice");
    }
  }
  Trace trace;
  trace.setup.nodes = *std::move(nodes);
  trace.setup.queues = {{.key = "default"}};
  trace.setup.config.preemption = options.policy == TracePolicy::kPriority;
  if (options.policy == TracePolicy::kPriority) {
    trace.setup.priority_classes = {{.key = "high", .value = 200},
                                    {.key = "middle", .value = 100},
                                    {.key = "low", .value = 0}};
  }
  trace.jobs = std::make_unique<CopiesSource>(std::move(pods), options.copies,
                                              options.shift);
  return trace;
}

}  // namespace muster::inprocess
