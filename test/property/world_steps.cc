// The steps a random history takes.
#include <algorithm>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "test/property/print.h"
#include "test/property/random_world.h"
#include "test/property/state_usage.h"
#include "test/property/world.h"

namespace muster {

const NodeState* World::AnyNode(Dice& dice) const {
  if (state_.nodes.empty()) return nullptr;
  return &state_.nodes[dice.Below(static_cast<uint32_t>(state_.nodes.size()))];
}

std::string World::AnyGang(Dice& dice) const {
  if (state_.gangs.empty()) return "none";
  return state_.gangs[dice.Below(static_cast<uint32_t>(state_.gangs.size()))]
      .gang.key;
}

std::string World::AnyQueue(Dice& dice) const {
  return leaves_[dice.Below(static_cast<uint32_t>(leaves_.size()))];
}

// Of a queue, or none. What may not be (below itself, below a queue with gangs)
// is refused. Gangs are handed in to leaves: seldom one has others below it.
std::string World::AnyParent(Dice& dice) const {
  if (dice.OneIn(3)) return "";
  const std::string& key =
      state_.queues[dice.Below(static_cast<uint32_t>(state_.queues.size()))]
          .key;
  const bool leaf = std::ranges::find(leaves_, key) != leaves_.end();
  return leaf && !dice.OneIn(4) ? "" : key;
}

// --- Answers -----------------------------------------------------------------

void World::Answer(Dice& dice) {
  if (host_.pending().empty()) return;
  const size_t i =
      dice.OneIn(3) ? dice.Below(static_cast<uint32_t>(host_.pending().size()))
                    : 0;
  const DecisionRecord d = host_.pending()[i];
  EventBody event;
  switch (dice.Below(12)) {
    case 0:  // Not all of it yet.
      event = host_.Do(i, 1, "");
      break;
    case 1: {  // Elsewhere than planned.
      const NodeState* node = AnyNode(dice);
      uint32_t needs = 0;
      for (const PlannedTaskRecord& p : d.tasks) {
        needs = std::max(needs, p.devices.size());
      }
      const bool there =
          node != nullptr && !node->down && node->node.devices.size() >= needs;
      event = host_.Do(i, d.tasks.size(), there ? node->node.key : "");
      break;
    }
    case 2:
      event = host_.FailAll(i);
      break;
    case 3:
      event = host_.Refuse(i);
      break;
    case 4:  // Done, told later.
      late_.emplace_back(host_.DoAll(i));
      return;
    case 5:  // Done, never told.
      if (!dice.OneIn(3)) break;
      host_.DoAll(i);
      lost_ = true;
      Log("lost: the answer to " + std::to_string(d.seq));
      return;
    case 6:  // Told twice.
      event = host_.Do(i, d.tasks.size(), "");
      Apply(event);
      break;
    case 7:
      event = host_.Do(i, d.tasks.size(), "");
      break;
    default:
      event = host_.DoAll(i);
      break;
  }
  if (std::holds_alternative<NodeChanged>(event)) return;  // Nothing happened.
  Apply(event);
  sent_.push_back(event);
}

void World::TaskEnds(Dice& dice) {
  if (host_.real().empty()) return;
  auto it = host_.real().begin();
  std::advance(it, dice.Below(static_cast<uint32_t>(host_.real().size())));
  if (Dice aside = dice.Aside(); !it->second.leaving && aside.OneIn(3)) {
    const EventBody leaves = host_.Leave(it->first);
    Apply(leaves);
    sent_.push_back(leaves);
    return;
  }
  constexpr TaskOutcome kWays[] = {TaskOutcome::kSucceeded,
                                   TaskOutcome::kFailed, TaskOutcome::kReleased,
                                   TaskOutcome::kYielded, TaskOutcome::kDone};
  const TaskOutcome way = kWays[dice.OneIn(2) ? 0 : 1 + dice.Below(4)];
  const std::string gang = it->first.first;
  const EventBody event = host_.End(it->first, way);
  // If it was the last, or the others end.
  if (way == TaskOutcome::kSucceeded) may_go_.insert(gang);
  Apply(event);
  sent_.push_back(event);
}

// What hosts may say of times.
void World::ReportTimes(Dice& dice, Reconciled* whole) {
  const auto past = [&] {
    return dice.OneIn(2) ? kForever
                         : now_ - std::min<Time>(now_, dice.In(0, 9) * kSecond);
  };
  for (RealTask& task : whole->tasks) task.started = past();
  for (const GangState& g : state_.gangs) {
    if (!dice.OneIn(4)) continue;
    RealGang gang{g.gang.key, past(), past()};
    if (dice.OneIn(2)) gang.run_time = dice.In(0, 9) * kSecond;
    if (gang.run_time != kForever) gang.saved = dice.In(0, gang.run_time);
    whole->gangs.push_back(gang);
  }
}

// Some tasks are not where they were: on other devices, or on another node.
// The host may name the devices, or not.
void World::MoveTasks(Dice& dice, const Reconciled& whole) {
  const StateUsage usage(state_);
  std::vector<const Node*> up;
  for (const Node& node : whole.nodes) {
    if (std::ranges::count(whole.down, node.key) == 0) up.push_back(&node);
  }
  const std::map<Host::Key, Host::Real> real = host_.real();
  for (auto [key, task] : real) {
    const GangState* g = usage.gang(key.first);
    if (g == nullptr || up.empty() || !dice.OneIn(4)) continue;
    const Node& other = *up[dice.Below(static_cast<uint32_t>(up.size()))];
    const Node& node = dice.OneIn(2) && usage.node(task.node)
                           ? usage.node(task.node)->node
                           : other;
    const DeviceRequest& asks =
        StateUsage::ShapeOf(
            g->gang, {.task = key.second, .alternative = task.alternative})
            .devices;
    const auto has = static_cast<uint32_t>(node.devices.size());
    if (asks.count > has) continue;
    task.node = node.key;
    task.devices.clear();
    task.first_slice.reset();
    if (dice.OneIn(2)) {
      const uint32_t first = has == 0 ? 0 : dice.Below(has);
      for (uint32_t i = 0; i < asks.count; ++i) {
        task.devices.push_back((first + i) % has);
      }
      if (!asks.partition.empty() && dice.OneIn(2))
        task.first_slice = dice.Below(8);
    }
    host_.Move(key, task);
    // What was answered of it before would be news now: it is not said again.
    std::erase_if(sent_, [&](const EventBody& e) {
      const auto* answer = std::get_if<TasksAnswered>(&e);
      return answer != nullptr && answer->gang == key.first;
    });
  }
}

void World::Reconcile(Dice& dice) {
  Reconciled whole;
  for (const NodeState& n : state_.nodes) {
    whole.nodes.push_back(n.node);
    if (!n.external.amount.IsZero() || !n.external.devices.empty() ||
        n.external.unnamed_devices > 0) {
      whole.external.push_back(n.external);
    }
    if (n.down) whole.down.push_back(n.node.key);
  }
  if (dice.OneIn(8) && whole.nodes.size() > 1) {  // One is gone.
    host_.LoseNode(whole.nodes.back().key);
    std::erase_if(whole.external, [&](const ExternalUsage& o) {
      return o.node == whole.nodes.back().key;
    });
    std::erase(whole.down, whole.nodes.back().key);
    whole.nodes.pop_back();
  }
  Dice aside = dice.Aside();
  if (aside.OneIn(2)) MoveTasks(aside, whole);
  whole.tasks = host_.Tasks(state_, dice.OneIn(2));
  host_.KeepOnly(whole.tasks);
  ReportTimes(dice, &whole);
  if (!Apply(whole)) {
    Fail("reconcile: the truth is refused");
    return;
  }
  // What was to start and does not run is over; what was to stop and runs on
  // as well, unless it was named as being released.
  host_.ClearPending();
  std::set<Host::Key> releasing;
  for (const RealTask& t : whole.tasks) {
    if (t.releasing) releasing.insert({t.gang, t.task});
  }
  for (const Host::Key& key : releasing) {
    late_.emplace_back(host_.End(key, TaskOutcome::kReleased));
  }
  lost_ = false;
  const uint64_t hash = scheduler_->StateHash();
  const SchedulerState before = state_;
  if (!releasing.empty()) return;
  Apply(whole);  // Twice is once.
  SchedulerState after = state_;
  after.version = before.version;
  after.now = before.now;
  if (!(after == before) && hash != 0) {
    Fail("reconcile: twice is not once" + FirstDifference(before, after));
  }
}

// --- The outside world -------------------------------------------------------

void World::Submit(Dice& dice) {
  if (state_.gangs.size() > 16) return;
  const std::string key = "g" + std::to_string(gangs_made_++);
  const Gang gang = RandomGang(dice, config_, key, AnyQueue(dice), now_);
  made_.insert(key);
  Apply(GangSubmitted{gang});
}

// The same gangs in another order, and from several threads.
void World::SubmitMany(Dice& dice) {
  std::vector<Gang> gangs;
  for (uint32_t i = 0; i < 4; ++i) {
    const std::string key = "g" + std::to_string(gangs_made_++);
    gangs.push_back(RandomGang(dice, config_, key, AnyQueue(dice), now_));
  }
  gangs.push_back(gangs[0]);  // Twice: one of them is refused.
  absl::StatusOr<Scheduler> twin = Scheduler::Restore(scheduler_->State());
  if (!twin.ok()) return Fail("restore: " + twin.status().ToString());
  for (const Gang& gang : gangs) scheduler_->Submit(gang).IgnoreError();
  if (dice.OneIn(4)) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < gangs.size(); ++i) {
      threads.emplace_back(
          [&twin, &gangs, i] { twin->Submit(gangs[i]).IgnoreError(); });
    }
    for (std::thread& t : threads) t.join();
  } else {
    std::rotate(gangs.begin(),
                gangs.begin() + dice.Below(static_cast<uint32_t>(gangs.size())),
                gangs.end());
    std::reverse(gangs.begin(), gangs.end());
    for (const Gang& gang : gangs) twin->Submit(gang).IgnoreError();
  }
  for (const Gang& gang : gangs) {
    made_.insert(gang.key);
    Log("submit " + Printer::Text(gang));
  }
  grown_.clear();
  do {  // As many passes as the budget asks for.
    TakeSubmissions(*twin);
  } while (plan_.inbox_left && failure_.empty());
}

