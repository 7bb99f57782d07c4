#include "test/solver/world.h"

#include <algorithm>
#include <utility>

namespace muster::solver_test {

Node MakeNode(const NodeSpec& spec) {
  Node node;
  static const char* const kLevels[] = {"zone", "block", "rack"};
  size_t from = 0;
  for (const char* level : kLevels) {
    const size_t slash = spec.path.find('/', from);
    if (slash == std::string::npos) break;
    node.labels.push_back({level, spec.path.substr(from, slash - from)});
    from = slash + 1;
  }
  node.key = spec.path.substr(from);
  node.capacity = {spec.cpu, 0, 0};
  for (const Label& l : spec.labels) node.labels.push_back(l);
  std::sort(node.labels.begin(), node.labels.end());
  node.taints = spec.taints;
  node.devices.assign(spec.gpus, {.model = spec.model, .memory_bytes = 1000});
  return node;
}

Role MakeRole(std::string name, uint32_t tasks, uint32_t gpus, int64_t cpu) {
  Role role;
  role.name = std::move(name);
  role.min_tasks = role.desired_tasks = tasks;
  role.shape.resources = {cpu, 0, 0};
  role.shape.devices.count = gpus;
  return role;
}

World::World(std::vector<Topology> topologies)
    : cluster(3, kGpu, std::move(topologies)) {}

World::~World() = default;

World& World::Add(const NodeSpec& spec) {
  cluster.Upsert(MakeNode(spec));
  return *this;
}

World& World::AddMany(const std::string& path, uint32_t count, uint32_t gpus) {
  for (uint32_t i = 0; i < count; ++i) {
    Add({.path = path + std::to_string(i), .gpus = gpus, .cpu = 1000});
  }
  return *this;
}

const PreparedGang& World::Prepare(Gang gang) {
  gang_ = {};
  if (gang.groups.empty()) gang.groups.emplace_back();
  for (const Role& role : gang.roles) {
    std::vector<ShapeId> shapes;
    for (uint32_t a = 0; a <= role.alternatives.size(); ++a) {
      shapes.push_back(cluster.Intern(role, a));
    }
    gang_.shapes.push_back(shapes);
  }
  gang_.gang = std::move(gang);
  request.gang = &gang_;
  return gang_;
}

void World::Hold() {
  placed.insert(placed.end(), result.tasks.begin(), result.tasks.end());
  std::sort(
      placed.begin(), placed.end(),
      [](const Assignment& a, const Assignment& b) { return a.task < b.task; });
}

PlacementResult& World::Place(Gang gang) {
  Prepare(std::move(gang));
  placed.clear();
  return PlaceAgain();
}

PlacementResult& World::PlaceAgain() {
  request.fixed = placed;
  solver->Place(cluster, request, &result);
  Hold();
  return result;
}

PlacementResult& World::Grow() {
  request.fixed = placed;
  solver->Grow(cluster, request, &result);
  Hold();
  return result;
}

PlacementResult World::DryRun(Gang gang) {
  PlacementRequest dry;
  dry.gang = &Prepare(std::move(gang));
  dry.dry_run = true;
  PlacementResult told;
  solver->Place(cluster, dry, &told);
  return told;
}

void World::Use(const std::string& node, uint32_t gpus) {
  const ShapeId shape = cluster.Intern(MakeRole("other", 1, 1), 0);
  for (uint32_t i = 0; i < gpus; ++i) {
    Allocation at;
    cluster.Take(cluster.Find(node).index, shape, Ledger::kBoth, &at);
  }
}

std::string World::NodeOf(uint32_t role, uint32_t index) const {
  for (const Assignment& a : placed) {
    if (a.task == TaskId{role, index}) return cluster.node(a.at.node).key;
  }
  return "";
}

std::vector<std::string> World::NodesOf(uint32_t role) const {
  std::vector<std::string> nodes;
  for (const Assignment& a : placed) {
    if (a.task.role == role) nodes.push_back(cluster.node(a.at.node).key);
  }
  return nodes;
}

std::string World::Where(uint32_t role, const std::string& label) const {
  std::string where;
  for (const Assignment& a : placed) {
    if (a.task.role != role) continue;
    for (const Label& l : cluster.node(a.at.node).labels) {
      if (l.key == label) where += (where.empty() ? "" : " ") + l.value;
    }
  }
  return where;
}

}  // namespace muster::solver_test
