// What JSON of the API server costs: a list of pods, one event, a body.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/strings/str_replace.h"
#include "adapters/kubernetes/api/readers.h"
#include "adapters/kubernetes/api/writers.h"
#include "adapters/kubernetes/client/line_splitter.h"
#include "adapters/kubernetes/client/watch_event.h"

namespace muster::kubernetes::api {
namespace {

// A pod as the API server lists it: half of it are managed fields, status of
// containers, and what was defaulted. $N is its number.
constexpr char kPod[] =
    R"({"metadata":{"name":"train-$N","generateName":"train-","namespace":)"
    R"("research","uid":"5b1f7a52-0000-4000-8000-0000000$N",)"
    R"("resourceVersion":"10$N","generation":1,"creationTimestamp":)"
    R"("2026-03-01T10:20:30Z","labels":{"app":"train",)"
    R"("batch.kubernetes.io/controller-uid":"9c0e8f6a-1111-4111-8111-1",)"
    R"("batch.kubernetes.io/job-name":"train","job-name":"train",)"
    R"("team":"vision"},"annotations":{"muster.dev/queue":"research"},)"
    R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":)"
    R"("train","uid":"9c0e8f6a-1111-4111-8111-1","controller":true,)"
    R"("blockOwnerDeletion":true}],"managedFields":[{"manager":)"
    R"("kube-controller-manager","operation":"Update","apiVersion":"v1",)"
    R"("time":"2026-03-01T10:20:30Z","fieldsType":"FieldsV1","fieldsV1":)"
    R"({"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},)"
    R"("f:job-name":{},"f:team":{}},"f:ownerReferences":{".":{},)"
    R"("k:{\"uid\":\"9c0e8f6a\"}":{}}},"f:spec":{"f:containers":)"
    R"({"k:{\"name\":\"main\"}":{".":{},"f:command":{},"f:image":{},)"
    R"("f:imagePullPolicy":{},"f:name":{},"f:resources":{".":{},"f:limits":)"
    R"({".":{},"f:nvidia.com/gpu":{}},"f:requests":{".":{},"f:cpu":{},)"
    R"("f:memory":{},"f:nvidia.com/gpu":{}}},"f:terminationMessagePath":{},)"
    R"("f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},)"
    R"("f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},)"
    R"("f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}]},)"
    R"("spec":{"volumes":[{"name":"kube-api-access-x7","projected":)"
    R"({"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":)"
    R"("token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":)"
    R"("ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],"containers":)"
    R"([{"name":"main","image":"registry.example.com/train:1.4","command":)"
    R"(["python","train.py","--epochs","10"],"env":[{"name":"RANK","value":)"
    R"("$N"}],"resources":{"limits":{"nvidia.com/gpu":"1"},"requests":)"
    R"({"cpu":"3500m","memory":"16Gi","nvidia.com/gpu":"1"}},"volumeMounts":)"
    R"([{"name":"kube-api-access-x7","readOnly":true,"mountPath":)"
    R"("/var/run/secrets/kubernetes.io/serviceaccount"}],)"
    R"("terminationMessagePath":"/dev/termination-log",)"
    R"("terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],)"
    R"("restartPolicy":"Never","terminationGracePeriodSeconds":30,)"
    R"("dnsPolicy":"ClusterFirst","nodeSelector":{"gpu.model":"H100"},)"
    R"("serviceAccountName":"default","serviceAccount":"default",)"
    R"("nodeName":"node-$N","securityContext":{},"schedulerName":"muster",)"
    R"("tolerations":[{"key":"node.kubernetes.io/not-ready","operator":)"
    R"("Exists","effect":"NoExecute","tolerationSeconds":300},{"key":)"
    R"("node.kubernetes.io/unreachable","operator":"Exists","effect":)"
    R"("NoExecute","tolerationSeconds":300}],"priorityClassName":"high",)"
    R"("priority":1000000,"enableServiceLinks":true,"preemptionPolicy":)"
    R"("PreemptLowerPriority"},"status":{"phase":"Running","conditions":)"
    R"([{"type":"PodScheduled","status":"True","lastProbeTime":null,)"
    R"("lastTransitionTime":"2026-03-01T10:20:31Z"},{"type":"Ready",)"
    R"("status":"True","lastProbeTime":null,"lastTransitionTime":)"
    R"("2026-03-01T10:20:33Z"}],"hostIP":"10.0.0.1","podIP":"10.1.0.$N",)"
    R"("startTime":"2026-03-01T10:20:31Z","containerStatuses":[{"name":)"
    R"("main","state":{"running":{"startedAt":"2026-03-01T10:20:33Z"}},)"
    R"("lastState":{},"ready":true,"restartCount":0,"image":)"
    R"("registry.example.com/train:1.4","imageID":"sha256:0123456789abcdef",)"
    R"("containerID":"containerd://0123456789","started":true,)"
    R"("allocatedResources":{"cpu":"3500m","memory":"16Gi","nvidia.com/gpu":)"
    R"("1"},"resources":{"limits":{"nvidia.com/gpu":"1"},"requests":{"cpu":)"
    R"("3500m","memory":"16Gi","nvidia.com/gpu":"1"}}}],"qosClass":)"
    R"("Burstable"}})";

