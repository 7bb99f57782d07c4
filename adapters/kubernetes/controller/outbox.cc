#include "adapters/kubernetes/controller/outbox.h"

#include <algorithm>
#include <iterator>

namespace muster::kubernetes {

void Outbox::Ask(RequestBody body) {
  requests_.emplace_back(next_id_++, std::move(body));
}

void Outbox::Ask(AwaitedRequest&& request) {
  const uint64_t id = next_id_++;
  requests_.emplace_back(id, request.body);
  awaited_.emplace_hint(awaited_.end(), id, std::move(request));
}

std::vector<AwaitedRequest> Outbox::TakeDue(Time now) {
  std::vector<AwaitedRequest> due;
  std::erase_if(later_, [&](auto& later) {
    if (later.first > now) return false;
    due.push_back(std::move(later.second));
    return true;
  });
  return due;
}

Time Outbox::next_due() const {
  Time next = kForever;
  for (const auto& [at, request] : later_) next = std::min(next, at);
  return next;
}

std::optional<AwaitedRequest> Outbox::TakeAnswered(uint64_t id) {
  auto node = awaited_.extract(id);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

void Outbox::MoveTo(std::vector<ApiRequest>* requests) {
  if (requests->empty()) return requests->swap(requests_);
  requests->insert(requests->end(), std::make_move_iterator(requests_.begin()),
                   std::make_move_iterator(requests_.end()));
  requests_.clear();
}

}  // namespace muster::kubernetes
