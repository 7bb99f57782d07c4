// A bar on the terminal while something takes long.
#pragma once

#include <cstdint>
#include <string>

namespace muster::inprocess {

// Draws on stderr, a few times a second, and only if that is a terminal; the
// line is wiped when the bar goes.
class ProgressBar {
 public:
  explicit ProgressBar(std::string title);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Update(uint64_t done, uint64_t all);

 private:
  std::string title_;
  bool enabled_;
  int64_t last_ms_ = 0;
};

}  // namespace muster::inprocess