std::string SomePod(int64_t i) {
  char number[8];
  std::snprintf(number, sizeof(number), "%05d", static_cast<int>(i % 100000));
  return absl::StrReplaceAll(kPod, {{"$N", number}});
}

std::string SomeList(int64_t pods) {
  std::string list = R"({"kind":"PodList","apiVersion":"v1","metadata":)"
                     R"({"resourceVersion":"1234"},"items":[)";
  for (int64_t i = 0; i < pods; ++i) {
    if (i > 0) list += ',';
    list += SomePod(i);
  }
  return list + "]}";
}

void BM_ReadPodList(benchmark::State& state) {
  const std::string list = SomeList(state.range(0));
  Reader reader;
  for (auto _ : state) {
    int64_t gpus = 0, bad = 0;
    const auto meta = reader.ReadList<Pod>(
        list,
        [&](const Pod& pod) { gpus += pod.requests.at("nvidia.com/gpu"); },
        [&](const BadObject&) { ++bad; });
    if (!meta.ok() || bad != 0 || gpus != 1000 * state.range(0)) {
      state.SkipWithError("the list was not read");
      break;
    }
  }
  const auto pods = static_cast<double>(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(list.size()));
  state.counters["us_per_pod"] = benchmark::Counter(
      pods / 1e6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes_per_pod"] =
      static_cast<double>(list.size()) / static_cast<double>(state.range(0));
}
BENCHMARK(BM_ReadPodList)->Arg(5000)->Unit(benchmark::kMillisecond);

void BM_ReadPodEvent(benchmark::State& state) {
  std::string line = R"({"type":"ADDED","object":)" + SomePod(7) + "}";
  const size_t size = line.size();
  line.append(client::kPadding, ' ');
  client::WatchReader watch;
  Reader reader;
  for (auto _ : state) {
    const auto event = watch.ReadEvent(std::string_view(line).substr(0, size));
    auto pod = event.ok() ? reader.Read<Pod>(event->object) : event.status();
    if (!pod.ok()) {
      state.SkipWithError("the event was not read");
      break;
    }
    benchmark::DoNotOptimize(pod);
  }
}
BENCHMARK(BM_ReadPodEvent)->Unit(benchmark::kMicrosecond);

void BM_WriteBinding(benchmark::State& state) {
  const ObjectReference pod{.namespace_name = "research",
                            .name = "train-00007",
                            .uid = "5b1f7a52-0000-4000-8000-000000000007"};
  const StringMap annotations{{"muster.dev/plan", "42"},
                              {"muster.dev/task", "3"}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(BindingBody(pod, "node-00017", annotations));
  }
}
BENCHMARK(BM_WriteBinding)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace muster::kubernetes::api
