// Seeds from what the repository shows anyway: the scenarios of examples/ and
// test/, the golden journal and snapshot, and runs of the scenarios.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "adapters/inprocess/simulator.h"
#include "adapters/scenario/scenario.h"
#include "fuzz/targets.h"
#include "muster/fabric/fabric.h"
#include "muster/fabric/graphml.h"
#include "muster/wire/journal.h"
#include "muster/wire/snapshot.h"
#include "test/property/dice.h"

namespace muster::fuzz {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = MUSTER_SOURCE_DIR;

std::vector<Seed> Files(const fs::path& folder, std::string_view extension) {
  std::vector<Seed> seeds;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != extension) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    seeds.push_back({entry.path().stem().string(),
                     std::string(std::istreambuf_iterator<char>(in), {})});
  }
  std::ranges::sort(seeds, {}, &Seed::name);
  return seeds;
}

std::vector<Seed> Scenarios() {
  std::vector<Seed> seeds = Files(kSource / "examples/scenarios", ".yaml");
  std::ranges::move(
      Files(kSource / "test/adapters/scenario/scenarios", ".yaml"),
      std::back_inserter(seeds));
  return seeds;
}

// Each story until its middle, when much is open: its journal and its state.
std::vector<Seed> Runs(bool journal) {
  std::vector<Seed> seeds;
  for (const auto& entry :
       fs::directory_iterator(kSource / "examples/scenarios")) {
    const auto s = inprocess::LoadScenario(entry.path().string());
    if (!s.ok()) continue;
    inprocess::VectorSource jobs(s->jobs);
    auto simulator = inprocess::Simulator::Create(s->setup, &jobs, s->events,
                                                  {.host = s->host});
    if (!simulator.ok()) continue;
    std::string bytes;
    wire::JournalWriter writer(simulator->scheduler().State(), &bytes);
    simulator->SetJournal(&writer);
    if (!simulator->Run(150 * kSecond).ok()) continue;
    simulator->SetJournal(nullptr);
    if (!journal) {
      auto state = wire::EncodeSnapshot(simulator->scheduler().State());
      if (!state.ok()) continue;
      bytes = *std::move(state);
    }
    seeds.push_back({entry.path().stem().string(), bytes});
  }
  std::ranges::sort(seeds, {}, &Seed::name);
  return seeds;
}

std::vector<Seed> Wire(bool journal) {
  std::vector<Seed> seeds =
      Files(kSource / "test/wire/golden", journal ? ".journal" : ".snapshot");
  std::ranges::move(Runs(journal), std::back_inserter(seeds));
  return seeds;
}

std::vector<Seed> Traces() {
  const std::string openb =
      "sn,cpu_milli,memory_mib,gpu,model\n"
      "n0,64000,262144,2,P100\n"
      "n1,96000,524288,8,T4\n"
      "\n==\n"
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
      "creation_time,deletion_time,scheduled_time\n"
      "p0,12000,16384,1,1000,,LS,Running,0,12537496,0\n"
      "p1,6000,12288,1,460,T4|P100,BE,Running,10,20,11.0\n"
      "p2,6000,12288,0,0,,Burstable,Failed,5,300,\n";
  const std::string muri =
      "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n"
      "2,4,8,60,60\n"
      "\n==\n"
      "job_id,num_gpu,submit_time,iterations,model_name,iteration_time,"
      "priority\n"
      "1,4,120000,100000,resnet50,0.5,1\n"
      "2,1,130000,20000,bert,250.25,2\n"
      "\n==\n"
      "num_gpu,model,overhead_s\n"
      "1,bert,8\n"
      "4,resnet50,3.5\n";
  return {{"openb-fifo", "openb fifo\n" + openb},
          {"openb-priority", "openb priority\n" + openb},
          {"muri-fifo", "muri fifo\n" + muri},
          {"muri-priority", "muri priority\n" + muri}};
}

std::vector<std::string> Keys(uint32_t count) {
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < count; ++i) keys.push_back("n" + std::to_string(i));
  return keys;
}

