// What a pod needs of its node in all, by kube-scheduler's rule. Pure
// functions: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "adapters/kubernetes/api/objects.h"

namespace muster::kubernetes::api {

// Amounts in thousandths by name, for a few names; sums end at the largest
// number. The names are not owned.
class Amounts {
 public:
  // O(names), as everything here.
  int64_t& operator[](std::string_view name);
  const int64_t* Find(std::string_view name) const;
  void Add(const Amounts& other);
  void RaiseTo(const Amounts& other);
  // Those of `other` replace those of the same name.
  void Replace(const Amounts& other);

  bool empty() const { return items_.empty(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  absl::InlinedVector<std::pair<std::string_view, int64_t>, 4> items_;
};

// A container's resources.requests, and what its status says of them; unset is
// not the same as empty.
struct ContainerNeeds {
  std::string_view name{};
  bool restarts = false;  // Of an init container: restartPolicy Always.
  Amounts spec{};
};
struct ContainerHas {
  std::string_view name{};
  std::optional<Amounts> allocated{};  // status...allocatedResources.
  std::optional<Amounts> actual{};     // status...resources.requests.
};

struct PodNeeds {
  std::vector<ContainerNeeds> containers{};
  std::vector<ContainerNeeds> init_containers{};
  std::vector<ContainerHas> statuses{};  // Of both.
  Amounts overhead{};
  // spec.resources.requests, status.allocatedResources and
  // status.resources.requests of the pod itself.
  Amounts pod_spec{};
  std::optional<Amounts> pod_allocated{};
  std::optional<Amounts> pod_actual{};
  // The condition PodResizePending has the reason Infeasible.
  bool resize_infeasible = false;
};

// The larger of what all containers need at once (restarting init containers
// with them) and what each init container needs beside those that restart and
// were started before it; where spec and status differ, while a pod is resized
// in place, the largest of them, without the spec if the resize is infeasible.
// Requests of the pod itself for cpu, memory and huge pages take the place of
// that. Overhead comes on top. A need of 0 is none. O(containers x names).
ResourceList PodRequests(const PodNeeds& pod);

}  // namespace muster::kubernetes::api