void World::TakeSubmissions(Scheduler& twin) {
  Plan other;
  twin.Schedule(now_, &other);
  scheduler_->Schedule(now_, &plan_);
  const PlanRecord mine = scheduler_->Record(plan_);
  const PlanRecord theirs = twin.Record(other);
  state_ = scheduler_->State();
  for (const DecisionRecord& d : mine.decisions) {
    if (d.kind == DecisionKind::kCancel) may_go_.insert(d.gang);
  }
  Log("submitted many; plan " + Printer::Text(mine));
  CheckGangs();
  CheckMirror();
  if (!(mine == theirs) || twin.StateHash() != scheduler_->StateHash() ||
      plan_.refused.size() != other.refused.size() ||
      plan_.inbox_left != other.inbox_left) {
    Fail("submissions do not commute: " + Printer::Text(mine) + "\n" +
         Printer::Text(theirs));
  }
  if (const absl::Status valid = scheduler_->Validate(); !valid.ok()) {
    Fail("validate: after submissions: " + valid.ToString());
  }
  host_.Take(mine);
  wakeup_ = mine.next_wakeup;
}

void World::GangEvent(Dice& dice) {
  const std::string gang = AnyGang(dice);
  switch (dice.Below(10)) {
    case 0:
      may_go_.insert(gang);
      Apply(GangCancelled{gang});
      break;
    case 1:
      may_go_.insert(gang);
      host_.Forget(gang);
      Apply(GangFinished{gang, static_cast<GangOutcome>(dice.Below(3))});
      if (known_.contains(gang)) Fail("leak: finished gang stays: " + gang);
      break;
    case 2:
      Apply(GangHeld{gang, dice.OneIn(3), "because"});
      break;
    case 3: {
      const char* classes[] = {"", "c0", "c1", "c2"};
      Apply(GangReprioritized{gang, classes[dice.Below(4)]});
      break;
    }
    case 4:
      if (known_.contains(gang)) YieldGang(gang);
      break;
    case 5:
      Apply(GangMoved{gang, AnyQueue(dice)});
      break;
    case 6:
    case 7:
      ChangeGang(dice, gang);
      break;
    default:
      Apply(CheckpointTaken{gang, std::max<Time>(0, now_ - kSecond)});
      break;
  }
}

