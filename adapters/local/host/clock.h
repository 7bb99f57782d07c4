// Clock: musterd's time. It tells the time of day and never jumps.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "muster/ids.h"

namespace muster::local {

// Nanoseconds: since 1970, as whoever sets the machine's clock has it; and
// since some moment of this start of the machine, with the time for which it
// slept.
struct ClockSources {
  std::function<Time()> wall{};
  std::function<Time()> steady{};
  std::string boot{};  // Which start of the machine it is.

  static ClockSources OfMachine();
};

// Limits and delays of jobs count on it, and the history is ordered by it: it
// moves as the steady clock does and never back. Where the wall clock says
// otherwise, as it was set, it nears that by at most kSlew of the time that
// passes: an hour in eight days. Not synchronised.
class Clock {
 public:
  static constexpr int64_t kSlew = 200;  // One part in so many.

  // Begins with the wall's time; or where Save's text of the same start of the
  // machine is `kept`, with what that clock would tell now. Any other text is
  // none.
  explicit Clock(ClockSources sources, std::string_view kept = "");

  Time Now();
  // It is not before `time`: something has been told to have happened then.
  void NotBefore(Time time);
  // For the clock of the next program.
  std::string Save() const;

 private:
  ClockSources sources_;
  Time steady_ = 0;  // When it was last looked at,
  Time now_ = 0;     // and what was told then.
};

}  // namespace muster::local
