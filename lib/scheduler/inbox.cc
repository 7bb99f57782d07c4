#include "lib/scheduler/inbox.h"

#include "absl/strings/str_cat.h"
#include "lib/base/hash.h"

namespace muster {

Inbox::Node::Node(Gang g) : gang(std::move(g)) {
  set_key({gang.key, gang.submitted, StableHasher()(gang)});
}

Inbox::~Inbox() {
  heap_.PopAll([](Node* node) { delete node; });
}

absl::Status Inbox::Push(Gang gang) {
  const uint64_t limit = limit_.load(std::memory_order_relaxed);
  const uint64_t before = size_.fetch_add(1, std::memory_order_relaxed);
  if (limit > 0 && before >= limit) {
    size_.fetch_sub(1, std::memory_order_relaxed);
    return absl::ResourceExhaustedError(
        absl::StrCat("gang '", gang.key, "': ", limit,
                     " gangs wait to be taken (config.inbox_limit)"));
  }
  heap_.Push(new Node(std::move(gang)));
  return absl::OkStatus();
}

std::unique_ptr<Gang> Inbox::Pop() {
  const std::unique_ptr<Node> node(heap_.PopDrained());
  if (node == nullptr) return nullptr;
  size_.fetch_sub(1, std::memory_order_relaxed);
  return std::make_unique<Gang>(std::move(node->gang));
}

}  // namespace muster
