#include "adapters/experiments/variant.h"

#include <algorithm>
#include <limits>

#include "adapters/scenario/scenario.h"
#include "adapters/text/yaml_reader.h"

namespace muster::inprocess {
namespace {

absl::Status Wrong(std::string_view where, std::string_view what) {
  return absl::InvalidArgumentError(std::string(where) + ": " +
                                    std::string(what));
}

// Whether one of the keys is the other, or stands for a mapping that has it.
bool Collide(const std::string& a, const std::string& b) {
  return a == b || a.starts_with(b + ".") || b.starts_with(a + ".");
}

// As they would stand in a scenario file.
YAML::Node TreeOf(const Settings& settings) {
  YAML::Node root(YAML::NodeType::Map);
  for (const auto& [key, value] : settings) {
    YAML::Node at = root;
    size_t from = 0;
    for (size_t dot = key.find('.'); dot != std::string::npos;
         dot = key.find('.', from)) {
      at.reset(at[key.substr(from, dot - from)]);
      from = dot + 1;
    }
    at[key.substr(from)] = value;
  }
  return root;
}

}  // namespace

absl::StatusOr<Settings> ParseSettings(std::string_view where,
                                       std::string_view text) {
  Settings settings;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) {
      return Wrong(where, "'" + std::string(entry) + "' is not KEY=VALUE");
    }
    const std::string key(entry.substr(0, equals));
    for (const auto& [other, value] : settings) {
      if (Collide(key, other)) return Wrong(where, key + " is set twice");
    }
    settings.emplace_back(key, entry.substr(equals + 1));
  }
  return settings;
}

absl::StatusOr<Variant> ParseVariant(std::string_view text) {
  const size_t colon = std::min(text.size(), text.find(':'));
  Variant variant{.name = std::string(text.substr(0, colon))};
  const std::string where = "--variant " + variant.name;
  if (variant.name.empty() || variant.name.find('=') != std::string::npos) {
    return Wrong("--variant " + std::string(text),
                 "should be NAME:KEY=VALUE,KEY=VALUE, or NAME alone");
  }
  absl::StatusOr<Settings> settings =
      ParseSettings(where, text.substr(std::min(text.size(), colon + 1)));
  if (!settings.ok()) return settings.status();
  variant.settings = *std::move(settings);
  return variant;
}

std::string SettingsText(const Variant& variant) {
  std::string text;
  for (const auto& [key, value] : variant.settings) {
    text += (text.empty() ? "" : ",") + key + "=" + value;
  }
  return text;
}

absl::Status ApplySettings(std::string_view where, const Settings& settings,
                           const VariantTarget& target) {
  Problems problems(std::string(where), std::numeric_limits<int64_t>::max(),
                    nullptr);
  {
    Fields top(Value(TreeOf(settings), "", &problems), "variant");
    ReadSettings(&top, target.config, target.host);
    top.Optional("queues", [&](const Value& v) {
      Fields f(v, "queues of a variant");
      f.Optional("ordering", [&](const Value& ordering) {
        const auto kind = ordering.Enum<QueueOrdering>();
        for (Queue& queue : *target.queues) queue.ordering = kind;
      });
    });
    if (target.policy != nullptr) top.Enum("policy", target.policy);
  }
  return problems.status();
}

absl::Status ApplyVariant(const Variant& variant, const VariantTarget& target) {
  return ApplySettings("--variant " + variant.name, variant.settings, target);
}

}  // namespace muster::inprocess
