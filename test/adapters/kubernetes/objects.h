// Objects for tests of the controller.
#pragma once

#include <cstdint>
#include <string>

#include "adapters/kubernetes/api/muster_objects.h"
#include "adapters/kubernetes/model/group.h"
#include "test/adapters/kubernetes/fake_api.h"

namespace muster::kubernetes {

// Its UID is "uid-" and its name.
inline api::Queue QueueNamed(const std::string& name,
                             const std::string& parent = "") {
  api::Queue queue;
  queue.meta.name = name;
  queue.meta.uid = "uid-" + name;
  queue.meta.generation = 3;
  queue.parent = parent;
  return queue;
}

// A pod that names its queue.
inline PodSpec PodIn(const std::string& queue, const std::string& name,
                     int64_t gpus = 1) {
  return {.name = name, .gpus = gpus, .labels = {{kQueueLabel, queue}}};
}

// A PodGroup of muster.dev.
inline api::MusterPodGroup GroupNamed(const std::string& name,
                                      int32_t minimum) {
  api::MusterPodGroup group;
  group.meta.name = name;
  group.min_member = minimum;
  return group;
}

// A pod of the PodGroup "g" of muster.dev.
inline PodSpec MemberOfG(const std::string& name) {
  return {.name = name, .gpus = 1, .labels = {{kPodGroupLabel, "g"}}};
}

}  // namespace muster::kubernetes
