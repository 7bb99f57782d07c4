#include "adapters/kubernetes/host/term.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/client/error.h"
#include "adapters/kubernetes/controller/object_refs.h"
#include "adapters/kubernetes/model/owner_kind.h"

namespace muster::kubernetes {

using client::Millis;

absl::StatusOr<std::unique_ptr<Term>> Term::Create(client::Transport* transport,
                                                   client::RequestQueue* queue,
                                                   ControllerOptions controller,
                                                   WriterOptions writer,
                                                   Millis wall_offset, Log log,
                                                   HostMetrics* metrics) {
  const bool quotas = controller.quota_from_namespaces;
  auto created = Controller::Create(std::move(controller));
  if (!created.ok()) return created.status();
  std::unique_ptr<Term> term(new Term(transport, queue, *std::move(created),
                                      std::move(writer), wall_offset,
                                      std::move(log), metrics));
  if (quotas) term->AddQuotas();
  return term;
}

Term::Term(client::Transport* transport, client::RequestQueue* queue,
           std::unique_ptr<Controller> controller, WriterOptions writer,
           Millis wall_offset, Log log, HostMetrics* metrics)
    : transport_(transport),
      queue_(queue),
      controller_(std::move(controller)),
      writer_(std::move(writer)),
      wall_offset_(wall_offset),
      log_(std::move(log)),
      metrics_(metrics),
      self_(std::make_shared<Term*>(this)) {
  const auto group_gone = [this](GroupKind kind) {
    return [this, kind](const ObjectName& name) {
      controller_->observer().GroupGone({kind, name.namespace_name, name.name});
    };
  };
  Add<api::Node>({api::kNodes}, false, [this](const ObjectName& name) {
    controller_->observer().NodeGone(name.name);
  });
  Add<api::PodGroup>({api::PodGroupsOf("v1beta1"), api::PodGroupsOf("v1alpha3"),
                      api::PodGroupsOf("v1alpha2")},
                     true, group_gone(GroupKind::kPodGroup));
  Add<api::CompositePodGroup>({api::CompositePodGroupsOf("v1alpha3")}, true,
                              group_gone(GroupKind::kCompositeGroup));
  Add<api::MusterPodGroup>({api::kMusterPodGroups}, true,
                           group_gone(GroupKind::kMusterGroup));
  Add<api::VolcanoPodGroup>({api::kVolcanoPodGroups}, true,
                            group_gone(GroupKind::kVolcanoGroup));
  Add<api::CoschedulingPodGroup>({api::kCoschedulingPodGroups}, true,
                                 group_gone(GroupKind::kCoschedulingGroup));
  AddOwners();
  Add<api::Queue>({api::kQueues}, true, [this](const ObjectName& name) {
    controller_->observer().QueueGone(name.name);
  });
  Add<api::Owner>({api::kJobs}, false, [this](const ObjectName& name) {
    controller_->observer().JobGone(name.namespace_name, name.uid);
  });
  Add<api::Namespace>({api::kNamespaces}, false,
                      [this](const ObjectName& name) {
                        controller_->observer().NamespaceGone(name.name);
                      });
  Add<api::PodDisruptionBudget>(
      {api::kPodDisruptionBudgets}, false, [this](const ObjectName& name) {
        controller_->observer().BudgetGone(name.namespace_name, name.name);
      });
  AddVolumes();
  Add<api::Pod>({api::kPods}, false, [this](const ObjectName& name) {
    controller_->observer().PodGone(name.uid);
  });
}

void Term::AddVolumes() {
  Observer& observer = controller_->observer();
  Add<api::PersistentVolume>(
      {api::kPersistentVolumes}, false,
      [&observer](const ObjectName& name) { observer.VolumeGone(name.name); });
  Add<api::PersistentVolumeClaim>({api::kPersistentVolumeClaims}, false,
                                  [&observer](const ObjectName& name) {
                                    observer.ClaimGone(name.namespace_name,
                                                       name.name);
                                  });
  Add<api::StorageClass>({api::kStorageClasses}, false,
                         [&observer](const ObjectName& name) {
                           observer.StorageClassGone(name.name);
                         });
}

void Term::AddQuotas() {
  Add<api::ResourceQuota>(
      {api::kResourceQuotas}, false, [this](const ObjectName& name) {
        controller_->observer().QuotaGone(name.namespace_name, name.name);
      });
}

Term::~Term() { *self_ = nullptr; }

void Term::AddOwners() {
  for (const OwnerKind& kind : OwnerKinds()) {
    std::vector<api::ResourceType> versions;
    for (const std::string_view version : kind.versions) {
      if (version.empty()) continue;
      versions.push_back(kind.type(version));
    }
    Add<api::Owner>(versions, true, [this, &kind](const ObjectName& name) {
      controller_->observer().GroupGone(
          OwnerGroup(kind.kind, name.namespace_name, name.name));
    });
  }
}

template <typename T>
void Term::Add(const std::vector<api::ResourceType>& versions, bool optional,
               const std::function<void(const ObjectName&)>& gone) {
  Watch& watch = watches_.emplace_back();
  for (const api::ResourceType& version : versions) {
    watch.paths.push_back(*api::CollectionPath(version, ""));
  }
  watch.sink = std::make_unique<ObjectSink<T>>(typename ObjectSink<T>::Handlers{
      .is =
          [this, type = versions[0]](const T& object) {
            Heard();
            Observer& observer = controller_->observer();
            if (observer.has_warnings()) {
              observer.Readable(ToReference(type, object.meta.namespace_name,
                                            object.meta.name, object.meta.uid));
            }
            observer.Observe(object);
          },
      .gone =
          [this, gone](const ObjectName& name) {
            Heard();
            gone(name);
          },
      .bad =
          [this, type = versions[0],
           path = watch.paths[0]](const api::BadObject& bad) {
            if (!bad.name.empty()) {
              controller_->observer().ObserveBad(
                  ToReference(type, bad.namespace_name, bad.name, bad.uid),
                  std::string(bad.why.message()));
            }
            Say(absl::StrCat("an object of ", path, " (", bad.namespace_name,
                             "/", bad.name,
                             ") is left out: ", bad.why.ToString()));
          }});
  std::ranges::rotate(watch.paths, watch.paths.begin() + 1);
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

void Term::Say(std::string_view line) const {
  constexpr size_t kMost = 1024;
  log_(client::PlainText(line, kMost));
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
    Say(watch->told);
  }
  return next;
}

Time Term::ToTime(Millis now) const {
  return (now + wall_offset_) * kMillisecond;
}

std::vector<WatchState> Term::watches() const {
  std::vector<WatchState> states;
  for (const Watch& watch : watches_) {
    if (watch.absent) continue;
    states.push_back({.resource = ResourceOf(watch.paths.back()),
                      .counts = watch.reflector->counts(),
                      .open = watch.reflector->watching()});
  }
  return states;
}

void Term::Heard() {
  if (!heard_) heard_ = Clock::now();
}

void Term::Step(Millis now) {
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const Clock::time_point start = Clock::now();
  const uint64_t passes = controller_->passes();
  controller_->Step(ToTime(now), &requests_);
  if (metrics_ != nullptr && controller_->passes() != passes) {
    metrics_->AddPass(since(start));
  }
  const std::vector<std::string>& defects = controller_->defects();
  for (; defects_told_ < defects.size(); ++defects_told_) {
    Say(absl::StrCat("a defect of muster: ", defects[defects_told_]));
  }
  for (const ApiRequest& request : std::exchange(requests_, {})) {
    Send(request, now);
    const bool decides = std::holds_alternative<BindRequest>(request.body) ||
                         std::holds_alternative<EvictRequest>(request.body);
    if (metrics_ != nullptr && decides && heard_) {
      metrics_->AddDecision(since(*heard_));
    }
  }
  heard_.reset();
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
    Say(status.ok() ? "in step with the API server" : status.ToString());
  }
  if (!synced_) return next;
  Step(now);
  const Time step = controller_->next_step();
  if (step == kForever) return next;
  // Rounded up: not a moment too early.
  const Millis due = (step + kMillisecond - 1) / kMillisecond - wall_offset_;
  return std::min(next, std::max(due, now));
}

