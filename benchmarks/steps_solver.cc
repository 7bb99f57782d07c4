// One question to the solver, whose shapes no index knows; with /known, one
// whose shapes it does.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/step_search.h"
#include "benchmarks/step_world.h"
#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"

namespace muster::bench {
namespace {

struct Case {
  std::string name{};
  std::function<Gang(uint32_t nodes)> gang{};
  Load load = Load::kScattered;
  bool fits = true;
  uint32_t running = 0;     // Tasks of the first role that run already.
  uint32_t grows = 0;       // Grow, by so many; 0: Place.
  bool own_filter = false;  // No other shape passes the same nodes.
  uint32_t within = 0;      // The first so many nodes; 0: all.
  uint64_t placement_steps = PlacementRequest{}.placement_steps;
};

class Question : public StepSearch {
 public:
  Question(Case c, uint32_t nodes, bool known)
      : case_(std::move(c)),
        nodes_(nodes),
        known_(known),
        cluster_(StepCluster(nodes, case_.load)) {
    const auto all = cluster_.nodes();
    within_.assign(
        all.begin(),
        all.begin() + std::min<ptrdiff_t>(case_.within, std::ssize(all)));
    if (case_.running == 0) return;
    Gang gang = case_.gang(nodes_);
    for (Role& role : gang.roles) role.min_tasks = 0;
    gang.roles[0].min_tasks = gang.roles[0].desired_tasks = case_.running;
    gang.traffic.clear();
    PreparedGang prepared = Intern(std::move(gang));
    PlacementRequest request;
    request.gang = &prepared;
    solver_->Place(cluster_, request, &result_);
    running_ = result_.tasks;
  }

  void Prepare(uint32_t count) override {
    if (known_ && !gangs_.empty()) return;
    for (const PreparedGang& gang : gangs_) {
      for (const auto& shapes : gang.shapes) {
        for (const ShapeId shape : shapes) cluster_.Unref(shape);
      }
    }
    gangs_.clear();
    for (uint32_t i = 0; i < count; ++i) {
      Gang gang = case_.gang(nodes_);
      if (!known_) ++made_;
      for (Role& role : gang.roles) {
        if (role.shape.resources[0] > 0)
          role.shape.resources.Set(0, role.shape.resources[0] + made_ % 1000);
        if (case_.own_filter) {
          role.shape.selector.any_of = {
              {{{"pool", SelectorOp::kNotIn, {"p" + std::to_string(made_)}}}}};
        }
      }
      gangs_.push_back(Intern(std::move(gang)));
    }
    if (known_) {
      for (uint32_t i = 0; i < count; ++i) Ask(i);
    }
  }

  uint64_t Ask(uint32_t number) override {
    PlacementRequest request;
    request.gang = &gangs_[number];
    request.fixed = running_;
    request.within = within_;
    request.placement_steps = case_.placement_steps;
    const Cluster::Mark mark = cluster_.Begin();
    if (case_.grows > 0) {
      request.most = case_.grows;
      solver_->Grow(cluster_, request, &result_);
      good_ &= (result_.tasks.size() >= case_.grows) == case_.fits;
    } else {
      solver_->Place(cluster_, request, &result_);
      good_ &= (result_.fit == Fit::kFits) == case_.fits;
    }
    cluster_.Rollback(mark);
    return result_.steps;
  }

  bool Finish() override { return good_; }

 private:
  PreparedGang Intern(Gang gang) {
    PreparedGang prepared;
    for (const Role& role : gang.roles) {
      std::vector<ShapeId>& shapes = prepared.shapes.emplace_back();
      for (uint32_t a = 0; a <= role.alternatives.size(); ++a) {
        shapes.push_back(cluster_.Intern(role, a));
      }
    }
    prepared.gang = std::move(gang);
    return prepared;
  }

