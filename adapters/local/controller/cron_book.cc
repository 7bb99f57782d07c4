#include "adapters/local/controller/cron_book.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

int64_t LimitOf(const std::optional<uint32_t>& limit) {
  return limit ? int64_t{*limit} : -1;
}

}  // namespace

absl::Status CronBook::CheckRoom(size_t more, uint32_t uid,
                                 bool bounded) const {
  if (crons_.size() + more > kMost) {
    return absl::ResourceExhaustedError(
        absl::StrCat("calendars: there are ", kMost, ", which is the most"));
  }
  const auto own = std::ranges::count_if(
      crons_, [&](const auto& cron) { return cron.second.row.uid == uid; });
  if (!bounded || static_cast<size_t>(own) + more <= kMostOfUser) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("calendars: user ", uid, " has ", own, "; at most ",
                   kMostOfUser, " are of one user"));
}

absl::StatusOr<CronRecord*> CronBook::Add(CronRow row,
                                          workload::CronPolicy policy,
                                          Time now) {
  if (absl::Status room = CheckRoom(1, row.uid, false); !room.ok()) return room;
  auto schedule =
      workload::CronSchedule::Make(policy.schedule, policy.time_zone);
  if (!schedule.ok()) return schedule.status();
  row.id = next_id++;
  row.suspended = policy.suspend;
  row.made = now;
  row.last = now;
  row.keep_succeeded = LimitOf(policy.succeeded_limit);
  row.keep_failed = LimitOf(policy.failed_limit);
  CronRecord& cron = crons_[row.id];
  cron.row = std::move(row);
  cron.policy = std::move(policy);
  cron.schedule = *std::move(schedule);
  SetDue(&cron);
  Change(cron);
  return &cron;
}

void CronBook::Restore(CronRow row,
                       absl::StatusOr<workload::CronPolicy> policy) {
  CronRecord& cron = crons_[row.id];
  cron.row = std::move(row);
  absl::Status s = policy.status();
  if (s.ok()) {
    cron.policy = *std::move(policy);
    auto schedule = workload::CronSchedule::Make(cron.policy.schedule,
                                                 cron.policy.time_zone);
    s = schedule.status();
    if (s.ok()) cron.schedule = *std::move(schedule);
  }
  if (!s.ok()) {
    cron.row.said = absl::StrCat("cannot be read: ", s.message());
  }
  SetDue(&cron);
}

CronRecord* CronBook::Find(uint64_t id) {
  const auto it = crons_.find(id);
  return it == crons_.end() ? nullptr : &it->second;
}

void CronBook::Remove(uint64_t id) {
  const auto it = crons_.find(id);
  if (it == crons_.end()) return;
  SetDue(&it->second, kForever);
  changed_.erase(id);
  removed_.push_back({.id = id, .removed = true});
  crons_.erase(it);
}

Time CronBook::NextStart(const CronRecord& cron) {
  if (!cron.schedule || cron.row.suspended) return kForever;
  const Time next = cron.schedule->Next(cron.row.last);
  return next <= cron.policy.until ? next : kForever;
}

void CronBook::SetDue(CronRecord* cron) { SetDue(cron, NextStart(*cron)); }

void CronBook::SetDue(CronRecord* cron, Time due) {
  if (cron->due != kForever) due_.erase({cron->due, cron->row.id});
  cron->due = due;
  if (due != kForever) due_.emplace(due, cron->row.id);
}

CronRecord* CronBook::NextDue(Time now) {
  return next_due() <= now ? Find(due_.begin()->second) : nullptr;
}

std::vector<CronRow> CronBook::Save() {
  std::vector<CronRow> rows = std::exchange(removed_, {});
  for (const uint64_t id : std::exchange(changed_, {})) {
    rows.push_back(crons_.at(id).row);
  }
  return rows;
}

}  // namespace muster::local
