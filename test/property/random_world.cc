#include "test/property/random_world.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "muster/device_set.h"

namespace muster {

namespace {

std::string Numbered(const char* name, uint64_t number) {
  return name + std::to_string(number);
}

// Dice of its own: histories without spreads stay what they are.
Spread RandomSpread(Dice dice, const std::vector<std::string>& levels) {
  if (!dice.OneIn(3)) return {};
  Spread s{.level = levels[dice.Below(static_cast<uint32_t>(levels.size()))],
           .max_per_domain = dice.Below(4)};
  if (dice.OneIn(2)) s.max_skew = 1 + dice.Below(2);
  if (s.max_per_domain == 0 || dice.OneIn(3)) {
    s.min_domains = 1 + dice.Below(3);
  }
  return s;
}

TopologyConstraint RandomConstraint(Dice& dice, const SchedulerConfig& config,
                                    uint32_t tasks) {
  TopologyConstraint c;
  const Topology& t = config.topologies[dice.Below(
      static_cast<uint32_t>(config.topologies.size()))];
  if (dice.OneIn(2)) c.topology = t.key;
  const Topology& named = c.topology.empty() ? config.topologies[0] : t;
  std::vector<std::string> levels = named.levels;
  levels.emplace_back(kHostLevel);
  const uint32_t narrow = dice.Below(static_cast<uint32_t>(levels.size()));
  switch (dice.Below(4)) {
    case 0:
    case 1:
      c.required = levels[narrow];
      break;
    case 2:
      c.preferred = levels[narrow];
      break;
    default:
      if (tasks >= 4) c.slices.push_back({levels[narrow], 2});
      break;
  }
  c.spread = RandomSpread(dice, levels);
  if (!c.required.empty() && c.spread.min_domains > 1) c.spread = {};
  return c;
}

DeviceRequest RandomDevices(Dice& dice) {
  DeviceRequest d;
  switch (dice.Below(8)) {
    case 0:
    case 1:
      break;  // None.
    case 2:
      d.count = 1;
      d.milli = static_cast<int32_t>(dice.In(1, 3)) * 250;
      break;
    case 3:
      d.count = 1;
      d.milli = 0;
      d.memory_bytes = dice.In(1, 50);
      if (Dice aside = dice.Aside(); aside.OneIn(4)) {
        d.count = 2;
      } else if (aside.OneIn(3)) {
        d.milli = static_cast<int32_t>(aside.In(1, 3)) * 250;
      }
      break;
    case 4:
      d.count = 1;
      d.partition = Numbered("p", dice.Below(3));
      if (Dice aside = dice.Aside(); aside.OneIn(6)) d.partition = "p3";
      break;
    default:
      d.count = static_cast<uint32_t>(dice.In(1, 2));
      if (Dice aside = dice.Aside(); aside.OneIn(12))
        d.count = 1 + aside.Below(99);
      break;
  }
  if (d.count > 0 && dice.OneIn(6)) d.models.push_back("A");
  return d;
}

TaskShape RandomShape(Dice& dice) {
  TaskShape shape;
  shape.resources.Set(kCpu, dice.In(0, 4));
  shape.devices = RandomDevices(dice);
  if (dice.OneIn(8)) {
    shape.selector.any_of.push_back(
        {{Requirement{"disk", SelectorOp::kIn, {"ssd"}}}});
  }
  return shape;
}

Role RandomRole(Dice& dice, const SchedulerConfig& config, size_t position) {
  Role role;
  role.name = Numbered("role", position);
  role.min_tasks = static_cast<uint32_t>(dice.In(1, 3));
  if (dice.OneIn(8)) role.min_tasks = 0;
  role.desired_tasks = std::max(role.min_tasks, 1u);
  if (dice.OneIn(3)) role.desired_tasks += dice.Below(3);
  role.shape = RandomShape(dice);
  if (dice.OneIn(6)) {
    TaskShape& other = role.alternatives.emplace_back(RandomShape(dice));
    if (dice.OneIn(3)) other.node_sets.push_back("set");
    if (dice.OneIn(3)) {
      other.tolerations.push_back({"dedicated", TolerationOp::kExists, "", {}});
    }
  }
  if (dice.OneIn(8)) {
    role.preferences.push_back(
        {10, {{Requirement{"disk", SelectorOp::kExists, {}}}}});
  }
  if (dice.OneIn(4)) {
    role.tolerations.push_back({"dedicated", TolerationOp::kExists, "", {}});
    if (dice.OneIn(3)) role.tolerations[0].seconds = dice.In(0, 40);
  }
  if (dice.OneIn(16)) role.node_sets.push_back("set");
  if (dice.OneIn(6)) {
    role.topology = RandomConstraint(dice, config, role.desired_tasks);
  }
  if (!config.node_kind.empty() && dice.OneIn(4)) {
    role.shape.whole_node = true;
  }
  role.preemptible = !dice.OneIn(8);
  role.order = static_cast<int32_t>(dice.Below(3));
  return role;
}

void AddGroups(Dice& dice, const SchedulerConfig& config, Gang& gang) {
  gang.groups.emplace_back();
  Group inner;
  inner.name = "inner";
  gang.groups.push_back(inner);
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    // The inner group has at least the first role.
    gang.roles[r].group = r == 0 || dice.OneIn(2) ? 1 : 0;
  }
  if (dice.OneIn(3)) gang.groups[0].min_children = 1;
  if (dice.OneIn(4)) gang.groups[1].min_tasks = 1;
  if (dice.OneIn(3)) {
    gang.groups[1].topology = RandomConstraint(dice, config, 0);
  }
}

// More to grow into, children that come and go whole, and a start order that
// branches and joins. Dice of its own, as RandomSpread.
void MakeElastic(Dice dice, Gang& gang) {
  if (dice.OneIn(3)) {
    for (Role& role : gang.roles) role.desired_tasks += dice.Below(4);
  }
  const auto roles = static_cast<uint32_t>(gang.roles.size());
  if (gang.groups.empty() && roles > 1 && dice.OneIn(3)) {
    gang.groups.resize(roles + 1);
    gang.groups[0].min_children = 1 + dice.Below(roles);
    for (uint32_t r = 0; r < roles; ++r) {
      gang.roles[r].group = r + 1;
      gang.groups[r + 1].name = Numbered("child", r);
    }
  }
  if (!dice.OneIn(3)) return;
  for (size_t r = 1; r < roles; ++r) {
    gang.roles[r].start_after.clear();
    for (size_t before = 0; before < r; ++before) {
      if (dice.OneIn(2)) {
        gang.roles[r].start_after.push_back(gang.roles[before].name);
      }
    }
  }
}

// Some profiles are in one of them only, some cost more in one than in the
// other, of the device or of its memory.
std::vector<PartitionScheme> Schemes() {
  return {{"cut",
           4,
           {{"p0", 1, 250, {0, 1, 2, 3}},
            {"p1", 2, 500, {0, 2}},
            {"p2", 3, 600, {1}}}},
          {"other",
           8,
           {{"p0", 2, 400, {0, 2, 4}},
            {"p1", 3, 300, {0, 4}},
            {"p3", 1, 100, {0, 1, 2, 5, 7}}}}};
}

}  // namespace

