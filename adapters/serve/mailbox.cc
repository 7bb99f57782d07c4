#include "adapters/serve/mailbox.h"

#include <utility>

namespace muster::serve {

bool Mailbox::Put(Question question) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(question));
  }
  wake_();
  return true;
}

std::vector<Mailbox::Question> Mailbox::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void Mailbox::Close() {
  std::vector<Question> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(waiting_);
}

}  // namespace muster::serve
