#include "adapters/workloads/generate_model.h"

#include <algorithm>

namespace muster::inprocess {
namespace {

// Columns: share of the nodes in thousandths, GPUs, model, cpu, memory.
constexpr NodeType kSmallNodes[] = {{1000, 8, "V100", 96'000, 786'432}};
constexpr NodeType kMediumNodes[] = {
    {453, 8, "G2", 96'000, 393'216},     {319, 2, "T4", 104'000, 524'288},
    {108, 2, "P100", 16'000, 122'880},   {32, 8, "G3", 128'000, 786'432},
    {23, 4, "V100M16", 32'000, 131'072}, {17, 8, "V100M32", 96'000, 786'432},
    {16, 1, "V100M16", 8'000, 32'768},   {14, 4, "T4", 96'000, 393'216},
    {7, 4, "V100M32", 48'000, 376'832},  {7, 8, "V100M16", 64'000, 262'144},
    {2, 1, "P100", 8'000, 61'440},       {2, 1, "A10", 128'000, 1'048'576},
};
constexpr NodeType kLargeNodes[] = {{1000, 8, "H100", 112'000, 2'097'152}};

constexpr ClusterModel kModels[] = {
    {8, kSmallNodes, 2, 2, 2, 2, 4, 16},
    {1'213, kMediumNodes, 16, 8, 5, 4, 14, 512},
    {12'500, kLargeNodes, 2, 192, 8, 7, 105, 512},
};

// Columns: cpu, memory, GPU of each task; tasks; weight. Those of one GPU or
// less are means over eighths of the tasks: docs/workload.md.
constexpr TaskAsk kNoGpu[] = {
    {8'000, 28'672, 0, 1, 1},  {10'800, 47'104, 0, 1, 1},
    {12'500, 57'344, 0, 1, 2}, {14'900, 52'224, 0, 1, 1},
    {18'500, 49'152, 0, 1, 1}, {32'000, 49'152, 0, 1, 1},
    {32'000, 49'664, 0, 1, 1}};
constexpr TaskAsk kShared[] = {
    {3'000, 5'120, 730, 1, 1},   {3'200, 5'632, 810, 1, 1},
    {3'200, 5'632, 800, 1, 1},   {4'000, 19'968, 280, 1, 1},
    {4'700, 16'896, 430, 1, 1},  {7'800, 29'696, 390, 1, 1},
    {10'500, 40'960, 480, 1, 1}, {11'900, 46'592, 580, 1, 1}};
constexpr TaskAsk kOne[] = {
    {3'100, 5'632, 1000, 1, 1},   {7'000, 28'672, 1000, 1, 1},
    {11'000, 47'104, 1000, 1, 1}, {11'300, 49'152, 1000, 1, 1},
    {11'400, 48'128, 1000, 1, 1}, {11'800, 44'032, 1000, 1, 1},
    {14'200, 49'152, 1000, 1, 1}, {18'800, 67'584, 1000, 1, 1}};
constexpr TaskAsk kTwo[] = {{16'200, 66'560, 2000, 1, 1},
                            {8'000, 32'768, 1000, 2, 1}};
constexpr TaskAsk kFour[] = {{32'000, 131'072, 4000, 1, 1},
                             {8'000, 32'768, 1000, 4, 1}};
constexpr TaskAsk kEight[] = {{64'000, 262'144, 8000, 1, 1},
                              {8'000, 32'768, 1000, 8, 1}};
// Tasks of a whole node.
template <uint32_t kTasks>
constexpr TaskAsk kNodes[] = {{64'000, 262'144, 8000, kTasks, 1}};

constexpr Quantile kNoGpuTimes[] = {
    {0, 10},       {50, 77},      {250, 149},
    {500, 445},    {750, 1'944},  {900, 12'878},
    {950, 19'473}, {990, 28'368}, {1000, kLongestRun}};
constexpr Quantile kSharedTimes[] = {
    {0, 1},        {50, 26},       {250, 107},         {500, 357},
    {750, 1'315},  {900, 7'102},   {950, 16'619},      {980, 41'740},
    {990, 74'653}, {995, 165'411}, {1000, kLongestRun}};
constexpr Quantile kOneTimes[] = {
    {0, 1},         {50, 49},           {250, 167},    {500, 587},
    {750, 2'160},   {900, 5'394},       {950, 12'276}, {980, 50'251},
    {990, 170'469}, {1000, kLongestRun}};
constexpr Quantile kTwoToFourTimes[] = {
    {0, 2},         {50, 42},       {250, 261},
    {500, 2'792},   {750, 84'701},  {900, 130'460},
    {950, 225'107}, {980, 516'502}, {1000, kLongestRun}};
constexpr Quantile kEightTimes[] = {
    {0, 1},         {50, 44},       {250, 781},         {500, 7'419},
    {750, 136'918}, {900, 309'155}, {950, kLongestRun}, {1000, kLongestRun}};
constexpr Quantile kNodesTimes[] = {
    {0, 19},        {50, 28},       {250, 388},
    {500, 14'614},  {750, 54'919},  {900, 110'192},
    {950, 158'376}, {990, 223'994}, {1000, 375'625}};

// Columns: GPUs, a part of one, jobs of 100,000, asks, run times, high, low.
constexpr JobSize kSizes[] = {
    {0, false, 13'344, kNoGpu, kNoGpuTimes, 585, 414},
    {1, true, 25'951, kShared, kSharedTimes, 247, 753},
    {1, false, 32'974, kOne, kOneTimes, 820, 161},
    {2, false, 9'532, kTwo, kTwoToFourTimes, 150, 250},
    {4, false, 9'532, kFour, kTwoToFourTimes, 150, 250},
    {8, false, 5'234, kEight, kEightTimes, 150, 250},
    {16, false, 1'733, kNodes<2>, kNodesTimes, 150, 250},
    {32, false, 867, kNodes<4>, kNodesTimes, 150, 250},
    {64, false, 477, kNodes<8>, kNodesTimes, 150, 250},
    {128, false, 217, kNodes<16>, kNodesTimes, 150, 250},
    {256, false, 87, kNodes<32>, kNodesTimes, 150, 250},
    {512, false, 52, kNodes<64>, kNodesTimes, 150, 250},
};

}  // namespace

const std::array<int64_t, 24> kHourWeights = {
    222, 204, 152, 149, 136, 271, 301, 425, 550, 465, 352, 430,
    427, 538, 513, 456, 362, 435, 426, 318, 291, 331, 242, 146};
const std::array<int64_t, 7> kDayWeights = {569, 928, 740, 690, 761, 574, 361};

const ClusterModel& ModelOf(Preset preset) {
  return kModels[static_cast<size_t>(preset)];
}

std::span<const JobSize> JobSizes() { return kSizes; }

int64_t DrawSeconds(std::span<const Quantile> run_times, Random* random) {
  const int64_t draw = random->Below(1'000'000);
  size_t i = 1;
  while (draw >= run_times[i].per_mille * 1000) ++i;
  const Quantile& a = run_times[i - 1];
  const Quantile& b = run_times[i];
  return a.seconds + (b.seconds - a.seconds) * (draw - a.per_mille * 1000) /
                         ((b.per_mille - a.per_mille) * 1000);
}

void WeightedDraw::Add(int64_t weight) { sums_.push_back(total() + weight); }

size_t WeightedDraw::Draw(Random* random) const {
  const int64_t draw = random->Below(total());
  return static_cast<size_t>(std::ranges::upper_bound(sums_, draw) -
                             sums_.begin());
}

}  // namespace muster::inprocess
