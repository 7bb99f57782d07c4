#include "adapters/kubernetes/host/writer.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/api/storage.h"
#include "adapters/kubernetes/api/writers.h"
#include "adapters/kubernetes/controller/object_refs.h"

namespace muster::kubernetes {
namespace {

constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kStrategicMerge[] = "application/strategic-merge-patch+json";
constexpr char kController[] = "muster.dev/scheduler";

// The beginning of a name, to which "." and more may be added.
std::string NamePart(const std::string& name) {
  std::string part = name.substr(0, 200);
  while (!part.empty() && (part.back() == '.' || part.back() == '-')) {
    part.pop_back();
  }
  return part;
}

// Makes the write of each kind of request.
class Maker {
 public:
  Maker(uint64_t id, const WriterOptions& options, client::Millis wall)
      : id_(id), options_(options), wall_(wall) {}

  absl::StatusOr<client::Write> operator()(const BindRequest& bind) const {
    const PodRef& pod = bind.pod;
    const std::string decision = absl::StrCat(bind.decision);
    const std::string task = absl::StrCat(bind.task);
    client::Write write = Post(api::BindingBody(
        {pod.namespace_name, pod.name, pod.uid, bind.node},
        {{kDecisionAnnotation, decision}, {kTaskAnnotation, task}}));
    return At(api::BindingPath(pod.namespace_name, pod.name), pod,
              std::move(write));
  }

  absl::StatusOr<client::Write> operator()(const EvictRequest& evict) const {
    client::Write write =
        Post(api::EvictionBody(PodObject(evict.pod), {.uid = evict.pod.uid}));
    write.idempotent = true;  // The UID makes it so.
    write.http.idempotent = true;
    write.retry_429 = false;
    return At(api::EvictionPath(evict.pod.namespace_name, evict.pod.name),
              evict.pod, std::move(write));
  }

  absl::StatusOr<client::Write> operator()(
      const UnscheduledRequest& request) const {
    api::PodStatusPatch patch{.uid = request.pod.uid};
    patch.conditions.push_back({.type = "PodScheduled",
                                .status = "False",
                                .reason = request.reason,
                                .message = request.message,
                                .last_transition = wall_});
    return PatchStatus(request.pod, patch);
  }

  absl::StatusOr<client::Write> operator()(
      const NominateRequest& request) const {
    return PatchStatus(request.pod, {.uid = request.pod.uid,
                                     .nominated_node_name = request.node});
  }

  absl::StatusOr<client::Write> operator()(const ReadRequest& read) const {
    client::Write write;
    write.idempotent = true;
    return At(
        api::ObjectPath(api::kPods, read.pod.namespace_name, read.pod.name),
        read.pod, std::move(write));
  }

  absl::StatusOr<client::Write> operator()(
      const SelectNodeRequest& request) const {
    const ObjectVersion& claim = request.claim;
    std::optional<std::string> node;
    if (!request.node.empty()) node = request.node;
    return Patch(
        api::ObjectPath(api::kPersistentVolumeClaims, claim.namespace_name,
                        claim.name),
        claim,
        api::AnnotationsPatchBody(claim.uid, {{api::kSelectedNode, node}},
                                  claim.resource_version));
  }

  absl::StatusOr<client::Write> operator()(
      const GiveVolumeRequest& request) const {
    const ObjectVersion& volume = request.volume;
    const ObjectVersion& claim = request.claim;
    return Patch(
        api::ObjectPath(api::kPersistentVolumes, "", volume.name), volume,
        api::VolumeClaimPatchBody(
            {.uid = volume.uid, .resource_version = volume.resource_version},
            {.api_version = "v1",
             .kind = "PersistentVolumeClaim",
             .namespace_name = claim.namespace_name,
             .name = claim.name,
             .uid = claim.uid}));
  }

  absl::StatusOr<client::Write> operator()(const EventRequest& request) const {
    api::Event event;
    event.name = absl::StrCat(NamePart(request.object.name), ".",
                              absl::Hex(wall_), "-", absl::Hex(id_));
    event.regarding = request.object;
    event.warning = request.warning;
    event.reason = request.reason;
    event.action = request.action;
    event.note = request.note;
    event.time = wall_;
    event.controller = kController;
    event.instance = options_.instance;
    client::Write write = Post(api::EventBody(event));
    write.urgency = client::Urgency::kEvent;
    return At(api::CollectionPath(api::kEvents, api::NamespaceOf(event)), {},
              std::move(write));
  }

