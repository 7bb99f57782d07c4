#include "lib/index/layout.h"

#include <algorithm>

namespace muster::index {

void Layout::Cut(Position first, Position last, uint32_t domain) {
  while (first < last) {
    const uint32_t count = std::min(kChunk, last - first);
    chunk_of_.insert(chunk_of_.end(), count,
                     static_cast<uint32_t>(chunks_.size()));
    chunks_.push_back({.first = first, .count = count, .domain = domain});
    first += count;
  }
}

void Layout::FindDomainsAround() {
  first_domain_.assign(1, 0);
  for (const std::vector<uint32_t>& level : parents_) {
    first_domain_.push_back(first_domain_.back() +
                            static_cast<uint32_t>(level.size()));
  }
  around_.assign(chunks_.size() * levels_, 0);
  for (uint32_t c = 0; c < chunks_.size(); ++c) {
    uint32_t domain = chunks_[c].domain;
    if (domain == kNoDomain) continue;
    const uint32_t end = domain_chunk_[domain + 1];
    chunks_[c].siblings_end = end;
    chunks_[c].siblings = end - domain_chunk_[domain] > kMaxSiblings
                              ? end
                              : domain_chunk_[domain];
    for (size_t l = levels_; l-- > 0; domain = parents_[l][domain]) {
      around_[c * levels_ + l] = first_domain_[l] + domain;
    }
  }
}

void Layout::Build(const Cluster& cluster, int topology) {
  const TopologyIndex* index =
      topology >= 0 ? &cluster.index(topology) : nullptr;
  if (index != nullptr) {
    nodes_ = index->nodes;
    parents_.resize(index->levels.size());
    children_.resize(index->levels.size());
    for (size_t l = 0; l < index->levels.size(); ++l) {
      const bool narrowest = l + 1 == index->levels.size();
      for (const Domain& d : index->levels[l]) {
        parents_[l].push_back(d.parent);
        children_[l].push_back(narrowest ? d.first_node : d.first_child);
      }
      children_[l].push_back(static_cast<uint32_t>(
          narrowest ? nodes_.size() : index->levels[l + 1].size()));
    }
  }
  levels_ = parents_.size();
  inside_ = size();
  if (!parents_.empty()) {
    const std::span<const uint32_t> first = children_.back();
    for (uint32_t d = 0; d + 1 < first.size(); ++d) {
      domain_chunk_.push_back(static_cast<uint32_t>(chunks_.size()));
      Cut(first[d], first[d + 1], d);
    }
  } else {
    Cut(0, inside_, kNoDomain);  // A topology of hosts alone.
  }
  domain_chunk_.push_back(static_cast<uint32_t>(chunks_.size()));
  inside_chunks_ = static_cast<uint32_t>(chunks_.size());
  for (const NodeIndex n : cluster.nodes()) {
    if (index == nullptr || index->position[n] == TopologyIndex::kOutside) {
      nodes_.push_back(n);
    }
  }
  Cut(inside_, size(), kNoDomain);
  FindDomainsAround();
  position_.assign(cluster.node_limit(), 0);
  for (Position p = 0; p < size(); ++p) position_[nodes_[p]] = p;
}

std::pair<Position, Position> Layout::range(int level, uint32_t domain) const {
  uint32_t first = domain;
  uint32_t last = domain + 1;
  for (int l = level; l < levels(); ++l) {
    first = children_[l][first];
    last = children_[l][last];
  }
  return {first, last};
}

}  // namespace muster::index
