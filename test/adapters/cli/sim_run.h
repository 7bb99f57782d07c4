// muster-sim, called as its users call it.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "adapters/cli/cli.h"

namespace muster::inprocess {

struct SimRun {
  int code = 0;
  std::string out{};
  std::string err{};
};

// What `muster-sim ARGS...` does.
inline SimRun Sim(std::vector<std::string> args) {
  args.insert(args.begin(), "muster-sim");
  std::vector<const char*> argv;
  for (const std::string& a : args) argv.push_back(a.c_str());
  std::ostringstream out, err;
  const int code = SimMain(static_cast<int>(argv.size()), argv.data(),
                           {.out = out, .err = err});
  return {code, out.str(), err.str()};
}

}  // namespace muster::inprocess
