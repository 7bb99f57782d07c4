#include "lib/scheduler/validate.h"

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/bounds.h"
#include "lib/scheduler/rules.h"
#include "muster/enum_names.h"
#include "muster/fields.h"

namespace muster {
namespace {

// --- Messages, made while the failing calls return: from the inside out -----

absl::Status Within(const std::string& name, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(name, status.message()));
}

template <class N>
absl::Status OutOf(N value, const Bound& bound) {
  return Invalid(": ", value, " is not in ", bound.least, "..", bound.most,
                 bound.or_forever ? ", nor kForever" : "");
}

absl::Status CheckLength(size_t length, const char* unit, const Bound& bound) {
  const auto n = static_cast<int64_t>(length);
  return Require(n >= bound.least && n <= bound.most, ": has ", length, unit,
                 ", not ", bound.least, "..", bound.most);
}

template <class T>
concept Keyed = requires(const T& value) {
  { value.key } -> std::convertible_to<const std::string&>;
};

// "gang 'g'" for a value with a key.
template <class T>
std::string NameOf(const char* name, const T& value) {
  const std::string* key = nullptr;
  if constexpr (Keyed<T>) key = &value.key;
  constexpr bool kIsUsage = std::is_same_v<T, ExternalUsage>;
  if constexpr (kIsUsage) key = &value.node;
  if (key == nullptr || key->empty() || key->size() > kMaxKeyLength) {
    return absl::StrCat(".", name);
  }
  return absl::StrCat(".", name, kIsUsage ? " of '" : " '", *key, "'");
}

// --- The walk ----------------------------------------------------------------

template <class T>
inline constexpr bool kIsVariant = false;
template <class... Ts>
inline constexpr bool kIsVariant<std::variant<Ts...>> = true;

template <std::integral N>
bool IsWithin(const Bound& bound, N n) {
  if constexpr (std::is_same_v<N, bool>) {
    return true;
  } else {
    if (bound.or_forever && std::in_range<Time>(n) &&
        static_cast<Time>(n) == kForever) {
      return true;
    }
    if (std::cmp_greater_equal(n, bound.least) &&
        std::cmp_less_equal(n, bound.most)) {
      return true;
    }
    return bound.most == Bound().most && std::cmp_greater(n, 0);
  }
}

// Sizes of these have an end together: see kMaxSize.
template <class T>
inline constexpr bool kIsSized =
    std::is_same_v<T, Gang> || std::is_same_v<T, Node> ||
    std::is_same_v<T, TypicalTask>;

class Validator {
 public:
  explicit Validator(const SchedulerConfig& config) : config_(config) {}

  template <class T>
  absl::Status Value(const T& value) {
    const size_t before = size_;
    absl::Status status;
    VisitFields(value, [&](int, const char* name, const auto& member) {
      using M = std::remove_cvref_t<decltype(member)>;
      if (!status.ok()) return;
      size_ += 16;
      if constexpr (std::integral<M>) {  // Most members are.
        if (IsWithin(bounds::BoundOf(value, name, member), member)) return;
      }
      if constexpr (std::is_same_v<M, Resources>) {
        status = Amounts(member, std::is_same_v<T, PlacementOptions>,
                         std::is_same_v<T, ExternalUsage>);
      } else {
        status = Member(bounds::BoundOf(value, name, member), member);
      }
      if (!status.ok() && !kIsVariant<M>) {
        status = Within(NameOf(name, member), status);
      }
    });
    if (kIsSized<T> && status.ok() && size_ - before > kMaxSize) {
      return Invalid(": takes ", size_ - before, " bytes; at most ", kMaxSize);
    }
    return status.ok() ? Obeys(value) : status;
  }

 private:
  template <class T>
  absl::Status Obeys(const T& value) {
    if constexpr (requires { Rule(config_, value); }) {
      return Rule(config_, value);
    }
    return absl::OkStatus();
  }

  template <std::integral N>
  absl::Status Member(const Bound& bound, N n) {
    return IsWithin(bound, n) ? absl::OkStatus() : OutOf(n, bound);
  }

  template <class E>
    requires std::is_enum_v<E>
  absl::Status Member(const Bound&, E value) {
    const auto n = static_cast<int64_t>(value);
    if (IsValue<E>(n)) return absl::OkStatus();
    const auto values = static_cast<int64_t>(EnumNames(value).size());
    return OutOf(n, Bound{0, values - 1});
  }

  absl::Status Member(const Bound& bound, const std::string& text) {
    size_ += text.size();
    return CheckLength(text.size(), " bytes", bound);
  }

  template <class M>
  absl::Status Member(const Bound& bound, const std::optional<M>& member) {
    return member.has_value() ? Member(bound, *member) : absl::OkStatus();
  }

  template <class... Ts>
  absl::Status Member(const Bound&, const std::variant<Ts...>& member) {
    return std::visit([this](const auto& each) { return Value(each); }, member);
  }

  // It is judged by itself.
  absl::Status Member(const Bound&, const SchedulerConfig& config) {
    return Validator(config).Value(config);
  }

  template <HasFields M>
  absl::Status Member(const Bound&, const M& member) {
    return Value(member);
  }

