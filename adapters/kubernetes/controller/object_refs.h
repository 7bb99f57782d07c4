// Objects as Events name them. Pure functions: any thread.
#pragma once

#include <string>

#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/controller/requests.h"
#include "adapters/kubernetes/model/group.h"

namespace muster::kubernetes {

ObjectRef QueueRef(const api::ObjectMeta& meta);
ObjectRef JobRef(const std::string& namespace_name, const std::string& name,
                 const std::string& uid);
// A group that has an object, of that UID.
ObjectRef GroupObject(const GroupRef& ref, const std::string& uid);

}  // namespace muster::kubernetes
