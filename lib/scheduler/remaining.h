// What is left of a gang of which tasks have finished for good.
#pragma once

#include <vector>

#include "lib/scheduler/gang_spec.h"
#include "lib/scheduler/gang_table.h"
#include "lib/solver/gang_solver.h"

namespace muster {

// The gang as a solver is asked to complete it: finished tasks count, hold
// nothing and do not come again. Where there are some, that is a smaller gang,
// of which the tasks that are held are the first. Not with slices, which say
// which tasks belong together: see GangSpec::sliced.
class Remaining {
 public:
  // Outlived by both. O(tasks), and O(gang) if some have finished.
  Remaining(const GangRecord& r, const GangSpec& spec);

  const PreparedGang& gang() const { return whole_ ? spec_.prepared : part_; }
  const std::vector<Assignment>& fixed() const { return fixed_; }
  // Gives tasks that a solver placed beside fixed() the names they have in the
  // whole gang.
  void Rename(std::vector<Assignment>* placed) const;

 private:
  void Shrink();
  void CountFinished(std::vector<uint32_t>* done);
  void Waive(uint32_t group);
  void LeaveOut(uint32_t group);
  bool IsWithin(uint32_t group, uint32_t above) const;

  const GangRecord& record_;
  const GangSpec& spec_;
  bool whole_ = true;
  std::vector<uint32_t> finished_;  // By role.
  std::vector<bool> held_;          // By role: some of its tasks are.
  std::vector<Assignment> fixed_;
  PreparedGang part_;
};

}  // namespace muster
