#include "test/adapters/kubernetes_api/random_pod.h"

#include <string>
#include <vector>

namespace muster::kubernetes::api {
namespace {

using Json = nlohmann::json;

class Maker {
 public:
  explicit Maker(std::mt19937* random) : random_(*random) {}

  Json Pod() {
    Json pod = {{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata", Meta()},
                {"spec", Spec()}};
    if (Chance(70)) pod["status"] = Status();
    return pod;
  }

 private:
  int Below(int n) {
    return static_cast<int>(random_() % static_cast<unsigned>(n));
  }
  bool Chance(int percent) { return Below(100) < percent; }
  std::string Pick(std::vector<std::string> from) {
    return from[static_cast<size_t>(Below(static_cast<int>(from.size())))];
  }
  std::string Text() {
    return Pick({"a", "b", "zone-é", "x\"y", "back\\slash", "tab\there", "🚀",
                 "", "a longer text that does not fit in place"});
  }
  std::string Amount() {
    return Pick({"0", "1", "250m", "1.5", "2Gi", "512Mi", "3k", "1e3", "100u",
                 "7", "0.0001", "16", "9Ei"});
  }
  Json Labels() {
    Json labels = Json::object();
    for (int i = Below(4); i > 0; --i) {
      labels[Pick({"app", "k8s.io/part-of", "team", "zone"})] = Text();
    }
    return labels;
  }
  Json Resources() {
    Json list = Json::object();
    for (const char* name : {"cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi",
                             "ephemeral-storage"}) {
      if (Chance(40)) list[name] = Amount();
    }
    return list;
  }

  Json Meta() {
    Json meta = {{"name", "pod-" + std::to_string(Below(1000))},
                 {"namespace", "ns"},
                 {"uid", std::to_string(random_())},
                 {"resourceVersion", std::to_string(Below(100000))},
                 {"creationTimestamp",
                  "2026-02-28T23:59:5" + std::to_string(Below(10)) + "Z"}};
    if (Chance(50)) meta["labels"] = Labels();
    if (Chance(50)) meta["annotations"] = Labels();
    if (Chance(20)) meta["deletionTimestamp"] = "2026-03-01T00:00:00+01:00";
    if (Chance(20)) meta["managedFields"] = {{{"manager", Text()}}};
    if (Chance(30)) {
      meta["ownerReferences"] = {{{"apiVersion", "batch/v1"},
                                  {"kind", "Job"},
                                  {"name", Text()},
                                  {"uid", "u"},
                                  {"controller", Chance(50)}}};
    }
    return meta;
  }

  Json Container(const std::string& name) {
    Json container = {{"name", name}, {"image", Text()}};
    if (Chance(80)) container["resources"]["requests"] = Resources();
    if (Chance(30)) container["resources"]["limits"] = Resources();
    if (Chance(20)) {
      Json port = {{"containerPort", 80}};
      if (Chance(60)) port["hostPort"] = 8000 + Below(100);
      if (Chance(50)) port["protocol"] = Pick({"TCP", "UDP"});
      if (Chance(30)) port["hostIP"] = Pick({"", "127.0.0.1"});
      container["ports"].push_back(port);
    }
    return container;
  }

  Json Requirements() {
    Json list = Json::array();
    for (int i = Below(3); i > 0; --i) {
      Json requirement = {{"key", Text()},
                          {"operator", Pick({"In", "Exists"})}};
      if (Chance(50)) requirement["values"] = {Text(), Text()};
      list.push_back(requirement);
    }
    return list;
  }

  Json Affinity() {
    Json affinity = Json::object();
    if (Chance(60)) {
      Json& node = affinity["nodeAffinity"] = Json::object();
      if (Chance(60)) {
        Json& terms = node["requiredDuringSchedulingIgnoredDuringExecution"]
                          ["nodeSelectorTerms"] = Json::array();
        for (int i = Below(3); i > 0; --i) {
          terms.push_back({{"matchExpressions", Requirements()}});
          if (Chance(30)) terms.back()["matchFields"] = Requirements();
        }
      }
      if (Chance(40)) {
        node["preferredDuringSchedulingIgnoredDuringExecution"] = {
            {{"weight", Below(100)},
             {"preference", {{"matchExpressions", Requirements()}}}}};
      }
    }
    for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
      if (!Chance(20)) continue;
      affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"] =
          Chance(50) ? Json::array() : Json::array({{{"topologyKey", "z"}}});
    }
    return affinity;
  }