void World::YieldGang(const std::string& key) {
  const absl::StatusOr<GangState> g = scheduler_->Find(key);
  if (g.ok() && g->phase != GangPhase::kNominated) host_.Forget(key);
  if (g.ok() && g->cancel) may_go_.insert(key);
  Apply(GangYielded{key});
}

namespace {

// A minimum that is raised by a group, or by a role of the other gang.
void AskForMore(Dice dice, const Gang& other, Gang& gang) {
  if (!gang.groups.empty() && dice.OneIn(2)) {
    Group& group =
        gang.groups[dice.Below(static_cast<uint32_t>(gang.groups.size()))];
    group.min_children = dice.Below(3);
    group.min_tasks = dice.Below(4);
  }
  const size_t next = gang.roles.size();
  if (other.roles.size() > next && dice.OneIn(2)) {
    Role& role = gang.roles.emplace_back(other.roles[next]);
    role.group = 0;
    role.start_after.clear();
  }
}

}  // namespace

// A new description, from a few numbers to all of it; refused where tasks stand
// in the way.
void World::ChangeGang(Dice& dice, const std::string& key) {
  const absl::StatusOr<GangState> g = scheduler_->Find(key);
  if (!g.ok()) return;
  Gang gang = g->gang;
  const Gang other = RandomGang(dice, config_, key, gang.queue, now_);
  switch (dice.Below(5)) {
    case 0:
      gang = other;
      break;
    case 1:
      gang.labels = {{"color", std::to_string(dice.Below(3))}};
      gang.not_before = other.not_before;
      gang.max_runtime = other.max_runtime;
      gang.submitted = other.submitted;
      break;
    case 2:
      gang.preemptible = other.preemptible;
      gang.priority_class = other.priority_class;
      gang.on_preempted = static_cast<OnPreempted>(dice.Below(4));
      break;
    default:
      for (Role& role : gang.roles) {
        role.desired_tasks = 1 + dice.Below(4);
        role.min_tasks = std::min(role.min_tasks, role.desired_tasks);
        if (dice.OneIn(3)) role.min_tasks = role.desired_tasks;
        if (dice.OneIn(4)) role.shape.selector = {};
        if (dice.OneIn(4)) role.tolerations.clear();
      }
      AskForMore(dice.Aside(), other, gang);
      break;
  }
  const GangState before = *g;
  if (!Apply(GangChanged{gang})) return;
  // Whatever is asked of a gang that runs, what it has is enough to go on.
  const GangState after = *scheduler_->Find(key);
  if ((before.phase == GangPhase::kStarting ||
       before.phase == GangPhase::kRunning) &&
      MeetsMinimum(AsItRuns(before), LiveTasks(before)) &&
      !MeetsMinimum(AsItRuns(after), LiveTasks(after))) {
    Fail("raised: not enough to go on: " + Printer::Text(after));
  }
}

