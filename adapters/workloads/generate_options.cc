// Options of generated workloads as text.
#include <array>

#include "adapters/text/quantity.h"
#include "adapters/workloads/generate.h"

namespace muster::inprocess {
namespace {

struct Switch {
  std::string_view key;
  bool GenerateOptions::* on;
};
constexpr std::array<Switch, 6> kSwitches = {{
    {"no-failures", &GenerateOptions::failures},
    {"no-spot", &GenerateOptions::spot},
    {"no-elastic", &GenerateOptions::elastic},
    {"no-quotas", &GenerateOptions::quotas},
    {"no-rhythm", &GenerateOptions::rhythm},
    {"no-warm-start", &GenerateOptions::warm_start},
}};

absl::Status Wrong(std::string_view key, std::string_view value,
                   std::string_view allowed) {
  return absl::InvalidArgumentError(std::string(key) + ": '" +
                                    std::string(value) + "' is not " +
                                    std::string(allowed));
}

// value x scale, in least..most.
absl::Status SetNumber(std::string_view key, std::string_view value,
                       int64_t scale, int64_t least, int64_t most,
                       std::string_view allowed, int64_t* to) {
  const absl::StatusOr<int64_t> n = ParseQuantity(value, scale);
  if (!n.ok() || *n < least || *n > most) return Wrong(key, value, allowed);
  *to = *n;
  return absl::OkStatus();
}

absl::Status SetSeed(std::string_view value, uint64_t* seed) {
  int64_t n = 0;
  const absl::Status status =
      SetNumber("seed", value, 1, 0, INT64_MAX, "a whole number from 0 on", &n);
  if (status.ok()) *seed = static_cast<uint64_t>(n);
  return status;
}

// Thousandths as a decimal number.
std::string Decimal(int64_t permille) {
  std::string text = std::to_string(1000 + permille % 1000);
  text[0] = '.';
  while (text.ends_with('0')) text.pop_back();
  return std::to_string(permille / 1000) + (text == "." ? "" : text);
}

}  // namespace

absl::Status SetGenerateOption(std::string_view key, std::string_view value,
                               GenerateOptions* options) {
  if (key == "preset") {
    const std::optional<Preset> preset = FromName<Preset>(value);
    if (!preset.has_value()) return Wrong(key, value, "small, medium or large");
    options->preset = *preset;
    return absl::OkStatus();
  }
  if (key == "seed") return SetSeed(value, &options->seed);
  if (key == "load") {
    return SetNumber(key, value, 1000, 10, 2000,
                     "a number from 0.01 to 2, of at most three decimals",
                     &options->load_permille);
  }
  if (key == "days") {
    int64_t quarters = 0;
    const absl::Status status =
        SetNumber(key, value, 4, 1, 4 * 366,
                  "a multiple of 0.25, from 0.25 to 366", &quarters);
    if (status.ok()) options->hours = quarters * 6;
    return status;
  }
  std::string known = "preset, load, seed, days";
  for (const Switch& s : kSwitches) {
    if (key == s.key) {
      if (!value.empty()) {
        return absl::InvalidArgumentError(std::string(key) + ": has no value");
      }
      options->*s.on = false;
      return absl::OkStatus();
    }
    known += ", " + std::string(s.key);
  }
  return absl::InvalidArgumentError("there is no '" + std::string(key) +
                                    "' (known: " + known + ")");
}

absl::StatusOr<GenerateOptions> ParseGenerateOptions(std::string_view text) {
  GenerateOptions options;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const size_t equals = std::min(entry.size(), entry.find('='));
    const std::string_view value =
        entry.substr(std::min(entry.size(), equals + 1));
    if (absl::Status status =
            SetGenerateOption(entry.substr(0, equals), value, &options);
        !status.ok()) {
      return status;
    }
  }
  return options;
}

std::string ToText(const GenerateOptions& options) {
  std::string text = "preset=" + std::string(Name(options.preset)) +
                     ",load=" + Decimal(options.load_permille) +
                     ",seed=" + std::to_string(options.seed) +
                     ",days=" + Decimal(options.hours * 1000 / 24);
  for (const Switch& s : kSwitches) {
    if (!(options.*s.on)) text += "," + std::string(s.key);
  }
  return text;
}

}  // namespace muster::inprocess
