// Taking recorded decisions instead of making them.
#ifndef MUSTER_LIB_SCHEDULER_FOLLOW_H_
#define MUSTER_LIB_SCHEDULER_FOLLOW_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/scheduler/core.h"
#include "lib/scheduler/decisions.h"
#include "lib/scheduler/life.h"
#include "lib/scheduler/plan_writer.h"
#include "muster/plan.h"

namespace muster {

// Does what a pass did, at the price of its decisions: nothing is asked.
class Follower {
 public:
  Follower(Core& core, Life& life, Decisions& decisions, PlanWriter& plan)
      : core_(core), life_(life), decisions_(decisions), plan_(plan) {}

  // After an error (FAILED_PRECONDITION names the decision) part of the plan
  // has been taken: the caller takes it back.
  absl::Status Follow(const PlanRecord& record);

 private:
  std::vector<GangIndex> LookedAt(const PlanRecord& record) const;
  void MendAll(const PlanRecord& record);
  absl::Status TakeDecision(const DecisionRecord& d);
  absl::Status Place(const DecisionRecord& d, GangIndex g,
                     const std::vector<Assignment>& tasks);
  void Join(GangIndex g, const std::vector<Assignment>& tasks);
  absl::StatusOr<std::vector<Assignment>> TasksOf(const DecisionRecord& d,
                                                  const GangSpec& spec) const;
  void CloseQuestions(const PlanRecord& record);
  void CloseAll(ClassList& list);
  absl::Status TakeAnswers(const PlanRecord& record);

  Core& core_;
  Life& life_;
  Decisions& decisions_;
  PlanWriter& plan_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_FOLLOW_H_
