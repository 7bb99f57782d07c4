// ImageRules: what the host says of the images of tasks.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "muster/workload/job.h"

namespace muster::local {

// A value. Of the default, images are not used.
struct ImageRules {
  // The program that runs them, as people call it; empty: none does.
  std::string by{};
  // Whether it knows an image's own command, which tasks without one run.
  bool own_command = false;
  // Whether volumes in memory are in memory there.
  bool memory = true;
  // Whether a task may have the image, and the host has it: the message is
  // about the image. Called from within Step; files may be looked at.
  std::function<absl::Status(const std::string& image)> check{};

  // Whether tasks of the job run in their images. The ranks of an MPIJob are
  // started by a program of the machine, in its own file system.
  bool Use(const workload::Job& job) const {
    return !by.empty() && job.kind != workload::Kind::kMPIJob;
  }
};

}  // namespace muster::local
