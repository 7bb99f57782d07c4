#ifndef MUSTER_LIB_BASE_STEP_COST_H_
#define MUSTER_LIB_BASE_STEP_COST_H_
#include <cstdint>
namespace muster {
extern uint64_t g_trace[64];
extern uint64_t g_ns[64];
struct StepCost { int id; };
inline uint64_t operator*(uint64_t n, StepCost c) { g_trace[c.id] += n; return n * g_ns[c.id]; }
inline uint64_t operator*(StepCost c, uint64_t n) { return n * c; }
inline uint64_t StepsOf(uint64_t ns) { return (ns + 99) / 100; }
inline constexpr StepCost kQuestionNs{0};
inline constexpr StepCost kScopeNs{1};
inline constexpr StepCost kFixedTaskNs{2};
inline constexpr StepCost kCapacityNs{3};
inline constexpr StepCost kShortNodeNs{4};
inline constexpr StepCost kLoneNodeNs{5};
inline constexpr StepCost kContestNs{6};
inline constexpr StepCost kMoveNs{7};
inline constexpr StepCost kPairNs{8};
inline constexpr StepCost kSwapTaskNs{9};
inline constexpr StepCost kForestDomainNs{10};
inline constexpr StepCost kForestNodeNs{11};
inline constexpr StepCost kSpreadNs{12};
inline constexpr StepCost kDomainNs{13};
inline constexpr StepCost kMixStepNs{14};
inline constexpr StepCost kExactNs{15};
inline constexpr StepCost kTwinNs{16};
inline constexpr StepCost kListNs{17};
inline constexpr StepCost kUsefulNs{18};
inline constexpr StepCost kScoreNs{19};
inline constexpr StepCost kPutNs{20};
inline constexpr StepCost kPutColumnNs{21};
inline constexpr StepCost kBoundNs{22};
inline constexpr StepCost kMeetNs{23};
inline constexpr StepCost kPlanNs{24};
inline constexpr StepCost kSpreadDomainNs{25};
inline constexpr StepCost kRankNs{26};
inline constexpr StepCost kChunkNs{27};
inline constexpr StepCost kFillNs{28};
inline constexpr StepCost kTakeNs{29};
inline constexpr StepCost kFreeNs{30};
inline constexpr StepCost kFabricNs{31};
inline constexpr StepCost kHopsNs{32};
inline constexpr StepCost kColumnNs{33};
inline constexpr StepCost kPartitionNs{34};
inline constexpr StepCost kShareNs{35};
inline constexpr StepCost kPlainNs{36};
inline constexpr StepCost kWholeNs{37};
inline constexpr StepCost kListedNs{38};
inline constexpr StepCost kFilterNs{39};
inline constexpr StepCost kPreferNs{40};
inline constexpr StepCost kBoxCellNs{41};
inline constexpr StepCost kBoxNs{42};
inline constexpr StepCost kHopNs{43};
inline constexpr StepCost kRouteNs{44};
inline constexpr StepCost kLevelNs{45};
inline constexpr StepCost kShareNs2{46};
inline constexpr StepCost kVictimNs{47};
inline constexpr StepCost kVictimTaskNs{48};
inline constexpr StepCost kReleaseNs{49};
inline constexpr StepCost kLawNs{50};
inline constexpr StepCost kBundleNs{51};
inline constexpr StepCost kBundleTaskNs{52};
inline constexpr StepCost kBundleLookNs{53};
inline constexpr StepCost kThresholdNs{54};
inline constexpr StepCost kFabricTaskNs{55};
inline constexpr StepCost kClassNs{56};
inline constexpr StepCost kTaskNs{57};
inline constexpr StepCost kCandidateNs{58};
inline constexpr StepCost kCandidateTaskNs{59};
inline constexpr StepCost kRoomNs{60};
inline constexpr StepCost kShareRankNs{61};
}
#endif
