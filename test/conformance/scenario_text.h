// Small scenarios for the runner's own tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "test/conformance/json_fields.h"
#include "test/conformance/runner.h"
#include "test/conformance/scenario_reader.h"

namespace muster::conformance {

// A scenario of the kind with the given parts, e.g. {"gangs", [...]}.
inline Json MakeScenario(const std::string& kind, const Json& parts) {
  Json scenario = {{"schema", kFormat},
                   {"id", "own/" + kind},
                   {"source", {{"project", "Own"}}},
                   {"kind", kind},
                   {"grade", "generic-exact"},
                   {"actions", {"allocate", "preempt", "reclaim"}},
                   {"cluster", Json::object()},
                   {"gangs", Json::array()},
                   {"expect", Json::object()}};
  scenario.update(parts);
  return scenario;
}

inline Scenario ReadOrDie(const Json& json) {
  auto scenario = ReadScenario(json.dump(), "own.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return scenario.ok() ? *std::move(scenario) : Scenario{};
}

inline CaseResult RunJson(const Json& json, bool decides = true) {
  return RunScenario(ReadOrDie(json), decides);
}

inline Json Parse(const std::string& text) { return Json::parse(text); }

}  // namespace muster::conformance
