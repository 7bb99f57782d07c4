// Objects as Events name them. Pure functions: any thread.
#pragma once

#include <string>

#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/api/writers.h"
#include "adapters/kubernetes/controller/requests.h"
#include "adapters/kubernetes/model/group.h"

namespace muster::kubernetes {

// An object of the type.
api::ObjectReference ToReference(const api::ResourceType& type,
                                 std::string namespace_name, std::string name,
                                 std::string uid);

api::ObjectReference PodObject(const PodRef& pod);
// Its UID is its name, as kubelets have it.
api::ObjectReference NodeObject(const std::string& name);
api::ObjectReference QueueObject(const api::ObjectMeta& meta);
// A group that has an object, of that UID.
api::ObjectReference GroupObject(const GroupRef& ref, const std::string& uid);

}  // namespace muster::kubernetes
