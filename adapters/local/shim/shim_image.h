// ShimImage: the root file system that a task has in place of the machine's.
// The standard library alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/shim/record.h"

namespace muster::local {

// What of the machine is there, too. Both paths are absolute.
struct ShimBind {
  std::string source{};
  std::string target{};  // Within the root file system.
  bool read_only = false;
  bool optional = false;  // Left out where the source is missing.

  friend bool operator==(const ShimBind&, const ShimBind&) = default;
};

struct ShimImage {
  std::string root{};     // An absolute directory; "": the machine's own.
  std::string program{};  // Bubblewrap, by its absolute path.
  std::vector<std::string> options{};  // Of it, beside those of bubblewrap.h.
  std::vector<ShimBind> binds{};

  friend bool operator==(const ShimImage&, const ShimImage&) = default;
};

// What is wrong with it, beginning with the field's name; "": nothing.
// O(bytes).
std::string ProblemOf(const ShimImage& image);

// As fields of the spec, and back: false, it is no field of its. A field of a
// bind belongs to the last one. O(bytes).
void Add(const ShimImage& image, RecordWriter* out);
bool DecodeImageField(std::string_view name, std::string_view value,
                      ShimImage* image);

}  // namespace muster::local
