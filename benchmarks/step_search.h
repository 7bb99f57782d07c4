// What a step of the work budget costs: searches to be timed, as
// BM_Step/<name>/nodes:<n>.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace muster::bench {

// One kind of search on one state. Asked in batches, so that a clock that
// counts the thread's own time is fine enough.
class StepSearch {
 public:
  virtual ~StepSearch() = default;
  // Not timed: makes `count` questions that no index and no memo answers.
  virtual void Prepare(uint32_t count) = 0;
  // Timed: the question of that number. The steps it is charged.
  virtual uint64_t Ask(uint32_t number) = 0;
  // Not timed: after a batch. Whether the answers were what they were to be.
  virtual bool Finish() { return true; }
};

using MakeSearch = std::function<std::unique_ptr<StepSearch>(uint32_t nodes)>;

// Counters: ns_per_step and ns, of the fastest batch, and steps, of a question.
// `counts`: for the spread; what an index answers costs less than its steps.
void RegisterSearch(const std::string& name, std::span<const uint32_t> nodes,
                    const MakeSearch& make, bool counts = true);
// BM_StepSpread, to be registered last: the most ns_per_step of what was timed
// over the least.
void RegisterSpread();

inline constexpr uint32_t kStepNodes[] = {100, 1'000, 10'000};

}  // namespace muster::bench
