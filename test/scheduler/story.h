// A scheduler and its host in a few words, so that tests read like stories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/scheduler.h"

namespace muster {

// A gang of `tasks` equal tasks with `gpus` devices each, in queue "q".
Gang Job(const std::string& key, uint32_t tasks = 1, uint32_t gpus = 1);
// The same with a priority class.
Gang Job(const std::string& key, uint32_t tasks, uint32_t gpus,
         const std::string& priority_class);
// It runs with `min` tasks and grows to `desired`.
Gang Elastic(const std::string& key, uint32_t min, uint32_t desired,
             const std::string& priority_class = "");
// Its tasks have shares of a device, by memory.
Gang WithMemory(Gang gang, int64_t bytes);
Node Machine(const std::string& key, uint32_t gpus);
Quota GpuQuota(std::optional<int64_t> guaranteed, std::optional<int64_t> limit);

// Every event that is not expected to fail must be taken; after each the
// scheduler's own invariants hold.
class Story {
 public:
  explicit Story(SchedulerConfig config = {});

  // --- What happens. Time is `now`, which the story moves. -------------------
  Time now = 0;
  void Happens(const EventBody& what);
  absl::Status Try(const EventBody& what);
  void HasNode(const std::string& key, uint32_t gpus);
  void HasQueue(const std::string& key, std::vector<Quota> quotas = {},
                const std::string& parent = "", uint32_t weight = 1);
  // "low" (0), "mid" (10), "high" (20), as Job() names them.
  void HasClasses();
  void Submit(Gang gang);

  // --- What the scheduler decides
  // --------------------------------------------- A line a decision: "start a:
  // n1 n1", "nominate a: n1", "grow a: n2", "evict b for a", "shrink b for a:
  // 0/3", "cancel c".
  std::vector<std::string> Pass();
  // The same after `seconds` more.
  std::vector<std::string> PassAfter(int64_t seconds);

  // --- What the host answers
  // --------------------------------------------------- Everything that was
  // asked is done.
  void AllDone();
  // The last decision of that kind about the gang.
  uint64_t Seq(DecisionKind kind, const std::string& gang) const;
  void Applied(DecisionKind kind, const std::string& gang);
  void Refused(DecisionKind kind, const std::string& gang);
  void Answers(const std::string& gang, TaskId task, TaskOutcome outcome,
               uint32_t attempt = 0);

  // --- What is
  // ---------------------------------------------------------------- The
  // phase's name; "gone" for a gang that is not there.
  std::string Phase(const std::string& gang) const;
  // E.g. "insufficient gpu: needs 4000, 1000 available".
  std::string Why(const std::string& gang) const;
  GangState Of(const std::string& gang) const;
  // The nodes of the gang's tasks, in their order: "n1 n2".
  std::string Where(const std::string& gang) const;
  // Devices of the node that nothing holds now.
  int64_t FreeGpus(const std::string& node, Ledger ledger = Ledger::kNow) const;

  // Another scheduler with the same state is the same scheduler.
  void ExpectRestorable() const;

  Scheduler& scheduler() { return scheduler_; }
  const Plan& plan() const { return plan_; }
  Time NextWakeup() const { return plan_.next_wakeup; }

 private:
  Scheduler scheduler_;
  Plan plan_;
  std::vector<DecisionRecord> asked_;  // All decisions so far.
  std::vector<uint64_t> pending_;      // Those not answered by the story.
};

// One line: see Story::Pass.
std::string Line(const DecisionRecord& d);

}  // namespace muster
