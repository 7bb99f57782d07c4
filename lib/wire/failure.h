// Why a value cannot be written or read, and where in it.
#ifndef MUSTER_LIB_WIRE_FAILURE_H_
#define MUSTER_LIB_WIRE_FAILURE_H_

#include <cstddef>
#include <string>

namespace muster::wire::internal {

// The path grows at its front while the failing calls return, so that it costs
// nothing where nothing fails.
struct Failure {
  std::string path{};
  std::string what{};

  void Within(const char* member);
  void WithinElement(size_t i);
  // "roles[1].name: WHAT"
  std::string ToString() const;
};

}  // namespace muster::wire::internal

#endif  // MUSTER_LIB_WIRE_FAILURE_H_
