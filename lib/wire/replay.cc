#include "muster/wire/replay.h"

#include <string>
#include <utility>
#include <variant>

#include "lib/base/status_macros.h"
#include "muster/wire/convert.h"

namespace muster::wire {
namespace {

// Takes one record after the other.
class Player {
 public:
  Player(Scheduler* scheduler, ReplayMode mode)
      : scheduler_(scheduler), mode_(mode) {}

  // Empty, or what is wrong.
  std::string operator()(const Event& event) {
    ++stats_.events;
    absl::Status status = scheduler_->Apply(event);
    return status.ok() ? "" : "the event is refused: " + status.ToString();
  }

  std::string operator()(const PlanRecord& recorded) {
    ++stats_.plans;
    stats_.decisions += recorded.decisions.size();
    if (mode_ == ReplayMode::kFollow) {
      absl::Status status = scheduler_->Follow(recorded);
      return status.ok() ? ""
                         : "the plan cannot be followed: " + status.ToString();
    }
    scheduler_->Schedule(recorded.now, &plan_);
    std::string difference = Difference(recorded, scheduler_->Record(plan_));
    return difference.empty() ? "" : "another plan is made now: " + difference;
  }

  std::string operator()(const JournalHeader&) { return "a second header"; }

  const ReplayStats& stats() const { return stats_; }

 private:
  Scheduler* scheduler_;
  ReplayMode mode_;
  ReplayStats stats_{};
  Plan plan_{};
};

}  // namespace

absl::StatusOr<Replayed> Replay(JournalReader* reader, ReplayMode mode) {
  absl::StatusOr<Scheduler> scheduler =
      Scheduler::Restore(reader->header().start);
  if (!scheduler.ok()) {
    return NotNow(reader->Where(),
                  ": cannot start here: ", scheduler.status().ToString());
  }
  Player player(&*scheduler, mode);
  JournalRecord record;
  while (true) {
    MUSTER_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    std::string wrong = std::visit(player, record.what);
    if (!wrong.empty()) return NotNow(reader->Where(), ": ", wrong);
  }
  return Replayed{.scheduler = *std::move(scheduler), .stats = player.stats()};
}

}  // namespace muster::wire
