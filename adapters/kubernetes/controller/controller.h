// Controller: decides which pod runs where. It knows no network and no clock:
// observations and answers in, requests out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/muster_objects.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/api/owner.h"
#include "adapters/kubernetes/controller/budget_book.h"
#include "adapters/kubernetes/controller/gang_record.h"
#include "adapters/kubernetes/controller/node_book.h"
#include "adapters/kubernetes/controller/options.h"
#include "adapters/kubernetes/controller/pod_record.h"
#include "adapters/kubernetes/controller/queue_book.h"
#include "adapters/kubernetes/controller/requests.h"
#include "adapters/kubernetes/controller/role_pool.h"
#include "adapters/kubernetes/model/group.h"
#include "adapters/kubernetes/model/resource_kinds.h"
#include "muster/plan.h"
#include "muster/scheduler.h"

namespace muster::kubernetes {

// How much a controller remembers.
struct ControllerCounts {
  size_t pods = 0;
  size_t groups = 0;
  size_t jobs = 0;
  size_t roles = 0;      // RolePool::size().
  size_t in_flight = 0;  // Requests whose answers are awaited.
  size_t refused = 0;    // Groups that their queues do not take.

  friend bool operator==(const ControllerCounts&,
                         const ControllerCounts&) = default;
};

// Equal calls give equal requests. Not synchronised. Observations come in the
// order in which the API server tells them of one object; between objects any
// order is right. Nothing is decided before Synced().
class Controller {
 public:
  // INVALID_ARGUMENT names the option that is wrong.
  static absl::StatusOr<std::unique_ptr<Controller>> Create(
      ControllerOptions options);

  // An object as it is now. O(size of the object), and for pods the logarithm
  // of their number.
  void Observe(const api::Node& node);
  void Observe(const api::Pod& pod);
  void Observe(const api::PodGroup& group);
  void Observe(const api::MusterPodGroup& group);
  // A Job of batch/v1: since when its pods have their place.
  void Observe(const api::Owner& job);
  void Observe(const api::Queue& queue);
  void Observe(const api::Namespace& ns);
  void Observe(const api::PodDisruptionBudget& budget);
  // It is gone.
  void NodeGone(const std::string& name);
  void PodGone(const std::string& uid);
  void GroupGone(const GroupRef& ref);
  void JobGone(const std::string& namespace_name, const std::string& uid);
  void QueueGone(const std::string& name);
  void NamespaceGone(const std::string& name);
  void BudgetGone(const std::string& namespace_name, const std::string& name);

  // Every object that is there has been observed. What runs is taken over as it
  // is, however it came to run. O(nodes + pods).
  absl::Status Synced(Time now);

  // What became of a request that Step gave. Each is answered once.
  void Answer(const ApiAnswer& answer);

  // Takes in what was observed and answered, schedules where that may decide
  // something, and appends what is to be asked of the API server.
  void Step(Time now, std::vector<ApiRequest>* requests);
  // When Step is to be called though nothing has been observed; kForever: not.
  Time next_step() const;

  // For questions; valid as long as this object.
  const Scheduler& scheduler() const { return scheduler_; }
  // O(1).
  ControllerCounts counts() const;
  // Errors of the scheduler that are none of a pod's: each is a defect of this
  // library. The first hundred. For logs and tests.
  const std::vector<std::string>& defects() const { return defects_; }

 private:
  // A request whose answer says something to the scheduler.
  struct InFlight {
    RequestBody body{};
    std::string pod{};     // UID.
    uint64_t attempt = 0;  // Of a binding; of an eviction its decision.
    // Of an eviction: it is for no other gang, and is asked for until it is
    // done.
    bool must = false;
  };

  Controller(ControllerOptions options, Scheduler scheduler);

  // observe.cc
  bool Manages(const api::Pod& pod) const;
  PodRecord ToRecord(const api::Pod& pod);
  PodUsage UsageOf(const api::Pod& pod) const;
  // Its pods that run where the scheduler has no task of them.
  void UpdateUsage(GangRecord* gang);
  // Its pods that run, for disruption budgets.
  void UpdateBudgets(const GangRecord& gang);
  // False: there is no room for a topology of that level.
  bool LearnTopology(const std::string& key);
  // Gangs in this queue, and groups in this namespace: what they may has
  // changed. O(gangs).
  void TouchAllOf(const std::string& queue, const std::string& namespace_name);
  // The scheduler has lost what had places there. O(tasks).
  void LoseNode(const std::string& name);
  // The gang of the group, a new one if there is none.
  GangRecord& GangOf(const GroupRef& ref);
  void SetGroup(const GroupRef& ref, GroupSpec spec);
  void Touch(const GroupRef& ref) { dirty_.insert(ref); }
  // What a queue would not take is offered to it again.
  void TouchOutside();

