#include "lib/scheduler/undo.h"

#include "lib/scheduler/scheduler_tables.h"

namespace muster {

void Undo::Begin() {
  active_ = true;
  ++serial_;
  Changed([this, now = tables_.now, version = tables_.version,
           next_seq = tables_.next_seq, round_seq = tables_.round_seq,
           round_open = tables_.round_open, round_grew = tables_.round_grew,
           external_seq = tables_.external_seq,
           placed = tables_.placed.size()] {
    tables_.now = now;
    tables_.version = version;
    tables_.next_seq = next_seq;
    tables_.round_seq = round_seq;
    tables_.round_open = round_open;
    tables_.round_grew = round_grew;
    tables_.external_seq = external_seq;
    tables_.placed.resize(placed);
  });
  overcommit_candidates_ = tables_.nodes.overcommit_candidates();
  tables_.lists.waiting().Mark();
  tables_.lists.growing().Mark();
}

void Undo::Touch(GangIndex g) {
  if (!active_) return;
  GangRecord& r = tables_.gangs.row(g);
  if (r.saved_in == serial_) return;
  r.saved_in = serial_;
  touched_.push_back(g);
  before_.emplace_back(g, r);
  for (const SpecIndex s : {r.spec, r.wanted, r.under}) {
    if (s != kNoSpec) tables_.specs.Ref(s);
  }
}

void Undo::Added(GangIndex g) {
  if (!active_) return;
  tables_.gangs.row(g).saved_in = serial_;
  touched_.push_back(g);
  Changed([this, g] { tables_.gangs.UndoAdd(g); });
}

void Undo::Removed(GangIndex g) {
  if (!active_) return;
  // The key of a gang without a copy, which UndoAdd comes for next.
  Changed([this, key = tables_.gangs.at(g).key] {
    tables_.gangs.row(tables_.gangs.UndoRemove(key)).key = key;
  });
}

void Undo::Changed(std::function<void()> inverse) {
  if (active_) inverses_.push_back(std::move(inverse));
}

// The gang holds nothing, stands nowhere and counts for nothing.
void Undo::Empty(GangIndex g) {
  GangRecord& r = tables_.gangs.row(g);
  if (!r.exists) return;
  for (const TaskRecord& task : r.tasks) tables_.holdings.Unhold(g, task);
  TakeOut(tables_, g, r);
  r.exists = false;
}

void Undo::Refill(GangIndex g, GangRecord&& before) {
  GangRecord& r = tables_.gangs.row(g) = std::move(before);
  r.listing = Listing();
  r.edits = 0;
  CountGang(tables_, r, 1);
  tables_.answers.Know(g, r);
  for (const TaskRecord& task : r.tasks) tables_.holdings.Hold(g, task);
  tables_.lists.Update(g, r);
}

void Undo::Rollback() {
  for (const GangIndex g : touched_) Empty(g);
  while (!inverses_.empty()) {
    inverses_.back()();
    inverses_.pop_back();
  }
  for (auto& [g, record] : before_) Refill(g, std::move(record));
  tables_.lists.waiting().Rollback();
  tables_.lists.growing().Rollback();
  tables_.activator.Forget();
  tables_.nodes.SetOvercommitCandidates(std::move(overcommit_candidates_));
  End();
}

void Undo::Commit() {
  for (auto& [g, record] : before_) {
    for (const SpecIndex s : {record.spec, record.wanted, record.under}) {
      if (s != kNoSpec) tables_.specs.Unref(s, tables_.cluster);
    }
  }
  tables_.lists.waiting().Unmark();
  tables_.lists.growing().Unmark();
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
