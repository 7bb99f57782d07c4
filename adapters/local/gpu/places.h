// The places of GPUs: which of a node's devices each of them is, for as long as
// the machine is used. Pure functions: any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/gpu/gpu.h"

namespace muster::local {

// The GPUs that are `found` in the places where they are `known`, by UUID. One
// that is not found stays where it is, as missing. A new one comes last, unless
// a missing one is among `forgotten`, UUIDs: the first of those gives it its
// place. Forgotten ones at the end go. So no GPU changes its place as long as
// it is there. Islands keep their numbers likewise. O(n x (n + forgotten)).
std::vector<Gpu> KeepPlaces(std::span<const Gpu> known,
                            std::span<const Gpu> found,
                            std::span<const std::string> forgotten);

// What is to be known of them by the next program, and back: all but their
// processes, and whether they are missing. DATA_LOSS: this is no such text.
std::string GpusToJson(std::span<const Gpu> gpus);
absl::StatusOr<std::vector<Gpu>> GpusFromJson(std::string_view text);

}  // namespace muster::local
