// Explainer: what people can read of jobs, the node and queues.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/views.h"
#include "muster/reason.h"

namespace muster::local {

// All as Controller has them. Not synchronised.
class Explainer {
 public:
  // Not owned.
  explicit Explainer(const ControllerState* state) : s_(*state) {}

  // The life of the job is there.
  JobDetails Details(const JobRecord& job) const;
  JobExplanation Explain(const JobRecord& job) const;
  NodeView ViewNode() const;
  std::vector<QueueView> Queues() const;
  Numbers Count() const;
  std::vector<CronView> Crons() const;

 private:
  QueueStanding StandingOf(const std::string& queue) const;
  void AddCpus(NodeView* view) const;
  void AddElastic(const JobRecord& job, JobDetails* details) const;
  std::string Text(const JobRecord& job, const NamedReason& reason) const;

  const ControllerState& s_;
};

}  // namespace muster::local
