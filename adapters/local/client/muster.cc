// muster: musterd from a command line. See docs/local.md.
#include <csignal>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/client/cli.h"

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // A reader of the output that goes is an error.
  std::ios::sync_with_stdio(false);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  // The remote shell of mpirun is a program without arguments of its own.
  if (argc > 0 && std::string_view(argv[0]).ends_with("muster-exec"))
    arguments.insert(arguments.begin(), "exec");
  return muster::local::RunMuster(
      arguments, {.in = std::cin, .out = std::cout, .err = std::cerr});
}