  template <class E>
  absl::Status Member(const Bound& bound, const std::vector<E>& list) {
    MUSTER_RETURN_IF_ERROR(CheckLength(list.size(), "", bound));
    for (size_t i = 0; i < list.size(); ++i) {
      size_ += 16;
      absl::Status status =
          Member(bound.of_keys ? bounds::kKey : bounds::kUsual<E>, list[i]);
      if (!status.ok()) return Within(absl::StrCat("[", i, "]"), status);
    }
    return Obeys(list);
  }

  absl::Status Amounts(const Resources& amounts, bool device_kind_too,
                       bool node_kind_too) {
    if (amounts.size() > config_.resources.size()) {
      return Invalid(": has ", amounts.size(), " kinds; the configuration has ",
                     config_.resources.size());
    }
    for (ResourceKind k = 0; k < amounts.size(); ++k) {
      const std::string& name = config_.resources[k];
      if (amounts[k] < 0 || amounts[k] > Resources::kMaxQuantity) {
        return Within("." + name,
                      OutOf(amounts[k], Bound{0, Resources::kMaxQuantity}));
      }
      if (amounts[k] != 0 && name == config_.device_kind && !device_kind_too) {
        return Invalid(".", name, ": is counted by devices and must be 0");
      }
      if (amounts[k] != 0 && name == config_.node_kind && !node_kind_too) {
        return Invalid(".", name, ": is counted by tasks and must be 0");
      }
    }
    return absl::OkStatus();
  }

  const SchedulerConfig& config_;
  size_t size_ = 0;  // Of what has been walked so far.
};

// What the event is called before its fields; events that bring a value go by
// the value's name.
template <class E>
std::string RootOf(const E&) {
  return "";
}
std::string RootOf(const SpotNotice&) { return "spot_notice"; }
std::string RootOf(const CheckpointTaken&) { return "checkpoint"; }
std::string RootOf(const TasksAnswered& e) {
  return absl::StrCat("answer of gang '", e.gang.substr(0, kMaxKeyLength), "'");
}
std::string RootOf(const Reconciled&) { return "reconciled"; }

// The path, which begins with a dot, behind its root.
absl::Status AtRoot(const std::string& root, const absl::Status& status) {
  if (status.ok()) return status;
  const absl::string_view message = status.message();
  const bool dot = root.empty() && !message.empty() && message[0] == '.';
  return absl::Status(status.code(),
                      absl::StrCat(root, message.substr(dot ? 1 : 0)));
}

}  // namespace

absl::Status ValidateConfig(const SchedulerConfig& config) {
  return AtRoot("config", Validator(config).Value(config));
}

absl::Status ValidateEvent(const SchedulerConfig& config, const Event& event) {
  const absl::Status status = Validator(config).Value(event);
  if (status.ok()) return status;
  if (!IsTime(event.at)) return AtRoot("event", status);
  return std::visit(
      [&](const auto& what) { return AtRoot(RootOf(what), status); },
      event.what);
}

absl::Status ValidateNode(const SchedulerConfig& config, const Node& node) {
  return AtRoot("node", Validator(config).Value(node));
}

absl::Status ValidateNodeSet(const SchedulerConfig& config,
                             const NodeSet& set) {
  return AtRoot("set", Validator(config).Value(set));
}

absl::Status ValidateGang(const SchedulerConfig& config, const Gang& gang) {
  return AtRoot("gang", Validator(config).Value(gang));
}

absl::Status ValidateReconfig(const SchedulerConfig& before,
                              const SchedulerConfig& config) {
  const size_t kinds = before.resources.size();
  if (config.resources.size() < kinds ||
      !std::ranges::equal(before.resources,
                          std::span(config.resources).first(kinds))) {
    return Invalid("config.resources: begin with the ", kinds,
                   " kinds there are, in their order");
  }
  if (config.device_kind != before.device_kind) {
    return Invalid("config.device_kind: stays '", before.device_kind, "'");
  }
  if (config.node_kind == before.node_kind) return absl::OkStatus();
  return Require(
      before.node_kind.empty() && before.KindOf(config.node_kind) == kinds,
      "config.node_kind: stays '", before.node_kind,
      "', or names an appended kind where there was none");
}

absl::Status ValidateState(const SchedulerState& state) {
  return AtRoot("state", Validator(state.config).Value(state));
}

absl::Status ValidatePlan(const SchedulerConfig& config,
                          const PlanRecord& plan) {
  return AtRoot("plan", Validator(config).Value(plan));
}

bool IsTime(Time time) { return time >= 0 && time <= kMaxTime; }

absl::Status ValidateTotal(const SchedulerConfig& config, Resources others,
                           std::span<const Node> nodes) {
  for (const Node& node : nodes) {
    for (ResourceKind k = 0; k < config.resources.size(); ++k) {
      const std::string& kind = config.resources[k];
      const int64_t more =
          kind == config.device_kind
              ? static_cast<int64_t>(node.devices.size()) * kWholeDevice
              : node.capacity[k];
      if (more > Resources::kMaxTotal - others[k]) {
        return Invalid("node '", node.key, "'.capacity.", kind,
                       ": the cluster has more than 2^62 with it");
      }
      others.Set(k, others[k] + more);
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
