#include "adapters/cli/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace muster::inprocess {

ProgressBar::ProgressBar(std::string title)
    : title_(std::move(title)), enabled_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (enabled_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::Update(uint64_t done, uint64_t all) {
  if (!enabled_ || all == 0) return;
  using namespace std::chrono;
  const int64_t now =
      duration_cast<milliseconds>(steady_clock::now().time_since_epoch())
          .count();
  if (now - last_ms_ < 100) return;
  last_ms_ = now;
  constexpr int kWidth = 40;
  const int filled =
      static_cast<int>(std::min<uint64_t>(kWidth, done * kWidth / all));
  std::fprintf(stderr, "\r%s [%s%s] %3d %%", title_.c_str(),
               std::string(static_cast<size_t>(filled), '#').c_str(),
               std::string(static_cast<size_t>(kWidth - filled), ' ').c_str(),
               static_cast<int>(std::min<uint64_t>(100, done * 100 / all)));
}

}  // namespace muster::inprocess
