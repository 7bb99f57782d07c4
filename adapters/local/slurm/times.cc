#include "adapters/local/slurm/times.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace muster::local::slurm {
namespace {

constexpr int64_t kHour = 3'600;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kMostCount = 1'000'000;

absl::Status Wrong(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", std::string(text),
      "': expected a time such as 2026-01-31T12:00:00, 12:00, today, or "
      "now-2hours"));
}

absl::CivilDay DayOf(int64_t seconds) {
  return absl::ToCivilDay(absl::FromUnixSeconds(seconds),
                          absl::LocalTimeZone());
}

int64_t Begin(absl::CivilDay day) {
  return absl::ToUnixSeconds(absl::FromCivil(day, absl::LocalTimeZone()));
}

// Of "2hours", "30", "1day".
absl::StatusOr<int64_t> ReadSpan(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    ++digits;
  }
  int64_t count = 0;
  if (!absl::SimpleAtoi(std::string(text.substr(0, digits)), &count) ||
      count > kMostCount) {
    return Wrong(text);
  }
  const std::string_view unit = text.substr(digits);
  const struct {
    std::string_view name;
    int64_t seconds;
  } units[] = {{"seconds", 1},
               {"minutes", 60},
               {"hours", kHour},
               {"days", kDay},
               {"weeks", 7 * kDay}};
  if (unit.empty()) return count;
  for (const auto& [name, seconds] : units) {
    if (name == unit || name.substr(0, name.size() - 1) == unit) {
      return count * seconds;
    }
  }
  return Wrong(text);
}

}  // namespace

std::string SpanText(int64_t seconds) {
  const int64_t s = std::max<int64_t>(0, seconds);
  if (s >= kHour && s < kDay) {
    return absl::StrFormat("%d:%02d:%02d", s / kHour, s % kHour / 60, s % 60);
  }
  if (s >= kDay) return LongSpanText(s);
  return absl::StrFormat("%d:%02d", s / 60, s % 60);
}

std::string LongSpanText(int64_t seconds) {
  const int64_t s = std::max<int64_t>(0, seconds);
  const std::string clock = absl::StrFormat("%02d:%02d:%02d", s % kDay / kHour,
                                            s % kHour / 60, s % 60);
  return s < kDay ? clock : absl::StrCat(s / kDay, "-", clock);
}

std::string MomentText(double seconds) {
  return absl::FormatTime(
      "%Y-%m-%dT%H:%M:%S",
      absl::FromUnixSeconds(static_cast<int64_t>(std::floor(seconds))),
      absl::LocalTimeZone());
}

absl::StatusOr<int64_t> ReadMoment(std::string_view text, int64_t now) {
  const absl::CivilDay today = DayOf(now);
  if (text == "now") return now;
  if (text == "today" || text == "midnight") return Begin(today);
  if (text == "tomorrow") return Begin(today + 1);
  if (text == "noon") return Begin(today) + 12 * kHour;
  if (text.starts_with("now-") || text.starts_with("now+")) {
    const auto span = ReadSpan(text.substr(4));
    if (!span.ok()) return Wrong(text);
    return text[3] == '-' ? now - *span : now + *span;
  }
  const std::string whole =
      text.find('-') == std::string_view::npos
          ? absl::StrCat(absl::FormatCivilTime(today), "T", std::string(text))
          : std::string(text);
  for (const char* form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    absl::Time time;
    if (absl::ParseTime(form, whole, absl::LocalTimeZone(), &time, nullptr)) {
      return absl::ToUnixSeconds(time);
    }
  }
  return Wrong(text);
}

}  // namespace muster::local::slurm
