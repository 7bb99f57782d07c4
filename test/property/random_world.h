// Random clusters, tenants and gangs: small, and with a bit of everything.
#pragma once

#include <string>
#include <vector>

#include "muster/config.h"
#include "muster/event.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/priority_class.h"
#include "muster/queue.h"
#include "test/property/dice.h"

namespace muster {

inline constexpr ResourceKind kCpu = 0;
inline constexpr ResourceKind kGpu = 1;

SchedulerConfig RandomConfig(Dice& dice);
Node RandomNode(Dice& dice, const std::string& key);
ExternalUsage RandomExternalUsage(Dice& dice, const Node& node);
// A tree of up to six queues, parents first; the leaves are named in *leaves.
std::vector<Queue> RandomQueues(Dice& dice, std::vector<std::string>* leaves);
std::vector<Quota> RandomQuotas(Dice& dice, bool large);
PreemptionPolicy RandomPolicy(Dice& dice);
PriorityClass RandomClass(Dice& dice, const std::string& key);
NodeSet RandomNodeSet(Dice& dice, const std::string& key);
// Other times and bounds, more kinds and topologies.
SchedulerConfig ChangedConfig(Dice& dice, const SchedulerConfig& config);
// Of the last of so many gangs, and one that is not there yet.
DisruptionBudget RandomBudget(Dice& dice, uint32_t gangs);
Gang RandomGang(Dice& dice, const SchedulerConfig& config,
                const std::string& key, const std::string& queue, Time now);
// An event that must be refused.
EventBody BadEvent(Dice& dice, const std::string& node,
                   const std::string& queue, const std::string& gang);

}  // namespace muster
