// OwnCpus: which CPUs the places of a job have of their own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/ids.h"

namespace muster::local {

// By role and place, of those that have any: the kernel's numbers, ascending.
using OwnCpus = std::map<TaskId, std::vector<uint32_t>>;

// JobRow::cpus: [[role, place, [CPU, ...]], ...]; "" of none. O(CPUs).
std::string ToJson(const OwnCpus& cpus);
// INVALID_ARGUMENT for what is none.
absl::StatusOr<OwnCpus> OwnCpusFromJson(std::string_view text);

}  // namespace muster::local
