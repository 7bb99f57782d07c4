// The standard input of a task that has one: a FIFO in the attempt's folder,
// the shim's user's own. POSIX alone. One thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "adapters/local/shim/open_file.h"

namespace muster::local {

// The shim's side. It keeps an end to write open, so that the task waits for
// more when a writer is gone, and another one may come.
class TaskInput {
 public:
  // Makes the FIFO anew. 0 or an errno.
  int Make(int folder);
  // Where the task reads; -1: it has been made by nobody, or handed over.
  int fd() const { return read_.fd(); }
  // The task has it by now: with its end, writers are told that nobody reads.
  void HandOver() { read_.Close(); }
  // The task reads what has been written, and then the end.
  void End() { write_.Close(); }

 private:
  OpenFile read_;
  OpenFile write_;
};

// Another process's side: gives as much as there is room for, `*taken` bytes,
// at once. 0 or an errno: ENOENT, the task has no input; ENXIO, or EPIPE:
// nobody reads it any more; EAGAIN: there is no room. SIGPIPE is ignored by
// then. O(bytes).
int WriteInput(int folder, std::string_view bytes, size_t* taken);

}  // namespace muster::local