  // sync.cc: what the scheduler is told.
  absl::Status Tell(EventBody what);
  // It must not be refused.
  void MustTell(EventBody what);
  void AddDefect(std::string what);
  void TellConfig();
  void TellClass(const PriorityClass& priority_class);
  void TellQueues();
  void TellBudgets();
  void TellNodes();
  void Sync(const GroupRef& ref);
  void AnswerTasks(GangRecord* gang);
  std::optional<TaskAnswer> AnswerOf(TaskId task, TaskSlot* slot,
                                     GangRecord* gang);
  void TellGang(GangRecord* gang);
  // False: no pod of it, with `bound_too` those that run, has or needs a place.
  bool TellPods(GangRecord* gang, bool bound_too);
  void TellMembers(Gang wanted, GangRecord* gang);
  // The gang has no pod left that runs or could.
  void TellEmpty(GangRecord* gang);
  void Forget(GangRecord* gang);
  // No task of it has a place any more.
  void FreePlaces(GangRecord* gang);
  absl::Status TellAll();

  // carry_out.cc: what the scheduler decides.
  void CarryOut(const DecisionRecord& decision);
  void Give(const DecisionRecord& decision, const PlannedTaskRecord& task,
            GangRecord* gang);
  void Stop(const DecisionRecord& decision, const PlannedTaskRecord& task,
            GangRecord* gang);
  void Bind(TaskId task, TaskSlot* slot);
  void Ask(RequestBody body) {
    requests_.push_back({next_request_++, std::move(body)});
  }
  // Its answer is awaited.
  void Ask(InFlight request);
  // A task that was to be stopped and is not.
  void GoOn(TaskSlot* slot);
  // The pod's task, if it is the one that the request is about and still waits
  // for its answer; else null. The pod is known. O(log pods).
  TaskSlot* BindingSlot(const InFlight& request);
  TaskSlot* StoppingSlot(const InFlight& request);
  void BindFailed(const InFlight& request, TaskSlot* slot);
  void BindAnswered(const ApiAnswer& answer, const InFlight& request);
  void EvictAnswered(const ApiAnswer& answer, const InFlight& request);
  void ReadAnswered(const ApiAnswer& answer, const InFlight& request);
  // Reads that had no answer and evictions that were refused, again.
  void AskAgain();

  // report.cc: why pods wait.
  bool report_due() const { return report_all_ || !unreported_.empty(); }
  void ReportWaiting();
  void ReportWaiting(GangRecord* gang);
  std::string ToMessage(NamedReason reason) const;
  // To its pods that have not been told just that: what has this `essence`,
  // which has no numbers that change all the time; "": the message.
  void Report(GangRecord* gang, const std::string& reason,
              const std::string& message, std::string essence = {});

  const ControllerOptions options_;
  Scheduler scheduler_;
  ResourceKinds kinds_;
  NodeBook nodes_;
  QueueBook queues_;
  BudgetBook budgets_;
  GangRecord::Pods pods_;
  std::map<GroupRef, GangRecord> gangs_;
  std::map<std::string, GroupRef, std::less<>> by_key_;  // Of known gangs.
  // By namespace and UID: when they were created.
  std::map<std::pair<std::string, std::string>, Time> jobs_;
  RolePool roles_;
  std::set<std::string> classes_;     // That the scheduler knows.
  std::set<std::string> topologies_;  // Likewise.
  std::set<GroupRef> dirty_;
  std::set<GroupRef> outside_;  // Their queue does not take them.
  std::set<std::pair<Time, GroupRef>> timers_;
  std::map<uint64_t, InFlight> in_flight_;
  std::vector<std::pair<Time, InFlight>> again_;  // To be asked, and when.
  std::vector<ApiRequest> requests_;
  std::vector<std::string> defects_;
  Plan plan_;
  Time now_ = 0;
  Time next_report_ = 0;
  uint64_t next_request_ = 1;
  Duration next_arrival_ = 1;
  bool synced_ = false;
  bool told_ = false;  // Something, since the last pass.
  bool config_due_ = false;
  // Groups of which pods may have to be told why they wait; all have.
  std::set<GroupRef> unreported_;
  bool report_all_ = false;
};

}  // namespace muster::kubernetes
