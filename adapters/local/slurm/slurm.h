// sbatch, squeue, scancel, sinfo, sacct and srun, as far as one machine has
// what they speak of. docs/slurm.md tells their options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/client/cli.h"

namespace muster::local::slurm {

// The programs' names.
std::span<const std::string_view> Names();

// One of them, for a path whose last part is a name; else nothing.
std::string_view NameOf(std::string_view path);

// Runs one; `arguments` without its name. What it ends with: 0; 1 after any
// mistake; sbatch --wait and srun with the job's code.
int Run(std::string_view name, const std::vector<std::string>& arguments,
        const std::string& socket, const Streams& to);

// `muster slurm`: "NAME ARGUMENTS...", or "install FOLDER", which makes links
// of all names to this program there. What is there already stays as it is: if
// it is none of these links, that is told, and it ends with 1. Without
// arguments, or with others, it tells how it is used, and ends with 2.
int RunSlurm(const std::vector<std::string>& arguments,
             const std::string& socket, const Streams& to);

}  // namespace muster::local::slurm
