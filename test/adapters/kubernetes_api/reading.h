// What the tests of readers have in common.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/kubernetes/api/readers.h"

namespace muster::kubernetes::api {

// Reads what can be read.
template <typename T>
T Must(std::string_view json) {
  Reader reader;
  auto object = reader.Read<T>(json);
  EXPECT_TRUE(object.ok()) << object.status() << "\n" << json;
  return object.ok() ? *std::move(object) : T{};
}

// The message of what cannot be read; "" if it can.
template <typename T>
std::string WhyNot(std::string_view json) {
  Reader reader;
  auto object = reader.Read<T>(json);
  if (object.ok()) return "";
  EXPECT_EQ(object.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(object.status().message());
}

// The same document with the fields of every object in another order.
inline std::string Shuffled(const nlohmann::json& json, std::mt19937* random) {
  if (json.is_array()) {
    std::string text = "[";
    for (const auto& element : json) {
      if (text.size() > 1) text += " ,\n";
      text += Shuffled(element, random);
    }
    return text + "]";
  }
  if (!json.is_object()) return json.dump();
  std::vector<std::string> fields;
  for (const auto& [key, value] : json.items()) {
    fields.push_back(nlohmann::json(key).dump() + " : " +
                     Shuffled(value, random));
  }
  std::ranges::shuffle(fields, *random);
  std::string text = "{";
  for (const std::string& field : fields) {
    if (text.size() > 1) text += ",";
    text += field;
  }
  return text + "}";
}

}  // namespace muster::kubernetes::api