  absl::StatusOr<client::Write> operator()(
      const QueueStatusRequest& request) const {
    const QueueCounts& counts = request.counts;
    return PatchStatus(
        api::ObjectPath(api::kQueues, "", request.name, "status"),
        api::QueueStatusPatchBody(request.uid,
                                  {.observed_generation = request.generation,
                                   .pending_groups = counts.pending_groups,
                                   .running_groups = counts.running_groups,
                                   .pending_pods = counts.pending_pods,
                                   .running_pods = counts.running_pods,
                                   .used = request.used}));
  }

  absl::StatusOr<client::Write> operator()(
      const GroupStatusRequest& request) const {
    return PatchStatus(
        api::ObjectPath(api::kMusterPodGroups, request.namespace_name,
                        request.name, "status"),
        api::MusterGroupStatusPatchBody(
            request.uid, {.phase = request.running ? "Running" : "Pending",
                          .pending_pods = request.pending_pods,
                          .running_pods = request.running_pods,
                          .message = request.message}));
  }

 private:
  static client::Write Post(std::string body) {
    client::Write write;
    write.http.method = "POST";
    write.http.content_type = client::kJsonType;
    write.http.body = std::move(body);
    write.http.idempotent = false;
    return write;
  }

  static absl::StatusOr<client::Write> At(absl::StatusOr<std::string> path,
                                          const PodRef& pod,
                                          client::Write write) {
    if (!path.ok()) return path.status();
    write.http.path = *std::move(path);
    write.key = pod.uid;
    return write;
  }

  // Of Muster's objects; behind everything else.
  static absl::StatusOr<client::Write> PatchStatus(
      absl::StatusOr<std::string> path, std::string body) {
    client::Write write;
    write.http.method = "PATCH";
    write.http.content_type = kMerge;
    write.http.body = std::move(body);
    write.urgency = client::Urgency::kEvent;
    write.idempotent = true;
    return At(std::move(path), {}, std::move(write));
  }

  // The version that it has to be makes it idempotent: a second try is refused.
  static absl::StatusOr<client::Write> Patch(absl::StatusOr<std::string> path,
                                             const ObjectVersion& object,
                                             std::string body) {
    if (!path.ok()) return path.status();
    client::Write write;
    write.http.method = "PATCH";
    write.http.path = *std::move(path);
    write.http.content_type = kMerge;
    write.http.body = std::move(body);
    write.idempotent = true;
    write.key = object.uid;
    return write;
  }

  static absl::StatusOr<client::Write> PatchStatus(
      const PodRef& pod, const api::PodStatusPatch& patch) {
    client::Write write;
    write.http.method = "PATCH";
    write.http.content_type = kStrategicMerge;
    write.http.body = api::PodStatusPatchBody(patch);
    write.urgency = client::Urgency::kStatus;
    write.idempotent = true;
    return At(
        api::ObjectPath(api::kPods, pod.namespace_name, pod.name, "status"),
        pod, std::move(write));
  }

  const uint64_t id_;
  const WriterOptions& options_;
  const client::Millis wall_;
};

}  // namespace

absl::StatusOr<client::Write> ToWrite(const ApiRequest& request,
                                      const WriterOptions& options,
                                      client::Millis wall) {
  return std::visit(Maker(request.id, options, wall), request.body);
}

ApiAnswer ToAnswer(uint64_t id, const client::Outcome& outcome) {
  ApiAnswer answer{.id = id};
  switch (outcome.kind) {
    case client::OutcomeKind::kDone:
      return answer;
    case client::OutcomeKind::kUnknown:
      answer.outcome = ApiOutcome::kUnknown;
      answer.message = std::string(outcome.transport.message());
      return answer;
    case client::OutcomeKind::kNotSent:
    case client::OutcomeKind::kDropped:
      answer.outcome = ApiOutcome::kRefused;
      answer.message = std::string(outcome.transport.message());
      return answer;
    case client::OutcomeKind::kRefused:
      break;
  }
  answer.message = outcome.error.message;
  switch (outcome.http_status) {
    case 404:
      answer.outcome = ApiOutcome::kNotFound;
      break;
    case 409:
      answer.outcome = ApiOutcome::kConflict;
      break;
    case 429:
      answer.outcome = ApiOutcome::kTooManyRequests;
      break;
    default:
      answer.outcome = ApiOutcome::kRefused;
  }
  return answer;
}

}  // namespace muster::kubernetes