SchedulerConfig RandomConfig(Dice& dice) {
  SchedulerConfig config;
  config.resources = {"cpu", "gpu"};
  config.device_kind = "gpu";
  config.topologies = {{"net", {"block", "rack"}}};
  config.partition_schemes = Schemes();
  if (dice.OneIn(2)) config.topologies.push_back({"power", {"row"}});
  if (dice.OneIn(3)) {
    config.resources.push_back("node");
    config.node_kind = "node";
  }
  config.host.suspend = dice.OneIn(2);
  if (dice.OneIn(2)) {
    config.host.suspended_keeps.push_back("cpu");
    if (!config.node_kind.empty() && dice.OneIn(2)) {
      config.host.suspended_keeps.push_back("node");
    }
  }
  config.host.shrink = !dice.OneIn(3);
  config.host.choose_devices = !dice.OneIn(4);
  config.host.nominate = !dice.OneIn(4);
  config.host.grace = !dice.OneIn(4);
  config.host.evicts_taints = !dice.OneIn(6);
  config.host.keeps_running = dice.Aside().OneIn(3);
  if (dice.OneIn(4)) config.work_budget = uint64_t{1} << dice.In(0, 14);
  config.preemption = !dice.OneIn(10);
  if (dice.OneIn(4)) {
    config.search.victim_steps = dice.In(0, 100);
    config.search.most_effort = static_cast<uint32_t>(dice.In(0, 7));
    PreemptionCosts& costs = config.preemption_costs;
    costs.restart = static_cast<uint32_t>(dice.In(0, 2)) * 1000;
    costs.gang =
        dice.In(0, 1) == 1 ? dice.In(0, 100'000) : PreemptionCosts::kMaxGang;
    costs.surplus_first = dice.In(0, 1) == 1;
  }
  if (Dice aside = dice.Aside(); aside.OneIn(2)) {
    const auto span = [&aside] { return aside.In(0, 30) * kSecond; };
    EvictionBackoff& backoff = config.eviction_backoff;
    backoff = {.wait_base = span(), .protection_base = span()};
    backoff.wait_max = backoff.wait_base + span();
    backoff.protection_max = backoff.protection_base + span();
  }
  if (dice.OneIn(3)) config.replacement_timeout = dice.In(1, 40) * kSecond;
  config.suspend_timeout = dice.OneIn(3) ? 0 : dice.In(1, 60) * kSecond;
  return config;
}

SchedulerConfig ChangedConfig(Dice& dice, const SchedulerConfig& config) {
  SchedulerConfig changed = config;
  const SchedulerConfig other = RandomConfig(dice);
  changed.work_budget = other.work_budget;
  changed.preemption = other.preemption;
  changed.replacement_timeout = other.replacement_timeout;
  changed.suspend_timeout = other.suspend_timeout;
  changed.host.keeps_running = other.host.keeps_running;
  if (dice.OneIn(2)) changed.topologies = other.topologies;
  if (changed.resources.back() != "licences" && dice.OneIn(2)) {
    changed.resources.push_back("licences");
  }
  return changed;
}

namespace {

// Some nodes have devices of two sizes: a share of memory takes other
// thousandths of each.
std::array<int64_t, 2> RandomSizes(Dice& dice) {
  constexpr int64_t kSizes[] = {80, 80, 40, 24, 160};
  const int64_t one = kSizes[dice.Below(std::size(kSizes))];
  return {one, dice.OneIn(3) ? kSizes[dice.Below(std::size(kSizes))] : one};
}

}  // namespace

Node RandomNode(Dice& dice, const std::string& key) {
  Node node;
  node.key = key;
  node.capacity.Set(kCpu, dice.In(4, 16));
  // Few share their GPUs by time, and show more devices than a word has bits.
  Dice aside = dice.Aside();
  const uint32_t devices =
      aside.OneIn(12) ? 60 + aside.Below(60) : dice.Below(5);
  const std::array<int64_t, 2> sizes = RandomSizes(aside);
  for (uint32_t d = 0; d < devices; ++d) {
    Device device;
    device.model = dice.OneIn(3) ? "A" : "B";
    device.memory_bytes = dice.OneIn(8) ? 0 : sizes[aside.Below(2)];
    device.island = static_cast<int32_t>(d / 2);
    device.healthy = !dice.OneIn(16);
    if (dice.OneIn(3)) {
      device.partition_scheme = aside.OneIn(3) ? "other" : "cut";
    }
    node.devices.push_back(device);
  }
  if (!dice.OneIn(10)) {
    node.labels.push_back({"rack", Numbered("r", dice.Below(2))});
    node.labels.push_back({"block", Numbered("b", dice.Below(2))});
  }
  if (!dice.OneIn(6)) {
    node.labels.push_back({"row", Numbered("w", dice.Below(2))});
  }
  if (dice.OneIn(2)) node.labels.push_back({"disk", "ssd"});
  if (dice.OneIn(8)) {
    const TaintEffect effects[] = {TaintEffect::kNoSchedule,
                                   TaintEffect::kPreferNoSchedule,
                                   TaintEffect::kNoExecute};
    node.taints.push_back({"dedicated", "", effects[dice.Below(3)]});
  }
  node.schedulable = !dice.OneIn(12);
  node.choose_devices = !dice.OneIn(12);
  return node;
}

ExternalUsage RandomExternalUsage(Dice& dice, const Node& node) {
  ExternalUsage usage;
  usage.node = node.key;
  if (dice.OneIn(3)) return usage;
  usage.amount.Set(kCpu, dice.In(0, 8));
  if (!node.devices.empty() && dice.OneIn(2)) {
    DeviceShare share;
    share.device = dice.Below(static_cast<uint32_t>(node.devices.size()));
    share.milli = static_cast<int32_t>(dice.In(1, 4)) * 250;
    share.memory_bytes =
        share.milli * node.devices[share.device].memory_bytes / 1000;
    usage.devices.push_back(share);
  }
  const size_t rest = node.devices.size() - usage.devices.size();
  if (dice.OneIn(3)) {
    usage.unnamed_devices = dice.Below(static_cast<uint32_t>(rest) + 1);
  }
  return usage;
}

std::vector<Quota> RandomQuotas(Dice& dice, bool large) {
  std::vector<Quota> quotas;
  const int64_t scale = large ? 2 : 1;
  if (dice.OneIn(2)) {
    Quota gpu{.resource = "gpu"};
    if (dice.OneIn(2)) gpu.guarantee = 1000 * dice.In(0, 3) * scale;
    if (dice.OneIn(2)) gpu.limit = 1000 * dice.In(3, 8) * scale;
    quotas.push_back(gpu);
  }
  if (dice.OneIn(3)) {
    Quota cpu{.resource = "cpu"};
    if (dice.OneIn(2)) cpu.guarantee = dice.In(0, 8) * scale;
    if (dice.OneIn(2)) cpu.limit = dice.In(8, 20) * scale;
    quotas.push_back(cpu);
  }
  if (Dice aside = dice.Aside(); aside.OneIn(3)) {
    for (Quota& quota : quotas) {
      const int64_t unit = quota.resource == "gpu" ? 1000 : 1;
      if (aside.OneIn(2)) quota.borrow_limit = unit * aside.In(0, 4) * scale;
    }
  }
  return quotas;
}

PreemptionPolicy RandomPolicy(Dice& dice) {
  PreemptionPolicy p;
  if (dice.OneIn(2)) p.within = static_cast<PreemptWithin>(dice.Below(3));
  if (dice.OneIn(2)) p.across = static_cast<PreemptAcross>(dice.Below(3));
  if (dice.OneIn(2)) p.borrowing = static_cast<PreemptBorrowing>(dice.Below(2));
  if (dice.OneIn(4))
    p.borrowing_threshold = static_cast<int32_t>(dice.Below(3));
  return p;
}

std::vector<Queue> RandomQueues(Dice& dice, std::vector<std::string>* leaves) {
  std::vector<Queue> queues;
  const auto add = [&](const std::string& key, const std::string& parent,
                       bool leaf) {
    Queue q;
    q.key = key;
    q.parent = parent;
    q.weight = static_cast<uint32_t>(dice.In(1, 3));
    if (dice.OneIn(3)) q.ordering = QueueOrdering::kStrictFifo;
    q.quotas = RandomQuotas(dice, !leaf);
    if (Dice aside = dice.Aside(); aside.OneIn(4)) {
      q.preemption = RandomPolicy(aside);
    }
    queues.push_back(q);
    if (leaf) leaves->push_back(key);
  };
  const uint32_t roots = 1 + dice.Below(3);
  for (uint32_t r = 0; r < roots; ++r) {
    const std::string root = Numbered("q", r);
    const uint32_t children = dice.OneIn(2) ? 0 : 1 + dice.Below(2);
    add(root, "", children == 0);
    for (uint32_t c = 0; c < children; ++c) {
      add(root + Numbered(".", c), root, true);
    }
  }
  return queues;
}

PriorityClass RandomClass(Dice& dice, const std::string& key) {
  PriorityClass c;
  c.key = key;
  c.value = static_cast<int32_t>(dice.In(-1, 2)) * 10;
  c.may_preempt = !dice.OneIn(5);
  c.on_preempted = static_cast<OnPreempted>(dice.OneIn(2) ? 0 : dice.Below(4));
  if (dice.OneIn(3)) c.min_runtime = 20 * kSecond;
  if (dice.OneIn(3)) c.grace = 5 * kSecond;
  return c;
}

DisruptionBudget RandomBudget(Dice& dice, uint32_t gangs) {
  DisruptionBudget budget{.key = Numbered("b", dice.Below(2)),
                          .gangs = {Numbered("g", gangs)}};
  for (uint32_t g = gangs - std::min(gangs, 10u); g < gangs; ++g) {
    if (dice.OneIn(2)) budget.gangs.push_back(Numbered("g", g));
  }
  budget.allowed = dice.In(0, 2);
  return budget;
}

NodeSet RandomNodeSet(Dice& dice, const std::string& key) {
  NodeSet set;
  set.key = key;
  for (uint32_t n = 0; n < 10; ++n) {
    if (!dice.OneIn(3)) set.nodes.push_back(Numbered("n", n));
  }
  return set;
}

Gang RandomGang(Dice& dice, const SchedulerConfig& config,
                const std::string& key, const std::string& queue, Time now) {
  Gang gang;
  gang.key = key;
  gang.queue = queue;
  gang.submitted = now - (dice.OneIn(4) ? 5 * kSecond : 0);
  const char* classes[] = {"", "c0", "c1", "c2"};
  gang.priority_class = classes[dice.Below(4)];
  if (dice.OneIn(3)) {  // The commonest case: many equal single tasks.
    Role role;
    role.shape.resources.Set(kCpu, 1);
    role.shape.devices.count = 1;
    gang.roles.push_back(role);
    return gang;
  }
  const uint32_t roles = 1 + (dice.OneIn(2) ? dice.Below(3) : 0);
  for (uint32_t r = 0; r < roles; ++r) {
    gang.roles.push_back(RandomRole(dice, config, r));
  }
  uint32_t least = 0;
  for (const Role& role : gang.roles) least += role.min_tasks;
  if (least == 0) gang.roles[0].min_tasks = 1;
  if (roles > 1 && dice.OneIn(4)) AddGroups(dice, config, gang);
  if (roles > 1 && dice.OneIn(4)) {
    gang.traffic.push_back({gang.roles[0].name, gang.roles[1].name, 3});
  }
  if (roles > 1 && dice.OneIn(4)) {
    gang.roles[1].start_after.push_back(gang.roles[0].name);
  }
  gang.preemptible = !dice.OneIn(8);
  if (dice.OneIn(12)) {
    gang.on_preempted = static_cast<OnPreempted>(dice.Below(4));
  }
  gang.held = dice.OneIn(12);
  if (dice.OneIn(8)) gang.not_before = now + dice.In(1, 60) * kSecond;
  if (dice.OneIn(6)) gang.max_runtime = dice.In(5, 60) * kSecond;
  gang.restart_cost = dice.In(0, 2) * kSecond;
  MakeElastic(dice, gang);
  return gang;
}

namespace {

Gang Plain(const std::string& queue) {
  Gang gang;
  gang.key = "bad";
  gang.queue = queue;
  gang.roles.emplace_back();
  return gang;
}

EventBody BadGang(Dice& dice, const std::string& queue,
                  const std::string& known) {
  Gang gang = Plain(queue);
  switch (dice.Below(14)) {
    case 0:
      gang.key.clear();
      break;
    case 1:
      gang.key.assign(kMaxKeyLength + 1, 'x');
      break;
    case 2:
      gang.roles.clear();
      break;
    case 3:
      gang.queue = "nowhere";
      break;
    case 4:
      gang.priority_class = "nothing";
      break;
    case 5:
      gang.roles[0].desired_tasks = 0;
      break;
    case 6:
      gang.roles[0].shape.resources.Set(kCpu, -1);
      break;
    case 7:
      gang.roles[0].shape.devices = {1, 2000, 0, {}, ""};
      break;
    case 8:
      gang.roles[0].topology.required = "galaxy";
      break;
    case 9:
      gang.roles[0].node_sets = {"unheard-of"};
      break;
    case 10:
      gang.roles[0].start_after = {gang.roles[0].name};
      break;
    case 11:
      gang.deadline = 5;
      break;
    case 12:
      gang.max_runtime = -1;
      break;
    default:
      gang.key = known == "none" ? "" : known;
      break;
  }
  return GangSubmitted{gang};
}

}  // namespace

EventBody BadEvent(Dice& dice, const std::string& node,
                   const std::string& queue, const std::string& gang) {
  Node twice;
  twice.key = node;
  twice.labels = {{"a", "1"}, {"a", "2"}};
  Node negative;
  negative.key = node;
  negative.capacity.Set(kCpu, -5);
  switch (dice.Below(16)) {
    case 0:
      return NodeDown{"no-such-node"};
    case 1:
      return NodeRemoved{"no-such-node"};
    case 2:
      return NodeDrained{"no-such-node", true};
    case 3:
      return NodeChanged{twice};
    case 4:
      return NodeChanged{negative};
    case 5:
      return ExternalUsageChanged{{node, {}, {{DeviceSet::kCapacity, 10, 0}}}};
    case 6:
      return QueueRemoved{"no-such-queue"};
    case 7:
      return QueueChanged{Queue{.key = queue, .weight = 0}};
    case 8:
      return QueueChanged{Queue{.key = "new", .parent = "no-such"}};
    case 9:
      return GangCancelled{"no-such-gang"};
    case 10:
      return DecisionApplied{1'000'000'000};
    case 11:
      return DecisionRefused{0};
    case 12:
      return CheckpointTaken{gang, kForever};
    case 13:
      return PriorityClassChanged{{.key = "c0", .grace = -1}};
    case 14:
      return Reconciled{.tasks = {{.gang = "no-such-gang", .node = node}}};
    default:
      return BadGang(dice, queue, gang);
  }
}

}  // namespace muster
