// The scheduler's inside: one state, changed by events (apply_*.cc,
// reconcile.cc) and by decisions (pass_*.cc, commit.cc).
#ifndef MUSTER_LIB_SCHEDULER_IMPL_H_
#define MUSTER_LIB_SCHEDULER_IMPL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/string_map.h"
#include "lib/queue/queue_tree.h"
#include "lib/queue/waiting_list.h"
#include "lib/scheduler/gang_store.h"
#include "muster/cluster.h"
#include "muster/event.h"
#include "muster/owned_heap.h"
#include "muster/plan.h"
#include "muster/preemptor.h"
#include "muster/priority_class.h"
#include "muster/scheduler.h"
#include "muster/state.h"

namespace muster {

// What the host did not say of the task's devices (at->devices is 0) or slot:
// as believed on the same node; else, for the books, the devices with the most
// room, which fits if anything does, and a partition where there is room.
void FillIn(const Cluster& cluster, const Allocation& believed,
            std::optional<uint32_t> slot, Allocation* at);

class Scheduler::Impl {
 public:
  Impl(SchedulerConfig config, std::unique_ptr<PlacementSolver> solver,
       std::unique_ptr<Preemptor> preemptor);
  ~Impl();

  // --- The outside: see scheduler.h ---------------------------------------
  absl::Status Apply(const Event& event);
  absl::StatusOr<ReconcileReport> Reconcile(Time at, const Reconciled& whole);
  void Submit(Gang gang);
  void Schedule(Time now, Plan* plan);
  absl::Status Follow(const PlanRecord& plan);
  absl::StatusOr<Explanation> Explain(std::string_view gang) const;
  SchedulerState State() const;
  absl::Status Load(const SchedulerState& state);
  GangState StateOf(GangIndex g) const;
  PlanRecord Record(const Plan& plan) const;
  void Adopt(const Impl& other, Plan* plan) const;
  NamedReason Named(const Reason& reason, GangIndex gang) const;
  absl::Status Validate() const;

  // Nodes as the host told of them, beside what the cluster keeps.
  struct NodeRecord {
    uint32_t generation = 0;
    bool down = false;
    bool draining = false;
    Time spot_notice = kForever;
    OtherUsage others{};
    uint32_t releasing = 0;  // Tasks on it that are being released.
  };
  struct ClassRecord {
    PriorityClass priority_class{};
  };

  SchedulerConfig config;
  Cluster cluster;
  QueueTree queues;
  GangStore gangs;
  WaitingList waiting;
  std::vector<NodeRecord> nodes;  // By NodeIndex.
  std::map<std::string, NodeSet> node_sets;
  std::vector<PriorityClass> classes;  // [0]: the default, with empty key.
  StringMap<uint32_t> class_by_key;
  Time now = 0;
  uint64_t version = 0;
  uint64_t next_seq = 1;
  Journal* journal = nullptr;

 private:
  // --- Events (apply_cluster.cc, apply_gangs.cc, apply_answers.cc) ---------
  absl::Status On(const NodeChanged& e);
  absl::Status On(const NodeDown& e);
  absl::Status On(const NodeUp& e);
  absl::Status On(const NodeRemoved& e);
  absl::Status On(const NodeDrained& e);
  absl::Status On(const SpotNotice& e);
  absl::Status On(const OthersChanged& e);
  absl::Status On(const NodeSetChanged& e);
  absl::Status On(const QueueChanged& e);
  absl::Status On(const QueueRemoved& e);
  absl::Status On(const PriorityClassChanged& e);
  absl::Status On(const GangSubmitted& e);
  absl::Status On(const GangHeld& e);
  absl::Status On(const GangReprioritized& e);
  absl::Status On(const GangCancelled& e);
  absl::Status On(const GangFinished& e);
  absl::Status On(const CheckpointTaken& e);
  absl::Status On(const TasksAnswered& e);
  absl::Status On(const DecisionApplied& e);
  absl::Status On(const DecisionRefused& e);
  absl::Status On(const Reconciled& e);
  struct OwedAnswer {
    GangId gang{};
    uint64_t seq = 0;
    bool starts = false;
    std::vector<TaskId> tasks{};
  };
  std::vector<OwedAnswer> OwedAnswers() const;
  void CountAnswers(const std::vector<OwedAnswer>& before);

