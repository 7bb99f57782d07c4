// Bodies of requests to the API server, as JSON. Equal arguments make equal
// bodies. Texts may hold anything: they are escaped, bytes that are no UTF-8
// become U+FFFD, and what the server bounds is cut off there, at the end of a
// character. Pure functions: any thread; O(bytes).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/kubernetes/api/objects.h"

namespace muster::kubernetes::api {

// Bytes of texts in conditions and Events; the server allows a note as much,
// and messages of conditions more.
inline constexpr size_t kMaxMessage = 1024;
inline constexpr size_t kMaxReason = 128;  // And actions, and instances.

// Whom a request or an Event is about.
struct ObjectReference {
  std::string api_version{};
  std::string kind{};
  std::string namespace_name{};  // "": it is in none.
  std::string name{};
  std::string uid{};
  std::string resource_version{};
  std::string field_path{};

  friend auto operator<=>(const ObjectReference&,
                          const ObjectReference&) = default;
};

// --- Pods --------------------------------------------------------------------

struct PodBinding {
  std::string_view namespace_name{};
  std::string_view name{};
  std::string_view uid{};
  std::string_view node{};
};
using Annotation = std::pair<std::string_view, std::string_view>;

// POST .../pods/NAME/binding. The pod is refused (409) if it has another uid.
// The server puts the annotations, of different keys, on the pod.
std::string BindingBody(const PodBinding& binding,
                        std::initializer_list<Annotation> annotations);

struct DeleteOptions {
  std::string uid{};                       // Precondition: 409 for another one.
  std::string resource_version{};          // Likewise.
  std::optional<int64_t> grace_seconds{};  // Unset: the pod's own.
  std::string propagation{};  // "Background", "Foreground", "Orphan" or "".
};
// The body of a DELETE.
std::string DeleteOptionsBody(const DeleteOptions& options);
// POST .../pods/NAME/eviction: policy/v1. The server answers 429 while a
// disruption budget does not allow it.
std::string EvictionBody(const ObjectReference& pod,
                         const DeleteOptions& options);

struct Condition {
  std::string type{};
  std::string status{};  // "True", "False", "Unknown".
  std::string reason{};
  std::string message{};
  UnixMillis last_transition = 0;  // When `status` last changed.
  std::optional<int64_t> observed_generation{};
};

// A strategic merge patch of .../pods/NAME/status: those conditions, by type,
// and no others.
struct PodStatusPatch {
  std::string uid{};  // 409 for another one; "": no precondition.
  std::vector<Condition> conditions{};
  // Unset: as it is; "": none.
  std::optional<std::string> nominated_node_name{};
};
std::string PodStatusPatchBody(const PodStatusPatch& patch);

// A merge patch of annotations of any object; a value that is unset removes it.
// 409 if it has another UID or, unless that is "", another resource version.
std::string AnnotationsPatchBody(
    std::string_view uid,
    const std::map<std::string, std::optional<std::string>>& annotations,
    std::string_view resource_version = "");

// A merge patch of a persistent volume: it is for this claim, and was given to
// it by a program. 409 if the volume has another UID or resource version.
std::string VolumeClaimPatchBody(const ObjectReference& volume,
                                 const ObjectReference& claim);

// --- Events ------------------------------------------------------------------

// events.k8s.io/v1.
struct Event {
  // Unique in its namespace: a DNS name.
  std::string name{};
  // "" where the object has none: the Event is then in "default".
  ObjectReference regarding{};
  std::optional<ObjectReference> related{};
  bool warning = false;
  std::string reason{};  // "Scheduled", "FailedScheduling", ...: for programs.
  std::string action{};  // "Binding", "Preempting", ...: what was done.
  std::string note{};    // For people.
  UnixMillis time = 0;
  // How often it has happened, if more than once, and when last.
  int32_t count = 1;
  UnixMillis last_time = 0;
  std::string controller{};  // "muster.dev/scheduler".
  std::string instance{};    // Which one of its replicas.
};
// In which namespace it is POSTed.
std::string_view NamespaceOf(const Event& event);
std::string EventBody(const Event& event);
// A merge patch of one that is there: it has happened again. `count` is 2 or
// more.
std::string EventSeriesPatchBody(int32_t count, UnixMillis last_time);

// --- Groups, queues ----------------------------------------------------------

// A patch of .../podgroups/NAME/status: with strategic merge
// (scheduling.k8s.io) those conditions, by type; with JSON merge (custom
// resources) they take the place of all there are. `uid` as in PodStatusPatch.
std::string GroupStatusPatchBody(std::string_view uid,
                                 const std::vector<Condition>& conditions);

struct MusterGroupStatus {
  std::string phase{};  // "Pending", "Running".
  int64_t pending_pods = 0;
  int64_t running_pods = 0;
  std::string message{};  // Why it waits.
};
// A JSON merge patch of the status of a PodGroup of muster.dev.
std::string MusterGroupStatusPatchBody(std::string_view uid,
                                       const MusterGroupStatus& status);

struct QueueStatus {
  int64_t observed_generation = 0;
  int64_t pending_groups = 0;
  int64_t running_groups = 0;
  int64_t pending_pods = 0;
  int64_t running_pods = 0;
  ResourceList used{};  // In thousandths; written as quantities.
  std::vector<Condition> conditions{};
};
// A JSON merge patch of .../queues/NAME/status. Resources that are used no more
// have to be in `used` with 0.
std::string QueueStatusPatchBody(std::string_view uid,
                                 const QueueStatus& status);

// Thousandths as a quantity: "2", "1500m".
std::string FormatQuantity(int64_t thousandths);

}  // namespace muster::kubernetes::api
