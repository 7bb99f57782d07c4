// Times and spans as Slurm writes and reads them. Local time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::local::slurm {

// "0:07", "1:02:03", "2-03:04:05": squeue's.
std::string SpanText(int64_t seconds);
// "00:00:07", "2-03:04:05": sacct's.
std::string LongSpanText(int64_t seconds);
// "2026-01-31T12:00:00"
std::string MomentText(double seconds);

// "2026-01-31", "2026-01-31T12:00[:00]", "12:00[:00]" of today, "now",
// "now-2hours", "today", "midnight", "noon", "tomorrow": seconds since 1970.
// `now`: the same. INVALID_ARGUMENT says what is expected. Pure but for the
// time zone.
absl::StatusOr<int64_t> ReadMoment(std::string_view text, int64_t now);

}  // namespace muster::local::slurm
