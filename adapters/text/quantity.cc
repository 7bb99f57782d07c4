#include "adapters/text/quantity.h"

#include <cstdio>
#include <limits>
#include <string>

#include "absl/status/status.h"

namespace muster::inprocess {
namespace {

using Wide = __int128;

// A non-negative decimal: digits / 10^decimals.
struct Decimal {
  Wide digits = 0;
  int decimals = 0;
  size_t length = 0;  // Of its text.
};

absl::Status Error(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError("'" + std::string(text) + "' " +
                                    std::string(why));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads the number `text` starts with; `whole` is for the message.
absl::StatusOr<Decimal> ReadDecimal(std::string_view text,
                                    std::string_view whole) {
  if (!text.empty() && text[0] == '-') return Error(whole, "is negative");
  Decimal d;
  bool point = false, any = false;
  for (char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (IsDigit(c)) {
      any = true;
      if (d.digits > (Wide{1} << 90)) return Error(whole, "is too large");
      d.digits = d.digits * 10 + (c - '0');
      if (point && ++d.decimals > 18) {
        return Error(whole, "has too many decimals");
      }
    } else {
      break;
    }
    ++d.length;
  }
  if (!any) return Error(whole, "is not a number");
  return d;
}

// d x scale, if that is a whole number that fits.
absl::StatusOr<int64_t> Scale(const Decimal& d, Wide scale,
                              std::string_view whole) {
  Wide divisor = 1;
  for (int i = 0; i < d.decimals; ++i) divisor *= 10;
  constexpr Wide kMax = std::numeric_limits<int64_t>::max();
  if (d.digits != 0 && scale > (Wide{1} << 120) / d.digits) {
    return Error(whole, "is too large");
  }
  const Wide product = d.digits * scale;
  if (product % divisor != 0) {
    return Error(whole, "is not a whole number of the smallest unit");
  }
  if (product / divisor > kMax) return Error(whole, "is too large");
  return static_cast<int64_t>(product / divisor);
}

// The suffix as a multiple of 1/1000, or 0 for none such.
Wide MilliOfSuffix(std::string_view suffix) {
  if (suffix.empty()) return 1000;
  if (suffix == "m") return 1;
  if (suffix == "k") return 1000 * Wide{1000};
  static constexpr std::string_view kLetters = "KMGTPE";
  const size_t power = kLetters.find(suffix[0]);
  if (power == std::string_view::npos) return 0;
  const bool binary = suffix.size() == 2 && suffix[1] == 'i';
  if (!binary && (suffix.size() != 1 || suffix == "K")) return 0;
  Wide value = 1000;
  for (size_t i = 0; i <= power; ++i) value *= binary ? 1024 : 1000;
  return value;
}

Duration UnitLength(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1000;
  if (unit == "ms") return kMillisecond;
  if (unit == "s") return kSecond;
  if (unit == "m") return 60 * kSecond;
  if (unit == "h") return kHour;
  if (unit == "d") return 24 * kHour;
  return 0;
}

std::string Trimmed(double value, int decimals) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", decimals, value);
  std::string s = buffer;
  if (s.find('.') != std::string::npos) {
    s.erase(s.find_last_not_of('0') + 1);
    if (s.back() == '.') s.pop_back();
  }
  return s;
}

}  // namespace

absl::StatusOr<int64_t> ParseQuantity(std::string_view text, int64_t scale) {
  absl::StatusOr<Decimal> d = ReadDecimal(text, text);
  if (!d.ok()) return d.status();
  const Wide milli = MilliOfSuffix(text.substr(d->length));
  if (milli == 0) {
    return Error(text, "has an unknown suffix (m k M G T P E Ki Mi Gi Ti ...)");
  }
  d->decimals += 3;
  return Scale(*d, milli * scale, text);
}

absl::StatusOr<Duration> ParseDuration(std::string_view text) {
  if (text == "0") return 0;
  Wide sum = 0;
  size_t at = 0;
  do {
    absl::StatusOr<Decimal> d = ReadDecimal(text.substr(at), text);
    if (!d.ok()) return d.status();
    at += d->length;
    size_t end = at;
    while (end < text.size() && !IsDigit(text[end]) && text[end] != '.') ++end;
    const Duration unit = UnitLength(text.substr(at, end - at));
    if (unit == 0) return Error(text, "lacks a unit (ns us ms s m h d)");
    absl::StatusOr<int64_t> part = Scale(*d, unit, text);
    if (!part.ok()) return part.status();
    sum += *part;
    at = end;
  } while (at < text.size());
  if (sum >= kForever) return Error(text, "is too large");
  return static_cast<Duration>(sum);
}

std::string FormatSeconds(Duration d) {
  return Trimmed(static_cast<double>(d) / kSecond, 3);
}

std::string FormatSpan(Duration d) {
  const double s = static_cast<double>(d) / kSecond;
  if (s < 60) return Trimmed(s, 2) + " s";
  if (s < 3600) return Trimmed(s / 60, 1) + " min";
  if (s < 2 * 86400) return Trimmed(s / 3600, 1) + " h";
  return Trimmed(s / 86400, 1) + " d";
}

}  // namespace muster::inprocess