  // Nodes.
  absl::StatusOr<NodeIndex> NodeNamed(std::string_view key) const;
  void UpsertNode(const Node& node);
  void RefreshAvailability(NodeIndex n);
  void ForgetLostShares(NodeIndex n);
  // Every task on the node is gone; its gangs are in trouble.
  void LoseTasksOn(NodeIndex n);
  void FlagGangsOn(NodeIndex n, ReasonCode trouble);
  bool MustLeave(const GangRecord& r, const TaskRecord& task) const;
  bool Tainted(const GangRecord& r, const TaskRecord& task) const;
  absl::StatusOr<Allocation> RealPlace(const GangRecord& r,
                                       const Allocation& planned,
                                       const TaskAnswer& a) const;
  absl::Status CheckSlot(const std::string& field, ShapeId shape,
                         std::optional<uint32_t> slot) const;
  absl::Status ValidateDevices(NodeIndex n,
                               std::span<const DeviceShare> devices) const;

  // Loading a state (state.cc), following a plan (follow.cc).
  absl::Status LoadQueues(const std::vector<Queue>& all);
  absl::Status LoadGang(const GangState& s, uint64_t seqs);
  absl::Status LoadTasks(const GangState& s, GangRecord& r);
  absl::Status FollowOne(const DecisionRecord& d);
  absl::Status FollowJoined(GangIndex g, const std::vector<Assignment>& tasks);
  absl::StatusOr<std::vector<Assignment>> RecordedTasks(
      const DecisionRecord& d, const Template& t) const;
  // Reconciling (reconcile.cc).
  absl::Status CheckReconciled(const Reconciled& e) const;
  void ReconcileNodes(const Reconciled& e);
  void ReconcileTasks(const Reconciled& e);
  void ReconcileGang(GangIndex g,
                     const std::map<TaskId, const RealTask*>& real);
  void ReconcileTask(GangRecord& r, TaskRecord& task, const RealTask& real);
  void FindRealTask(GangRecord& r, const RealTask& real);
  Allocation RealAllocation(const GangRecord& r, const RealTask& real,
                            const Allocation* believed) const;
  void SettlePhase(GangRecord& r);
  uint32_t CountTasksOn(NodeIndex n) const;
  ReconcileReport reconcile_report_;
  std::string LevelName(const Gang* gang, uint32_t level) const;
  absl::Status ValidateGangState(GangIndex g) const;

  // Gangs in their lists (gang_lists.cc).
  GangRank RankOf(GangIndex g) const;
  int32_t PriorityOf(const GangRecord& r) const {
    return classes[r.priority_class].value;
  }
  // Puts the gang into the lists its state asks for, after Delist.
  void Enlist(GangIndex g);
  static Time SparedUntil(const GangRecord& r);
  static Time OverdueAt(const GangRecord& r);
  void Delist(GangIndex g);
  void RemoveGang(GangIndex g);

  // Tasks and what they hold (tasks.cc).
  TaskRecord* FindTask(GangRecord& r, TaskId id);
  const Resources& UsageOf(const Allocation& a);
  // Of all of them; until it is asked again.
  const Resources& UsageOf(std::span<const Assignment> tasks);
  // Adds or removes what a task in `phase` holds: cluster, queue, node.
  void Hold(const GangRecord& r, const TaskRecord& task);
  void Unhold(const GangRecord& r, const TaskRecord& task);
  void SetPhase(GangRecord& r, TaskRecord& task, TaskPhase phase);
  // Answers one task; true if the state changed.
  bool Answer(GangIndex g, TaskId id, uint32_t attempt, TaskOutcome outcome);
  void DropTask(GangRecord& r, TaskId id);
  void Settle(GangRecord& r, TaskRecord& task);
  void MoveTask(GangRecord& r, TaskRecord& task, const Allocation& to);
  // After tasks changed: phases, troubles, and the end of the gang.
  void Update(GangIndex g);
  void Stopped(GangIndex g);
  void Flag(GangIndex g, ReasonCode trouble);
  void FailStart(GangRecord& r);
  void ForgiveFailures(GangRecord& r);
  void UndoNomination(GangIndex g);
  void CountTasks(const GangRecord& r, std::vector<uint32_t>* counts) const;

