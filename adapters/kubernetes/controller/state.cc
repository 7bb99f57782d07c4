#include "adapters/kubernetes/controller/state.h"

namespace muster::kubernetes {

void ControllerState::Forget(GangRecord* gang) {
  nominations.Set(gang->told.key, {});
  gangs.EraseTold(gang->told.key);
  gang->told = {};
  gang->checkpoint_told = 0;
  queues.Retry();
  FreePlaces(gang);
}

void ControllerState::ForgetIfOver(GangRecord* gang) {
  if (!link.scheduler().FindGang(gang->told.key).valid()) Forget(gang);
}

void ControllerState::NoteStatus(const GangRecord& gang) {
  if (gang.ref.kind == GroupKind::kMusterGroup) {
    group_news.Touch(gang.ref);
  }
}

void ControllerState::FreePlaces(GangRecord* gang) {
  gang->ForEachSlot([](TaskSlot& slot) { slot = {.pod = slot.pod}; });
}

}  // namespace muster::kubernetes
