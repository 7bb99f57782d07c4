#include "adapters/kubernetes/client/lease.h"

#include <nlohmann/json.hpp>

#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLongestSeconds = 86'400;

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(Concat("Lease: ", what));
}

// A string that may be missing or null; false if it is something else.
bool Text(const Json& object, const char* key, std::string* to) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return true;
  if (!it->is_string()) return false;
  *to = it->get<std::string>();
  return true;
}

bool Integer(const Json& object, const char* key, int64_t* to) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return true;
  if (!it->is_number_integer()) return false;
  *to = it->get<int64_t>();
  return true;
}

}  // namespace

absl::StatusOr<Lease> ReadLease(std::string_view json) {
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return Wrong("is no JSON object");
  Lease lease;
  const auto metadata = root.find("metadata");
  if (metadata == root.end() || !metadata->is_object() ||
      !Text(*metadata, "resourceVersion", &lease.resource_version) ||
      lease.resource_version.empty()) {
    return Wrong("metadata.resourceVersion: expected a string, not empty");
  }
  if (!Text(*metadata, "uid", &lease.uid)) {
    return Wrong("metadata.uid: expected a string");
  }
  const auto spec = root.find("spec");
  if (spec != root.end() && !spec->is_null()) {
    if (!spec->is_object()) return Wrong("spec: expected an object");
    int64_t seconds = 0;
    for (const auto& [key, to] :
         {std::pair{"holderIdentity", &lease.holder},
          std::pair{"renewTime", &lease.renew_time},
          std::pair{"acquireTime", &lease.acquire_time}}) {
      if (!Text(*spec, key, to)) {
        return Wrong(Concat("spec.", key, ": expected a string"));
      }
    }
    if (!Integer(*spec, "leaseDurationSeconds", &seconds)) {
      return Wrong("spec.leaseDurationSeconds: expected an integer");
    }
    if (!Integer(*spec, "leaseTransitions", &lease.transitions)) {
      return Wrong("spec.leaseTransitions: expected an integer");
    }
    if (seconds >= 1 && seconds <= kLongestSeconds) {
      lease.duration = 1000 * seconds;
    }
  }
  lease.json = json;
  return lease;
}

std::string WriteLease(const Lease& lease, std::string_view namespace_name,
                       std::string_view name) {
  Json root = Json::parse(lease.json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) root = Json::object();
  root["apiVersion"] = "coordination.k8s.io/v1";
  root["kind"] = "Lease";
  Json& metadata = root["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  metadata["namespace"] = namespace_name;
  metadata["name"] = name;
  metadata.erase("managedFields");
  if (!lease.resource_version.empty()) {
    metadata["resourceVersion"] = lease.resource_version;
  }
  Json& spec = root["spec"];
  if (!spec.is_object()) spec = Json::object();
  spec["holderIdentity"] = lease.holder;
  spec["leaseDurationSeconds"] = (lease.duration + 999) / 1000;
  spec["leaseTransitions"] = lease.transitions;
  spec["renewTime"] = lease.renew_time;
  spec["acquireTime"] = lease.acquire_time;
  return root.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace muster::kubernetes::client
