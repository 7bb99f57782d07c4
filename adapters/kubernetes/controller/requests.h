// What the controller asks of the API server, and what it hears of it: plain
// values, which a client turns into HTTP.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/api/writers.h"
#include "adapters/kubernetes/controller/queue_tally.h"

namespace muster::kubernetes {

// Of a Binding: the pod's number among its gang's pods of its kind.
inline constexpr char kTaskAnnotation[] = "muster.dev/task";
// Likewise: the decision that placed it.
inline constexpr char kDecisionAnnotation[] = "muster.dev/decision";

// A pod as requests name it: by its UID as well, so that none is about another
// pod of the same name.
struct PodRef {
  std::string namespace_name{};
  std::string name{};
  std::string uid{};

  friend auto operator<=>(const PodRef&, const PodRef&) = default;
};

// POST pods/NAME/binding.
struct BindRequest {
  PodRef pod{};
  std::string node{};
  // The API server annotates the pod with them.
  uint32_t task = 0;      // TaskId::index.
  uint64_t decision = 0;  // Decision::seq.

  friend bool operator==(const BindRequest&, const BindRequest&) = default;
};

// POST pods/NAME/eviction.
struct EvictRequest {
  PodRef pod{};

  friend bool operator==(const EvictRequest&, const EvictRequest&) = default;
};

// PATCH pods/NAME/status: the condition PodScheduled is False.
struct UnscheduledRequest {
  PodRef pod{};
  std::string reason{};  // "Unschedulable", "SchedulerError", ...
  std::string message{};

  friend bool operator==(const UnscheduledRequest&,
                         const UnscheduledRequest&) = default;
};

// PATCH pods/NAME/status: nominatedNodeName; empty: none any more.
struct NominateRequest {
  PodRef pod{};
  std::string node{};

  friend bool operator==(const NominateRequest&,
                         const NominateRequest&) = default;
};

// GET pods/NAME: what it is now is told before the answer comes.
struct ReadRequest {
  PodRef pod{};

  friend bool operator==(const ReadRequest&, const ReadRequest&) = default;
};

// An object in the version that a request is about; others are left alone.
struct ObjectVersion {
  std::string namespace_name{};
  std::string name{};
  std::string uid{};
  std::string resource_version{};

  friend bool operator==(const ObjectVersion&, const ObjectVersion&) = default;
};

// PATCH persistentvolumeclaims/NAME: its volume is to be made for this node;
// empty: for none any more.
struct SelectNodeRequest {
  ObjectVersion claim{};
  std::string node{};

  friend bool operator==(const SelectNodeRequest&,
                         const SelectNodeRequest&) = default;
};

// PATCH persistentvolumes/NAME: it is the claim's.
struct GiveVolumeRequest {
  ObjectVersion volume{};
  ObjectVersion claim{};

  friend bool operator==(const GiveVolumeRequest&,
                         const GiveVolumeRequest&) = default;
};

// An Event.
struct EventRequest {
  api::ObjectReference object{};
  bool warning = false;
  std::string reason{};  // "Scheduled", "FailedScheduling", "Preempted".
  std::string action{};
  std::string note{};

  friend bool operator==(const EventRequest&, const EventRequest&) = default;
};

// PATCH queues/NAME/status, of the queue with this UID. Nothing waits for it.
struct QueueStatusRequest {
  std::string name{};
  std::string uid{};
  int64_t generation = 0;  // Of the object that was looked at.
  QueueCounts counts{};
  api::ResourceList used{};  // Thousandths; with the queues below.

  friend bool operator==(const QueueStatusRequest&,
                         const QueueStatusRequest&) = default;
};

// PATCH podgroups/NAME/status of muster.dev, likewise.
struct GroupStatusRequest {
  std::string namespace_name{};
  std::string name{};
  std::string uid{};
  bool running = false;  // One of its pods is.
  uint32_t pending_pods = 0;
  uint32_t running_pods = 0;
  std::string message{};  // Why it waits.

  friend bool operator==(const GroupStatusRequest&,
                         const GroupStatusRequest&) = default;
};

using RequestBody =
    std::variant<BindRequest, EvictRequest, UnscheduledRequest, NominateRequest,
                 ReadRequest, EventRequest, SelectNodeRequest,
                 GiveVolumeRequest, QueueStatusRequest, GroupStatusRequest>;

struct ApiRequest {
  uint64_t id = 0;  // Rises.
  RequestBody body{};
};

// What became of a request.
enum class ApiOutcome : uint8_t {
  kDone,
  kNotFound,         // 404: there is no such object.
  kConflict,         // 409: the pod is another one, or is bound.
  kRefused,          // Anything else that asking again does not change.
  kTooManyRequests,  // 429 of an eviction: a disruption budget, until the last
                     // time.
  kUnknown,          // The connection broke: it was done, or it was not.
};

struct ApiAnswer {
  uint64_t id = 0;
  ApiOutcome outcome = ApiOutcome::kDone;
  std::string message{};
};

}  // namespace muster::kubernetes
