#include "adapters/kubernetes/host/term.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/api/paths.h"

namespace muster::kubernetes {

using client::Millis;

absl::StatusOr<std::unique_ptr<Term>> Term::Create(client::Transport* transport,
                                                   client::RequestQueue* queue,
                                                   ControllerOptions controller,
                                                   WriterOptions writer,
                                                   Millis wall_offset,
                                                   Log log) {
  auto created = Controller::Create(std::move(controller));
  if (!created.ok()) return created.status();
  return std::unique_ptr<Term>(new Term(transport, queue, *std::move(created),
                                        std::move(writer), wall_offset,
                                        std::move(log)));
}

Term::Term(client::Transport* transport, client::RequestQueue* queue,
           std::unique_ptr<Controller> controller, WriterOptions writer,
           Millis wall_offset, Log log)
    : transport_(transport),
      queue_(queue),
      controller_(std::move(controller)),
      writer_(std::move(writer)),
      wall_offset_(wall_offset),
      log_(std::move(log)),
      self_(std::make_shared<Term*>(this)) {
  Add<api::Node>(
      {"/api/v1/nodes"}, false,
      [this](const api::Node& node) { controller_->Observe(node); },
      [this](const ObjectName& name) { controller_->NodeGone(name.name); });
  Add<api::PodGroup>(
      {"/apis/scheduling.k8s.io/v1beta1/podgroups",
       "/apis/scheduling.k8s.io/v1alpha3/podgroups",
       "/apis/scheduling.k8s.io/v1alpha2/podgroups"},
      true, [this](const api::PodGroup& group) { controller_->Observe(group); },
      [this](const ObjectName& name) {
        controller_->GroupGone(
            {GroupKind::kPodGroup, name.namespace_name, name.name});
      });
  Add<api::MusterPodGroup>(
      {"/apis/muster.dev/v1alpha1/podgroups"}, true,
      [this](const api::MusterPodGroup& group) { controller_->Observe(group); },
      [this](const ObjectName& name) {
        controller_->GroupGone(
            {GroupKind::kMusterGroup, name.namespace_name, name.name});
      });
  Add<api::Queue>(
      {"/apis/muster.dev/v1alpha1/queues"}, true,
      [this](const api::Queue& object) { controller_->Observe(object); },
      [this](const ObjectName& name) { controller_->QueueGone(name.name); });
  Add<api::Owner>(
      {"/apis/batch/v1/jobs"}, false,
      [this](const api::Owner& job) { controller_->Observe(job); },
      [this](const ObjectName& name) {
        controller_->JobGone(name.namespace_name, name.uid);
      });
  Add<api::Namespace>(
      {"/api/v1/namespaces"}, false,
      [this](const api::Namespace& ns) { controller_->Observe(ns); },
      [this](const ObjectName& name) {
        controller_->NamespaceGone(name.name);
      });
  Add<api::PodDisruptionBudget>(
      {"/apis/policy/v1/poddisruptionbudgets"}, false,
      [this](const api::PodDisruptionBudget& budget) {
        controller_->Observe(budget);
      },
      [this](const ObjectName& name) {
        controller_->BudgetGone(name.namespace_name, name.name);
      });
  Add<api::Pod>(
      {"/api/v1/pods"}, false,
      [this](const api::Pod& pod) { controller_->Observe(pod); },
      [this](const ObjectName& name) { controller_->PodGone(name.uid); });
}

Term::~Term() { *self_ = nullptr; }

template <typename T>
void Term::Add(std::vector<std::string> paths, bool optional,
               std::function<void(const T&)> is,
               std::function<void(const ObjectName&)> gone) {
  Watch& watch = watches_.emplace_back();
  const std::string path = paths.front();
  watch.sink = std::make_unique<ObjectSink<T>>(typename ObjectSink<T>::Handlers{
      .is = std::move(is),
      .gone = std::move(gone),
      .bad = [this, path](const api::BadObject& bad) {
        log_(absl::StrCat("an object of ", path, " (", bad.namespace_name, "/",
                          bad.name, ") is left out: ", bad.why.ToString()));
      }});
  std::ranges::rotate(paths, paths.begin() + 1);
  watch.paths = std::move(paths);
  watch.optional = optional;
  Begin(&watch);
}

void Term::Begin(Watch* watch) {
  client::ReflectorOptions options;
  options.path = watch->paths.back();
  constexpr Millis kLookAgain = 5'000;  // For what is not installed yet.
  if (watch->optional) options.backoff.most = kLookAgain;
  watch->reflector = std::make_unique<client::Reflector>(
      transport_, std::move(options), watch->sink.get());
}

Millis Term::Advance(Watch* watch, Millis now) {
  const Millis next = watch->reflector->Advance(now);
  const absl::Status& error = watch->reflector->last_error();
  if (error.ok()) {
    watch->told.clear();
    return next;
  }
  if (watch->optional && watch->reflector->last_refusal() == 404 &&
      !watch->reflector->synced()) {
    // Looked for in every version once, then again and again in the newest:
    // somebody may install it.
    watch->absent = watch->tried >= watch->paths.size();
    if (watch->tried > watch->paths.size()) return next;
    ++watch->tried;
    std::ranges::rotate(watch->paths, watch->paths.begin() + 1);
    Begin(watch);
    return now;
  }
  if (error.ToString() != watch->told) {
    watch->told = error.ToString();
    log_(watch->told);
  }
  return next;
}

Time Term::ToTime(Millis now) const {
  return (now + wall_offset_) * kMillisecond;
}

Millis Term::Advance(Millis now) {
  Millis next = client::kNever;
  bool listed = true;
  for (Watch& watch : watches_) {
    next = std::min(next, Advance(&watch, now));
    listed &= watch.absent || watch.reflector->synced();
  }
  if (!synced_ && listed) {
    synced_ = true;
    const absl::Status status = controller_->Synced(ToTime(now));
    log_(status.ok() ? "in step with the API server" : status.ToString());
  }
  if (!synced_) return next;
  controller_->Step(ToTime(now), &requests_);
  for (ApiRequest& request : std::exchange(requests_, {})) {
    Send(std::move(request), now);
  }
  const Time step = controller_->next_step();
  if (step == kForever) return next;
  // Rounded up: not a moment too early.
  const Millis due = (step + kMillisecond - 1) / kMillisecond - wall_offset_;
  return std::min(next, std::max(due, now));
}

void Term::Send(ApiRequest request, Millis now) {
  auto write = ToWrite(request, writer_, now + wall_offset_);
  const auto on_outcome = [self = self_,
                           request](const client::Outcome& outcome) {
    if (*self != nullptr) (*self)->Answer(request, outcome);
  };
  absl::Status status = write.status();
  if (status.ok()) status = queue_->Submit(*std::move(write), on_outcome);
  if (!status.ok()) {
    controller_->Answer(
        {request.id, ApiOutcome::kRefused, std::string(status.message())});
  }
}

void Term::Answer(const ApiRequest& request, const client::Outcome& outcome) {
  if (const auto* read = std::get_if<ReadRequest>(&request.body)) {
    const bool gone = outcome.kind == client::OutcomeKind::kRefused &&
                      outcome.http_status == 404;
    const auto pod = outcome.kind == client::OutcomeKind::kDone
                         ? reader_.Read<api::Pod>(outcome.body)
                         : absl::UnavailableError("not read");
    if (gone || (pod.ok() && pod->meta.uid != read->pod.uid)) {
      controller_->PodGone(read->pod.uid);
    } else if (pod.ok()) {
      controller_->Observe(*pod);
    }
  }
  controller_->Answer(ToAnswer(request.id, outcome));
}

}  // namespace muster::kubernetes
