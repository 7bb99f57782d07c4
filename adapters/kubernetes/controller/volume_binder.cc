#include "adapters/kubernetes/controller/volume_binder.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/object_refs.h"

namespace muster::kubernetes {
namespace {

// For so long a claim's pods keep away from a node that had no volume for it.
constexpr Duration kElsewhere = 60 * kSecond;
// The most that a preference of a pod weighs.
constexpr int32_t kStrong = 100;

Role RoleWith(const Role& own, const VolumeNodes& nodes) {
  Role role = own;
  role.shape.selector = Both(role.shape.selector, nodes.nodes);
  for (const SelectorTerm& term : nodes.preferred) {
    role.preferences.push_back({.weight = kStrong, .term = term});
  }
  return role;
}

// Its pod is bound, or about to be, or has been.
bool IsBound(const TaskSlot& slot) {
  return slot.stage == TaskStage::kBinding ||
         slot.stage == TaskStage::kRunning ||
         (slot.stage == TaskStage::kStopping && slot.bind_asked);
}

bool IsStarted(const TaskSlot& slot) {
  return slot.stage == TaskStage::kBinding ||
         slot.stage == TaskStage::kRunning || slot.stage == TaskStage::kDone;
}

ObjectVersion VersionOf(const api::ObjectMeta& meta) {
  return {meta.namespace_name, meta.name, meta.uid, meta.resource_version};
}

}  // namespace

void VolumeBinder::Resolve(GangRecord* gang) {
  gang->has_claims = false;
  for (const auto& [uid, member] : gang->members()) {
    PodRecord* const pod = member.pod;
    if (pod->claims.empty()) continue;
    gang->has_claims = true;
    const TaskSlot* slot = gang->SlotOf(member);
    if (!pod->node.empty() || pod->own_role == nullptr ||
        (slot != nullptr && slot->placed())) {
      continue;
    }
    const VolumeNodes nodes =
        s_.volumes.Judge(*s_.volumes.FindUser(uid), s_.link.now());
    pod->lacks = nodes.why_not;
    if (nodes.until != kForever) s_.gangs.TouchAt(nodes.until, gang->ref);
    Role role = RoleWith(*pod->own_role, nodes);
    if (role != *pod->role) pod->role = roles_.Share(std::move(role));
    if (slot == nullptr) continue;
    const bool as_it_was =
        pod->lacks.empty() &&
        gang->roles()[member.task->role].model->shape == pod->role->shape;
    if (!as_it_was) gang->Reassign(uid);
  }
}

bool VolumeBinder::Advance(GangRecord* gang) {
  size_t there = 0;
  bool gives_back = false;
  std::vector<TaskId> ready;
  for (uint32_t r = 0; r < gang->roles().size(); ++r) {
    std::vector<TaskSlot>& slots = gang->roles()[r].slots;
    for (uint32_t i = 0; i < slots.size(); ++i) {
      if (IsStarted(slots[i])) ++there;
      if (slots[i].stage != TaskStage::kClaiming) continue;
      if (IsReady(gang, &slots[i])) ready.push_back({r, i});
      gives_back |= slots[i].stage != TaskStage::kClaiming;
    }
  }
  if (gives_back) {
    TellGivenBack(gang);
  } else if (!ready.empty() && there + ready.size() >= gang->Needed()) {
    for (const TaskId task : ready) executor_.Bind(task, gang->SlotOf(task));
  }
  return gives_back;
}

bool VolumeBinder::IsReady(GangRecord* gang, TaskSlot* slot) {
  const PodRecord* pod = slot->pod;
  const Node* node = s_.nodes.Find(slot->node);
  if (pod == nullptr || node == nullptr || !pod->node.empty()) return false;
  if (!pod->waits()) {  // It is about to go.
    GiveBack(gang, slot, "");
    return false;
  }
  bool ready = true;
  for (const PodClaim& claim : pod->claims) {
    const ClaimVerdict verdict =
        s_.volumes.Judge(*s_.volumes.FindUser(pod->ref.uid), claim);
    std::string why_not = verdict.why_not;
    if (why_not.empty() && !Matches(verdict.nodes, node->labels)) {
      why_not = absl::StrCat("claim '", claim.name, "' has no volume there");
    }
    if (why_not.empty() && verdict.stage != ClaimStage::kBound) {
      ready = false;
      why_not = Provide({pod->ref.namespace_name, claim.name}, *node,
                        verdict.stage, pod->ref);
    }
    if (why_not.empty()) continue;
    GiveBack(gang, slot, why_not);
    return false;
  }
  if (ready || s_.link.now() < slot->awaited_until) return ready;
  Unselect(*pod, slot->node);
  GiveBack(gang, slot,
           absl::StrCat("no volume was bound there within ",
                        s_.options.volume_timeout / kSecond, " s"));
  return false;
}

std::string VolumeBinder::Provide(const ClaimKey& key, const Node& node,
                                  ClaimStage stage, const PodRef& pod) {
  if (s_.volumes.requests().Refuses(key, node.key, s_.link.now())) {
    return absl::StrCat("claim '", key.second, "' can have no volume there");
  }
  return stage == ClaimStage::kProvision ? SelectNode(key, node.key, pod)
                                         : GiveVolume(key, node, pod);
}

void VolumeBinder::GiveUp(const ClaimKey& key, const std::string& node) {
  s_.volumes.requests().Erase(key);
  s_.volumes.requests().Refuse(key, node, s_.link.now() + kElsewhere);
}

std::string VolumeBinder::SelectNode(const ClaimKey& key,
                                     const std::string& node,
                                     const PodRef& pod) {
  const api::PersistentVolumeClaim& claim = *s_.volumes.FindClaim(key);
  // By this library or another: what comes of it is waited for.
  if (!claim.selected_node.empty()) return "";
  if (const ClaimRequest* last = s_.volumes.requests().Find(key)) {
    using enum ClaimRequest::Stage;
    const bool seen = claim.meta.resource_version != last->version;
    if (last->stage == kAsked || (!seen && last->stage != kRefused)) return "";
    if (last->stage != kStale) {
      // The provisioner has taken the node away again, or nobody may set it.
      const std::string tried = last->node;
      std::string why =
          last->stage == kRefused
              ? absl::StrCat("selecting it for claim '", key.second,
                             "' was refused: ", last->message)
              : absl::StrCat("no volume could be made there for claim '",
                             key.second, "'");
      GiveUp(key, tried);
      if (tried == node) return why;
    }
  }
  const uint64_t number = s_.volumes.requests().Add(
      key, {.node = node, .version = claim.meta.resource_version});
  s_.outbox.Ask(
      AwaitedRequest{.body = SelectNodeRequest{VersionOf(claim.meta), node},
                     .pod = pod.uid,
                     .attempt = number});
  return "";
}

std::string VolumeBinder::GiveVolume(const ClaimKey& key, const Node& node,
                                     const PodRef& pod) {
  const api::PersistentVolumeClaim& claim = *s_.volumes.FindClaim(key);
  if (s_.volumes.GivenTo(claim) != nullptr) return "";
  if (const ClaimRequest* last = s_.volumes.requests().Find(key)) {
    using enum ClaimRequest::Stage;
    const auto* given = s_.volumes.FindVolume(last->volume);
    const bool seen =
        given == nullptr || given->meta.resource_version != last->version;
    if (last->stage == kAsked || (!seen && last->stage != kRefused)) return "";
    if (last->stage == kRefused) {
      std::string why =
          absl::StrCat("giving volume '", last->volume, "' to claim '",
                       key.second, "' was refused: ", last->message);
      GiveUp(key, node.key);
      return why;
    }
    s_.volumes.requests().Erase(key);
  }
  const auto* volume = s_.volumes.Choose(claim, node.labels);
  if (volume == nullptr) {
    GiveUp(key, node.key);
    return absl::StrCat("no volume there that suits claim '", key.second,
                        "' is free");
  }
  const uint64_t number = s_.volumes.requests().Add(
      key, {.node = node.key,
            .volume = volume->meta.name,
            .version = volume->meta.resource_version});
  s_.outbox.Ask(AwaitedRequest{
      .body = GiveVolumeRequest{VersionOf(volume->meta), VersionOf(claim.meta)},
      .pod = pod.uid,
      .attempt = number});
  return "";
}

void VolumeBinder::Unselect(const PodRecord& pod, const std::string& node) {
  for (const PodClaim& named : pod.claims) {
    const ClaimKey key{pod.ref.namespace_name, named.name};
    const auto* claim = s_.volumes.FindClaim(key);
    if (claim == nullptr || claim->phase == "Bound") continue;
    GiveUp(key, node);
    if (claim->selected_node.empty()) continue;
    s_.outbox.Ask(SelectNodeRequest{VersionOf(claim->meta), ""});
  }
}

void VolumeBinder::GiveBack(GangRecord* gang, TaskSlot* slot,
                            const std::string& why) {
  const PodRef pod = slot->pod->ref;
  if (!why.empty()) {
    s_.outbox.Ask(
        EventRequest{.object = PodObject(pod),
                     .warning = true,
                     .reason = "FailedScheduling",
                     .action = "Binding",
                     .note = absl::StrCat("Not on ", slot->node, ": ", why)});
  }
  gang->Detach(pod.uid);
  slot->stage = TaskStage::kDone;
}

void VolumeBinder::TellGivenBack(GangRecord* gang) {
  bool started = false;
  gang->ForEachSlot([&](const TaskSlot& slot) { started |= IsBound(slot); });
  if (!started) {
    s_.link.MustTell(GangYielded{gang->told.key});
    s_.FreePlaces(gang);
    return;
  }
  TasksAnswered answers{.gang = gang->told.key};
  for (uint32_t r = 0; r < gang->roles().size(); ++r) {
    const std::vector<TaskSlot>& slots = gang->roles()[r].slots;
    for (uint32_t i = 0; i < slots.size(); ++i) {
      if (slots[i].stage != TaskStage::kDone) continue;
      // The others have been told so before, which changes nothing.
      answers.tasks.push_back({.task = {r, i},
                               .attempt = slots[i].attempt,
                               .outcome = TaskOutcome::kSucceeded});
    }
  }
  s_.link.MustTell(std::move(answers));
  s_.gangs.Touch(gang);  // Others of them may be ready.
  s_.ForgetIfOver(gang);
}

}  // namespace muster::kubernetes