  const Case case_;
  const uint32_t nodes_;
  const bool known_;
  Cluster cluster_;
  const std::unique_ptr<GangSolver> solver_ = NewGangSolver();
  std::vector<PreparedGang> gangs_;
  std::vector<Assignment> running_;
  std::vector<NodeIndex> within_;
  PlacementResult result_;
  uint32_t made_ = 0;
  bool good_ = true;
};

// --- Gangs -------------------------------------------------------------------

std::function<Gang(uint32_t)> Alike(uint32_t tasks, uint32_t devices,
                                    TopologyConstraint where = {}) {
  return [=](uint32_t) {
    Gang gang = StepGang(tasks, devices);
    gang.groups[0].topology = where;
    return gang;
  };
}

std::function<Gang(uint32_t)> One(const std::function<void(Role&)>& change) {
  return [=](uint32_t) {
    Gang gang = StepGang(1, 1);
    change(gang.roles[0]);
    return gang;
  };
}

// A tenth of the nodes' number of tasks, at most 64.
uint32_t Some(uint32_t nodes) { return std::min(64u, nodes / 10); }

Gang Mixed(uint32_t nodes) {
  Gang gang = StepGang(Some(nodes), 1);
  gang.roles.push_back(StepRole("ps", 4, 0));
  return gang;
}

Gang Talking(uint32_t nodes) {
  Gang gang = Mixed(nodes);
  gang.traffic = {{"worker", "ps", 1}};
  return gang;
}

// Each of two roles in a rack of its own, both in one block.
Gang TwoRacks(uint32_t) {
  Gang gang = StepGang(8, 1);
  gang.groups.resize(3);
  gang.groups[0].topology.required = "block";
  gang.groups[1].topology.required = gang.groups[2].topology.required = "rack";
  gang.roles[0].group = 1;
  gang.roles.push_back(StepRole("other", 6, 1));
  gang.roles[1].group = 2;
  return gang;
}

// So many whole nodes a role, each in a rack.
std::function<Gang(uint32_t)> InRacks(std::vector<uint32_t> sizes) {
  return [=](uint32_t) {
    Gang gang = StepGang(1, 8);
    gang.roles.clear();
    for (const uint32_t size : sizes) {
      const std::string name = "r" + std::to_string(gang.roles.size());
      gang.roles.push_back(StepRole(name, size, 8));
      gang.roles.back().topology.required = "rack";
    }
    return gang;
  };
}

// Of few nodes, which the first try does not fill.
Gang Odd(uint32_t) {
  Gang gang = StepGang(2, 5);
  gang.roles.push_back(StepRole("other", 2, 3));
  gang.roles.push_back(StepRole("third", 2, 4));
  return gang;
}

Gang Choices(uint32_t) {
  Gang gang = StepGang(4, 1);
  gang.groups[0].min_children = 1;
  gang.roles.push_back(StepRole("other", 4, 2));
  gang.roles.push_back(StepRole("third", 2, 4));
  return gang;
}

Gang Alternatives(uint32_t nodes) {
  Gang gang = StepGang(Some(nodes), 8);
  TaskShape shape = gang.roles[0].shape;
  shape.devices.count = 7;
  gang.roles[0].alternatives = {shape};
  shape.devices.count = 1;
  gang.roles[0].alternatives.push_back(shape);
  return gang;
}

Gang Preferring(uint32_t) {
  Gang gang = StepGang(8, 1);
  gang.roles[0].preferences = {{10, {{{"pool", SelectorOp::kIn, {"p1"}}}}}};
  return gang;
}

Gang Elastic(uint32_t tasks) {
  Gang gang = StepGang(1, 1);
  gang.roles[0].desired_tasks = tasks;
  return gang;
}

std::vector<Case> Cases() {
  std::vector<Case> all;
  const auto add = [&](Case c) { all.push_back(std::move(c)); };
  add({.name = "one", .gang = Alike(1, 1)});
  add({.name = "one-plain",
       .gang = One([](Role& r) { r.shape.resources = {0, 0, 0}; })});
  add({.name = "one-filter", .gang = Alike(1, 1), .own_filter = true});
  add({.name = "one-share",
       .gang = One([](Role& r) { r.shape.devices.milli = 300; })});
  add({.name = "one-memory", .gang = One([](Role& r) {
                               r.shape.devices.memory_bytes = int64_t{20} << 30;
                             })});
  add({.name = "one-model",
       .gang = One([](Role& r) { r.shape.devices.models = {"B"}; })});
  add({.name = "one-partition",
       .gang = One([](Role& r) { r.shape.devices.partition = "2g.20gb"; })});
  add({.name = "one-prefers",
       .gang = One([](Role& r) {
         r.preferences = {{10, {{{"pool", SelectorOp::kIn, {"p1"}}}}}};
       })});
  add({.name = "one-reluctant", .gang = Alike(1, 1), .load = Load::kReluctant});
  add({.name = "one-no",
       .gang = Alike(1, 8),
       .load = Load::kFull,
       .fits = false});
  add({.name = "one-never", .gang = Alike(1, 9), .fits = false});
  add({.name = "one-within", .gang = Alike(1, 1), .within = 20});
  add({.name = "gang-8", .gang = Alike(8, 1)});
  add({.name = "gang-64", .gang = Alike(64, 1)});
  add({.name = "gang-512",
       .gang = [](uint32_t n) { return StepGang(std::min(512u, n), 1); }});
  add({.name = "gang-whole",
       .gang = [](uint32_t n) { return StepGang(Some(n), 8); }});
  add({.name = "gang-share", .gang = [](uint32_t n) {
         Gang g = StepGang(Some(n), 1);
         g.roles[0].shape.devices.milli = 300;
         return g;
       }});
  add({.name = "gang-within", .gang = Alike(8, 1), .within = 20});
  add({.name = "gang-no", .gang = Alike(100'000, 1), .fits = false});
  add({.name = "gang-short",
       .gang = [](uint32_t n) { return StepGang(n / 2, 8); },
       .fits = false});
  add({.name = "gang-reluctant",
       .gang = Alike(8, 1),
       .load = Load::kReluctant});
  add({.name = "rack", .gang = Alike(8, 1, {.required = "rack"})});
  add({.name = "rack-whole", .gang = Alike(2, 8, {.required = "rack"})});
  add({.name = "rack-no",
       .gang = Alike(18, 8, {.required = "rack"}),
       .fits = false});
  add({.name = "host", .gang = Alike(4, 1, {.required = "host"})});
  add({.name = "host-no",
       .gang = Alike(8, 1, {.required = "host"}),
       .load = Load::kFull,
       .fits = false});
  add({.name = "preferred", .gang = Alike(16, 1, {.preferred = "rack"})});
  add({.name = "slices",
       .gang = Alike(16, 1, {.required = "zone", .slices = {{"rack", 4}}})});
  add({.name = "slices-nested",
       .gang = Alike(16, 1, {.slices = {{"block", 8}, {"rack", 4}}})});
  add({.name = "two-racks", .gang = TwoRacks});
  // They fill five racks of 20.
  add({.name = "packs",
       .gang = InRacks({11, 9, 9, 8, 8, 7, 6, 6, 5, 5, 5, 5, 5, 4, 4, 3}),
       .load = Load::kEmpty,
       .within = 100});
  add({.name = "packs-no",
       .gang = InRacks({11, 11, 11, 11, 11, 11, 3, 2, 2}),
       .load = Load::kEmpty,
       .fits = false,
       .within = 100});
  add({.name = "spread",
       .gang =
           Alike(16, 1, {.spread = {.level = "host", .max_per_domain = 1}})});
  add({.name = "spread-skew",
       .gang = Alike(20, 1, {.spread = {.level = "rack", .max_skew = 5}})});
  add({.name = "spread-no",
       .gang =
           Alike(800, 1, {.spread = {.level = "rack", .max_per_domain = 1}}),
       .fits = false});
  add({.name = "mixed", .gang = Mixed});
  add({.name = "mixed-first", .gang = Mixed, .placement_steps = 0});
  add({.name = "traffic", .gang = Talking});
  add({.name = "alternatives", .gang = Alternatives});
  add({.name = "exact", .gang = Odd, .within = 10});
  add({.name = "exact-no",
       .gang = Odd,
       .load = Load::kFull,
       .fits = false,
       .within = 8});
  add({.name = "choices", .gang = Choices});
  add({.name = "prefers", .gang = Preferring});
  add({.name = "grow",
       .gang = [](uint32_t n) { return Elastic(2 * Some(n)); },
       .running = 8,
       .grows = 1,
       .placement_steps = 0});
  add({.name = "grow-large",
       .gang = [](uint32_t n) { return Elastic(8 * n); },
       .running = 100,
       .grows = 1,
       .placement_steps = 0});
  add({.name = "grow-whole",
       .gang = [](uint32_t n) { return Elastic(2 * Some(n)); },
       .running = 8,
       .grows = 4});
  add({.name = "repair",
       .gang = [](uint32_t n) { return StepGang(Some(n) + 1, 1); },
       .running = 8});
  add({.name = "repair-one", .gang = Alike(65, 1), .running = 64});
  return all;
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const Case& c : Cases()) {
    for (const bool known : {false, true}) {
      RegisterSearch(
          c.name + (known ? "/known" : ""), kStepNodes,
          [c, known](uint32_t nodes) {
            return std::make_unique<Question>(c, nodes, known);
          },
          !known);
    }
  }
  RegisterSpread();
  return true;
}();

}  // namespace
}  // namespace muster::bench
