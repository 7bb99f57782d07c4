// Requests under a headroom whose tasks use more of the device kind on some
// devices than on others: shares by memory, partitions.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lib/solver/gang_solver.h"

namespace muster::solver {

// What the tasks use, on the devices that they have.
Resources UsageOf(const Cluster& cluster, std::span<const Assignment> tasks);

// Cluster::demand tells the least that such a task uses; what a placement uses
// is known once it has devices. Where that is beyond the headroom the question
// is asked again about fewer devices: first without those on which no task can
// be within the headroom, then without the most used ones of the last answer.
class DeviceBound {
 public:
  static bool Concerns(const Cluster& cluster, const PlacementRequest& request);

  // `ask` answers the request it is given: its tasks, charged, and its steps.
  // False if that could not be brought within the headroom: the cluster is as
  // it was, there are no tasks, and the reason is the queue's limit; cut_short
  // tells whether a placement within it is possible all the same.
  bool Ask(Cluster& cluster, const PlacementRequest& request,
           PlacementResult* result,
           absl::FunctionRef<void(const PlacementRequest&)> ask);

 private:
  struct MostUsed {
    int64_t milli = 0;   // By one task, of one device.
    int64_t within = 0;  // No task within the headroom has more of one.
    int64_t least = 0;   // Of any device there is.
  };
  bool HasChoice() const;
  MostUsed Look(const Cluster& cluster,
                const std::vector<Assignment>& tasks) const;
  bool Narrow(Cluster& cluster, const std::vector<Assignment>& tasks);
  void Bind(Cluster& cluster, int32_t most);
  void ToOwnShapes(std::vector<Assignment>* tasks) const;

  const PlacementRequest* request_ = nullptr;
  // Whether a placement within the headroom can have none of the barred
  // devices.
  bool lossless_ = true;
  PreparedGang gang_;
  std::vector<Assignment> fixed_;
  PlacementRequest bound_;
  std::vector<std::pair<ShapeId, ShapeId>> shapes_;  // With the bound, own.
};

}  // namespace muster::solver
