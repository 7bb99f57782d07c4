#include "muster/quantity.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "muster/ids.h"

namespace muster {
namespace {

using Wide = __int128;

// A non-negative decimal: digits / 10^decimals.
struct Decimal {
  Wide digits = 0;
  int decimals = 0;
  size_t length = 0;       // Of its text.
  bool cut = false;        // Decimals other than 0 that did not fit.
  bool too_large = false;  // Digits before the point that did not fit.
};

absl::Status Error(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError("'" + std::string(text) + "' " +
                                    std::string(why));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads the number `text` starts with; `whole` is for the message. What does
// not fit is an error, or cut off if `round`.
absl::StatusOr<Decimal> ReadDecimal(std::string_view text,
                                    std::string_view whole,
                                    bool round = false) {
  if (!text.empty() && text[0] == '-') return Error(whole, "is negative");
  constexpr Wide kMaxDigits = Wide{1} << 90;
  constexpr int kMaxDecimals = 18;
  Decimal d;
  bool point = false, any = false;
  for (char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (IsDigit(c)) {
      any = true;
      if (round && point &&
          (d.decimals == kMaxDecimals || d.digits > kMaxDigits)) {
        d.cut |= c != '0';
      } else if (d.digits > kMaxDigits) {
        if (!round) return Error(whole, "is too large");
        d.too_large = true;
      } else {
        d.digits = d.digits * 10 + (c - '0');
        if (point && ++d.decimals > kMaxDecimals) {
          return Error(whole, "has too many decimals");
        }
      }
    } else {
      break;
    }
    ++d.length;
  }
  if (!any) return Error(whole, "is not a number");
  return d;
}

// What a suffix multiplies by: factor / 10^decimals.
struct Factor {
  Wide factor = 1;
  int decimals = 0;
};

// "e3", "E-3", behind the letter.
std::optional<Factor> FactorOfExponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !std::ranges::all_of(text, IsDigit)) return std::nullopt;
  int exponent = 0;
  for (char c : text) exponent = std::min(exponent * 10 + (c - '0'), 1000);
  return Factor{1, negative ? exponent : -exponent};
}

std::optional<Factor> FactorOfSuffix(std::string_view suffix) {
  if (suffix.empty()) return Factor{};
  if (suffix == "m") return Factor{1, 3};
  if (suffix == "u") return Factor{1, 6};
  if (suffix == "n") return Factor{1, 9};
  if (suffix == "k") return Factor{1000, 0};
  if (suffix[0] == 'e' ||
      (suffix[0] == 'E' && suffix.size() > 1 && suffix != "Ei")) {
    return FactorOfExponent(suffix.substr(1));
  }
  static constexpr std::string_view kLetters = "KMGTPE";
  const size_t power = kLetters.find(suffix[0]);
  if (power == std::string_view::npos) return std::nullopt;
  const bool binary = suffix.size() == 2 && suffix[1] == 'i';
  if (!binary && (suffix.size() != 1 || suffix == "K")) return std::nullopt;
  Wide value = 1;
  for (size_t i = 0; i <= power; ++i) value *= binary ? 1024 : 1000;
  return Factor{value, 0};
}

// A quotient that is not negative.
struct Quotient {
  int64_t value = 0;
  bool too_large = false;
  bool fraction = false;  // Something is left beyond the value.
};

Quotient Multiply(const Decimal& d, const Factor& factor, int64_t scale) {
  if (d.digits == 0) return {.too_large = d.too_large, .fraction = d.cut};
  Quotient q{.too_large = d.too_large, .fraction = d.cut};
  Wide product = d.digits;
  q.too_large |= __builtin_mul_overflow(product, factor.factor, &product);
  q.too_large |= __builtin_mul_overflow(product, Wide{scale}, &product);
  int decimals = d.decimals + factor.decimals;
  for (; decimals < 0 && !q.too_large; ++decimals) {
    q.too_large |= __builtin_mul_overflow(product, Wide{10}, &product);
  }
  if (q.too_large) return q;
  constexpr int kMostDecimals = 38;  // 10^38 < 2^127 < 10^39.
  if (decimals > kMostDecimals) return {.fraction = true};
  Wide divisor = 1;
  for (; decimals > 0; --decimals) divisor *= 10;
  constexpr Wide kMax = std::numeric_limits<int64_t>::max();
  if (product <= kMax && divisor <= kMax) {  // Much the faster division.
    const auto n = static_cast<int64_t>(product);
    const auto by = static_cast<int64_t>(divisor);
    q.value = n / by;
    q.fraction |= n % by != 0;
    return q;
  }
  q.fraction |= product % divisor != 0;
  product /= divisor;
  q.too_large = product > kMax;
  if (!q.too_large) q.value = static_cast<int64_t>(product);
  return q;
}

// The value, if it is one exactly.
absl::StatusOr<int64_t> Exact(const Quotient& q, std::string_view whole) {
  if (q.too_large) return Error(whole, "is too large");
  if (q.fraction) {
    return Error(whole, "is not a whole number of the smallest unit");
  }
  return q.value;
}

absl::StatusOr<Quotient> ReadQuantity(std::string_view text, int64_t scale,
                                      bool round, std::string_view whole) {
  absl::StatusOr<Decimal> d = ReadDecimal(text, whole, round);
  if (!d.ok()) return d.status();
  const auto factor = FactorOfSuffix(text.substr(d->length));
  if (!factor.has_value()) {
    return Error(whole,
                 "has an unknown suffix (n u m k M G T P E Ki Mi Gi Ti ...)");
  }
  return Multiply(*d, *factor, scale);
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

}  // namespace

absl::StatusOr<int64_t> ParseQuantity(std::string_view text, int64_t scale) {
  const auto q = ReadQuantity(text, scale, /*round=*/false, text);
  return q.ok() ? Exact(*q, text) : q.status();
}

absl::StatusOr<int64_t> ParseQuantityRoundedUp(std::string_view text,
                                               int64_t scale) {
  const bool negative = text.starts_with('-');
  const size_t sign = negative || text.starts_with('+') ? 1 : 0;
  const auto q = ReadQuantity(text.substr(sign), scale, /*round=*/true, text);
  if (!q.ok()) return q.status();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const int64_t value =
      q->too_large ? kMax : q->value + (q->fraction && q->value < kMax ? 1 : 0);
  return negative ? -value : value;
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
    absl::StatusOr<int64_t> part = Exact(Multiply(*d, Factor{}, unit), text);
    if (!part.ok()) return part.status();
    sum += *part;
    at = end;
  } while (at < text.size());
  if (sum >= kForever) return Error(text, "is too large");
  return static_cast<Duration>(sum);
}

}  // namespace muster
