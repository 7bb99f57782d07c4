#include "benchmarks/kubernetes_objects.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace muster::bench {
namespace {

// A pod as the API server lists it: half of it are managed fields, status of
// containers, and what was defaulted. $N is its number, $J that of its Job, $U
// the beginning of its UID, $H its nodeName, $S its status.
constexpr char kPod[] =
    R"({"metadata":{"name":"train-$N","generateName":"train-","namespace)"
    R"(":"research","uid":"$U-0000-4000-8000-0000000$N","resourceVersion)"
    R"(":"10$N","generation":1,"creationTimestamp":"2026-03-01T10:20:30Z)"
    R"(","labels":{"app":"train","batch.kubernetes.io/controller-uid":"9c)"
    R"(0e8f6a-1111-4111-8111-$J","batch.kubernetes.io/job-name":"train-$J)"
    R"(","job-name":"train-$J","team":"vision"},"annotations":{"muster.de)"
    R"(v/queue":"research"},"ownerReferences":[{"apiVersion":"batch/v1",)"
    R"("kind":"Job","name":"train-$J","uid":"9c0e8f6a-1111-4111-8111-$J",)"
    R"("controller":true,"blockOwnerDeletion":true}],"managedFields":[{"m)"
    R"(anager":"kube-controller-manager","operation":"Update","apiVersion)"
    R"(":"v1","time":"2026-03-01T10:20:30Z","fieldsType":"FieldsV1","fiel)"
    R"(dsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app)"
    R"(":{},"f:job-name":{},"f:team":{}},"f:ownerReferences":{".":{},"k:{)"
    R"(\"uid\":\"9c0e8f6a\"}":{}}},"f:spec":{"f:containers":{"k:{\"name)"
    R"(\":\"main\"}":{".":{},"f:command":{},"f:image":{},"f:imagePullPoli)"
    R"(cy":{},"f:name":{},"f:resources":{".":{},"f:limits":{".":{},"f:nvi)"
    R"(dia.com/gpu":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{},"f:)"
    R"(nvidia.com/gpu":{}}},"f:terminationMessagePath":{},"f:terminationM)"
    R"(essagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:r)"
    R"(estartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:te)"
    R"(rminationGracePeriodSeconds":{}}}}]},"spec":{"volumes":[{"name":"k)"
    R"(ube-api-access-x7","projected":{"sources":[{"serviceAccountToken":)"
    R"({"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"k)"
    R"(ube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"de)"
    R"(faultMode":420}}],"containers":[{"name":"main","image":"registry.e)"
    R"(xample.com/train:1.4","command":["python","train.py","--epochs","1)"
    R"(0"],"env":[{"name":"RANK","value":"$N"}],"resources":{"limits":{"n)"
    R"(vidia.com/gpu":"1"},"requests":{"cpu":"3500m","memory":"16Gi","nvi)"
    R"(dia.com/gpu":"1"}},"volumeMounts":[{"name":"kube-api-access-x7","r)"
    R"(eadOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/servicea)"
    R"(ccount"}],"terminationMessagePath":"/dev/termination-log","termina)"
    R"(tionMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"rest)"
    R"(artPolicy":"Never","terminationGracePeriodSeconds":30,"dnsPolicy":)"
    R"("ClusterFirst","nodeSelector":{"gpu.model":"H100"},"serviceAccount)"
    R"(Name":"default","serviceAccount":"default",$H"securityContext":{},)"
    R"("schedulerName":"muster","tolerations":[{"key":"node.kubernetes.io)"
    R"(/not-ready","operator":"Exists","effect":"NoExecute","tolerationSe)"
    R"(conds":300},{"key":"node.kubernetes.io/unreachable","operator":"Ex)"
    R"(ists","effect":"NoExecute","tolerationSeconds":300}],"priorityClas)"
    R"(sName":"high","priority":1000000,"enableServiceLinks":true,"preemp)"
    R"(tionPolicy":"PreemptLowerPriority"},$S})";

// The status of one that runs.
constexpr char kRuns[] =
    R"("status":{"phase":"Running","conditions":[{"type":"PodScheduled",)"
    R"("status":"True","lastProbeTime":null,"lastTransitionTime":"2026-03)"
    R"(-01T10:20:31Z"},{"type":"Ready","status":"True","lastProbeTime":nu)"
    R"(ll,"lastTransitionTime":"2026-03-01T10:20:33Z"}],"hostIP":"10.0.0.)"
    R"(1","podIP":"10.1.0.$N","startTime":"2026-03-01T10:20:31Z","contain)"
    R"(erStatuses":[{"name":"main","state":{"running":{"startedAt":"2026-)"
    R"(03-01T10:20:33Z"}},"lastState":{},"ready":true,"restartCount":0,"i)"
    R"(mage":"registry.example.com/train:1.4","imageID":"sha256:012345678)"
    R"(9abcdef","containerID":"containerd://0123456789","started":true,"a)"
    R"(llocatedResources":{"cpu":"3500m","memory":"16Gi","nvidia.com/gpu)"
    R"(":"1"},"resources":{"limits":{"nvidia.com/gpu":"1"},"requests":{"c)"
    R"(pu":"3500m","memory":"16Gi","nvidia.com/gpu":"1"}}}],"qosClass":"B)"
    R"(urstable"})";

