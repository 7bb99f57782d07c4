#include "lib/solver/rank_assigner.h"

#include <algorithm>

namespace muster::solver {
namespace {

// The tree of the innermost scope that names one.
const Tree& TreeOf(const PlacementProblem& problem, uint32_t role) {
  for (const ScopeIndex s : problem.Chain(role)) {
    if (problem.rule(s).tree >= 0) return problem.tree(problem.rule(s).tree);
  }
  return problem.tree(0);
}

// Whether slices of each layer consist of slices of the next.
bool Nest(std::span<const SliceRule> layers) {
  for (size_t l = 1; l < layers.size(); ++l) {
    if (layers[l - 1].size % layers[l].size != 0) return false;
  }
  return true;
}

}  // namespace

RingPlace RingPlaceOf(const Cluster& cluster, const Allocation& at) {
  RingPlace first{~0u, ~0u, ~0u, at.first_slice, at.devices};
  const std::vector<Device>& devices = cluster.node(at.node).devices;
  for (const uint32_t d : at.devices) {
    if (d >= devices.size()) break;
    const Device& device = devices[d];  // Unknown places, -1, come last.
    first = std::min(first, RingPlace{static_cast<uint32_t>(device.island),
                                      static_cast<uint32_t>(device.numa), d,
                                      at.first_slice, at.devices});
  }
  return first;
}

bool RankAssigner::Before(const Place& a, const Place& b) {
  if (a.position != b.position) return a.position < b.position;
  return a.key != b.key ? a.key < b.key : a.ring < b.ring;
}

void RankAssigner::Apply(const PlacementProblem& problem,
                         std::vector<Assignment>* tasks) {
  for (size_t first = 0; first < tasks->size();) {
    const uint32_t role = (*tasks)[first].task.role;
    const Tree& tree = TreeOf(problem, role);
    places_.clear();
    index_.clear();
    size_t last = first;
    for (; last < tasks->size() && (*tasks)[last].task.role == role; ++last) {
      const Assignment& a = (*tasks)[last];
      const bool inside = tree.index != nullptr && tree.Contains(a.at.node);
      places_.push_back(
          {inside ? tree.index->position[a.at.node] : kOutside,
           inside ? std::string_view()
                  : std::string_view(problem.cluster().node(a.at.node).key),
           RingPlaceOf(problem.cluster(), a.at), a.at});
      index_.push_back(a.task.index);
    }
    runs_.clear();
    Order(problem.Slices(role), index_, places_);
    for (size_t i = first; i < last; ++i) {
      (*tasks)[i].at = places_[i - first].at;
    }
    first = last;
  }
}

void RankAssigner::Order(std::span<const SliceRule> layers,
                         std::span<const uint32_t> index,
                         std::span<Place> places) {
  if (layers.empty()) {
    // Equal ones hold the same.
    if (!std::ranges::is_sorted(places, Before)) {
      std::ranges::sort(places, Before);
    }
    return;
  }
  const uint32_t size = layers[0].size;
  const size_t base = runs_.size();
  for (uint32_t first = 0; first < index.size();) {
    uint32_t last = first;
    while (last < index.size() && index[last] / size == index[first] / size) {
      ++last;
    }
    Order(layers.subspan(1), index.subspan(first, last - first),
          places.subspan(first, last - first));
    if (last - first == size) runs_.push_back(first);
    first = last;
  }
  if (Nest(layers)) OrderRuns(size, base, places);
  runs_.resize(base);
}

// Exchanges whole slices.
void RankAssigner::OrderRuns(uint32_t size, size_t first_run,
                             std::span<Place> places) {
  const auto runs = std::span(runs_).subspan(first_run);
  order_.assign(runs.begin(), runs.end());
  std::ranges::sort(order_, [&](uint32_t a, uint32_t b) {
    if (Before(places[a], places[b])) return true;
    return !Before(places[b], places[a]) && a < b;
  });
  scratch_.clear();
  for (const uint32_t run : order_) {
    const auto from = places.subspan(run, size);
    scratch_.insert(scratch_.end(), from.begin(), from.end());
  }
  for (size_t r = 0; r < runs.size(); ++r) {
    std::copy_n(scratch_.begin() + r * size, size, places.begin() + runs[r]);
  }
}

}  // namespace muster::solver
