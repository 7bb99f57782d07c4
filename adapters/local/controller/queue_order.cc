#include "adapters/local/controller/queue_order.h"

#include <algorithm>
#include <compare>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/job_maker.h"

namespace muster::local {
namespace {

// Where a job waits, as the scheduler compares jobs of one priority.
struct Slot {
  Time at = 0;
  uint64_t job = 0;

  friend auto operator<=>(const Slot&, const Slot&) = default;
};

Slot SlotOf(const JobRecord& job) { return {PlaceOf(job.row), job.row.id}; }

}  // namespace

absl::StatusOr<JobRecord*> QueueOrder::Waiting(uint64_t job) const {
  JobRecord* record = s_.jobs.Find(job);
  if (record == nullptr || record->ended) {
    return absl::NotFoundError(
        absl::StrCat("job ", job, ": is not there, or has finished"));
  }
  if (OnlyWaits(*record)) return record;
  return absl::FailedPreconditionError(
      absl::StrCat("job ", job, ": does not wait, but is ", record->row.phase));
}

std::vector<JobRecord*> QueueOrder::PeersOf(const JobRecord& job) const {
  std::vector<JobRecord*> peers;
  for (const auto& [id, other] : s_.jobs.all()) {
    if (OnlyWaits(*other) && other->row.uid == job.row.uid &&
        other->row.queue == job.row.queue &&
        other->row.priority_class == job.row.priority_class) {
      peers.push_back(other.get());
    }
  }
  std::ranges::sort(peers, {}, [](const JobRecord* j) { return SlotOf(*j); });
  return peers;
}

void QueueOrder::SetPlace(JobRecord* job, Time place) {
  job->row.place.reset();
  if (place != job->row.submitted) job->row.place = place;
  s_.jobs.Change(*job);
  absl::StatusOr<GangState> gang =
      s_.link->scheduler().Find(GangKey(job->row.id));
  if (!gang.ok()) return;  // It is suspended: it is told when it is resumed.
  gang->gang.submitted = place;
  s_.link->MustTell(GangChanged{std::move(gang->gang)});
}

absl::Status QueueOrder::Put(uint64_t job, MoveTo place, uint64_t other) {
  const auto record = Waiting(job);
  if (!record.ok()) return record.status();
  std::vector<JobRecord*> order = PeersOf(**record);
  std::vector<Slot> slots;
  for (const JobRecord* peer : order) slots.push_back(SlotOf(*peer));
  std::erase(order, *record);
  auto to = place == MoveTo::kFirst ? order.begin() : order.end();
  if (place == MoveTo::kBefore || place == MoveTo::kAfter) {
    const auto next = Waiting(other);
    if (!next.ok()) return next.status();
    to = std::ranges::find(order, *next);
    if (to == order.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("job ", other,
                       ": is none of the same user, queue and priority that "
                       "could change places with job ",
                       job));
    }
    if (place == MoveTo::kAfter) ++to;
  }
  order.insert(to, *record);
  Slot last{-1, 0};
  for (size_t i = 0; i < order.size(); ++i) {
    Slot slot{std::max(slots[i].at, last.at), order[i]->row.id};
    if (slot < slots[i] || slot <= last) ++slot.at;
    last = slot;
    if (slot != SlotOf(*order[i])) SetPlace(order[i], slot.at);
  }
  s_.Tell(
      job, "changed",
      absl::StrCat("place ", std::string(Name(place)), other == 0 ? "" : " ",
                   other == 0 ? "" : absl::StrCat(other)));
  return absl::OkStatus();
}

}  // namespace muster::local
