#include "lib/scheduler/handles.h"

#include <algorithm>

namespace muster {

namespace {

class HandleMap {
 public:
  HandleMap(const Core* from, const Core& to) : from_(from), to_(to) {}

  GangIndex OfGang(GangIndex g) const {
    if (from_ != nullptr) return to_.gangs.Find(from_->gangs.at(g).key);
    return g < to_.gangs.limit() && to_.gangs.at(g).exists ? g : kNoGang;
  }
  QueueIndex OfQueue(QueueIndex q) const {
    if (from_ != nullptr) return to_.queues.Find(from_->queues.at(q).queue.key);
    return q < to_.queues.limit() && to_.queues.at(q).exists ? q : kNoQueue;
  }
  NodeId OfNode(NodeIndex n) const {
    if (from_ != nullptr) return to_.cluster.Find(from_->cluster.node(n).key);
    return to_.cluster.exists(n) ? to_.cluster.id(n) : NodeId();
  }

  void Map(GangId* id) const {
    const GangIndex g = id->valid() ? OfGang(id->index) : kNoGang;
    const bool known =
        g != kNoGang &&
        (from_ != nullptr || to_.gangs.at(g).generation == id->generation);
    *id = known ? GangId{g, to_.gangs.at(g).generation} : GangId();
  }
  void Map(NodeId* id) const {
    const NodeId node = id->valid() ? OfNode(id->index) : NodeId();
    *id = from_ != nullptr || node == *id ? node : NodeId();
  }
  void Map(Reason* reason) const {
    if (reason->object_kind == ReasonObject::kNode) {
      reason->object = OfNode(reason->object).index;
    } else if (reason->object_kind == ReasonObject::kQueue) {
      reason->object = OfQueue(reason->object);
    } else if (reason->object_kind == ReasonObject::kGang) {
      reason->object = OfGang(reason->object);
    }
  }

 private:
  const Core* from_;
  const Core& to_;
};

}  // namespace

void MapHandles(const Core* from, const Core& to, Plan* plan) {
  const HandleMap map(from, to);
  for (std::vector<Decision>* list : {&plan->decisions, &plan->untold}) {
    for (Decision& d : *list) {
      map.Map(&d.gang);
      map.Map(&d.on_behalf_of);
      map.Map(&d.reason);
    }
  }
  for (PlannedTask& task : plan->tasks) map.Map(&task.node);
  for (Waiting& w : plan->waiting) {
    map.Map(&w.gang);
    map.Map(&w.reason);
  }
  for (ClassAnswer& answer : plan->answers) map.Map(&answer.reason);
}

void StartGenerationsAfter(const Core& before, Core& next) {
  uint32_t last = 0;
  for (GangIndex g = 0; g < before.gangs.limit(); ++g) {
    last = std::max(last, before.gangs.at(g).generation);
  }
  for (QueueIndex q = 0; q < before.queues.limit(); ++q) {
    last = std::max(last, before.queues.at(q).generation);
  }
  last = std::max(last, before.cluster.last_generation());
  next.gangs.StartGenerationsAt(last + 1);
  next.queues.StartGenerationsAt(last + 1);
  next.cluster.StartGenerationsAt(last + 1);
}

}  // namespace muster
