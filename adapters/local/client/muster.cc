// muster: musterd from a command line. See docs/local.md. Called by a name of
// Slurm's, it is that program: see docs/slurm.md.
#include <csignal>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/client/cli.h"
#include "adapters/local/slurm/slurm.h"

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // A reader of the output that goes is an error.
  std::ios::sync_with_stdio(false);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const muster::local::Streams to{
      .in = std::cin, .out = std::cout, .err = std::cerr};
  const std::string_view program = argc > 0 ? argv[0] : "";
  namespace slurm = muster::local::slurm;
  if (const std::string_view name = slurm::NameOf(program); !name.empty()) {
    return slurm::Run(name, arguments, muster::local::FindSocket(), to);
  }
  // The remote shell of mpirun is a program without arguments of its own.
  if (program.ends_with("muster-exec")) {
    arguments.insert(arguments.begin(), "exec");
  }
  return muster::local::RunMuster(
      arguments, to,
      {{.name = "slurm",
        .help = "Slurm's names: muster slurm squeue; muster slurm install DIR",
        .run = slurm::RunSlurm}});
}
