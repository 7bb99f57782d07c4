#include "adapters/kubernetes/controller/warning_book.h"

namespace muster::kubernetes {

void WarningBook::Warn(const api::ObjectReference& object,
                       const std::string& reason, const std::string& note) {
  // Nobody tells when an object ends that never could be read.
  constexpr size_t kMost = 10'000;
  std::pair<api::ObjectReference, std::string> key{object, reason};
  const auto it = told_.find(key);
  if (it != told_.end() && it->second == note) return;
  if (it == told_.end() && told_.size() >= kMost) told_.clear();
  told_[std::move(key)] = note;
  outbox_.Ask(EventRequest{.object = object,
                           .warning = true,
                           .reason = reason,
                           .action = "Reading",
                           .note = note});
}

void WarningBook::Clear(const api::ObjectReference& object,
                        const std::string& reason) {
  if (!told_.empty()) told_.erase({object, reason});
}

}  // namespace muster::kubernetes