  // --- Decisions taken (commit.cc): the state after each -------------------
  void DrainInbox(Plan* plan);
  uint32_t Draft(DecisionKind kind, const Reason& reason, GangIndex g,
                 GangIndex on_behalf_of);
  uint32_t AlternativeOf(const Template& t, const TaskRecord& task) const;
  void Owe(GangIndex g, uint32_t draft, size_t count);
  void DraftTask(uint32_t draft, const GangRecord& r, const TaskRecord& task);
  // The assignments are charged already, to both ledgers or to kLater.
  void CommitStart(GangIndex g, std::span<const Assignment> tasks,
                   const Reason& reason);
  void CommitGrow(GangIndex g, std::span<const Assignment> tasks,
                  const Reason& reason);
  void CommitNominate(GangIndex g, std::span<const Assignment> tasks,
                      const Reason& reason);
  // Nominated tasks become starting ones; kNow is charged here.
  void CommitNominatedStart(GangIndex g);
  // All tasks begin to be released. `kind`: kEvict, kCancel or kSuspend.
  void CommitStop(GangIndex g, DecisionKind kind, const Reason& reason,
                  GangIndex on_behalf_of);
  void CommitShrink(GangIndex g, std::span<const TaskId> tasks,
                    const Reason& reason, GangIndex on_behalf_of);
  void CommitResume(GangIndex g);
  void AddTasks(GangIndex g, std::span<const Assignment> tasks, TaskPhase phase,
                uint32_t draft);
  void BeginRelease(GangIndex g, TaskRecord& task, uint32_t draft);
  void Flatten(Plan* plan);
  static void SortTasks(Plan* plan, const Decision& d);

  // --- The pass (pass.cc, pass_repair.cc, pass_wait.cc, pass_preempt.cc,
  // pass_grow.cc) ---
  void Decide(Plan* plan);
  void WakeParked();
  void CancelOverdue();
  void Repair();
  void RepairGang(GangIndex g);
  bool Mended(GangIndex g);
  bool Replace(GangIndex g);
  std::vector<TaskId> Leaving(const GangRecord& r) const;
  static bool Releasing(const GangRecord& r);
  static bool Succeeded(const GangRecord& r);
  void ShedFromOvercommitted();
  bool ShedOne(NodeIndex n);
  bool Relieves(const TaskRecord& task) const;
  bool MayStillStart(GangIndex g, const Resources& held) const;
  bool DevicesSuit(const Allocation& at) const;
  void StartNominated();
  void ServeWaiting(Plan* plan);
  bool ServeClass(ClassIndex c);
  bool TryStart(ClassIndex c, GangIndex g, Reason* reason);
  bool TryResume(GangIndex g, Reason* reason);
  bool StillNoRoom(const WaitingClass& cls, const Template& t);
  bool TryPreempt(ClassIndex c, GangIndex g, Reason* reason);
  bool WorthPreempting(const GangRecord& r, const Template& t) const;
  class Rules;  // The law of preemption (pass_preempt.cc).
  void FindLawful(GangIndex g, const Template& t, Time* retry_at);
  bool CanBeStopped(GangIndex g, Time* retry_at);
  void CollectCandidates(GangIndex g, const Template& t, Time* retry_at);
  bool HoldsFirm(const GangRecord& r) const;
  bool MayReclaim(const GangRecord& r, const Resources& demand,
                  QueueIndex victim) const;
  void CommitVictims(GangIndex g, const PreemptionResult& result);
  bool LawfulAsPlaced(GangIndex g, const Rules& rules,
                      const PreemptionResult& result);
  struct Grower;
  void GrowGangs();
  void FindGrowers();
  bool MayGrow(GangIndex g);
  bool NoteNextTask(Grower& grower);
  static bool GrowsBefore(const Grower& a, const Grower& b);
  size_t NextGrower();
  uint32_t TurnSize(size_t next) const;
  uint32_t GrowGang(GangIndex g, uint32_t most);
  bool QuotaBlocks(const GangRecord& r, const Template& t,
                   Reason* reason) const;
  void SpendSteps(uint64_t steps);
  void OpenQueues();
  const Resources& DemandOf(GangIndex g) const;
  void BlockBehind(QueueIndex q, GangIndex head);
  void BlockUnserved();
  bool HasGuarantee(QueueIndex q, const Resources& demand) const;
  int64_t CostOf(const GangRecord& r, std::span<const Assignment> tasks) const;
  uint32_t SurplusOf(const GangRecord& r, std::vector<Assignment>* tasks,
                     std::vector<uint32_t>* cuts);
  bool GivesSurplus(const GangRecord& winner, const GangRecord& r) const;
  static void LeaveOnlySurplus(VictimCandidate& c);
  void DropEmptyCandidates();
  bool FindVictims(GangIndex g, const Template& t);
  bool ChooseVictims(GangIndex g, const Template& t);
  void NoteWakeup(Time at);
  Time NextWakeup() const;
  void CurrentAssignments(const GangRecord& r, std::vector<Assignment>* out);

