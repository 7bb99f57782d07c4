// Files that musterd reads: its configuration, and what a shim leaves in its
// folder.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "adapters/local/gpu/places.h"
#include "adapters/local/host/config.h"
#include "adapters/local/host/machine.h"
#include "adapters/local/shim/record.h"
#include "adapters/local/shim/shim_exit.h"
#include "adapters/local/shim/shim_spec.h"
#include "adapters/local/shim/shim_start.h"
#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "muster/scheduler.h"

namespace muster::fuzz {
namespace {

// What has been read is written as it is, and is read again.
template <class T>
std::string ReadAndWrite(const std::string& bytes) {
  T first;
  if (!local::Decode(bytes, &first)) return "";
  T second;
  const std::string written = Encode(first);
  if (!local::Decode(written, &second)) return "what was written is not read";
  if (!(first == second)) return "what was written is read as another";
  return "";
}

}  // namespace

std::string Config(std::string_view input) {
  const MemoryFile file(input);
  const auto config = local::LoadConfig(file.path());
  if (!config.ok()) {
    const std::string message(config.status().message());
    if (!absl::IsInvalidArgument(config.status()) ||
        !message.starts_with(file.path())) {
      return config.status().ToString();
    }
    return message.find('\n') == std::string::npos ? ""
                                                   : "two lines: " + message;
  }
  const auto node = MakeNode(*config, {});
  if (!node.ok()) return node.status().ToString();
  // A scheduler takes it, or says why not.
  auto scheduler = Scheduler::Create(config->scheduler);
  if (!scheduler.ok()) return "";
  (void)scheduler->Apply({0, NodeChanged{*node}});
  for (const Queue& q : config->queues) {
    (void)scheduler->Apply({0, QueueChanged{q}});
  }
  for (const PriorityClass& c : config->classes) {
    (void)scheduler->Apply({0, PriorityClassChanged{c}});
  }
  return "";
}

std::string Shim(std::string_view input) {
  const std::string bytes(input);
  std::string wrong = ReadAndWrite<local::ShimSpec>(bytes);
  if (wrong.empty()) wrong = ReadAndWrite<local::ShimStart>(bytes);
  if (wrong.empty()) wrong = ReadAndWrite<local::ShimExit>(bytes);
  local::ShimSpec spec;
  if (local::Decode(bytes, &spec)) (void)local::ProblemOf(spec);
  std::vector<uint32_t> cpus, again_cpus;
  if (wrong.empty() && local::DecodeCpus(bytes, &cpus) &&
      (!local::DecodeCpus(local::EncodeCpus(cpus), &again_cpus) ||
       cpus != again_cpus)) {
    return "CPUs that were written are read as others";
  }
  // Of the same folder: the list of GPUs.
  const auto gpus = local::GpusFromJson(input);
  if (wrong.empty() && gpus.ok()) {
    const auto again = local::GpusFromJson(local::GpusToJson(*gpus));
    if (!again.ok()) return again.status().ToString();
    const auto kept = local::KeepPlaces(*again, *again, {});
    if (kept.size() != again->size()) return "GPUs have other places";
  }
  return wrong;
}

}  // namespace muster::fuzz
