#include "adapters/text/quantity.h"

#include <cstdio>
#include <string>

namespace muster::inprocess {
namespace {

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
