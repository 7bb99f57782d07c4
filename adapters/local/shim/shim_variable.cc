#include "adapters/local/shim/shim_variable.h"

#include <algorithm>

namespace muster::local {
namespace {

bool HasAny(const std::string& text, std::string_view of) {
  return text.find_first_of(of) != std::string::npos;
}

constexpr std::string_view kNotInNames("=\0", 2);
constexpr std::string_view kNotInKeys("/\0", 2);

}  // namespace

std::string ProblemOf(const std::vector<ShimVariable>& variables) {
  for (const ShimVariable& v : variables) {
    const bool sources = std::ranges::all_of(v.sources, [](const auto& s) {
      return s.starts_with('/') && !HasNul(s);
    });
    if (HasAny(v.name, kNotInNames) || HasAny(v.key, kNotInKeys) ||
        v.key == "." || v.key == ".." || !sources ||
        (v.name.empty() && !v.key.empty()) ||
        (!v.key.empty() && IsReserved(v.name))) {
      return "variables: expected names, keys and absolute paths";
    }
  }
  return "";
}

void Add(const std::vector<ShimVariable>& variables, RecordWriter* out) {
  for (const ShimVariable& v : variables) {
    out->Add("variable", v.name);
    out->Add("variable_key", v.key);
    for (const std::string& source : v.sources) {
      out->Add("variable_source", source);
    }
    out->Add("variable_optional", v.optional ? 1 : 0);
  }
}

bool DecodeVariableField(std::string_view name, std::string_view value,
                         std::vector<ShimVariable>* variables) {
  if (name == "variable") {
    variables->push_back({.name = std::string(value)});
    return true;
  }
  if (variables->empty()) return false;
  ShimVariable& last = variables->back();
  if (name == "variable_key") {
    last.key = value;
  } else if (name == "variable_source") {
    last.sources.emplace_back(value);
  } else if (name == "variable_optional") {
    last.optional = value == "1";
  } else {
    return false;
  }
  return true;
}

}  // namespace muster::local
