// Slurm on this machine alone, for the benchmark of the local runner.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace muster::local {

// slurmctld and slurmd on the loopback interface with a state of their own in
// `folder`, as the user who runs this; nobody is asked who he is. They are
// those that are installed, or in $MUSTER_SLURM the folder into which Debian's
// packages were unpacked: `dpkg -x`. Not synchronised.
class BenchSlurm {
 public:
  explicit BenchSlurm(std::string folder);
  ~BenchSlurm();
  BenchSlurm(const BenchSlurm&) = delete;
  BenchSlurm& operator=(const BenchSlurm&) = delete;

  // Why it does not run; empty: it does.
  const std::string& problem() const { return problem_; }
  // `sbatch` with these words, its output thrown away; false: refused.
  bool Submit(std::vector<std::string> words) const;
  // `srun` with these words, to the end of what it runs; false: it has failed.
  bool RunNow(std::vector<std::string> words) const;
  // Waits until nothing is queued or runs.
  void Idle() const;
  // How long `squeue` takes that tells each element of an array, in
  // milliseconds.
  double Queue() const;

 private:
  // The path of a program, in Debian's names; empty: there is none.
  std::string Find(const std::string& name) const;
  void WriteConfiguration() const;
  void Start();

  const std::string folder_;
  const std::string root_;  // $MUSTER_SLURM, or empty.
  std::string problem_{};
  std::vector<pid_t> daemons_{};
};

}  // namespace muster::local