void Term::Send(const ApiRequest& request, Millis now) {
  auto write = ToWrite(request, writer_, now + wall_offset_);
  const auto* read = std::get_if<ReadRequest>(&request.body);
  auto on_outcome = [self = self_, id = request.id, kind = request.body.index(),
                     what = write.ok() ? KindOf(write->http) : RequestKind{},
                     metrics = metrics_,
                     read_uid = read == nullptr ? "" : read->pod.uid](
                        const client::Outcome& outcome) {
    if (metrics != nullptr) metrics->AddRequest(what, outcome);
    if (*self == nullptr) return;
    (*self)->TellForbidden(kind, outcome);
    (*self)->Answer(id, read_uid, outcome);
  };
  absl::Status status = write.status();
  if (status.ok())
    status = queue_->Submit(*std::move(write), std::move(on_outcome));
  if (!status.ok()) {
    controller_->Answer(
        {request.id, ApiOutcome::kRefused, std::string(status.message())});
  }
}

void Term::TellForbidden(size_t kind, const client::Outcome& outcome) {
  if (outcome.http_status != 403) return;
  if (forbidden_told_.insert(kind).second) Say(outcome.error.message);
}

void Term::Answer(uint64_t id, const std::string& read_uid,
                  const client::Outcome& outcome) {
  ApiAnswer answer = ToAnswer(id, outcome);
  if (!read_uid.empty()) {
    const bool gone = outcome.kind == client::OutcomeKind::kRefused &&
                      outcome.http_status == 404;
    const auto pod = outcome.kind == client::OutcomeKind::kDone
                         ? reader_.Read<api::Pod>(outcome.body)
                         : absl::UnavailableError("not read");
    if (gone || (pod.ok() && pod->meta.uid != read_uid)) {
      controller_->observer().PodGone(read_uid);
    } else if (pod.ok()) {
      controller_->observer().PodRead(*pod);
    } else if (answer.outcome == ApiOutcome::kDone) {
      answer.outcome = ApiOutcome::kUnknown;  // It says nothing of the pod.
    }
  }
  controller_->Answer(answer);
}

}  // namespace muster::kubernetes
