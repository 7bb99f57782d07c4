#include "test/conformance/scenario_reader.h"

namespace muster::conformance {
namespace {

void ReadPodExpectation(JsonFields& f, PodExpectation* pod) {
  f.Require("state", &pod->state);
  f.Read("node", &pod->node);
  // Labels the peer's own harness does not enforce either.
  f.Ignore({"gpuDevicesHint"});
}

void ReadAdmitted(JsonFields& f, AdmittedExpectation* admitted) {
  f.Read("queue", &admitted->queue);
  f.Each("podSets", [&](JsonFields& p) {
    PodSetExpectation& set = admitted->pod_sets.emplace_back();
    p.Read("name", &set.name);
    p.Read("count", &set.count);
    p.Read("flavors", &set.flavors);
    if (const Json* v = p.Raw("assignment")) {
      set.assignment = ReadAssignment(*v, p.Path("assignment"), p.log());
    }
    p.Ignore({"usage"});  // count x requests.
  });
}

void ReadFlavorExpectation(JsonFields& f, FlavorExpectation* flavor) {
  f.Read("podSet", &flavor->pod_set);
  f.Read("resource", &flavor->resource);
  f.Read("flavor", &flavor->flavor);
  f.Read("mode", &flavor->mode);
  f.Read("borrow", &flavor->borrow);
}

void ReadMaps(JsonFields& f, Expectation* e) {
  f.Members("pods", [&](const std::string& name, const Json& value,
                        const std::string& path) {
    JsonFields p(value, path, f.log());
    ReadPodExpectation(p, &e->pods[name]);
    p.Done();
  });
  f.Members("nominatedGangs", [&](const std::string& name, const Json& value,
                                  const std::string& path) {
    JsonFields g(value, path, f.log());
    g.Read("anyOfNodes", &e->nominated_gangs[name]);
    g.Done();
  });
  f.Members("nodes", [&](const std::string& name, const Json& value,
                         const std::string& path) {
    JsonFields n(value, path, f.log());
    n.Read("idleGpus", &e->nodes[name].idle_gpus);
    n.Read("releasingGpus", &e->nodes[name].releasing_gpus);
    n.Done();
  });
  f.Members("assignments", [&](const std::string& name, const Json& value,
                               const std::string& path) {
    e->assignments[name] = ReadAssignment(value, path, f.log());
  });
  f.Read("domainCounts", &e->domain_counts);
  f.Members("admitted", [&](const std::string& name, const Json& value,
                            const std::string& path) {
    JsonFields a(value, path, f.log());
    ReadAdmitted(a, &e->admitted[name]);
    a.Done();
  });
}

}  // namespace

AssignmentSpec ReadAssignment(const Json& value, const std::string& path,
                              ReadLog* log) {
  AssignmentSpec assignment;
  JsonFields f(value, path, log);
  f.Require("levels", &assignment.levels);
  f.Each("domains", [&](JsonFields& d) {
    DomainCountSpec& domain = assignment.domains.emplace_back();
    d.Require("values", &domain.values);
    d.Require("count", &domain.count);
  });
  f.Done();
  return assignment;
}

void ReadExpectation(JsonFields& f, Expectation* e) {
  ReadMaps(f, e);
  f.Read("interchangeable", &e->interchangeable);
  f.Read("placedPerDomainCounts", &e->placed_per_domain_counts);
  f.Read("placedExact", &e->placed_exact);
  f.Read("placedCount", &e->placed_count);
  f.Read("evictedExact", &e->evicted_exact);
  f.Read("infeasible", &e->infeasible);
  f.Read("victims", &e->victims);
  f.Read("victimsExact", &e->victims_exact);
  f.Read("stillRunning", &e->still_running);
  f.Read("stillQueued", &e->still_queued);
  f.Read("inadmissible", &e->inadmissible);
  f.Read("mode", &e->mode);
  f.Each("flavors", [&](JsonFields& v) {
    ReadFlavorExpectation(v, &e->flavors.emplace_back());
  });
  // The peer's words for what the other fields say.
  f.Ignore({"messages", "events"});
}

void ReadQuery(JsonFields& f, Scenario* scenario) {
  f.Read("preemptor", &scenario->preemptor);
  f.Each("need", [&](JsonFields& n) {
    NeedSpec& need = scenario->needs.emplace_back();
    n.Read("podSet", &need.pod_set);
    n.Read("resource", &need.resource);
    n.Read("flavor", &need.flavor);
    n.Read("mode", &need.mode);
  });
  f.Members("usage", [&](const std::string& queue, const Json& value,
                         const std::string& path) {
    const Json wrapped = {{"used", value}};
    JsonFields list(wrapped, path, f.log());
    list.Each("used", [&](JsonFields& u) {
      UsageSpec& spec = scenario->usages.emplace_back();
      spec.queue = queue;
      u.Read("flavor", &spec.flavor);
      u.Read("resource", &spec.resource);
      u.Read("used", &spec.used);
    });
  });
}

}  // namespace muster::conformance
