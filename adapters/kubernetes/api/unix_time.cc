#include "adapters/kubernetes/api/unix_time.h"

#include <chrono>
#include <optional>

#include "absl/time/time.h"

namespace muster::kubernetes::api {
namespace {

// The number that `count` digits at `at` make; -1 if they are none.
int Digits(std::string_view text, size_t at, size_t count) {
  int number = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    number = number * 10 + (text[i] - '0');
  }
  return number;
}

// Nearly every time there is: whole seconds, in UTC. Ten times as fast as
// absl::ParseTime, and a list of pods has two in each.
std::optional<UnixMillis> ParseWholeSeconds(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kForm.size()) return std::nullopt;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] != 'd' && text[i] != kForm[i]) return std::nullopt;
  }
  const int year = Digits(text, 0, 4), month = Digits(text, 5, 2);
  const int day = Digits(text, 8, 2), hour = Digits(text, 11, 2);
  const int minute = Digits(text, 14, 2), second = Digits(text, 17, 2);
  if (year < 0 || month < 0 || day < 0 || hour < 0 || hour > 23 || minute < 0 ||
      minute > 59 || second < 0 || second > 59) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{
      std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
      std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (days * 86400 + hour * 3600 + minute * 60 + second) * 1000;
}

}  // namespace

absl::StatusOr<UnixMillis> ParseTime(std::string_view text) {
  if (const auto time = ParseWholeSeconds(text)) return *time;
  absl::Time time;
  constexpr size_t kMost = 64;
  // absl::ParseTime takes blanks and "infinite-future" as well.
  if (text.empty() || text.size() > kMost || Digits(text, 0, 1) < 0 ||
      text.find(' ') != std::string_view::npos ||
      !absl::ParseTime(absl::RFC3339_full, std::string(text), &time, nullptr)) {
    return absl::InvalidArgumentError("must be a time as of RFC 3339");
  }
  return absl::ToUnixMillis(time);
}

std::string FormatTime(UnixMillis time) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%SZ", absl::FromUnixMillis(time),
                          absl::UTCTimeZone());
}

std::string FormatMicroTime(UnixMillis time) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E6SZ", absl::FromUnixMillis(time),
                          absl::UTCTimeZone());
}

}  // namespace muster::kubernetes::api
