#include "adapters/workloads/openb_csv.h"

#include <algorithm>
#include <set>
#include <utility>

#include "adapters/workloads/units.h"
#include "muster/device_set.h"

namespace muster::inprocess {

absl::StatusOr<std::vector<Node>> LoadOpenbNodes(const std::string& file) {
  absl::StatusOr<CsvTable> table = CsvTable::Load(file);
  if (!table.ok()) return table.status();
  std::vector<Node> nodes;
  std::set<std::string> keys;
  for (size_t r = 0; r < table->rows(); ++r) {
    Node node{.key = std::string(table->Text(r, "sn"))};
    node.capacity = {table->Integer(r, "cpu_milli", 0, Resources::kMaxQuantity),
                     kMebi * table->Integer(r, "memory_mib", 0,
                                            Resources::kMaxQuantity / kMebi)};
    const int64_t gpus = table->Integer(r, "gpu", 0, DeviceSet::kCapacity);
    node.devices.assign(static_cast<size_t>(gpus),
                        Device{.model = std::string(table->Text(r, "model"))});
    if (!table->status().ok()) return table->status();
    if (!keys.insert(node.key).second) {
      return table->Wrong(r, "sn", "'" + node.key + "' appears twice");
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

TaskShape ReadOpenbShape(CsvTable* table, size_t r) {
  TaskShape shape;
  shape.resources = {table->Integer(r, "cpu_milli", 0, Resources::kMaxQuantity),
                     kMebi * table->Integer(r, "memory_mib", 0,
                                            Resources::kMaxQuantity / kMebi)};
  shape.devices.count = static_cast<uint32_t>(
      table->Integer(r, "num_gpu", 0, DeviceSet::kCapacity));
  if (shape.devices.count == 0) return shape;
  shape.devices.milli =
      static_cast<int32_t>(table->Integer(r, "gpu_milli", 1, kWholeDevice));
  if (!table->Has("gpu_spec")) return shape;
  std::string_view models = table->Text(r, "gpu_spec");
  while (!models.empty()) {
    const size_t bar = std::min(models.find('|'), models.size());
    shape.devices.models.emplace_back(models.substr(0, bar));
    models.remove_prefix(std::min(bar + 1, models.size()));
  }
  return shape;
}

}  // namespace muster::inprocess