// Of one that is not bound.
constexpr char kWaits[] =
    R"("status":{"phase":"Pending","qosClass":"Burstable"})";

// A node of 8 GPUs.
constexpr char kNode[] =
    R"({"metadata":{"name":"node-$N","uid":"$U-0000-4000-8000-0000000$N",)"
    R"("resourceVersion":"20$N","creationTimestamp":"2026-03-01T10:00:00Z)"
    R"(","labels":{"beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/)"
    R"(os":"linux","gpu.model":"H100","kubernetes.io/arch":"amd64","kuber)"
    R"(netes.io/hostname":"node-$N","kubernetes.io/os":"linux","node.kube)"
    R"(rnetes.io/instance-type":"gpu-8","nvidia.com/gpu.product":"H100",)"
    R"("topology.kubernetes.io/region":"r1","topology.kubernetes.io/zone)"
    R"(":"z1"},"annotations":{"node.alpha.kubernetes.io/ttl":"0","volumes)"
    R"(.kubernetes.io/controller-managed-attach-detach":"true"}},"spec":{)"
    R"("podCIDR":"10.0.0.0/24","providerID":"example://node-$N"},"status)"
    R"(":{"capacity":{"cpu":"96","ephemeral-storage":"1000Gi","memory":"1)"
    R"(000Gi","nvidia.com/gpu":"8","pods":"110"},"allocatable":{"cpu":"95)"
    R"(500m","ephemeral-storage":"900Gi","memory":"990Gi","nvidia.com/gpu)"
    R"(":"8","pods":"110"},"conditions":[{"type":"MemoryPressure","status)"
    R"(":"False"},{"type":"DiskPressure","status":"False"},{"type":"PIDPr)"
    R"(essure","status":"False"},{"type":"Ready","status":"True"}],"addre)"
    R"(sses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostnam)"
    R"(e","address":"node-$N"}],"nodeInfo":{"kernelVersion":"6.1.0","osIm)"
    R"(age":"Debian 12","containerRuntimeVersion":"containerd://1.7","kub)"
    R"(eletVersion":"v1.37.2","architecture":"amd64"}}})";

std::string Padded(int64_t number) {
  return absl::StrCat(absl::Dec(number, absl::kZeroPad6));
}

// The beginning of a UID: random, as the API server makes it.
std::string Random(int64_t number) {
  const uint64_t mixed =
      static_cast<uint64_t>(number + 1) * 0x9e3779b97f4a7c15u;
  return absl::StrCat(absl::Hex(mixed >> 32, absl::kZeroPad8));
}

}  // namespace

std::string UidOf(int64_t number) {
  return absl::StrCat(Random(number), "-0000-4000-8000-0000000",
                      Padded(number));
}

std::string PodJson(int64_t number, const std::string& node) {
  constexpr int64_t kPodsOfJob = 8;
  const std::string host =
      node.empty() ? "" : absl::StrCat("\"nodeName\":\"", node, "\",");
  const std::string pod = absl::StrReplaceAll(
      kPod, {{"$H", host}, {"$S", node.empty() ? kWaits : kRuns}});
  return absl::StrReplaceAll(pod, {{"$N", Padded(number)},
                                   {"$J", Padded(number / kPodsOfJob)},
                                   {"$U", Random(number)}});
}

std::string NodeJson(int64_t number) {
  return absl::StrReplaceAll(kNode,
                             {{"$N", Padded(number)}, {"$U", Random(number)}});
}

std::string NodeName(int64_t number) {
  return absl::StrCat("node-", Padded(number));
}

std::string ListJson(const std::string& kind,
                     absl::FunctionRef<std::string(int64_t)> item,
                     int64_t begin, int64_t end) {
  std::string list =
      absl::StrCat("{\"kind\":\"", kind,
                   "\",\"apiVersion\":\"v1\","
                   "\"metadata\":{\"resourceVersion\":\"1234\"},\"items\":[");
  for (int64_t i = begin; i < end; ++i) {
    absl::StrAppend(&list, i > begin ? "," : "", item(i));
  }
  return list + "]}";
}

}  // namespace muster::bench
