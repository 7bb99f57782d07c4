// What stopping a gang costs, as a function of time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "lib/base/fraction.h"
#include "muster/device.h"
#include "muster/ids.h"
#include "muster/preemption_costs.h"

namespace muster {

// `amount` thousandths of devices (or cores) x the work that is lost, which is
// `lost`, or lost + now while it runs. It follows from the gang's record alone,
// so that time passes without an update.
struct StopCost {
  bool accrues = false;
  int64_t amount = 0;
  Duration lost = 0;

  // What is lost by then.
  Duration LostAt(Time now) const {
    return std::max<Duration>(0, accrues ? lost + now : lost);
  }
  // What losing so much work on the amount costs, in device-milliseconds.
  static int64_t CostOf(int64_t amount, Duration lost) {
    const Wide cost = Wide{std::max<int64_t>(amount, 1)} *
                      (lost / kMillisecond) / kWholeDevice;
    return static_cast<int64_t>(std::min<Wide>(cost, kMost));
  }
  // What a gang loses counts no more.
  static constexpr int64_t kMost = int64_t{1} << 52;
  // What its restart counts.
  static Duration RestartOf(const PreemptionCosts& costs, Duration restart) {
    const Wide weighted = Wide{restart} * costs.restart / 1000;
    return static_cast<Duration>(std::min<Wide>(weighted, kMaxDuration));
  }
  // What stopping a gang of that stop_cost costs, at the least, for each of its
  // devices; of equal stop costs but for what is lost, in the order of that.
  // One that was only nominated loses nothing, and costs nothing.
  Duration RateAt(Time now, const PreemptionCosts& costs) const {
    const Duration lost_now = LostAt(now);
    if (amount == kUnknown || (!accrues && lost == 0)) return lost_now;
    const Wide share =
        Wide{costs.gang} * kMillisecond * kWholeDevice / Unrounded(amount);
    return static_cast<Duration>(
        std::min<Wide>(lost_now + share, kForever / 4));
  }

  // Where it is a matter of the devices that there are.
  static constexpr int64_t kUnknown = 0;
  // An amount that is no more, and less by a ninth at most, so that few differ;
  // of up to sixteen whole devices, the same.
  static int64_t Rounded(int64_t amount) {
    return amount % kWholeDevice == 0
               ? kWholeDevice * Leading(amount / kWholeDevice)
               : Leading(amount);
  }

  friend bool operator==(const StopCost&, const StopCost&) = default;

  // No amount that is rounded to this one is more.
  static int64_t Unrounded(int64_t rounded) {
    const bool exact =
        rounded % kWholeDevice == 0 && rounded < kWholeDevice * 2 * kLeast;
    return exact ? rounded : rounded + rounded / kLeast;
  }

 private:
  static constexpr int64_t kLeast = 8;  // Of four binary digits.
  // The first four of them; no multiple of a whole device looks like that.
  static int64_t Leading(int64_t amount) {
    const int drop =
        std::max(0, 60 - std::countl_zero(static_cast<uint64_t>(amount)));
    return amount >> drop << drop;
  }
};

}  // namespace muster
