// Handles, task identities and time: the small values every header shares.
#ifndef MUSTER_IDS_H_
#define MUSTER_IDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace muster {

// Host time and spans of it: nanoseconds since any origin the host likes. The
// library never reads a clock; its time is the largest one it was given. A host
// tells times of 0..kMaxTime (146 years) and spans of 0..kMaxDuration.
using Time = int64_t;
using Duration = int64_t;

// Units of both.
inline constexpr Duration kMillisecond = 1'000'000;
inline constexpr Duration kSecond = 1'000'000'000;
inline constexpr Duration kHour = 3600 * kSecond;
// No such time: never, or nothing is said. Where a field may have it, it says
// so.
inline constexpr Time kForever = std::numeric_limits<int64_t>::max();
inline constexpr Time kMaxTime = kForever / 2;
inline constexpr Duration kMaxDuration = kForever / 4;

// What a host hands in has an end. These hold for every field that names no
// bounds of its own; what goes beyond is refused with the field's name.
//
// Bytes of a key, which has at least one. Keys are the host's: opaque, compared
// bytewise. Keys of labels and taints, names of resources, of levels and of
// partition profiles are keys, too.
inline constexpr size_t kMaxKeyLength = 512;
// Bytes of any other text.
inline constexpr size_t kMaxTextLength = 4096;
// Elements of a list.
inline constexpr size_t kMaxListLength = 4096;
// One gang, node or typical task in all: the bytes of its texts, and 16 for
// each field of it and of what is in it.
inline constexpr size_t kMaxSize = size_t{4} << 20;
// Nodes of a cluster.
inline constexpr uint32_t kMaxNodes = uint32_t{1} << 20;

// A handle to an object inside one scheduler: a dense index, and a generation
// that tells a reused index from its former owner. Handles are cheap names for
// one process; the key is the lasting identity, and no decision depends on a
// handle's value.
template <typename Tag>
struct Handle {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  uint32_t index = kNone;
  uint32_t generation = 0;

  constexpr bool valid() const { return index != kNone; }
  friend constexpr auto operator<=>(Handle, Handle) = default;
};

using GangId = Handle<struct GangTag>;
using NodeId = Handle<struct NodeTag>;
using QueueId = Handle<struct QueueTag>;
using PriorityClassId = Handle<struct PriorityClassTag>;

// One task of a gang: the role's position in Gang::roles, and the task's
// number inside the role, from 0.
struct TaskId {
  uint32_t role = 0;
  uint32_t index = 0;

  friend constexpr auto operator<=>(TaskId, TaskId) = default;
};

}  // namespace muster

#endif  // MUSTER_IDS_H_
