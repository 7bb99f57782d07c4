// Headers and both libraries come from the package: a manifest is read.
#include <cstdio>
#include <string>

#include "muster/workload/parse.h"

int main() {
  const auto jobs = muster::workload::Parse(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: hello}, spec: "
      "{template: {spec: {containers: [{name: c, command: [echo]}]}}}}");
  if (jobs.ok() && jobs->front().job.name == "hello") return 0;
  std::fprintf(stderr, "workload_host: %s\n", jobs.status().ToString().c_str());
  return 1;
}
