#include "muster/workload/cron.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "lib/workload/cat.h"

namespace muster::workload {
namespace {

using absl::CivilDay;
using absl::CivilHour;
using absl::CivilMinute;
using absl::CivilMonth;
using absl::CivilSecond;

constexpr int kMostYears = 40;  // That are searched.

struct FieldRow {
  std::string_view name{};
  uint32_t low = 0;
  uint32_t high = 0;
  uint32_t first_name = 0;   // The number of the first name.
  std::string_view names{};  // Of three letters each.
  bool day = false;
};
constexpr std::array<FieldRow, 5> kFields = {
    {{"minute", 0, 59},
     {"hour", 0, 23},
     {"day of the month", 1, 31, 0, "", true},
     {"month", 1, 12, 1, "janfebmaraprmayjunjulaugsepoctnovdec"},
     {"day of the week", 0, 7, 0, "sunmontuewedthufrisat", true}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kShort =
    {{{"@yearly", "0 0 1 1 *"},
      {"@annually", "0 0 1 1 *"},
      {"@monthly", "0 0 1 * *"},
      {"@weekly", "0 0 * * 0"},
      {"@daily", "0 0 * * *"},
      {"@midnight", "0 0 * * *"},
      {"@hourly", "0 * * * *"}}};

// Numbers of a field, as bits.
struct Field {
  uint64_t numbers = 0;
  bool all = false;   // "*" or "?": nothing is restricted.
  bool star = false;  // It begins with "*".

  bool Has(int number) const { return (numbers >> number & 1) != 0; }
};

absl::Status Wrong(const FieldRow& row, const std::string& text,
                   const std::string& why) {
  return absl::InvalidArgumentError(
      Cat("schedule: ", row.name, " '", text, "' ", why));
}

// A number, or a name of the field's; false: it is neither, or out of range.
bool ReadNumber(const FieldRow& row, const std::string& text, uint32_t* to) {
  std::string lower = text;
  absl::AsciiStrToLower(&lower);
  for (size_t i = 0; i + 3 <= row.names.size(); i += 3) {
    if (row.names.substr(i, 3) != lower) continue;
    *to = row.first_name + static_cast<uint32_t>(i / 3);
    return true;
  }
  const bool digits =
      !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
        return absl::ascii_isdigit(c);
      });
  return digits && absl::SimpleAtoi(text, to) && *to >= row.low &&
         *to <= row.high;
}

// One of a field's list.
absl::Status ReadItem(const FieldRow& row, const std::string& text,
                      Field* field) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  const std::string& range = parts[0];
  uint32_t step = 1;
  if (parts.size() > 2 ||
      (parts.size() == 2 &&
       (!absl::SimpleAtoi(parts[1], &step) || step == 0 || step > 100))) {
    return Wrong(row, text, "has a step that is none of 1..100");
  }
  uint32_t first = row.low;
  uint32_t last = row.high;
  if (range == "*" || (range == "?" && row.day)) {
    field->star = true;
    field->all |= step == 1;
  } else {
    const std::vector<std::string> ends = absl::StrSplit(range, '-');
    if (ends.size() > 2 || !ReadNumber(row, ends.front(), &first) ||
        !ReadNumber(row, ends.back(), &last)) {
      return Wrong(row, text,
                   Cat("is none of *, N, N-M, */N with numbers of ", row.low,
                       "..", row.high, row.names.empty() ? "" : ", or names"));
    }
    if (first > last) return Wrong(row, text, "begins behind its end");
    if (ends.size() == 1 && parts.size() == 2) last = row.high;  // "A/N".
  }
  for (uint32_t n = first; n <= last; n += step) {
    field->numbers |= uint64_t{1} << n;
  }
  return absl::OkStatus();
}

absl::StatusOr<Field> ReadField(const FieldRow& row, const std::string& text) {
  Field field;
  for (const std::string& item :
       std::vector<std::string>(absl::StrSplit(text, ','))) {
    absl::Status s = ReadItem(row, item, &field);
    if (!s.ok()) return s;
  }
  return field;
}

absl::StatusOr<absl::TimeZone> ReadZone(const std::string& name) {
  if (name.empty()) return absl::LocalTimeZone();
  // A name, and no path to some file.
  const bool plain = std::ranges::all_of(name, [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '/' || c == '_' || c == '-' ||
           c == '+';
  });
  absl::TimeZone zone;
  if (!plain || name.front() == '/' || !absl::LoadTimeZone(name, &zone)) {
    return absl::InvalidArgumentError(
        Cat("time zone: '", name,
            "' is none that this machine knows, such as Europe/Berlin"));
  }
  return zone;
}

}  // namespace

struct CronSchedule::Rep {
  std::string text{};
  std::string zone_name{};
  absl::TimeZone zone{};
  Field minutes{}, hours{}, days{}, months{}, weekdays{};

  // Daylight saving moves it: neither its minute nor its hour is a "*".
  bool fixed() const { return !minutes.star && !hours.star; }
  bool HasDay(CivilDay day) const;
  std::optional<CivilMinute> Match(CivilMinute from, CivilMinute end) const;
  absl::Time NextFixed(absl::Time after) const;
  absl::Time NextByTime(absl::Time after) const;
};

