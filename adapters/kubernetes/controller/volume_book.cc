#include "adapters/kubernetes/controller/volume_book.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/translate_node.h"

namespace muster::kubernetes {
namespace {

ClaimKey KeyOf(const api::PersistentVolumeClaim& claim) {
  return {claim.meta.namespace_name, claim.meta.name};
}

ClaimKey KeyOf(const VolumeUser& user, const PodClaim& claim) {
  return {user.namespace_name, claim.name};
}

template <typename Key, typename Value>
void SetMember(const Key& key, const Value& value, bool is_there,
               std::map<Key, std::set<Value>>* index) {
  if (is_there) {
    (*index)[key].insert(value);
    return;
  }
  const auto it = index->find(key);
  if (it == index->end()) return;
  it->second.erase(value);
  if (it->second.empty()) index->erase(it);
}

template <typename Map>
auto* FindIn(Map& map, const typename std::remove_cvref_t<Map>::key_type& key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

// So many nodes are tried one after another before provisioners have a rest.
constexpr size_t kMostTries = 8;

bool IsFree(const api::PersistentVolume& volume) {
  return volume.claim_name.empty() && volume.phase == "Available";
}

}  // namespace

void VolumeBook::Touch(const ClaimKey& claim) {
  const auto* uids = FindIn(users_of_, claim);
  if (uids == nullptr) return;
  for (const std::string& uid : *uids) {
    const VolumeUser& user = users_.at(uid);
    if (user.group) touched_.insert(*user.group);
  }
}

void VolumeBook::TouchClass(const std::string& name) {
  const auto* claims = FindIn(unbound_, name);
  if (claims == nullptr) return;
  for (const ClaimKey& claim : *claims) Touch(claim);
}

void VolumeBook::Index(const api::PersistentVolumeClaim& claim, bool is_there) {
  const ClaimKey key = KeyOf(claim);
  if (claim.phase != "Bound") {
    SetMember(claim.storage_class_name.value_or(""), key, is_there, &unbound_);
  }
  if (!claim.volume_name.empty()) {
    SetMember(claim.volume_name, key, is_there, &of_volume_);
  }
}

void VolumeBook::Index(const api::PersistentVolume& volume, bool is_there) {
  const std::string& name = volume.meta.name;
  if (IsFree(volume)) {
    SetMember(volume.storage_class_name, name, is_there, &free_);
    TouchClass(volume.storage_class_name);
  }
  if (!volume.claim_name.empty()) {
    const ClaimKey claim{volume.claim_namespace, volume.claim_name};
    SetMember(claim, name, is_there, &given_);
    Touch(claim);
  }
  const auto* claims = FindIn(of_volume_, name);
  if (claims == nullptr) return;
  for (const ClaimKey& claim : *claims) Touch(claim);
}

void VolumeBook::Set(const api::PersistentVolumeClaim& claim) {
  const ClaimKey key = KeyOf(claim);
  const auto [it, is_new] = claims_.try_emplace(key);
  if (!is_new) {
    Index(it->second, false);
    if (it->second.meta.uid != claim.meta.uid) requests_.Forget(key);
  }
  it->second = claim;
  Index(claim, true);
  if (claim.phase == "Bound") requests_.Forget(key);
  Touch(key);
}

void VolumeBook::RemoveClaim(const ClaimKey& claim) {
  const auto it = claims_.find(claim);
  if (it == claims_.end()) return;
  Index(it->second, false);
  claims_.erase(it);
  requests_.Forget(claim);
  Touch(claim);
}

void VolumeBook::Set(const api::PersistentVolume& volume) {
  const auto [it, is_new] = volumes_.try_emplace(volume.meta.name);
  if (!is_new) Index(it->second, false);
  it->second = volume;
  if (!IsFree(volume)) Lose(volume);
  Index(volume, true);
}

void VolumeBook::Lose(const api::PersistentVolume& volume) {
  const ClaimKey* claim = requests_.ClaimOf(volume.meta.name);
  if (claim == nullptr) return;
  const ClaimKey key = *claim;
  const auto* object = FindClaim(key);
  if (object != nullptr && IsKeptFor(volume, *object)) return;
  requests_.Erase(key);
  Touch(key);
}

void VolumeBook::RemoveVolume(const std::string& name) {
  const auto it = volumes_.find(name);
  if (it == volumes_.end()) return;
  Index(it->second, false);
  Lose({.meta = it->second.meta});
  volumes_.erase(it);
}

void VolumeBook::Set(const api::StorageClass& storage_class) {
  classes_[storage_class.meta.name] = storage_class;
  TouchClass(storage_class.meta.name);
}

void VolumeBook::RemoveClass(const std::string& name) {
  if (classes_.erase(name) > 0) TouchClass(name);
}

void VolumeBook::SetUser(VolumeUser user) {
  VolumeUser& known = users_[user.uid];
  if (known == user) return;
  for (const PodClaim& claim : known.claims) {
    SetMember(KeyOf(known, claim), known.uid, false, &users_of_);
  }
  known = std::move(user);
  for (const PodClaim& claim : known.claims) {
    SetMember(KeyOf(known, claim), known.uid, true, &users_of_);
    Touch(KeyOf(known, claim));
  }
}

void VolumeBook::RemoveUser(const std::string& uid) {
  const auto it = users_.find(uid);
  if (it == users_.end()) return;
  const VolumeUser user = std::move(it->second);
  users_.erase(it);
  for (const PodClaim& claim : user.claims) {
    SetMember(KeyOf(user, claim), uid, false, &users_of_);
    Touch(KeyOf(user, claim));
  }
}

const VolumeUser* VolumeBook::FindUser(const std::string& uid) const {
  return FindIn(users_, uid);
}

const api::PersistentVolumeClaim* VolumeBook::FindClaim(
    const ClaimKey& claim) const {
  return FindIn(claims_, claim);
}

const api::PersistentVolume* VolumeBook::FindVolume(
    const std::string& name) const {
  return FindIn(volumes_, name);
}

const api::PersistentVolume* VolumeBook::GivenTo(
    const api::PersistentVolumeClaim& claim) const {
  const auto* names = FindIn(given_, KeyOf(claim));
  if (names == nullptr) return nullptr;
  for (const std::string& name : *names) {
    const api::PersistentVolume& volume = volumes_.at(name);
    if (IsKeptFor(volume, claim) && Suits(volume, claim)) return &volume;
  }
  return nullptr;
}

std::vector<const api::PersistentVolume*> VolumeBook::Candidates(
    const api::PersistentVolumeClaim& claim) const {
  if (const api::PersistentVolume* given = GivenTo(claim)) return {given};
  const ClaimKey key = KeyOf(claim);
  const ClaimRequest* request = requests_.Find(key);
  std::vector<const api::PersistentVolume*> candidates;
  const auto* names = FindIn(free_, claim.storage_class_name.value_or(""));
  if (names == nullptr) return candidates;
  for (const std::string& name : *names) {
    const ClaimKey* other = requests_.ClaimOf(name);
    if (other != nullptr && *other != key) continue;
    if (request != nullptr && request->volume != name) continue;
    const api::PersistentVolume& volume = volumes_.at(name);
    if (Suits(volume, claim)) candidates.push_back(&volume);
  }
  return candidates;
}

ClaimObjects VolumeBook::ObjectsOf(const ClaimKey& key) const {
  ClaimObjects objects{.claim = FindClaim(key)};
  if (objects.claim == nullptr) return objects;
  objects.volume = FindVolume(objects.claim->volume_name);
  objects.storage_class =
      FindIn(classes_, objects.claim->storage_class_name.value_or(""));
  if (objects.claim->phase != "Bound" && objects.storage_class != nullptr &&
      IsStatic(*objects.storage_class)) {
    objects.candidates = Candidates(*objects.claim);
  }
  return objects;
}

const VolumeUser* VolumeBook::Rival(const VolumeUser& user,
                                    const ClaimKey& claim) const {
  const auto age = [](const VolumeUser& u) {
    return std::tie(u.created, u.uid);
  };
  const auto* uids = FindIn(users_of_, claim);
  if (uids == nullptr) return nullptr;
  for (const std::string& uid : *uids) {
    const VolumeUser& other = users_.at(uid);
    if (uid == user.uid) continue;
    if (other.runs || (other.waits && age(other) < age(user))) return &other;
  }
  return nullptr;
}

ClaimVerdict VolumeBook::Judge(const VolumeUser& user,
                               const PodClaim& claim) const {
  const ClaimKey key = KeyOf(user, claim);
  const ClaimObjects objects = ObjectsOf(key);
  if (objects.claim != nullptr && IsForOnePod(*objects.claim)) {
    if (const VolumeUser* rival = Rival(user, key)) {
      return {.why_not = absl::StrCat("claim '", claim.name,
                                      "' is ReadWriteOncePod, and pod '",
                                      rival->name, "' comes first")};
    }
  }
  return kubernetes::Judge(claim, user.uid, objects);
}

std::vector<SelectorTerm> VolumeBook::Preferred(const ClaimKey& key,
                                                ClaimStage stage) const {
  const api::PersistentVolumeClaim& claim = *FindClaim(key);
  if (stage == ClaimStage::kProvision) {
    if (claim.selected_node.empty()) return {};
    const Requirement node{
        kNodeNameLabel, SelectorOp::kIn, {claim.selected_node}};
    return {SelectorTerm{{node}}};
  }
  // Each claim of the class begins at another volume: pods that are placed at
  // once do not all look for the same one.
  const auto candidates = Candidates(claim);
  const auto& claims = unbound_.at(claim.storage_class_name.value_or(""));
  const auto rank =
      static_cast<size_t>(std::distance(claims.begin(), claims.find(key)));
  const auto nodes = NodesOf(*candidates[rank % candidates.size()]);
  return nodes.ok() ? nodes->any_of : std::vector<SelectorTerm>();
}

VolumeNodes VolumeBook::Judge(const VolumeUser& user, Time now) {
  VolumeNodes all;
  for (const PodClaim& claim : user.claims) {
    const ClaimVerdict verdict = Judge(user, claim);
    if (verdict.stage == ClaimStage::kWaits) {
      all.why_not = verdict.why_not;
      return all;
    }
    all.nodes = Both(all.nodes, verdict.nodes);
    if (verdict.stage == ClaimStage::kBound) continue;
    const ClaimKey key = KeyOf(user, claim);
    std::vector<std::string> refused =
        requests_.RefusedNodes(key, now, &all.until);
    if (verdict.stage == ClaimStage::kProvision &&
        refused.size() >= kMostTries) {
      all.why_not =
          absl::StrCat("claim '", claim.name, "' could have no volume on ",
                       refused.size(), " nodes; others are tried soon");
      return all;
    }
    if (!refused.empty()) {
      SelectorTerm others;
      others.all_of.push_back(
          {kNodeNameLabel, SelectorOp::kNotIn, std::move(refused)});
      all.nodes = Both(all.nodes, NodeSelector{{std::move(others)}});
    }
    std::ranges::move(Preferred(key, verdict.stage),
                      std::back_inserter(all.preferred));
  }
  return all;
}

const api::PersistentVolume* VolumeBook::Choose(
    const api::PersistentVolumeClaim& claim, const Labels& node) const {
  const api::PersistentVolume* best = nullptr;
  for (const api::PersistentVolume* volume : Candidates(claim)) {
    if (!Admits(*volume, node)) continue;
    if (best == nullptr || volume->capacity < best->capacity) best = volume;
  }
  return best;
}

void VolumeBook::Answer(const ClaimKey& claim, uint64_t number,
                        const ApiAnswer& answer) {
  requests_.Answer(claim, number, answer);
  Touch(claim);
}

}  // namespace muster::kubernetes