  Json Spread() {
    Json spread = {{"maxSkew", 1 + Below(3)},
                   {"topologyKey", Text()},
                   {"whenUnsatisfiable", "DoNotSchedule"}};
    if (Chance(50)) {
      spread["labelSelector"] = {{"matchLabels", Labels()},
                                 {"matchExpressions", Requirements()}};
    }
    if (Chance(30)) spread["minDomains"] = Below(5);
    if (Chance(30)) spread["matchLabelKeys"] = {Text()};
    if (Chance(30)) spread["nodeTaintsPolicy"] = "Honor";
    return spread;
  }

  void SetContainers(Json* spec) {
    for (int i = 0; i <= Below(3); ++i) {
      (*spec)["containers"].push_back(Container("c" + std::to_string(i)));
    }
    for (int i = Below(4); i > 0; --i) {
      Json container = Container("i" + std::to_string(i));
      if (Chance(50)) container["restartPolicy"] = "Always";
      (*spec)["initContainers"].push_back(container);
    }
    if (Chance(20)) (*spec)["overhead"] = Resources();
    if (Chance(20)) (*spec)["resources"]["requests"] = Resources();
  }

  Json Spec() {
    Json spec = {{"schedulerName", Pick({"muster", "default-scheduler"})}};
    SetContainers(&spec);
    if (Chance(50)) spec["nodeName"] = Text();
    if (Chance(50)) spec["nodeSelector"] = Labels();
    if (Chance(50)) spec["affinity"] = Affinity();
    if (Chance(50)) spec["priority"] = Below(2000) - 1000;
    if (Chance(30)) spec["priorityClassName"] = Text();
    if (Chance(30)) spec["preemptionPolicy"] = "Never";
    if (Chance(30)) spec["terminationGracePeriodSeconds"] = Below(100);
    if (Chance(30)) spec["schedulingGates"] = {{{"name", Text()}}};
    if (Chance(30)) spec["schedulingGroup"] = {{"podGroupName", Text()}};
    if (Chance(20)) spec["resourceClaims"] = {{{"name", "gpu"}}};
    if (Chance(30)) spec["topologySpreadConstraints"] = {Spread(), Spread()};
    if (Chance(40)) {
      Json toleration = {{"operator", "Exists"}, {"key", Text()}};
      if (Chance(50)) toleration["tolerationSeconds"] = Below(400);
      spec["tolerations"].push_back(toleration);
    }
    if (Chance(40)) {
      spec["volumes"] = {
          {{"name", "v"}, {"persistentVolumeClaim", {{"claimName", Text()}}}},
          {{"name", "w"}, {Pick({"emptyDir", "hostPath"}), Json::object()}}};
    }
    return spec;
  }

  Json ContainerStatus(const std::string& name) {
    Json status = {{"name", name}, {"ready", true}};
    if (Chance(70)) status["allocatedResources"] = Resources();
    if (Chance(70)) status["resources"] = Json::object();
    if (status.contains("resources") && Chance(80)) {
      status["resources"]["requests"] = Resources();
    }
    return status;
  }

  Json Status() {
    Json status = {{"phase", Pick({"Pending", "Running"})}};
    if (Chance(30)) status["nominatedNodeName"] = Text();
    if (Chance(50)) status["startTime"] = "2026-03-01T01:02:03.5Z";
    Json& conditions = status["conditions"] = Json::array();
    for (const char* type : {"Ready", "PodScheduled", "DisruptionTarget",
                             "Initialized", "PodResizePending"}) {
      if (!Chance(40)) continue;
      conditions.push_back({{"type", type},
                            {"status", Pick({"True", "False"})},
                            {"reason", Pick({"Infeasible", "Deferred", ""})}});
    }
    for (const char* name : {"c0", "c1"}) {
      if (Chance(40)) {
        status["containerStatuses"].push_back(ContainerStatus(name));
      }
    }
    if (Chance(30)) {
      status["initContainerStatuses"].push_back(ContainerStatus("i1"));
    }
    if (Chance(15)) status["allocatedResources"] = Resources();
    if (Chance(15)) status["resources"]["requests"] = Resources();
    return status;
  }

  std::mt19937& random_;
};

}  // namespace

nlohmann::json RandomPod(std::mt19937* random) { return Maker(random).Pod(); }

}  // namespace muster::kubernetes::api
