// Who held which device when: states of the whole cluster at a bounded number
// of moments, for a map that can be stepped through time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/inprocess/real_usage.h"
#include "muster/gang.h"
#include "muster/ids.h"

namespace muster::inprocess {

// What a device is used for. Equal ones share a number.
struct Occupancy {
  // Gangs by their number of submission, ascending.
  std::vector<uint32_t> gangs{};
  uint16_t milli = 0;    // In use; of whole devices 1000.
  bool working = false;  // All of these gangs make progress.

  friend auto operator<=>(const Occupancy&, const Occupancy&) = default;
};

// The gang's part in the picture.
struct MapGang {
  std::string key{};
  std::string priority_class{};
  int64_t device_milli = 0;
};

// Numbers of what is no gang's; those of `occupancies` follow.
enum class CellState : uint8_t { kFree, kDown, kOthers, kAbsent };
inline constexpr uint32_t kFirstOccupancy = 4;

// The finished picture.
struct MapPicture {
  struct Node {
    std::string key{};
    std::vector<std::string> path{};  // Domains, widest level first.
    std::string model{};              // Of its first device.
    uint32_t devices = 0;
  };
  std::vector<Node> nodes{};  // Those with devices, neighbours together.
  std::vector<Time> steps{};
  // Per step, in varints: the number of runs of devices that changed, and of
  // each run how many devices lie before it since the last one, how many it
  // has, and what they became. The first step changes from all free. Devices
  // are numbered in the order of `nodes`.
  std::string changes{};
  std::vector<Occupancy> occupancies{};  // Gangs are positions in `gangs`.
  std::vector<MapGang> gangs{};
  Duration spacing = 0;  // Steps that lay nearer than this were left out.
};

// Each change of the cluster is one step, until there are too many; then only
// those are kept that lie apart enough. Memory is O(devices x steps), and the
// number of steps follows from the number of devices.
class DeviceMap {
 public:
  // `max_cells`: devices x steps at most; but at least 16 steps.
  explicit DeviceMap(size_t max_cells) : max_cells_(max_cells) {}

  void NodeUpdated(uint32_t node, const RealUsage& real_usage);
  // `gang`: number of submission.
  void Take(uint32_t gang, const MapGang& about, uint32_t node,
            DeviceSet devices);
  void Leave(uint32_t gang, uint32_t node, DeviceSet devices);
  void SetWorking(uint32_t gang, bool working);
  // Nothing changes during [from, to).
  void Advanced(Time from, Time to, const RealUsage& real_usage);

  // With a last step at `end`. Steps are left out until everything is smaller
  // than `max_bytes`. `levels`: the labels that make a node's path.
  MapPicture Finish(Time end, const RealUsage& real_usage,
                    const std::vector<std::string>& levels, size_t max_bytes);

 private:
  struct Cell {
    uint32_t node = 0;
    uint32_t device = 0;
    std::vector<uint32_t> holders{};
    bool dirty = false;
  };
  struct Step {
    Time at = 0;
    std::vector<uint32_t> state{};  // By cell.
  };
  struct Holding {
    MapGang about{};
    bool working = false;
    std::vector<uint32_t> cells{};
  };

  void MakeDirty(uint32_t cell);
  uint32_t StateOf(const Cell& cell, const RealUsage& real_usage);
  uint32_t Number(Occupancy occupancy);
  void TakeStep(Time at, const RealUsage& real_usage);
  // Keeps steps that lie `spacing_` apart, and forgets who is in none.
  void Thin();
  void Collect();
  size_t max_steps() const;
  MapPicture Draw(const std::vector<uint32_t>& order) const;

  size_t max_cells_;
  std::vector<Cell> cells_;
  std::vector<std::vector<uint32_t>> cell_of_;  // By node, then device.
  std::vector<uint32_t> dirty_;
  std::vector<uint32_t> state_;  // By cell, as of the last step.
  bool changed_ = false;         // Since the last step.
  std::vector<Step> steps_;
  Duration spacing_ = 0;

  std::unordered_map<uint32_t, Holding> holding_;  // By gang.
  std::map<Occupancy, uint32_t> numbers_;
  std::vector<const Occupancy*> occupancies_;  // By number - kFirstOccupancy.
  std::vector<uint32_t> free_numbers_;
  size_t collect_at_ = 4096;
  std::unordered_map<uint32_t, MapGang> gangs_;  // Those in occupancies_.
};

// The unsigned number in groups of 7 bits, lowest first; the eighth bit says
// that more follow.
void AppendVarint(uint64_t value, std::string* out);

}  // namespace muster::inprocess
