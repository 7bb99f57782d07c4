#include "test/adapters/kubernetes/fake_storage.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::kubernetes {
namespace {

constexpr char kHostname[] = "kubernetes.io/hostname";
constexpr int64_t kGib = (int64_t{1} << 30) * 1000;

api::NodeSelectorTerm OnNodes(const std::set<std::string>& nodes) {
  return {
      .match_expressions = {{kHostname, "In", {nodes.begin(), nodes.end()}}}};
}

}  // namespace

void FakeStorage::PutClass(const std::string& name, bool provisioner,
                           bool waits_for_consumer,
                           const std::vector<std::string>& nodes) {
  api::StorageClass& made = classes_[name];
  made.meta.name = name;
  made.provisioner =
      provisioner ? "example.com/disks" : "kubernetes.io/no-provisioner";
  made.volume_binding_mode =
      waits_for_consumer ? "WaitForFirstConsumer" : "Immediate";
  if (!nodes.empty()) {
    made.allowed_topologies = {OnNodes({nodes.begin(), nodes.end()})};
  }
  tell_("class/" + name, [made](Controller& c) { c.observer().Observe(made); });
}

void FakeStorage::Changed(api::PersistentVolumeClaim* claim) {
  claim->meta.resource_version = Version();
  tell_("claim/" + claim->meta.name,
        [claim = *claim](Controller& c) { c.observer().Observe(claim); });
}

void FakeStorage::Changed(api::PersistentVolume* volume) {
  volume->meta.resource_version = Version();
  tell_("volume/" + volume->meta.name,
        [volume = *volume](Controller& c) { c.observer().Observe(volume); });
}

void FakeStorage::AddVolume(const std::string& name,
                            const std::string& storage_class, int64_t gib,
                            const std::set<std::string>& nodes) {
  api::PersistentVolume& volume = volumes_[name];
  volume.meta.name = name;
  volume.meta.uid = "uid-" + Version();
  volume.storage_class_name = storage_class;
  volume.capacity = gib * kGib;
  volume.access_modes = {"ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"};
  volume.phase = "Available";
  volume.has_node_affinity = !nodes.empty();
  if (!nodes.empty()) volume.node_affinity = {OnNodes(nodes)};
  reached_from_[name] = nodes;
  Changed(&volume);
}

void FakeStorage::AddClaim(const std::string& name,
                           const std::string& storage_class, int64_t gib,
                           const std::string& mode) {
  api::PersistentVolumeClaim& claim = claims_[name];
  claim = {};
  claim.meta = {
      .name = name, .namespace_name = "default", .uid = "uid-" + Version()};
  claim.storage_class_name = storage_class;
  claim.request = gib * kGib;
  claim.access_modes = {mode};
  claim.phase = "Pending";
  Changed(&claim);
}

void FakeStorage::EditClaim(
    const std::string& name,
    absl::FunctionRef<void(api::PersistentVolumeClaim&)> edit) {
  edit(claims_.at(name));
  Changed(&claims_.at(name));
}

void FakeStorage::RemoveClaim(const std::string& name) {
  claims_.erase(name);
  for (auto& [other, volume] : volumes_) {
    if (volume.claim_name != name) continue;
    volume.claim_name.clear();  // As it was given by a program.
    volume.claim_uid.clear();
    volume.claim_namespace.clear();
    Changed(&volume);
  }
  tell_("claim/" + name,
        [name](Controller& c) { c.observer().ClaimGone("default", name); });
}

void FakeStorage::RemoveVolume(const std::string& name) {
  volumes_.erase(name);
  tell_("volume/" + name,
        [name](Controller& c) { c.observer().VolumeGone(name); });
}

void FakeStorage::AddBound(const std::string& name,
                           const std::set<std::string>& nodes) {
  AddClaim(name, "bound");
  MakeVolume(&claims_.at(name), nodes);
  Bind(&claims_.at(name), &volumes_.at("pv-" + name));
}

void FakeStorage::MakeVolume(api::PersistentVolumeClaim* claim,
                             const std::set<std::string>& nodes) {
  const std::string name = "pv-" + claim->meta.name;
  AddVolume(name, *claim->storage_class_name, claim->request / kGib, nodes);
  api::PersistentVolume& volume = volumes_.at(name);
  volume.claim_namespace = "default";
  volume.claim_name = claim->meta.name;
  volume.claim_uid = claim->meta.uid;
  Changed(&volume);
}

void FakeStorage::Bind(api::PersistentVolumeClaim* claim,
                       api::PersistentVolume* volume) {
  volume->phase = "Bound";
  Changed(volume);
  claim->volume_name = volume->meta.name;
  claim->phase = "Bound";
  Changed(claim);
}

std::string FakeStorage::VolumeOf(const std::string& claim) const {
  for (const auto& [name, volume] : volumes_) {
    if (volume.claim_name == claim &&
        volume.claim_uid == claims_.at(claim).meta.uid) {
      return name;
    }
  }
  return "";
}

