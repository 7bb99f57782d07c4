// Questions to the solver on fabrics whose distances are not cached yet.
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/random.h"
#include "benchmarks/step_search.h"
#include "benchmarks/step_world.h"
#include "lib/solver/gang_solver.h"
#include "muster/fabric/fabric.h"
#include "muster/placement_solver.h"

namespace muster::bench {
namespace {

FabricDescription Form(const std::string& form, std::vector<std::string> keys) {
  const auto nodes = static_cast<uint32_t>(keys.size());
  if (form == "torus") {
    const uint32_t z = nodes == 100 ? 4 : nodes == 1'000 ? 10 : 25;
    const auto x = static_cast<uint32_t>(std::lround(std::sqrt(nodes / z)));
    return Torus3d{x, x, z, 1, std::move(keys)};
  }
  if (form == "dragonfly") {
    return Dragonfly{nodes / 20, 5, 4, 1, 1, 1, 1, std::move(keys)};
  }
  if (form == "rails")
    return RailFatTree{nodes / 20, 20, 4, 4, 1, 1, std::move(keys)};
  FabricGraph graph{.nodes = std::move(keys)};
  for (uint32_t n = 1; n < nodes; ++n) {
    graph.links.push_back({graph.nodes[n], graph.nodes[n / 2], 1});
    graph.links.push_back({graph.nodes[n], graph.nodes[n / 3], 1});
  }
  std::erase_if(graph.links, [](const auto& l) { return l.a == l.b; });
  return graph;
}

struct Case {
  std::string name{};
  std::string form{};
  std::string required{};
  uint32_t tasks = 1;
  bool fits = true;
};

class FabricQuestion : public StepSearch {
 public:
  FabricQuestion(const Case& c, uint32_t nodes)
      : case_(c), cluster_(StepCluster(nodes, Load::kScattered)) {
    std::vector<std::string> keys;
    for (const NodeIndex n : cluster_.nodes()) {
      keys.push_back(cluster_.node(n).key);
    }
    fabric_.key = "fabric";
    fabric_.text = Fabric::Make(Form(c.form, std::move(keys)))->ToText();
  }

  void Prepare(uint32_t count) override {
    solvers_.clear();
    gangs_.clear();
    for (uint32_t i = 0; i < count; ++i) {
      solvers_.push_back(NewGangSolver({}, {&fabric_, 1}));
      PreparedGang& gang = gangs_.emplace_back();
      gang.gang = StepGang(case_.tasks, kStepDevices);
      gang.gang.groups[0].topology = {.topology = "fabric",
                                      .required = case_.required};
      Resources& asked = gang.gang.roles[0].shape.resources;
      asked.Set(0, asked[0] + ++made_ % 1000);
      gang.shapes = {{cluster_.Intern(gang.gang.roles[0], 0)}};
      // The index, and which of the cluster's nodes the fabric has, are known.
      PreparedGang other = gang;
      other.gang.roles[0].min_tasks = 100'000;
      other.shapes[0][0] = known_;
      Place(*solvers_.back(), other);
    }
  }

  uint64_t Ask(uint32_t number) override {
    Place(*solvers_[number], gangs_[number]);
    good_ &= (result_.fit == Fit::kFits) == case_.fits;
    return result_.steps;
  }

  bool Finish() override { return good_; }

 private:
  void Place(GangSolver& solver, const PreparedGang& gang) {
    PlacementRequest request;
    request.gang = &gang;
    request.dry_run = true;
    solver.Place(cluster_, request, &result_);
  }

  const Case case_;
  Cluster cluster_;
  const ShapeId known_ = cluster_.Intern(StepRole("", 1, kStepDevices), 0);
  FabricTopology fabric_;
  std::vector<std::unique_ptr<GangSolver>> solvers_;
  std::vector<PreparedGang> gangs_;
  PlacementResult result_;
  uint32_t made_ = 0;
  bool good_ = true;
};

[[maybe_unused]] const bool kRegistered = [] {
  const Case cases[] = {
      {"fabric-box", "torus", "box", 2},
      {"fabric-box-no", "torus", "box", 64, false},
      {"fabric-torus", "torus", "", 12},
      {"fabric-dragonfly", "dragonfly", "", 12},
      {"fabric-rails", "rails", "", 12},
      {"fabric-graph", "graph", "", 8},
  };
  constexpr uint32_t kNodes[] = {100, 1'000};
  for (const Case& c : cases) {
    const bool large = c.required == "box" || c.form == "rails";
    RegisterSearch(c.name,
                   large ? std::span<const uint32_t>(kStepNodes) : kNodes,
                   [c](uint32_t nodes) {
                     return std::make_unique<FabricQuestion>(c, nodes);
                   });
  }
  return true;
}();

}  // namespace
}  // namespace muster::bench