  // --- Lists: what a pass must look at, in rank order -----------------------
  using RankSet = absl::btree_set<GangRank>;
  RankSet troubled_;  // Something to mend, or a cancel to carry out.
  RankSet nominated_;
  RankSet growable_;                 // Running, below what they desire.
  RankSet holding_;                  // With tasks that hold something.
  std::vector<RankSet> holding_in_;  // The same by queue.
  absl::btree_set<std::pair<Time, GangIndex>> parked_;   // Wait for a time.
  absl::btree_set<std::pair<Time, GangIndex>> overdue_;  // End of max_runtime.
  std::set<NodeIndex> suspects_;  // Nodes that may be overcommitted.
  absl::flat_hash_map<uint64_t, GangIndex> open_;  // By decision.
  uint64_t started_version_ = 0;  // Rises whenever victims come or go.
  uint32_t releasing_ = 0;        // Tasks being released.

  std::unique_ptr<PlacementSolver> solver_;
  std::unique_ptr<Preemptor> preemptor_;

  // --- The inbox -------------------------------------------------------------
  struct InboxKey;
  struct InboxNode;
  struct Inbox;
  std::unique_ptr<Inbox> inbox_;

  // --- The pass under way
  // ------------------------------------------------------
  struct DraftDecision {
    Decision decision{};
    GangIndex gang = 0;
    uint32_t count = 0;
    bool withdraws = false;  // A nomination, of which nothing runs.
  };
  Plan* plan_ = nullptr;
  std::vector<DraftDecision> drafts_;
  std::vector<std::pair<uint32_t, PlannedTask>> draft_tasks_;
  std::vector<uint32_t> cursor_scratch_;
  uint64_t pass_ = 0;
  uint64_t steps_left_ = 0;
  Time wakeup_ = kForever;
  bool look_again_ = false;  // Room was made that others may use.
  bool put_off_ = false;     // Who waits may have victims in the next pass.
  bool exceeded_ = false;    // A queue above its guarantee holds more now.
  struct LeafCursor {
    bool active = false;
    uint64_t opened_in_pass = 0;
    ClassIndex head = kNoClass;
    GangRank rank{};
    uint64_t stamp = 0;
  };
  __extension__ typedef __int128 Wide;
  // A queue's claim to be next among its siblings.
  struct Turn {
    QueueIndex queue = kNoQueue;
    uint64_t stamp = 0;
    GangRank rank{};
    bool within = false;
    int64_t used = 0;
    Wide of = 1;
    static bool After(const Turn& a, const Turn& b);
  };
  Turn TurnOf(QueueIndex q) const;
  Turn TurnWith(QueueIndex q, const GangRank& rank,
                const Resources& demand) const;
  // A gang that may grow.
  struct Grower {
    GangRank rank{};
    int64_t surplus = 0;  // Tasks beyond its least.
    ShapeId next = 0;     // What it would add.
  };
  static constexpr size_t kNoGrower = ~size_t{0};
  std::vector<Grower> growers_;
  std::vector<QueueIndex> growing_queues_;  // Those of growers, and above.
  std::vector<size_t> best_grower_;         // As cursors_.
  std::vector<Turn> best_turn_;             // Likewise.
  std::vector<LeafCursor> cursors_;  // By queue; the last: above all roots.
  std::vector<std::vector<Turn>> turns_;  // By parent: a heap of its children.
  std::vector<QueueIndex> touched_;       // Queues of this gang's victims.
  void AdvanceLeaf(QueueIndex q, const GangRank* from);
  void RefreshUp(QueueIndex q);
  void NoteBlocked(ClassIndex c, GangIndex g, Plan* plan);
  PlacementResult placement_;
  PreemptionResult preemption_;
  std::vector<GangRank> ranks_;
  std::vector<Assignment> assignments_;
  std::vector<VictimCandidate> candidates_;
  std::vector<GangIndex> candidate_gangs_;
  std::vector<std::vector<Assignment>> candidate_tasks_;
  std::vector<std::vector<uint32_t>> candidate_cuts_;
  std::vector<VictimCandidate> all_candidates_;
  std::vector<GangIndex> all_candidate_gangs_;
  std::vector<NodeIndex> freed_;
  std::vector<uint32_t> counts_;
  Resources headroom_;
  Resources usage_scratch_;
  Resources sum_scratch_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_IMPL_H_
