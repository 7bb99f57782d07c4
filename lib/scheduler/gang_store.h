// The gangs a scheduler knows, and the descriptions they share.
#ifndef MUSTER_LIB_SCHEDULER_GANG_STORE_H_
#define MUSTER_LIB_SCHEDULER_GANG_STORE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/base/string_map.h"
#include "lib/queue/queue_tree.h"
#include "lib/queue/waiting_list.h"
#include "muster/cluster.h"
#include "muster/gang.h"
#include "muster/placement_solver.h"
#include "muster/state.h"

namespace muster {

using TemplateIndex = uint32_t;

// What gangs of one description share: all fields of Gang that are not about
// one gang alone (key, queue, times, people). A hundred thousand equal jobs
// cost one of these.
struct Template {
  PreparedGang prepared{};  // Its gang has those fields cleared, and a root.
  std::vector<uint32_t> waves{};
  std::vector<uint32_t> children{};  // By group: groups and roles below it.
  // Least demand: every role at its minimum, in its first shape; exact if no
  // alternative and no group makes the minimum a matter of choice. Memory of
  // devices is counted by the devices there are: see LeastOf.
  mutable Resources least{};
  mutable uint64_t least_structure = 0;
  bool least_is_exact = false;
  uint32_t least_tasks = 0;
  uint64_t most_tasks = 0;  // All that its roles desire.
  bool single = false;      // One task, no more: the commonest case.
  bool elastic = false;     // It may have more tasks than it needs.
  uint64_t hash = 0;
  uint32_t refs = 0;
};

// The template's least demand, in the cluster as it is now.
const Resources& LeastOf(const Template& t, const Cluster& cluster);

inline constexpr uint32_t kNoDraft = 0xffffffff;

// One task that is somewhere.
struct TaskRecord {
  TaskId task{};
  TaskPhase phase = TaskPhase::kNominated;
  uint32_t attempt = 0;
  uint64_t open_seq = 0;  // The decision whose answer it owes; 0: none.
  Allocation at{};
};

// A decision the host has not fully answered.
struct OpenRecord {
  uint64_t seq = 0;
  DecisionKind kind = DecisionKind::kStart;
  uint32_t unanswered = 0;  // Tasks with this open_seq.
  std::string on_behalf_of{};
};

struct GangRecord {
  bool exists = false;
  uint32_t generation = 0;
  TemplateIndex description = 0;
  QueueIndex queue = kNoQueue;
  uint32_t priority_class = 0;
  // The fields of Gang that are its own.
  std::string key{};
  std::string user{};
  std::string account{};
  Time submitted = 0;
  bool held = false;
  Time not_before = 0;
  Duration max_runtime = 0;
  Duration expected_runtime = 0;
  Duration restart_cost = 0;
  // Its life: see GangState.
  GangPhase phase = GangPhase::kWaiting;
  bool cancel = false;
  ReasonCode trouble = ReasonCode::kNone;
  uint32_t attempts = 0;
  uint32_t failures = 0;
  Time backoff_until = 0;
  Time started = 0;
  Time checkpoint = 0;
  std::vector<TaskRecord> tasks{};  // By task.
  std::vector<OpenRecord> open{};   // By seq.
  // Where it is listed.
  ClassIndex waiting_in = kNoClass;
  int32_t holding_priority = 0;  // Under which QueueTree counts it as holding.
  bool counted_as_holding = false;
  bool counted_as_elastic = false;  // Likewise.
  Time parked_until = 0;            // 0: not parked.
  uint64_t grow_checked_at = 0;  // Cache: freed_version of the last vain try.
  uint64_t grow_checked_structure = 0;  // And Cluster::structure_version().
  uint32_t draft = kNoDraft;  // The decision that placed it in this pass.
};

// Records do not move: ranks point to their keys. Not copyable for that
// reason; a fork is made from SchedulerState.
class GangStore {
 public:
  GangIndex Add(std::string_view key);
  void Remove(GangIndex g);
  GangIndex Find(std::string_view key) const;  // kNoGang if unknown.
  static constexpr GangIndex kNoGang = 0xffffffff;

  GangRecord& at(GangIndex g) { return records_[g]; }
  const GangRecord& at(GangIndex g) const { return records_[g]; }
  GangIndex limit() const { return static_cast<GangIndex>(records_.size()); }
  uint32_t size() const { return static_cast<uint32_t>(by_key_.size()); }
  // All gangs by key. O(n log n).
  std::vector<GangIndex> Sorted() const;

  // Interns the description part of a valid gang; each call is undone by one
  // Unref. `cluster` gets its shapes.
  TemplateIndex Intern(const Gang& gang, Cluster& cluster);
  void Unref(TemplateIndex t, Cluster& cluster);
  const Template& description(TemplateIndex t) const { return templates_[t]; }
  // The gang as it was submitted, but for queue and priority class.
  Gang Describe(const GangRecord& record) const;

 private:
  std::deque<GangRecord> records_;
  std::vector<GangIndex> free_;
  StringMap<GangIndex> by_key_;
  std::deque<Template> templates_;
  std::vector<TemplateIndex> free_templates_;
  absl::flat_hash_map<uint64_t, std::vector<TemplateIndex>> by_hash_;
};

// Whether `counts` tasks a role (and, below a group, so many in all) satisfy
// the gang: see Group in gang.h.
bool Satisfied(const Template& t, const std::vector<uint32_t>& counts);

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_GANG_STORE_H_