bool CronSchedule::Rep::HasDay(CivilDay day) const {
  // absl counts from Monday, cron from Sunday.
  const int weekday = (static_cast<int>(absl::GetWeekday(day)) + 1) % 7;
  const bool by_date = days.Has(day.day());
  const bool by_weekday = weekdays.Has(weekday);
  if (days.all || weekdays.all) return by_date && by_weekday;
  return by_date || by_weekday;
}

// The first minute that fits, from `from` on and before `end`.
std::optional<CivilMinute> CronSchedule::Rep::Match(CivilMinute from,
                                                    CivilMinute end) const {
  for (CivilMinute t = from; t < end;) {
    if (!months.Has(t.month())) {
      t = CivilMinute(CivilMonth(t) + 1);
    } else if (!HasDay(CivilDay(t))) {
      t = CivilMinute(CivilDay(t) + 1);
    } else if (!hours.Has(t.hour())) {
      t = CivilMinute(CivilHour(t) + 1);
    } else if (!minutes.Has(t.minute())) {
      ++t;
    } else {
      return t;
    }
  }
  return std::nullopt;
}

absl::Time CronSchedule::Rep::NextFixed(absl::Time after) const {
  const CivilMinute begin(absl::ToCivilSecond(after, zone));
  const CivilMinute end(begin.year() + kMostYears);
  for (CivilMinute from = begin;;) {
    const std::optional<CivilMinute> match = Match(from, end);
    if (!match) return absl::InfiniteFuture();
    const absl::TimeZone::TimeInfo at = zone.At(CivilSecond(*match));
    const bool left_out = at.kind == absl::TimeZone::TimeInfo::SKIPPED;
    const absl::Time time = left_out ? at.trans : at.pre;
    if (time > after) return time;
    from = *match + 1;
  }
}

absl::Time CronSchedule::Rep::NextByTime(absl::Time after) const {
  // The next whole minute of the zone.
  const auto whole = [&](absl::Time time) {
    const absl::TimeZone::CivilInfo at = zone.At(time);
    return time - at.subsecond - absl::Seconds(at.cs.second());
  };
  absl::Time time = whole(after) + absl::Minutes(1);
  const CivilMinute end(CivilMinute(absl::ToCivilSecond(after, zone)).year() +
                        kMostYears);
  while (true) {
    const CivilMinute now(absl::ToCivilSecond(time, zone));
    const std::optional<CivilMinute> match = Match(now, end);
    if (!match) return absl::InfiniteFuture();
    const absl::Time then = time + absl::Minutes(*match - now);
    // Up to where clocks are set next.
    absl::TimeZone::CivilTransition change;
    if (!zone.NextTransition(time, &change)) return then;
    const absl::Time set = zone.At(change.to).trans;
    if (then < set || set <= time) return then;
    time = whole(set + absl::Seconds(59));
  }
}

absl::StatusOr<CronSchedule> CronSchedule::Make(std::string_view text,
                                                std::string_view zone) {
  std::string line(text);
  absl::StripAsciiWhitespace(&line);
  auto rep = std::make_shared<Rep>();
  rep->text = line;
  rep->zone_name = std::string(zone);
  for (const auto& [name, fields] : kShort) {
    if (line == name) line = std::string(fields);
  }
  const std::vector<std::string> fields =
      absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (line.starts_with("TZ=") || line.starts_with("CRON_TZ=")) {
    return absl::InvalidArgumentError(
        "schedule: has a time zone, which has a field of its own: timeZone");
  }
  if (fields.size() != kFields.size()) {
    return absl::InvalidArgumentError(
        Cat("schedule: '", line,
            "' does not have five fields, and is none of @yearly, @monthly, "
            "@weekly, @daily, @hourly"));
  }
  Field* const to[] = {&rep->minutes, &rep->hours, &rep->days, &rep->months,
                       &rep->weekdays};
  for (size_t i = 0; i < kFields.size(); ++i) {
    absl::StatusOr<Field> field = ReadField(kFields[i], fields[i]);
    if (!field.ok()) return field.status();
    *to[i] = *field;
  }
  if (rep->weekdays.Has(7)) rep->weekdays.numbers |= 1;
  absl::StatusOr<absl::TimeZone> of = ReadZone(rep->zone_name);
  if (!of.ok()) return of.status();
  rep->zone = *of;
  return CronSchedule(std::move(rep));
}

Time CronSchedule::Next(Time after) const {
  const absl::Time from = absl::FromUnixNanos(std::min(after, kMaxTime));
  const absl::Time next =
      rep_->fixed() ? rep_->NextFixed(from) : rep_->NextByTime(from);
  if (next > absl::FromUnixNanos(kMaxTime)) return kForever;
  return absl::ToUnixNanos(next);
}

std::optional<Time> CronSchedule::Last(Time after, Time until) const {
  if (Next(after) > until) return std::nullopt;
  // The last moment behind which one comes: they are a minute apart.
  Time low = after;
  Time high = until;
  while (high - low > kSecond) {
    const Time middle = low + (high - low) / 2;
    (Next(middle) <= until ? low : high) = middle;
  }
  return Next(low);
}

const std::string& CronSchedule::text() const { return rep_->text; }
const std::string& CronSchedule::zone() const { return rep_->zone_name; }

}  // namespace muster::workload
