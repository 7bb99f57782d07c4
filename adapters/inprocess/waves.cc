#include "adapters/inprocess/waves.h"

#include <algorithm>

namespace muster::inprocess {
namespace {

bool MayBegin(const Act& act, const LiveGang& g) {
  return std::ranges::all_of(act.after, [&](const auto& after) {
    const auto& [role, least] = after;
    uint32_t running = 0;
    uint32_t flat = g.FlatIndex({.role = role, .index = 0});
    for (uint32_t i = 0; i < g.job.gang.roles[role].desired_tasks; ++i) {
      const TaskLife life = g.tasks[flat++].life;
      if (life == TaskLife::kStarting) return false;
      running += life == TaskLife::kRunning ? 1 : 0;
    }
    return running >= least;
  });
}

// Stopped or lost meanwhile.
bool IsStale(const Act& act, const LiveGang& g) {
  return std::ranges::none_of(act.tasks, [&](const auto& task) {
    return g.tasks[task.first].incarnation == task.second;
  });
}

}  // namespace

void Waves::Add(std::span<const PlannedTask> tasks, const LiveGang& g,
                const Act& all) {
  std::map<uint32_t, Act> waves;
  for (const PlannedTask& t : tasks) {
    const uint32_t wave = all.has(LapseKind::kRefuse) ? 0 : t.wave;
    const uint32_t flat = g.FlatIndex(t.task);
    waves.try_emplace(wave, all).first->second.tasks.emplace_back(
        flat, g.tasks[flat].incarnation);
  }
  std::map<uint32_t, uint32_t> before;  // By role.
  for (auto& [wave, act] : waves) {
    act.whole = act.whole && waves.size() == 1;
    for (const auto& [role, told] : before) {
      act.after.emplace_back(role,
                             std::min(told, g.job.gang.roles[role].min_tasks));
    }
    for (const auto& [flat, incarnation] : act.tasks) {
      ++before[g.IdOf(flat).role];
    }
    acts_[all.slot].push_back(std::move(act));
  }
}

std::optional<Act> Waves::Next(uint32_t slot, const LiveGang& g) {
  const auto waiting = acts_.find(slot);
  if (waiting == acts_.end()) return std::nullopt;
  std::vector<Act>& acts = waiting->second;
  std::erase_if(acts, [&](const Act& act) { return IsStale(act, g); });
  const auto next = std::ranges::find_if(
      acts, [&](const Act& act) { return MayBegin(act, g); });
  std::optional<Act> act;
  if (next != acts.end()) {
    act = std::move(*next);
    acts.erase(next);
  } else if (acts.empty()) {
    acts_.erase(waiting);
  }
  return act;
}

}  // namespace muster::inprocess