void World::NodeEvent(Dice& dice) {
  const NodeState* any = AnyNode(dice);
  const std::string key = any == nullptr || dice.OneIn(8)
                              ? "n" + std::to_string(dice.Below(9))
                              : any->node.key;
  switch (dice.Below(10)) {
    case 0:
      host_.LoseNode(key);
      Apply(NodeDown{key});
      break;
    case 1:
    case 2:
    case 3:
      Apply(NodeUp{key});
      break;
    case 4:
      if (dice.OneIn(2)) {
        host_.LoseNode(key);
        Apply(NodeRemoved{key});
      } else {
        Apply(SpotNotice{key, now_ + 30 * kSecond});
      }
      break;
    case 5:
      Apply(NodeDrained{key, dice.OneIn(2)});
      break;
    case 6:
    case 7: {
      Node node = RandomNode(dice, key);
      // Devices do not vanish from under what runs, or is suspended, on them.
      for (const NodeState& n : state_.nodes) {
        if (n.node.key == key && host_.Uses(key)) node.devices = n.node.devices;
      }
      Apply(NodeChanged{node});
      break;
    }
    case 8:
      if (any != nullptr)
        Apply(ExternalUsageChanged{RandomExternalUsage(dice, any->node)});
      break;
    default:
      if (dice.OneIn(4) && Apply(NodeSetRemoved{"set"})) {
        Apply(NodeSetChanged{{.key = "set"}});
      }
      Apply(NodeSetChanged{RandomNodeSet(dice, "set")});
      break;
  }
}

