#ifndef MUSTER_LIB_BASE_STEP_COST_H_
#define MUSTER_LIB_BASE_STEP_COST_H_
#include <cstdint>
namespace muster {
extern uint64_t g_trace[64];
extern uint64_t g_ns[64];
struct Cost { int id; };
inline uint64_t operator*(uint64_t n, Cost c) { g_trace[c.id] += n; return n * g_ns[c.id]; }
inline uint64_t operator*(Cost c, uint64_t n) { return n * c; }
inline uint64_t StepsOf(uint64_t ns) { return (ns + 99) / 100; }
inline constexpr Cost kQuestionNs{0};
inline constexpr Cost kScopeNs{1};
inline constexpr Cost kFixedTaskNs{2};
inline constexpr Cost kCapacityNs{3};
inline constexpr Cost kShortNodeNs{4};
inline constexpr Cost kLoneNodeNs{5};
inline constexpr Cost kContestNs{6};
inline constexpr Cost kMoveNs{7};
inline constexpr Cost kPairNs{8};
inline constexpr Cost kSwapTaskNs{9};
inline constexpr Cost kForestDomainNs{10};
inline constexpr Cost kForestNodeNs{11};
inline constexpr Cost kSpreadNs{12};
inline constexpr Cost kDomainNs{13};
inline constexpr Cost kMixStepNs{14};
inline constexpr Cost kExactNs{15};
inline constexpr Cost kTwinNs{16};
inline constexpr Cost kListNs{17};
inline constexpr Cost kUsefulNs{18};
inline constexpr Cost kScoreNs{19};
inline constexpr Cost kPutNs{20};
inline constexpr Cost kPutColumnNs{21};
inline constexpr Cost kBoundNs{22};
inline constexpr Cost kMeetNs{23};
inline constexpr Cost kPlanNs{24};
inline constexpr Cost kSpreadDomainNs{25};
inline constexpr Cost kRankNs{26};
inline constexpr Cost kChunkNs{27};
inline constexpr Cost kFillNs{28};
inline constexpr Cost kTakeNs{29};
inline constexpr Cost kFreeNs{30};
inline constexpr Cost kFabricNs{31};
inline constexpr Cost kHopsNs{32};
inline constexpr Cost kColumnNs{33};
inline constexpr Cost kPartitionNs{34};
inline constexpr Cost kShareNs{35};
inline constexpr Cost kPlainNs{36};
inline constexpr Cost kWholeNs{37};
inline constexpr Cost kListedNs{38};
}
#endif
