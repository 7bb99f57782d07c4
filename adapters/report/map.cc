#include "adapters/report/map.h"

#include <algorithm>
#include <utility>

namespace muster::inprocess {
namespace {

// A slider with more steps than this is no finer to the hand.
constexpr size_t kMaxSteps = 600;
constexpr size_t kMinSteps = 16;

uint32_t Plain(CellState state) { return static_cast<uint32_t>(state); }

}  // namespace

size_t DeviceMap::max_steps() const {
  return std::clamp(max_cells_ / std::max<size_t>(1, cells_.size()), kMinSteps,
                    kMaxSteps);
}

void DeviceMap::MakeDirty(uint32_t cell) {
  if (cells_[cell].dirty) return;
  cells_[cell].dirty = true;
  dirty_.push_back(cell);
  changed_ = true;
}

void DeviceMap::NodeUpdated(uint32_t node, const RealUsage& real_usage) {
  if (node >= cell_of_.size()) cell_of_.resize(node + 1);
  std::vector<uint32_t>& cells = cell_of_[node];
  while (cells.size() < real_usage.node(node).devices.size()) {
    const auto device = static_cast<uint32_t>(cells.size());
    cells.push_back(static_cast<uint32_t>(cells_.size()));
    cells_.push_back({.node = node, .device = device});
    state_.push_back(Plain(CellState::kAbsent));
  }
  for (uint32_t cell : cells) MakeDirty(cell);
}

void DeviceMap::Take(uint32_t gang, const MapGang& about, uint32_t node,
                     DeviceSet devices) {
  if (devices.empty() || node >= cell_of_.size()) return;
  Holding& holding = holding_[gang];
  if (holding.cells.empty()) holding.about = about;
  for (const uint32_t d : devices) {
    if (d >= cell_of_[node].size()) break;
    const uint32_t cell = cell_of_[node][d];
    std::vector<uint32_t>& holders = cells_[cell].holders;
    holders.insert(std::ranges::upper_bound(holders, gang), gang);
    holding.cells.push_back(cell);
    MakeDirty(cell);
  }
}

void DeviceMap::Leave(uint32_t gang, uint32_t node, DeviceSet devices) {
  const auto found = holding_.find(gang);
  if (found == holding_.end() || node >= cell_of_.size()) return;
  std::vector<uint32_t>& held = found->second.cells;
  for (const uint32_t d : devices) {
    if (d >= cell_of_[node].size()) break;
    const uint32_t cell = cell_of_[node][d];
    std::vector<uint32_t>& holders = cells_[cell].holders;
    const auto holder = std::ranges::find(holders, gang);
    const auto mine = std::ranges::find(held, cell);
    if (holder == holders.end() || mine == held.end()) continue;
    holders.erase(holder);
    *mine = held.back();
    held.pop_back();
    MakeDirty(cell);
  }
  if (held.empty()) holding_.erase(found);
}

void DeviceMap::SetWorking(uint32_t gang, bool working) {
  const auto found = holding_.find(gang);
  if (found == holding_.end() || found->second.working == working) return;
  found->second.working = working;
  for (uint32_t cell : found->second.cells) MakeDirty(cell);
}

uint32_t DeviceMap::StateOf(const Cell& cell, const RealUsage& real_usage) {
  const std::vector<Device>& devices = real_usage.node(cell.node).devices;
  if (cell.device >= devices.size()) return Plain(CellState::kAbsent);
  if (!real_usage.up(cell.node)) return Plain(CellState::kDown);
  const int64_t milli = real_usage.DeviceMilli(cell.node, cell.device);
  if (!cell.holders.empty()) {
    Occupancy o{
        .gangs = cell.holders,
        .milli = static_cast<uint16_t>(std::clamp<int64_t>(milli, 0, 1000)),
        .working = true};
    o.gangs.erase(std::ranges::unique(o.gangs).begin(), o.gangs.end());
    for (uint32_t gang : o.gangs) o.working &= holding_[gang].working;
    return Number(std::move(o));
  }
  if (!devices[cell.device].healthy) return Plain(CellState::kDown);
  return Plain(milli > 0 ? CellState::kOthers : CellState::kFree);
}

uint32_t DeviceMap::Number(Occupancy occupancy) {
  const auto [it, fresh] = numbers_.try_emplace(std::move(occupancy), 0);
  if (!fresh) return it->second;
  if (free_numbers_.empty()) {
    it->second = static_cast<uint32_t>(occupancies_.size()) + kFirstOccupancy;
    occupancies_.push_back(&it->first);
  } else {
    it->second = free_numbers_.back();
    free_numbers_.pop_back();
    occupancies_[it->second - kFirstOccupancy] = &it->first;
  }
  for (uint32_t gang : it->first.gangs) {
    gangs_.try_emplace(gang, holding_[gang].about);
  }
  return it->second;
}

void DeviceMap::TakeStep(Time at, const RealUsage& real_usage) {
  for (uint32_t cell : dirty_) {
    cells_[cell].dirty = false;
    state_[cell] = StateOf(cells_[cell], real_usage);
  }
  dirty_.clear();
  changed_ = false;
  steps_.push_back({at, state_});
  if (steps_.size() > max_steps()) Thin();
  if (numbers_.size() > collect_at_) Collect();
}

void DeviceMap::Advanced(Time from, Time to, const RealUsage& real_usage) {
  if (!changed_) return;
  const Time at =
      steps_.empty() ? from : std::max(from, steps_.back().at + spacing_);
  if (at < to) TakeStep(at, real_usage);
}

void DeviceMap::Thin() {
  const Duration span = steps_.back().at - steps_.front().at;
  spacing_ =
      std::max(2 * spacing_, span / static_cast<Duration>(max_steps() / 2) + 1);
  size_t kept = 1;
  for (size_t i = 1; i < steps_.size(); ++i) {
    if (steps_[i].at < steps_[kept - 1].at + spacing_) continue;
    if (kept != i) steps_[kept] = std::move(steps_[i]);
    ++kept;
  }
  // What the last step showed is still to be seen at some later moment.
  changed_ |= steps_[kept - 1].state != state_;
  steps_.resize(kept);
}

void DeviceMap::Collect() {
  std::vector<bool> used(occupancies_.size(), false);
  const auto mark = [&](const std::vector<uint32_t>& state) {
    for (uint32_t number : state) {
      if (number >= kFirstOccupancy) used[number - kFirstOccupancy] = true;
    }
  };
  for (const Step& step : steps_) mark(step.state);
  mark(state_);
  std::unordered_map<uint32_t, MapGang> gangs;
  for (auto it = numbers_.begin(); it != numbers_.end();) {
    if (!used[it->second - kFirstOccupancy]) {
      free_numbers_.push_back(it->second);
      it = numbers_.erase(it);
      continue;
    }
    for (uint32_t gang : it->first.gangs) {
      gangs.try_emplace(gang, gangs_[gang]);
    }
    ++it;
  }
  gangs_ = std::move(gangs);
  collect_at_ = 2 * numbers_.size() + 4096;
}

}  // namespace muster::inprocess
