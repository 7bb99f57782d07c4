// Questions from other threads to the one that knows.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace muster::serve {

// Thread-safe. A question is a function that is called on the thread that
// knows, and hands on what it finds as a value.
class Mailbox {
 public:
  using Question = std::function<void()>;

  // `wake` tells the thread that there is one; called on the asking thread.
  Mailbox(size_t most_waiting, std::function<void()> wake)
      : most_waiting_(most_waiting), wake_(std::move(wake)) {}

  // False: `most_waiting` wait already, or it is closed; the question is
  // dropped. O(1).
  bool Put(Question question);
  // Those that wait, oldest first.
  std::vector<Question> Take();
  // Nothing more is taken in, and what waits is dropped.
  void Close();

 private:
  const size_t most_waiting_;
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Question> waiting_;
  bool closed_ = false;
};

}  // namespace muster::serve
