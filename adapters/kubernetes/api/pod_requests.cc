#include "adapters/kubernetes/api/pod_requests.h"

#include <algorithm>
#include <limits>

namespace muster::kubernetes::api {
namespace {

// Where a container's requests are looked up.
enum class Source { kSpec, kAllocated, kActual };

bool IsPodLevel(std::string_view resource) {
  return resource == "cpu" || resource == "memory" ||
         resource.starts_with("hugepages-");
}

const Amounts& RequestsOf(const PodNeeds& pod, const ContainerNeeds& container,
                          Source source) {
  static const Amounts kNone;
  if (source == Source::kSpec) return container.spec;
  const auto has =
      std::ranges::find(pod.statuses, container.name, &ContainerHas::name);
  if (has != pod.statuses.end()) {
    if (source == Source::kActual && has->actual.has_value()) {
      return *has->actual;
    }
    if (has->allocated.has_value()) return *has->allocated;
  }
  return pod.resize_infeasible ? kNone : container.spec;
}

// What the containers need in all.
Amounts Total(const PodNeeds& pod, Source source) {
  Amounts at_once, starting, sidecars;
  for (const ContainerNeeds& container : pod.containers) {
    at_once.Add(RequestsOf(pod, container, source));
  }
  for (const ContainerNeeds& container : pod.init_containers) {
    const Amounts& needs = RequestsOf(pod, container, source);
    if (container.restarts) {
      at_once.Add(needs);
      sidecars.Add(needs);
      starting.RaiseTo(sidecars);
    } else {
      Amounts together = sidecars;
      together.Add(needs);
      starting.RaiseTo(together);
    }
  }
  at_once.RaiseTo(starting);
  return at_once;
}

Amounts ContainersNeed(const PodNeeds& pod) {
  if (pod.statuses.empty() && !pod.resize_infeasible &&
      !pod.pod_allocated.has_value() && !pod.pod_actual.has_value()) {
    return Total(pod, Source::kSpec);
  }
  Amounts allocated = Total(pod, Source::kAllocated);
  Amounts actual = Total(pod, Source::kActual);
  // The pod's own status tells sums over its containers.
  if (pod.pod_allocated.has_value() && pod.pod_actual.has_value()) {
    allocated.Replace(*pod.pod_allocated);
    actual.Replace(*pod.pod_actual);
  }
  allocated.RaiseTo(actual);
  if (!pod.resize_infeasible) allocated.RaiseTo(Total(pod, Source::kSpec));
  return allocated;
}

// spec.resources.requests, or what the status says while it is resized.
Amounts PodLevelNeeds(const PodNeeds& pod) {
  if (!pod.pod_actual.has_value()) return pod.pod_spec;
  Amounts needs;
  if (!pod.resize_infeasible) needs = pod.pod_spec;
  needs.RaiseTo(*pod.pod_actual);
  if (pod.pod_allocated.has_value()) needs.RaiseTo(*pod.pod_allocated);
  return needs;
}

bool SetsPodLevel(const PodNeeds& pod) {
  return std::ranges::any_of(
      pod.pod_spec, [](const auto& item) { return IsPodLevel(item.first); });
}

}  // namespace

int64_t& Amounts::operator[](std::string_view name) {
  for (auto& [known, amount] : items_) {
    if (known == name) return amount;
  }
  return items_.emplace_back(name, 0).second;
}

const int64_t* Amounts::Find(std::string_view name) const {
  for (const auto& [known, amount] : items_) {
    if (known == name) return &amount;
  }
  return nullptr;
}

void Amounts::Add(const Amounts& other) {
  for (const auto& [name, amount] : other) {
    int64_t& sum = (*this)[name];
    if (__builtin_add_overflow(sum, amount, &sum)) {
      sum = std::numeric_limits<int64_t>::max();
    }
  }
}

void Amounts::RaiseTo(const Amounts& other) {
  for (const auto& [name, amount] : other) {
    int64_t& most = (*this)[name];
    most = std::max(most, amount);
  }
}

void Amounts::Replace(const Amounts& other) {
  for (const auto& [name, amount] : other) (*this)[name] = amount;
}

ResourceList PodRequests(const PodNeeds& pod) {
  Amounts needs = ContainersNeed(pod);
  if (SetsPodLevel(pod)) {
    for (const auto& [name, amount] : PodLevelNeeds(pod)) {
      if (IsPodLevel(name)) needs[name] = amount;
    }
  }
  needs.Add(pod.overhead);
  ResourceList list;
  for (const auto& [name, amount] : needs) {
    if (amount != 0) list.emplace(name, amount);
  }
  return list;
}

}  // namespace muster::kubernetes::api
