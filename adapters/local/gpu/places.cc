#include "adapters/local/gpu/places.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace muster::local {
namespace {

using Json = nlohmann::json;

// The numbers of islands that are known, for those of `found`.
class IslandNumbers {
 public:
  explicit IslandNumbers(std::span<const Gpu> known) {
    for (const Gpu& gpu : known) next_ = std::max(next_, gpu.island + 1);
  }
  // The GPU was in the island `known`, and is in `found` as the driver counts.
  void Meet(int32_t known, int32_t found) {
    if (numbers_.contains(found) || !taken_.insert(known).second) return;
    numbers_[found] = known;
  }
  int32_t Of(int32_t found) {
    const auto [it, is_new] = numbers_.try_emplace(found, next_);
    if (is_new) ++next_;
    return it->second;
  }

 private:
  int32_t next_ = 0;
  std::map<int32_t, int32_t> numbers_;
  std::set<int32_t> taken_;
};

template <class T>
bool Take(const Json& json, const char* key, T* to) {
  const auto it = json.find(key);
  if (it == json.end()) return false;
  if constexpr (std::is_same_v<T, std::string>) {
    if (!it->is_string()) return false;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!it->is_boolean()) return false;
  } else {
    if (!it->is_number_integer() || !std::in_range<T>(it->get<int64_t>())) {
      return false;
    }
  }
  *to = it->get<T>();
  return true;
}

bool Read(const Json& json, GpuInstance* instance) {
  return json.is_object() && Take(json, "uuid", &instance->uuid) &&
         Take(json, "profile", &instance->profile) &&
         Take(json, "start", &instance->start) &&
         Take(json, "memory_bytes", &instance->memory_bytes);
}

bool Read(const Json& json, Gpu* gpu) {
  if (!json.is_object() || !Take(json, "uuid", &gpu->uuid) ||
      !Take(json, "model", &gpu->model) ||
      !Take(json, "memory_bytes", &gpu->memory_bytes) ||
      !Take(json, "pci", &gpu->pci) || !Take(json, "numa", &gpu->numa) ||
      !Take(json, "island", &gpu->island) || !Take(json, "mig", &gpu->mig)) {
    return false;
  }
  const auto instances = json.find("instances");
  if (instances == json.end() || !instances->is_array()) return false;
  return std::ranges::all_of(*instances, [gpu](const Json& one) {
    return Read(one, &gpu->instances.emplace_back());
  });
}

}  // namespace

std::vector<Gpu> KeepPlaces(std::span<const Gpu> known,
                            std::span<const Gpu> found,
                            std::span<const std::string> forgotten) {
  std::vector<Gpu> places(known.begin(), known.end());
  IslandNumbers islands(known);
  std::vector<bool> is_there(places.size(), false);
  std::vector<const Gpu*> added;
  for (const Gpu& gpu : found) {
    const auto same = std::ranges::find(places, gpu.uuid, &Gpu::uuid);
    if (same == places.end()) {
      added.push_back(&gpu);
      continue;
    }
    is_there[static_cast<size_t>(same - places.begin())] = true;
    islands.Meet(same->island, gpu.island);
    *same = gpu;
  }
  const auto is_free = [&](size_t i) {
    return !is_there[i] &&
           std::ranges::find(forgotten, places[i].uuid) != forgotten.end();
  };
  size_t next = 0;
  for (const Gpu* gpu : added) {
    while (next < places.size() && !is_free(next)) ++next;
    if (next == places.size()) {
      places.emplace_back();
      is_there.push_back(false);
    }
    places[next] = *gpu;
    is_there[next] = true;
  }
  while (!places.empty() && is_free(places.size() - 1)) places.pop_back();
  for (size_t i = 0; i < places.size(); ++i) {
    places[i].missing = !is_there[i];
    if (is_there[i]) {
      places[i].island = islands.Of(places[i].island);
    } else {
      places[i].processes.clear();
    }
  }
  return places;
}

std::string GpusToJson(std::span<const Gpu> gpus) {
  Json list = Json::array();
  for (const Gpu& gpu : gpus) {
    Json instances = Json::array();
    for (const GpuInstance& instance : gpu.instances) {
      instances.push_back({{"uuid", instance.uuid},
                           {"profile", instance.profile},
                           {"start", instance.start},
                           {"memory_bytes", instance.memory_bytes}});
    }
    list.push_back({{"uuid", gpu.uuid},
                    {"model", gpu.model},
                    {"memory_bytes", gpu.memory_bytes},
                    {"pci", gpu.pci},
                    {"numa", gpu.numa},
                    {"island", gpu.island},
                    {"mig", gpu.mig},
                    {"instances", std::move(instances)}});
  }
  return list.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<std::vector<Gpu>> GpusFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return absl::DataLossError("is no list of GPUs");
  std::vector<Gpu> gpus;
  for (const Json& one : json) {
    if (!Read(one, &gpus.emplace_back())) {
      return absl::DataLossError(
          absl::StrCat("entry ", gpus.size(), " is no GPU"));
    }
  }
  return gpus;
}

}  // namespace muster::local