void FakeStorage::MakeEphemeral(const std::map<std::string, api::Pod>& pods) {
  std::set<std::string> owners;
  for (const auto& [name, pod] : pods) {
    owners.insert(pod.meta.uid);
    for (const api::PodVolume& volume : pod.volumes) {
      const std::string claim = absl::StrCat(name, "-", volume.name);
      if (volume.type != "ephemeral" || claims_.contains(claim)) continue;
      AddClaim(claim, "made");
      EditClaim(claim, [&](api::PersistentVolumeClaim& c) {
        c.meta.owners = {{"v1", "Pod", name, pod.meta.uid, true}};
      });
    }
  }
  for (auto it = claims_.begin(); it != claims_.end();) {
    const api::PersistentVolumeClaim& claim = it++->second;
    const std::string name = claim.meta.name;
    if (claim.meta.owners.empty() ||
        owners.contains(claim.meta.owners[0].uid)) {
      continue;
    }
    const std::string volume = VolumeOf(name);
    if (!volume.empty()) RemoveVolume(volume);
    RemoveClaim(name);
  }
}

// Whether there is more to do for the claim.
bool FakeStorage::Serve(api::PersistentVolumeClaim* claim,
                        const std::map<std::string, api::Node>& nodes) {
  const auto found = classes_.find(claim->storage_class_name.value_or(""));
  if (claim->phase == "Bound" || found == classes_.end()) return false;
  const std::string given = VolumeOf(claim->meta.name);
  const std::string node = claim->selected_node;
  const bool waits = WaitsForConsumer(found->second);
  const bool makes = !IsStatic(found->second);
  if (given.empty() && (!makes || (waits && node.empty()))) return false;
  if (!Now()) return true;
  if (!given.empty()) {
    Bind(claim, &volumes_.at(given));
    return false;
  }
  if (!waits) {
    if (nodes.empty()) return false;
    MakeVolume(claim, {nodes.begin()->first});
    return true;
  }
  const Provisioning does =
      nodes.contains(node) ? provisioning(node) : Provisioning::kFails;
  if (does == Provisioning::kHangs) return false;
  if (does == Provisioning::kFails) {
    claim->selected_node.clear();
    Changed(claim);
    return false;
  }
  MakeVolume(claim, {node});
  return true;
}

bool FakeStorage::Work(const std::map<std::string, api::Pod>& pods,
                       const std::map<std::string, api::Node>& nodes) {
  const int64_t before = version_;
  if (Now()) MakeEphemeral(pods);
  bool more = false;
  for (auto& [name, claim] : claims_) more |= Serve(&claim, nodes);
  return more || version_ != before;
}

template <typename Object>
ApiAnswer FakeStorage::Write(uint64_t id, const ObjectVersion& version,
                             std::map<std::string, Object>* objects,
                             absl::FunctionRef<void(Object&)> write) {
  ApiOutcome outcome = ApiOutcome::kDone;
  if (!faults.empty()) {
    outcome = faults.back();
    faults.pop_back();
    // Whether it was done is not known.
    const bool done = outcome == ApiOutcome::kUnknown && Now();
    if (!done) return {id, outcome, "fault"};
  }
  const auto it = objects->find(version.name);
  if (it == objects->end()) return {id, ApiOutcome::kNotFound, ""};
  const api::ObjectMeta& meta = it->second.meta;
  if (meta.uid != version.uid ||
      meta.resource_version != version.resource_version) {
    return {id, ApiOutcome::kConflict, "another version"};
  }
  write(it->second);
  Changed(&it->second);
  return {id, outcome, ""};
}

ApiAnswer FakeStorage::Perform(uint64_t id, const SelectNodeRequest& request) {
  return Write<api::PersistentVolumeClaim>(
      id, request.claim, &claims_, [&](api::PersistentVolumeClaim& claim) {
        claim.selected_node = request.node;
      });
}

ApiAnswer FakeStorage::Perform(uint64_t id, const GiveVolumeRequest& request) {
  return Write<api::PersistentVolume>(
      id, request.volume, &volumes_, [&](api::PersistentVolume& volume) {
        volume.claim_namespace = request.claim.namespace_name;
        volume.claim_name = request.claim.name;
        volume.claim_uid = request.claim.uid;
      });
}

void FakeStorage::ObserveAll(Controller* controller) const {
  Observer& observer = controller->observer();
  for (const auto& [name, one] : classes_) observer.Observe(one);
  for (const auto& [name, one] : volumes_) observer.Observe(one);
  for (const auto& [name, one] : claims_) observer.Observe(one);
}

std::string FakeStorage::WhyNot(const api::Pod& pod,
                                const std::string& node) const {
  for (const api::PodVolume& volume : pod.volumes) {
    std::string name = volume.claim;
    if (volume.type == "ephemeral") {
      name = absl::StrCat(pod.meta.name, "-", volume.name);
    }
    if (name.empty()) continue;
    const auto claim = claims_.find(name);
    if (claim == claims_.end()) return absl::StrCat("no claim ", name);
    const std::string& bound_to = claim->second.volume_name;
    if (claim->second.phase != "Bound") {
      return absl::StrCat("claim ", name, " is not bound");
    }
    const std::set<std::string>& nodes = reached_from_.at(bound_to);
    if (!nodes.empty() && !nodes.contains(node)) {
      return absl::StrCat("volume ", bound_to, " of claim ", name,
                          " is not there");
    }
  }
  return "";
}

}  // namespace muster::kubernetes
