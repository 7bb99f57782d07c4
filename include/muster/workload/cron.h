// CronSchedule: when a calendar in cron's form comes due.
#ifndef MUSTER_WORKLOAD_CRON_H_
#define MUSTER_WORKLOAD_CRON_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "muster/export.h"
#include "muster/ids.h"

namespace muster::workload {

// Minute (0-59), hour (0-23), day of the month (1-31), month (1-12, jan-dec)
// and day of the week (0-7, sun-sat; 0 and 7 are Sunday), each "*", a number, a
// range A-B, these with a step (*/N, A-B/N, A/N: from A on), or a list of such
// with commas; "?" is "*" for days. Or @yearly, @annually, @monthly, @weekly,
// @daily, @midnight, @hourly. If both days are restricted, one of them
// suffices; "*" and "?" restrict nothing. So does the CronJob of Kubernetes.
//
// Where clocks are set ahead or back in the time zone (daylight saving):
// - A fixed time, one with neither "*" nor "*/N" as its minute or hour, comes
//   once a day: one that is left out, at the moment of the change; one that
//   comes twice, the first time.
// - All others go by the time that passes: what is left out is left out, and
//   what comes twice comes twice.
//
// A value, immutable; copies share what they are made of. Any thread. Time is
// that of the wall clock.
class MUSTER_API CronSchedule {
 public:
  // `zone`: a name of the system's time zones, such as Europe/Berlin; empty:
  // that of the machine. INVALID_ARGUMENT names the field and what is allowed.
  static absl::StatusOr<CronSchedule> Make(std::string_view text,
                                           std::string_view zone = "");

  // The first time after `after`; kForever: none within 40 years. O(days up to
  // it + 60).
  Time Next(Time after) const;
  // The last time after `after` and no later than `until`. The price of Next,
  // some sixty times.
  std::optional<Time> Last(Time after, Time until) const;

  const std::string& text() const;
  const std::string& zone() const;  // As it was given.

 private:
  struct Rep;
  explicit CronSchedule(std::shared_ptr<const Rep> rep)
      : rep_(std::move(rep)) {}
  std::shared_ptr<const Rep> rep_;
};

}  // namespace muster::workload

#endif  // MUSTER_WORKLOAD_CRON_H_
