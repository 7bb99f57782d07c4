#include "adapters/serve/metrics_text.h"

#include <charconv>
#include <cmath>

#include "adapters/text/utf8.h"

namespace muster::serve {
namespace {

// As Go reads it, which is what Prometheus is written in.
std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  return std::string(digits, end.ptr);
}

}  // namespace

std::string LabelValue(std::string_view text) {
  std::string value;
  for (const char c : text::BoundedUtf8(text, kMaxLabel)) {
    switch (c) {
      case '\\':
        value += R"(\\)";
        break;
      case '"':
        value += R"(\")";
        break;
      case '\n':
        value += R"(\n)";
        break;
      default:
        value += c;
    }
  }
  return value;
}

void MetricsText::Begin(std::string_view name, std::string_view type,
                        std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help);
  text_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void MetricsText::Line(std::string_view suffix, Labels labels,
                       std::string_view value) {
  text_.append(name_).append(suffix);
  char separator = '{';
  for (const auto& [label, label_value] : labels) {
    text_.append(1, separator).append(label).append("=\"");
    text_.append(LabelValue(label_value)).append("\"");
    separator = ',';
  }
  if (separator == ',') text_.append("}");
  text_.append(" ").append(value).append("\n");
}

void MetricsText::Sample(Labels labels, double value) {
  Line("", labels, Number(value));
}

void MetricsText::Sample(Labels labels, uint64_t value) {
  Line("", labels, std::to_string(value));
}

void MetricsText::Add(std::string_view name, std::string_view help,
                      const Histogram& histogram) {
  Begin(name, "histogram", help);
  uint64_t below = 0;
  for (size_t i = 0; i < histogram.bounds().size(); ++i) {
    below += histogram.counts()[i];
    Line("_bucket", {{"le", Number(histogram.bounds()[i])}},
         std::to_string(below));
  }
  Line("_bucket", {{"le", "+Inf"}}, std::to_string(histogram.count()));
  Line("_sum", {}, Number(histogram.sum()));
  Line("_count", {}, std::to_string(histogram.count()));
}

}  // namespace muster::serve
