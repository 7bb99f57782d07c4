// muster: musterd from a command line. See docs/local.md.
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "adapters/local/client/cli.h"

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // A reader of the output that goes is an error.
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return muster::local::RunMuster(
      arguments, {.in = std::cin, .out = std::cout, .err = std::cerr});
}
