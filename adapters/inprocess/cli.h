// The command line of muster-sim, apart from main() so that tests can call it.
#ifndef MUSTER_ADAPTERS_INPROCESS_CLI_H_
#define MUSTER_ADAPTERS_INPROCESS_CLI_H_

#include "adapters/inprocess/commands.h"

namespace muster::inprocess {

int SimMain(int argc, const char* const* argv, const Console& console);

}  // namespace muster::inprocess

#endif  // MUSTER_ADAPTERS_INPROCESS_CLI_H_
