#include "adapters/local/host/clock.h"

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "adapters/local/shim/shim_start.h"

namespace muster::local {
namespace {

Time Read(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

}  // namespace

ClockSources ClockSources::OfMachine() {
  return {.wall = [] { return Read(CLOCK_REALTIME); },
          .steady = [] { return Read(CLOCK_BOOTTIME); },
          .boot = BootId()};
}

Clock::Clock(ClockSources sources, std::string_view kept)
    : sources_(std::move(sources)),
      steady_(sources_.steady()),
      now_(std::clamp<Time>(sources_.wall(), 0, kMaxTime)) {
  const std::vector<std::string> words =
      absl::StrSplit(std::string(kept), ' ', absl::SkipWhitespace());
  int64_t ahead = 0;  // Of the steady clock.
  if (words.size() != 2 || words[0].empty() || words[0] != sources_.boot ||
      !absl::SimpleAtoi(words[1], &ahead) || ahead < -kMaxTime ||
      ahead > kMaxTime) {
    return;
  }
  now_ = std::clamp<Time>(steady_ + ahead, 0, kMaxTime);
}

Time Clock::Now() {
  const Time steady = sources_.steady();
  const Duration passed = std::max<Duration>(0, steady - steady_);
  steady_ = std::max(steady_, steady);
  const Time wall = std::clamp<Time>(sources_.wall(), 0, kMaxTime);
  const Duration off = wall - (now_ + passed);
  const Duration most = passed / kSlew;
  now_ = std::min(now_ + passed + std::clamp<Duration>(off, -most, most),
                  kMaxTime);
  return now_;
}

void Clock::NotBefore(Time time) { now_ = std::max(now_, time); }

std::string Clock::Save() const {
  return absl::StrCat(sources_.boot, " ", now_ - steady_, "\n");
}

}  // namespace muster::local
