// Completion of command lines.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace muster::local {

// A script for bash, of the program's commands and their options.
std::string BashCompletion(const CLI::App& app);

}  // namespace muster::local
