// Metrics in the text format that Prometheus reads (version 0.0.4).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/serve/histogram.h"

namespace muster::serve {

inline constexpr char kMetricsContentType[] =
    "text/plain; version=0.0.4; charset=utf-8";
// Bytes of a label's value; what is longer is cut.
inline constexpr size_t kMaxLabel = 256;

// Writes families one after another: Begin, then its samples. Names and labels'
// names are the program's own and are written as they are; labels' values may
// be anybody's: they are bounded, and escaped; what is no UTF-8 becomes U+FFFD.
// Not synchronised; each call O(bytes).
class MetricsText {
 public:
  using Labels =
      std::initializer_list<std::pair<std::string_view, std::string_view>>;

  void Counter(std::string_view name, std::string_view help) {
    Begin(name, "counter", help);
  }
  void Gauge(std::string_view name, std::string_view help) {
    Begin(name, "gauge", help);
  }
  // Of the family that was begun last; no two with the same labels.
  void Sample(Labels labels, double value);
  void Sample(Labels labels, uint64_t value);
  // A family of one histogram.
  void Add(std::string_view name, std::string_view help,
           const Histogram& histogram);

  const std::string& text() const { return text_; }

 private:
  void Begin(std::string_view name, std::string_view type,
             std::string_view help);
  void Line(std::string_view suffix, Labels labels, std::string_view value);

  std::string name_{};
  std::string text_{};
};

// A text as it may stand between a label's quotes. Pure; O(bytes).
std::string LabelValue(std::string_view text);

}  // namespace muster::serve
