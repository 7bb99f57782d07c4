// Handles to keys and back: records of what a scheduler says, and handles
// across states.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lib/queue/gang_class_list.h"
#include "lib/scheduler/scheduler_tables.h"
#include "lib/solver/gang_solver.h"
#include "muster/gang_class_state.h"
#include "muster/plan.h"
#include "muster/reason.h"
#include "muster/scheduler.h"

namespace muster {

// The reason with its object named; `g` is the gang that it is about.
NamedReason Named(const SchedulerTables& tables, const Reason& reason,
                  GangIndex g);
// Decisions of the plan, with keys instead of handles.
void AddRecords(const SchedulerTables& tables, const Plan& plan,
                std::span<const Decision> decisions,
                std::vector<DecisionRecord>* records);
// The whole plan likewise.
PlanRecord RecordOf(const SchedulerTables& tables, const Plan& plan);

// What is remembered of a class, of which `gang` is the first, as a value; and
// back.
GangClassState ClassStateOf(const SchedulerTables& tables,
                            std::string_view gang, bool grows,
                            const Questions& questions);
// In the one order of states and records.
void SortClasses(std::vector<GangClassState>* classes);
Questions QuestionsOf(const SchedulerTables& tables,
                      const GangClassState& state);

// The plan's handles, made in the state `from`, become those of `to` for what
// has the same key; handles of what is not there are invalid. `from` may be
// `to`: what is left of the state after taking back.
void MapHandles(const SchedulerTables& from, const SchedulerTables& to,
                Plan* plan);

// Why a gang is where it is: the reason of the last answer, with its numbers as
// they are now. The question is asked again, without any effect.
Explanation ExplainGang(SchedulerTables& tables, GangSolver& solver,
                        GangIndex g);

// No handle of `next`, of empty tables, will be one that `before` gave out.
void StartGenerationsAfter(const SchedulerTables& before,
                           SchedulerTables& next);

}  // namespace muster
