// Quantities and spans of time as people write and read them.
#pragma once

#include <string>

#include "muster/ids.h"
#include "muster/quantity.h"

namespace muster::inprocess {

using muster::ParseDuration;
using muster::ParseQuantity;
using muster::ParseQuantityRoundedUp;

// Seconds, without needless digits: "150", "0.25".
std::string FormatSeconds(Duration d);

// The same with a unit that suits a reader: "12.5 s", "3.2 h", "1.4 d".
std::string FormatSpan(Duration d);

}  // namespace muster::inprocess
