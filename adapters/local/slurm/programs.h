// The six programs: see slurm.h.
#pragma once

#include <string>
#include <vector>

#include "adapters/local/client/cli.h"
#include "adapters/local/client/session.h"

namespace muster::local::slurm {

// What one run has.
struct Start {
  const std::vector<std::string>& arguments;
  const std::string& socket;
  const Streams& to;

  Session Open() const {
    return Session(socket, /*json=*/false, &to.in, &to.out, &to.err);
  }
};

int Sbatch(const Start& start);
int Squeue(const Start& start);
int Scancel(const Start& start);
int Sinfo(const Start& start);
int Sacct(const Start& start);
int Srun(const Start& start);

}  // namespace muster::local::slurm