std::vector<Seed> Fabrics() {
  const std::pair<const char*, FabricDescription> all[] = {
      {"graph",
       FabricGraph{.nodes = {"a", "b", "c"},
                   .switches = {"s"},
                   .links = {{"a", "s", 2}, {"b", "s", 1}, {"c", "s", 5}}}},
      {"torus", Torus3d{3, 2, 2, 4, Keys(12)}},
      {"dragonfly", Dragonfly{3, 2, 2, 1, 1, 2, 3, Keys(12)}},
      {"rails", RailFatTree{2, 3, 4, 2, 1, 2, Keys(6)}}};
  std::vector<Seed> seeds{{"labels",
                           "labels\na 0,0,0\nb 0,0,1\nc 0,1,0\n"
                           "d 0,1,1\n"}};
  for (const auto& [name, description] : all) {
    const auto fabric = muster::Fabric::Make(description);
    if (!fabric.ok()) continue;
    seeds.push_back({name, fabric->ToText()});
    seeds.push_back({std::string(name) + "-graphml", FabricToGraphml(*fabric)});
  }
  return seeds;
}

std::vector<Seed> Histories() {
  std::vector<Seed> seeds;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    Dice dice(seed);
    std::string bytes;
    for (int i = 0; i < 8 + 3 * 40; ++i) {
      bytes += static_cast<char>(dice.Below(256));
    }
    seeds.push_back({"dice-" + std::to_string(seed), bytes});
  }
  return seeds;
}

std::vector<Seed> Watches() {
  const std::string object =
      R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"7",)"
      R"("labels":{"x":"\"}\n"}},"spec":{"nodeName":"n"}})";
  const std::string expired =
      R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})";
  const auto event = [](const std::string& type, const std::string& of) {
    return R"({"type":")" + type + R"(","object":)" + of + "}\n";
  };
  return {
      {"events", "\x10" + event("ADDED", object) + event("MODIFIED", object) +
                     event("DELETED", object)},
      {"bookmark", "\x40" + event("BOOKMARK", object) + "\r\n"},
      {"expired", "\x01" + event("ADDED", object) + event("ERROR", expired)},
      {"list", R"( {"metadata":{"resourceVersion":"9","continue":"t"},)"
               R"("items":[)" +
                   object + "," + object + "]}"}};
}

std::vector<Seed> Kubeconfigs() {
  const std::string head =
      "apiVersion: v1\nkind: Config\ncurrent-context: here\ncontexts:\n"
      "- name: here\n  context: {cluster: c, user: u, namespace: n}\n"
      "clusters:\n- name: c\n  cluster:\n    server: https://127.0.0.1:6443\n"
      "    certificate-authority-data: LS0tLS1CRUdJTiBYLS0tLS0=\n"
      "users:\n- name: u\n  user:\n";
  return {
      {"token", head + "    token: abc\n"},
      {"files",
       head + "    client-certificate: c.pem\n    client-key: k.pem\n"},
      {"exec", head + "    exec:\n"
                      "      apiVersion: client.authentication.k8s.io/v1\n"
                      "      command: login\n      args: [-a, 'b c']\n"
                      "      env: [{name: X, value: y}]\n"
                      "      provideClusterInfo: true\n"},
      {"lease",
       R"({"metadata":{"uid":"u","resourceVersion":"7"},"spec":)"
       R"({"holderIdentity":"a","leaseDurationSeconds":15,)"
       R"("leaseTransitions":3,"renewTime":"2026-01-31T12:00:00.000000Z"}})"},
      {"credential",
       R"({"kind":"ExecCredential","apiVersion":)"
       R"("client.authentication.k8s.io/v1","status":{"token":"t",)"
       R"("expirationTimestamp":"2026-01-31T12:00:00Z"}})"}};
}

}  // namespace

std::vector<Seed> Seeds(std::string_view target) {
  if (target == "scenario" || target == "simulation") return Scenarios();
  if (target == "trace") return Traces();
  if (target == "journal") return Wire(true);
  if (target == "snapshot") return Wire(false);
  if (target == "fabric") return Fabrics();
  if (target == "history") return Histories();
  if (target == "kubernetes") return KubernetesSeeds();
  if (target == "manifest") return ManifestSeeds();
  if (target == "config") return ConfigSeeds();
  if (target == "localapi") return LocalApiSeeds();
  if (target == "shim") return ShimSeeds();
  if (target == "http") return HttpSeeds();
  if (target == "watch") return Watches();
  if (target == "kubeconfig") return Kubeconfigs();
  return {};
}

}  // namespace muster::fuzz
