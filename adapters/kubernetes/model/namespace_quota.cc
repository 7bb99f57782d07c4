#include "adapters/kubernetes/model/namespace_quota.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace muster::kubernetes {
namespace {

constexpr std::string_view kRequests = "requests.";

// Of pods' own resources, with or without the prefix.
bool IsOfPods(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
         name.starts_with("hugepages-");
}

// As pods call it; "" if it is nothing that they ask for.
std::string_view ResourceOf(std::string_view name) {
  if (name == "pods" || IsOfPods(name)) return name;
  if (!name.starts_with(kRequests)) return {};
  name.remove_prefix(kRequests.size());
  const bool extended = name.find('/') != std::string_view::npos;
  return IsOfPods(name) || extended ? name : std::string_view();
}

}  // namespace

api::ResourceList PodLimits(const api::ResourceQuota& quota) {
  api::ResourceList limits;
  if (quota.scoped) return limits;
  for (const auto& [name, amount] : quota.hard) {
    const std::string_view resource = ResourceOf(name);
    if (resource.empty()) continue;
    const auto [it, is_new] = limits.try_emplace(std::string(resource), amount);
    if (!is_new) it->second = std::min(it->second, amount);
  }
  return limits;
}

}  // namespace muster::kubernetes
