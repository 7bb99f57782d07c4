// The command line of muster-sim, apart from main() so that tests can call it.
#pragma once

#include "adapters/cli/commands.h"

namespace muster::inprocess {

int SimMain(int argc, const char* const* argv, const Console& console);

}  // namespace muster::inprocess
