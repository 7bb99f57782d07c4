#include <string>

#include "google/protobuf/util/message_differencer.h"
#include "muster/wire/convert.h"
#include "muster/wire/proto.h"

namespace muster::wire {

template <Value T>
std::string Difference(const T& expected, const T& actual) {
  const absl::StatusOr<std::string> bytes = Serialize(expected);
  const absl::StatusOr<std::string> others = Serialize(actual);
  if (!bytes.ok()) return std::string(bytes.status().message());
  if (!others.ok()) return std::string(others.status().message());
  if (*bytes == *others) return {};  // Nearly always.
  Message<T> a, b;
  a.ParseFromString(*bytes);
  b.ParseFromString(*others);
  std::string all;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&all);
  differencer.Compare(a, b);
  return all.substr(0, all.find('\n'));
}

#define MUSTER_WIRE_DIFFERENCE(T) \
  template std::string Difference(const T&, const T&);
MUSTER_WIRE_VALUES(MUSTER_WIRE_DIFFERENCE)

}  // namespace muster::wire
