// Seeds of what concerns the local runner.
#include <string>

#include "adapters/local/gpu/places.h"
#include "adapters/local/shim/shim_exit.h"
#include "adapters/local/shim/shim_spec.h"
#include "adapters/local/shim/shim_start.h"
#include "fuzz/targets.h"

namespace muster::fuzz {
namespace {

constexpr char kJob[] =
    R"({\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{)"
    R"(\"name\":\"a\"},\"spec\":{\"activeDeadlineSeconds\":100,)"
    R"(\"template\":{\"spec\":{\"restartPolicy\":\"Never\",)"
    R"(\"containers\":[{\"name\":\"c\",\"command\":[\"true\"],)"
    R"(\"resources\":{\"limits\":{\"nvidia.com/gpu\":2}}}]}}}})";

std::string Submit(const std::string& more) {
  return std::string("POST /v1/jobs 1001\n{\"manifest\":\"") + kJob +
         R"(","directory":"/data","environment":["A=b"])" + more + "}";
}

}  // namespace

std::vector<Seed> ConfigSeeds() {
  return {{"all", R"(node: {name: box, cpus: 16, memory: 64Gi,
  gpus: [{count: 2, model: A100, memory: 80Gi}, 1], forget_gpus: [GPU-1]}
queues:
- {key: default}
- {key: lab, weight: 2, parent: default, ordering: strict-fifo,
   quotas: [{resource: gpu, guarantee: 1, limit: 2, borrow_limit: 1}]}
priority_classes:
- {key: normal}
- {key: short, value: 50, on_preempted: suspend, grace: 30s, min_runtime: 1m}
default_queue: lab
default_priority_class: normal
partition_schemes: [h100-80gb]
ports: {first: 20000, last: 29999}
history: {keep_for: 90d, keep_jobs: 100000}
)"},
          {"bound", "node: {cpus: {amount: 6, bind: cores, unit: thread}}\n"},
          {"aliases", "queues: [&q {key: default}, *q]\nnode: {gpus: 8}\n"},
          {"empty", "{}\n"}};
}

std::vector<Seed> LocalApiSeeds() {
  const std::string between = "\n%%\n";
  return {
      {"life", Submit("") + between + "pass 50" + between +
                   Submit(R"(,"priority":"high")") + between +
                   "GET /v1/jobs/1 1001" + between + "GET /v1/jobs?why=1 0" +
                   between + "exit 0" + between + "restart" + between +
                   "GET /v1/jobs/1/explain 1001" + between + "pass 100" +
                   between + "DELETE /v1/jobs/1 1001"},
      {"suspend", Submit(R"(,"priority":"low")") + between + "pass 10" +
                      between + Submit(R"(,"priority":"high")") + between +
                      "restart" + between + "exit 0" + between + "exit 3"},
      {"changes",
       Submit(R"(,"hold":true,"array":"0-3")") + between +
           "POST /v1/jobs/1/release 1001" + between +
           "POST /v1/jobs/2/priority 1001\n{\"priority\":\"high\"}" + between +
           "POST /v1/jobs/2/queue 1001\n{\"queue\":\"shut\"}" + between +
           "POST /v1/jobs/3/resize 1001\n{\"size\":2}" + between +
           "POST /v1/jobs/3/suspend 1002" + between +
           "POST /v1/jobs/3/suspend 1001" + between +
           "POST /v1/jobs/3/resume 0" + between + "POST /v1/jobs/1/hold 1001"},
      {"reads", Submit("") + between + "GET /v1/nodes 5" + between +
                    "GET /v1/queues 5" + between + "GET /v1/version 5" +
                    between + "GET /v1/metrics 5" + between +
                    "GET /v1/healthz 5" + between +
                    "GET /v1/history?limit=5&phase=failed 5" + between +
                    "GET /v1/jobs/1/logs?follow=1&from=3 1001" + between +
                    "GET /v1/jobs/1?wait=5 1001" + between + "pass 6" +
                    between + "lose"},
      {"what-if", "POST /v1/what-if 5\n" + Submit("").substr(19)}};
}

std::vector<Seed> ShimSeeds() {
  local::ShimSpec spec{
      .command = {"/bin/sh", "-c", "exit 3"},
      .environment = {"PATH=/bin", "A=b=c"},
      .output = "output",
      .user = local::ShimUser{.uid = 7, .gid = 8, .groups = {9, 10}},
      .cpus = {0, 3},
      .cpuset = true,
      .time_limit = 5 * kSecond,
      .memory_limit = 1 << 20,
      .cgroup = "/sys/fs/cgroup/x",
      .cpu_max = "100 200",
      .cpu_weight = 100};
  const local::ShimStart start{
      .task = {12, 345}, .shim = {11, 344}, .boot = "b", .at = kSecond};
  const local::ShimExit exit{.code = 137,
                             .reason = local::ShimReason::kOutOfMemory,
                             .message = "too large",
                             .started = 1,
                             .ended = 2,
                             .ran = 3,
                             .left = 1};
  const std::vector<local::Gpu> gpus = {
      {.uuid = "GPU-1",
       .model = "H100",
       .memory_bytes = 80,
       .mig = true,
       .instances = {{"MIG-1", "1g.10gb", 2, 10}}}};
  return {{"spec", Encode(spec)},
          {"started", Encode(start)},
          {"exit", Encode(exit)},
          {"cpus", local::EncodeCpus({0, 3})},
          {"gpus", local::GpusToJson(gpus)}};
}

std::vector<Seed> HttpSeeds() {
  return {{"get",
           "GET /v1/jobs?why=1&a=%20b HTTP/1.1\r\nHost: x\r\n"
           "Authorization: Bearer abc\r\n\r\n"},
          {"two",
           "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
           "GET /b HTTP/1.0\r\nConnection: close\r\n\r\n"},
          {"chunks",
           "PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
           "\r\n\r\n3;x=y\r\nabc\r\n0\r\nTrailer: t\r\n\r\n"},
          {"stream",
           "GET /stream HTTP/1.1\r\nHost: x\r\nExpect: 100-continue"
           "\r\n\r\n"},
          {"none", "SSH-2.0-OpenSSH_9.2\r\n"}};
}

}  // namespace muster::fuzz
