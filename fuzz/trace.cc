#include "adapters/workloads/trace.h"

#include <array>
#include <string>

#include "fuzz/memory_file.h"
#include "fuzz/targets.h"

namespace muster::fuzz {
namespace {

using inprocess::TracePolicy;

constexpr std::string_view kParting = "\n==\n";

// What stands before the next parting, which is taken away as well.
std::string_view Part(std::string_view* rest) {
  const size_t end = rest->find(kParting);
  const std::string_view part = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size()
                                                    : end + kParting.size());
  return part;
}

}  // namespace

std::string Trace(std::string_view input) {
  const std::string_view first = input.substr(0, input.find('\n'));
  input.remove_prefix(std::min(input.size(), first.size() + 1));
  const TracePolicy policy =
      first.ends_with("priority") ? TracePolicy::kPriority : TracePolicy::kFifo;
  const MemoryFile nodes(Part(&input)), jobs(Part(&input));
  const MemoryFile overhead(Part(&input));
  auto trace = first.starts_with("muri")
                   ? inprocess::LoadMuri({.nodes = nodes.path(),
                                          .jobs = jobs.path(),
                                          .overhead = overhead.path(),
                                          .policy = policy})
                   : inprocess::LoadOpenb({.nodes = nodes.path(),
                                           .pods = jobs.path(),
                                           .copies = 2,
                                           .policy = policy});
  if (!trace.ok()) {
    return absl::IsInvalidArgument(trace.status()) ? ""
                                                   : trace.status().ToString();
  }
  inprocess::Job job;
  Time last = 0;
  uint64_t count = 0;
  for (; trace->jobs->Next(&job); ++count) {
    if (job.gang.submitted < last) return "the jobs are not in order";
    if (job.work < 0) return "work is negative";
    last = job.gang.submitted;
  }
  return count == trace->jobs->size() ? "" : "jobs are missing";
}

}  // namespace muster::fuzz
