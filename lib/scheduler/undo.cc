#include "lib/scheduler/undo.h"

#include "lib/scheduler/core.h"

namespace muster {

void Undo::Begin() {
  active_ = true;
  ++serial_;
  Changed([this, now = core_.now, version = core_.version,
           next_seq = core_.next_seq, round_seq = core_.round_seq,
           round_open = core_.round_open, round_grew = core_.round_grew,
           placed = core_.placed.size()] {
    core_.now = now;
    core_.version = version;
    core_.next_seq = next_seq;
    core_.round_seq = round_seq;
    core_.round_open = round_open;
    core_.round_grew = round_grew;
    core_.placed.resize(placed);
  });
  overcommit_candidates_ = core_.nodes.overcommit_candidates();
  core_.lists.waiting().Mark();
  core_.lists.growing().Mark();
}

void Undo::Touch(GangIndex g) {
  if (!active_) return;
  GangRecord& r = core_.gangs.row(g);
  if (r.saved_in == serial_) return;
  r.saved_in = serial_;
  touched_.push_back(g);
  before_.emplace_back(g, r);
  core_.specs.Ref(r.spec);
}

void Undo::Added(GangIndex g) {
  if (!active_) return;
  core_.gangs.row(g).saved_in = serial_;
  touched_.push_back(g);
  Changed([this, g] { core_.gangs.UndoAdd(g); });
}

void Undo::Removed(GangIndex g) {
  if (!active_) return;
  // The key of a gang without a copy, which UndoAdd comes for next.
  Changed([this, key = core_.gangs.at(g).key] {
    core_.gangs.row(core_.gangs.UndoRemove(key)).key = key;
  });
}

void Undo::Changed(std::function<void()> inverse) {
  if (active_) inverses_.push_back(std::move(inverse));
}

// The gang holds nothing, stands nowhere and counts for nothing.
void Undo::Empty(GangIndex g) {
  GangRecord& r = core_.gangs.row(g);
  if (!r.exists) return;
  for (const TaskRecord& task : r.tasks) core_.holdings.Unhold(g, task);
  TakeOut(core_, g, r);
  r.exists = false;
}

void Undo::Refill(GangIndex g, GangRecord&& before) {
  GangRecord& r = core_.gangs.row(g) = std::move(before);
  r.listing = Listing();
  r.edits = 0;
  CountGang(core_, r, 1);
  core_.answers.Know(g, r);
  for (const TaskRecord& task : r.tasks) core_.holdings.Hold(g, task);
  core_.lists.Update(g, r);
}

void Undo::Rollback() {
  for (const GangIndex g : touched_) Empty(g);
  while (!inverses_.empty()) {
    inverses_.back()();
    inverses_.pop_back();
  }
  for (auto& [g, record] : before_) Refill(g, std::move(record));
  core_.lists.waiting().Rollback();
  core_.lists.growing().Rollback();
  core_.opener.Forget();
  core_.nodes.SetOvercommitCandidates(std::move(overcommit_candidates_));
  End();
}

void Undo::Commit() {
  for (auto& [g, record] : before_) {
    core_.specs.Unref(record.spec, core_.cluster);
  }
  core_.lists.waiting().Unmark();
  core_.lists.growing().Unmark();
  End();
}

void Undo::End() {
  active_ = false;
  touched_.clear();
  before_.clear();
  inverses_.clear();
  overcommit_candidates_.clear();
}

}  // namespace muster