void World::QueueEvent(Dice& dice) {
  if (dice.OneIn(3)) {
    const char* classes[] = {"c0", "c1", "c2"};
    const std::string key = classes[dice.Below(3)];
    if (dice.OneIn(8) && Apply(PriorityClassRemoved{key})) {
      Apply(PriorityClassChanged{RandomClass(dice, key)});
      return;
    }
    Apply(PriorityClassChanged{RandomClass(dice, key)});
    return;
  }
  if (dice.OneIn(4)) {
    Apply(DisruptionBudgetChanged{RandomBudget(dice, gangs_made_)});
    return;
  }
  if (dice.OneIn(6)) {
    const SchedulerConfig changed = ChangedConfig(dice, config_);
    if (Apply(ConfigChanged{changed})) config_ = changed;
    return;
  }
  const Queue& known =
      state_.queues[dice.Below(static_cast<uint32_t>(state_.queues.size()))];
  if (dice.OneIn(6) && state_.queues.size() > 1) {
    const Queue kept = known;
    if (Apply(QueueRemoved{kept.key})) Apply(QueueChanged{kept});
    return;
  }
  Queue queue = known;
  queue.held = dice.OneIn(6);
  queue.closed = dice.OneIn(8);
  if (dice.OneIn(2)) {
    queue.quotas = RandomQuotas(dice, queue.parent.empty());
  }
  if (Dice aside = dice.Aside(); aside.OneIn(4)) {
    queue.preemption = RandomPolicy(aside);
  }
  if (Dice aside = dice.Aside(); aside.OneIn(2))
    queue.parent = AnyParent(aside);
  Apply(QueueChanged{queue});
}

void World::Bad(Dice& dice) {
  const NodeState* node = AnyNode(dice);
  const std::string gang = AnyGang(dice);
  const EventBody event = BadEvent(
      dice, node == nullptr ? "none" : node->node.key, AnyQueue(dice), gang);
  if (Apply(event)) Fail("taken: a bad event: " + Printer::Text(event));
}

// --- Events that share nothing -----------------------------------------------

void World::Touch(const std::string& gang, std::set<std::string>* out) const {
  for (const GangState& g : state_.gangs) {
    if (g.gang.key != gang) continue;
    out->insert("gang " + gang);
    out->insert("queue " + g.gang.queue);
    for (const TaskState& t : g.tasks) out->insert("node " + t.node);
    for (const PendingDecision& o : g.pending) {
      if (!o.on_behalf_of.empty() &&
          out->insert("gang " + o.on_behalf_of).second) {
        Touch(o.on_behalf_of, out);
      }
    }
  }
}

EventBody World::SmallEvent(Dice& dice, std::set<std::string>* touched) {
  const std::string gang = AnyGang(dice);
  const NodeState* node = AnyNode(dice);
  const uint32_t what = dice.Below(8);
  if (what < 4) {
    Touch(gang, touched);
    touched->insert("gang " + gang);
    if (what == 0) return GangHeld{gang, true};
    if (what == 1) return GangFinished{gang};
    if (what == 2) return GangCancelled{gang};
    return CheckpointTaken{gang, now_};
  }
  if (what < 7 && node != nullptr) {
    const std::string key = node->node.key;
    for (const GangState& g : state_.gangs) {
      for (const TaskState& t : g.tasks) {
        if (t.node == key) Touch(g.gang.key, touched);
      }
    }
    touched->insert("node " + key);
    if (what == 4) return NodeDown{key};
    if (what == 5) return NodeDrained{key, true};
    return ExternalUsageChanged{RandomExternalUsage(dice, node->node)};
  }
  const std::string queue = AnyQueue(dice);
  touched->insert("queue " + queue);
  const std::string key = "new" + std::to_string(dice.Below(1000));
  touched->insert("gang " + key);
  return GangSubmitted{RandomGang(dice, config_, key, queue, now_)};
}

void World::Commute(Dice& dice) {
  std::set<std::string> a, b;
  const Event first{now_, SmallEvent(dice, &a)};
  const Event second{now_, SmallEvent(dice, &b)};
  for (const std::string& x : a) {
    if (b.contains(x)) return;
  }
  absl::StatusOr<Scheduler> one = Scheduler::Restore(state_);
  absl::StatusOr<Scheduler> two = Scheduler::Restore(state_);
  if (!one.ok() || !two.ok()) return Fail("restore: refused");
  const bool one_a = one->Apply(first).ok(), one_b = one->Apply(second).ok();
  const bool two_b = two->Apply(second).ok(), two_a = two->Apply(first).ok();
  if (one_a == two_a && one_b == two_b && WillDecideAlike(*one, *two)) return;
  Fail("events do not commute: " + Printer::Text(first) + " and " +
       Printer::Text(second) + FirstDifference(one->State(), two->State()));
}

}  // namespace muster
