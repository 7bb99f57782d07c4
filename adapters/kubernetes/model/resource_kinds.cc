#include "adapters/kubernetes/model/resource_kinds.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace muster::kubernetes {

ResourceKinds::ResourceKinds(std::string device_resource)
    : device_resource_(std::move(device_resource)),
      names_{kCpu, "memory", "ephemeral-storage", kPods, device_resource_} {}

ResourceKind ResourceKinds::KindOf(std::string_view name) const {
  const auto it = std::ranges::find(names_, name);
  return static_cast<ResourceKind>(it - names_.begin());
}

bool ResourceKinds::Learn(const api::ResourceList& list) {
  return Learn(list, Resources::kMaxKinds);
}

bool ResourceKinds::LearnRequested(const api::ResourceList& list) {
  return Learn(list, Resources::kMaxKinds / 2);
}

bool ResourceKinds::Learn(const api::ResourceList& list, size_t most_kinds) {
  bool learned = false;
  for (const auto& [name, amount] : list) {
    if (KindOf(name) < names_.size()) continue;
    if (names_.size() >= most_kinds) break;
    names_.push_back(name);
    learned = true;
  }
  return learned;
}

Resources ResourceKinds::Amounts(const api::ResourceList& list,
                                 bool round_up) const {
  Resources amounts(static_cast<uint32_t>(names_.size()));
  for (const auto& [name, milli] : list) {
    const ResourceKind kind = KindOf(name);
    if (kind == names_.size() || name == device_resource_) continue;
    int64_t amount = std::max<int64_t>(milli, 0);
    if (name != kCpu) {
      const bool up = round_up && amount % 1000 != 0;
      amount = amount / 1000 + (up ? 1 : 0);
    }
    amounts.Set(kind, std::min(amount, Resources::kMaxQuantity));
  }
  return amounts;
}

Resources ResourceKinds::Capacity(const api::ResourceList& list) const {
  return Amounts(list, false);
}

Resources ResourceKinds::Request(const api::ResourceList& list) const {
  Resources amounts = Amounts(list, true);
  amounts.Set(KindOf(kPods), 1);
  return amounts;
}

bool ResourceKinds::InThousandths(std::string_view name) const {
  return name == kCpu || name == device_resource_;
}

int64_t ResourceKinds::ToThousandths(std::string_view name,
                                     int64_t amount) const {
  if (InThousandths(name)) return amount;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 1000;
  return std::clamp(amount, -kMost, kMost) * 1000;
}

int64_t ResourceKinds::Devices(const api::ResourceList& list) const {
  const auto it = list.find(device_resource_);
  return it == list.end() ? 0 : std::max<int64_t>(it->second, 0) / 1000;
}

std::string_view ResourceKinds::Unknown(const api::ResourceList& list) const {
  for (const auto& [name, amount] : list) {
    if (amount > 0 && KindOf(name) == names_.size()) return name;
  }
  return {};
}

}  // namespace muster::kubernetes
