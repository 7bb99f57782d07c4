// ShimVariable: variables of a task whose values are in files, so that they are
// nowhere else. The standard library alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/shim/record.h"

namespace muster::local {

struct ShimVariable {
  std::string name{};  // Without a key, what stands before the name of each.
  std::string key{};   // The file; "": each file is a variable.
  // Folders, of which the first that is there has the files. They are read with
  // the rights of the task's user.
  std::vector<std::string> sources{};
  bool optional = false;  // Nothing where folder or file are not there.

  friend bool operator==(const ShimVariable&, const ShimVariable&) = default;
};

// Names of what a task is told of itself, which no file can say otherwise.
inline bool IsReserved(std::string_view name) {
  return name.starts_with("MUSTER_") || name == "CUDA_VISIBLE_DEVICES";
}

// What is wrong with them, beginning with the field's name; "": nothing.
// O(bytes).
std::string ProblemOf(const std::vector<ShimVariable>& variables);

// As fields of the spec, and back: false, it is none of theirs. A field belongs
// to the last variable. O(bytes).
void Add(const std::vector<ShimVariable>& variables, RecordWriter* out);
bool DecodeVariableField(std::string_view name, std::string_view value,
                         std::vector<ShimVariable>* variables);

}  // namespace muster::local
