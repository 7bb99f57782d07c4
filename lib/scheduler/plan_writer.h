// Writing a plan while it is made.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lib/scheduler/scheduler_tables.h"
#include "muster/plan.h"

namespace muster {

// Adds the entry of a class that waits to Plan::waiting.
void AddWaiting(const SchedulerTables& tables, const GangClass& cls,
                Plan* plan);
// Scheduler::AllWaiting.
void ReportAllWaiting(const SchedulerTables& tables, Plan* plan);

// Decisions get their numbers in the order in which they begin; tasks join them
// until the plan is finished, and then lie side by side. Without a plan (when a
// recorded one is followed) only the numbers are given out. Keeps its memory
// between plans. Not synchronised.
class PlanWriter {
 public:
  using Draft = uint32_t;
  static constexpr Draft kNone = 0xffffffff;

  explicit PlanWriter(SchedulerTables& tables) : tables_(tables) {}

  void Begin(Plan* plan);
  // A decision about g, for another gang if there is one.
  Draft Decide(DecisionKind kind, const Reason& reason, GangIndex g,
               GangIndex on_behalf_of);
  void AddTask(Draft draft, const GangRecord& r, const TaskRecord& task);
  // It withdraws a nomination: nothing of it runs.
  void Withdraws(Draft draft) { drafts_[draft].withdraws = true; }
  // The class, of one of the two lists, got no for an answer, and what is
  // remembered of that; a new reason is reported.
  void Answer(GangClassList& list, GangClassIndex c, const Questions& answer);
  // The plan has to tell of the class. `changed`: more than that it is inactive
  // now.
  void Note(const GangClassList& list, GangClassIndex c, bool changed);
  // Room is made for g; its handle and key are filled in here.
  void Preempts(GangIndex g, Preemption preemption);
  // A gang that was due is checked.
  void Checks(GangIndex g) { checked_.push_back(g); }
  // Gangs were asked whether they can grow.
  void Grew() { plan_->grew = true; }
  // Writes all of it into the plan. `exhausted`: questions were left active.
  void Finish(bool exhausted);

  const Decision& at(Draft draft) const { return drafts_[draft].decision; }
  bool empty() const { return drafts_.empty(); }
  // The decision of this plan that started the gang, or let it grow, if it was
  // the last that placed tasks of it; or kNone.
  Draft PlacedBy(const GangRecord& r) const;

 private:
  struct Entry {
    Decision decision{};
    bool withdraws = false;
  };

  // A class about which the plan's records must say something.
  struct Answered {
    bool grows = false;
    GangClassKey key{};
    bool unchanged = false;  // No more than that it is inactive now.
    friend auto operator<=>(const Answered&, const Answered&) = default;
  };

  void FinishDecisions();
  void FinishAnswers(bool exhausted);

  SchedulerTables& tables_;
  Plan* plan_ = nullptr;
  std::vector<Entry> drafts_;
  std::vector<std::pair<Draft, PlannedTask>> tasks_;
  std::vector<uint32_t> next_;
  std::vector<Answered> answered_;
  std::vector<GangIndex> checked_;
};

}  // namespace muster
