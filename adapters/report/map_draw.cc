// The finished map: neighbours together, steps as differences.
#include <algorithm>
#include <numeric>
#include <utility>

#include "adapters/report/map.h"

namespace muster::inprocess {
namespace {

// Numbers count as numbers: rack-2 before rack-10.
bool Before(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    size_t ie = i, je = j;
    while (ie < a.size() && digit(a[ie])) ++ie;
    while (je < b.size() && digit(b[je])) ++je;
    while (i < ie && a[i] == '0') ++i;
    while (j < je && b[j] == '0') ++j;
    if (ie - i != je - j) return ie - i < je - j;
    const int order = a.compare(i, ie - i, b, j, je - j);
    if (order != 0) return order < 0;
    i = ie;
    j = je;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

std::string LabelOf(const Node& node, const std::string& key) {
  const auto it = std::ranges::find(node.labels, key, &Label::key);
  return it == node.labels.end() ? std::string() : it->value;
}

MapPicture::Node Describe(const Node& node, uint32_t devices,
                          const std::vector<std::string>& levels) {
  MapPicture::Node n{.key = node.key, .devices = devices};
  if (!node.devices.empty()) n.model = node.devices[0].model;
  for (const std::string& level : levels) {
    n.path.push_back(LabelOf(node, level));
  }
  return n;
}

size_t Bytes(const MapPicture& p) {
  size_t bytes = p.changes.size() * 4 / 3;  // As base64.
  for (const Occupancy& o : p.occupancies) bytes += 12 + 7 * o.gangs.size();
  for (const MapGang& g : p.gangs) bytes += 12 + g.key.size();
  return bytes;
}

}  // namespace

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) {
    out->push_back(static_cast<char>(0x80 | (value & 0x7f)));
  }
  out->push_back(static_cast<char>(value));
}

MapPicture DeviceMap::Finish(Time end, const RealUsage& real_usage,
                             const std::vector<std::string>& levels,
                             size_t max_bytes) {
  if (steps_.empty() || changed_ || steps_.back().at < end) {
    TakeStep(end, real_usage);
  }
  for (Step& step : steps_) {
    step.state.resize(cells_.size(), static_cast<uint32_t>(CellState::kAbsent));
  }
  std::vector<uint32_t> nodes(cell_of_.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::erase_if(nodes, [&](uint32_t n) { return cell_of_[n].empty(); });
  std::vector<MapPicture::Node> about(cell_of_.size());
  for (uint32_t n : nodes) {
    about[n] = Describe(real_usage.node(n),
                        static_cast<uint32_t>(cell_of_[n].size()), levels);
  }
  std::ranges::stable_sort(nodes, [&](uint32_t a, uint32_t b) {
    const MapPicture::Node &x = about[a], &y = about[b];
    for (size_t l = 0; l < x.path.size(); ++l) {
      if (x.path[l] != y.path[l]) return Before(x.path[l], y.path[l]);
    }
    if (x.path.empty() && x.model != y.model) return x.model < y.model;
    return Before(x.key, y.key);
  });
  std::vector<uint32_t> order;
  for (uint32_t n : nodes) {
    order.insert(order.end(), cell_of_[n].begin(), cell_of_[n].end());
  }
  MapPicture picture = Draw(order);
  while (Bytes(picture) > max_bytes && steps_.size() > 2) {
    size_t kept = 1;
    for (size_t i = 2; i < steps_.size(); ++i) {
      if (i % 2 == 1 && i + 1 < steps_.size()) continue;
      steps_[kept++] = std::move(steps_[i]);
    }
    steps_.resize(kept);
    spacing_ = (steps_.back().at - steps_.front().at) /
               static_cast<Duration>(steps_.size());
    picture = Draw(order);
  }
  for (uint32_t n : nodes) picture.nodes.push_back(std::move(about[n]));
  picture.spacing = spacing_;
  return picture;
}

MapPicture DeviceMap::Draw(const std::vector<uint32_t>& order) const {
  MapPicture picture;
  std::unordered_map<uint32_t, uint32_t> renumbered, gangs;
  const auto number = [&](uint32_t was) {
    if (was < kFirstOccupancy) return was;
    const auto [it, fresh] = renumbered.try_emplace(
        was,
        static_cast<uint32_t>(picture.occupancies.size()) + kFirstOccupancy);
    if (!fresh) return it->second;
    Occupancy o = *occupancies_[was - kFirstOccupancy];
    for (uint32_t& gang : o.gangs) {
      const auto [g, first] =
          gangs.try_emplace(gang, static_cast<uint32_t>(picture.gangs.size()));
      if (first) picture.gangs.push_back(gangs_.at(gang));
      gang = g->second;
    }
    picture.occupancies.push_back(std::move(o));
    return it->second;
  };
  std::vector<uint32_t> before(cells_.size(), 0);
  for (const Step& step : steps_) {
    picture.steps.push_back(step.at);
    std::string runs;
    uint64_t count = 0;
    size_t behind = 0;  // Of the last run.
    for (size_t p = 0; p < order.size();) {
      const uint32_t now = step.state[order[p]];
      if (before[order[p]] == now) {
        ++p;
        continue;
      }
      size_t end = p + 1;
      while (end < order.size() && step.state[order[end]] == now &&
             before[order[end]] != now) {
        ++end;
      }
      AppendVarint(p - behind, &runs);
      AppendVarint(end - p, &runs);
      AppendVarint(number(now), &runs);
      ++count;
      p = behind = end;
    }
    AppendVarint(count, &picture.changes);
    picture.changes += runs;
    before = step.state;
  }
  return picture;
}

}  // namespace muster::inprocess
