// Any value of the public API as one line of text: its fields by name, those
// at their defaults left out.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "muster/enum_names.h"
#include "muster/fields.h"
#include "muster/plan.h"
#include "muster/resources.h"

namespace muster {

class Printer {
 public:
  template <class T>
  static std::string Text(const T& value) {
    Printer printer;
    printer.Put(value);
    return printer.out_.str();
  }

 private:
  void Put(const std::string& s) { out_ << '\'' << s << '\''; }
  void Put(bool b) { out_ << (b ? "true" : "false"); }
  template <class T>
    requires std::is_integral_v<T>
  void Put(T value) {
    out_ << +value;
  }
  template <class T>
    requires std::is_enum_v<T>
  void Put(T value) {
    out_ << Name(value);
  }
  template <class T>
  void Put(const std::vector<T>& values) {
    out_ << '[';
    const char* comma = "";
    for (const T& value : values) {
      out_ << comma;
      Put(value);
      comma = ", ";
    }
    out_ << ']';
  }
  template <class T>
  void Put(const std::optional<T>& value) {
    if (value) Put(*value);
  }
  template <class... T>
  void Put(const std::variant<T...>& value) {
    static_assert(sizeof...(T) == std::size(kEventNames));
    out_ << kEventNames[value.index()];
    std::visit([this](const auto& v) { this->Put(v); }, value);
  }
  template <class T>
    requires(std::is_class_v<T> && HasFields<T>)
  void Put(const T& value) {
    out_ << '{';
    const char* comma = "";
    T plain{};
    std::map<int, std::string> defaults;
    VisitFields(plain, [&](int number, const char*, const auto& field) {
      defaults[number] = Printer::Text(field);
    });
    VisitFields(value, [&](int number, const char* name, const auto& field) {
      const std::string text = Printer::Text(field);
      if (text == defaults[number]) return;
      out_ << comma << name << ": " << text;
      comma = ", ";
    });
    out_ << '}';
  }

  static constexpr const char* kEventNames[] = {"NodeChanged",
                                                "NodeDown",
                                                "NodeUp",
                                                "NodeRemoved",
                                                "NodeDrained",
                                                "SpotNotice",
                                                "ExternalUsageChanged",
                                                "NodeSetChanged",
                                                "QueueChanged",
                                                "QueueRemoved",
                                                "PriorityClass",
                                                "GangSubmitted",
                                                "GangHeld",
                                                "GangReprioritized",
                                                "GangCancelled",
                                                "GangFinished",
                                                "CheckpointTaken",
                                                "TasksAnswered",
                                                "Applied",
                                                "Refused",
                                                "Reconciled",
                                                "GangChanged",
                                                "GangMoved",
                                                "GangYielded",
                                                "NodeSetRemoved",
                                                "PriorityClassRemoved",
                                                "DisruptionBudgetChanged",
                                                "ConfigChanged"};

  std::ostringstream out_;
};

// What stands on either side of the first difference of two values.
template <class T>
std::string FirstDifference(const T& one, const T& other) {
  const std::string a = Printer::Text(one), b = Printer::Text(other);
  const size_t at =
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const size_t from = at - std::min<size_t>(at, 300);
  return "\n  one:   ..." + a.substr(from, 600) + "\n  other: ..." +
         b.substr(from, 600);
}

// Two plans that should be one.
inline std::string Differ(const PlanRecord& a, const PlanRecord& b) {
  return "\n  one:   " + Printer::Text(a) + "\n  other: " + Printer::Text(b);
}

}  // namespace muster
