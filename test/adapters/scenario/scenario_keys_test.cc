// Every key that the reader of scenarios knows is used by a sample and
// described in docs/scenario-format.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "adapters/inprocess/simulator.h"
#include "adapters/scenario/expectations.h"
#include "adapters/scenario/scenario.h"

namespace muster::inprocess {
namespace {

using testing::HasSubstr;

constexpr char kEveryKey[] =
    MUSTER_SOURCE_DIR "/test/adapters/scenario/scenarios/every-key.yaml";
constexpr char kNotYet[] =
    MUSTER_SOURCE_DIR "/test/adapters/scenario/scenarios/not-yet.yaml";
constexpr char kPage[] = MUSTER_SOURCE_DIR "/docs/scenario-format.md";

// By kind of mapping: its keys.
using Keys = std::map<std::string, std::set<std::string>>;

// The page says `<!-- keys: gang -->` before the table of a gang's keys; the
// first column of a table holds keys in backticks.
Keys DescribedKeys() {
  Keys keys;
  std::ifstream page(kPage);
  EXPECT_TRUE(page.good()) << kPage;
  const std::string mark = "<!-- keys: ", end = " -->";
  std::string kind;
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with(mark) && line.ends_with(end)) {
      kind = line.substr(mark.size(), line.size() - mark.size() - end.size());
      in_table = false;
    } else if (!kind.empty() && line.starts_with("|")) {
      in_table = true;
      // Keys stand between backticks.
      const std::string cell = line.substr(1, line.find('|', 1) - 1);
      for (size_t open = cell.find('`'); open != std::string::npos;) {
        const size_t close = cell.find('`', open + 1);
        if (close == std::string::npos) {
          ADD_FAILURE() << line;
          break;
        }
        const std::string key = cell.substr(open + 1, close - open - 1);
        EXPECT_TRUE(keys[kind].insert(key).second)
            << kind << " describes " << key << " twice";
        open = cell.find('`', close + 1);
      }
    } else if (in_table) {
      kind.clear();
    }
  }
  return keys;
}

TEST(ScenarioKeysTest, TheSampleOfEveryKeyRunsAsItSays) {
  const auto s = LoadScenario(kEveryKey);
  ASSERT_TRUE(s.ok()) << s.status();
  VectorSource jobs(s->jobs);
  Timeline timeline;
  auto simulator = Simulator::Create(
      s->setup, &jobs, s->events,
      {.host = s->host, .observer = &timeline, .validate = true});
  ASSERT_TRUE(simulator.ok()) << simulator.status();
  EXPECT_TRUE(simulator->Run().ok());
  EXPECT_TRUE(simulator->Audit().ok()) << simulator->Audit();
  EXPECT_TRUE(simulator->refusals().empty())
      << simulator->refusals()[0].what << ": "
      << simulator->refusals()[0].error;
  const CheckReport checks = Check(*s, timeline, simulator->scheduler());
  EXPECT_GT(checks.checked, 5);
  for (const std::string& failure : checks.failures) ADD_FAILURE() << failure;
}

TEST(ScenarioKeysTest, WhatIsNotSupportedYetIsRefused) {
  EXPECT_THAT(std::string(LoadScenario(kNotYet).status().message()),
              HasSubstr("not-yet.yaml:5:5: queues[0]: queue 'team'.quotas[0]."
                        "flavor: not supported yet"));
}

TEST(ScenarioKeysTest, ThePageDescribesEveryKeyAndNoOther) {
  KeysRead read;
  (void)LoadScenario(kEveryKey, {}, &read);
  (void)LoadScenario(kNotYet, {}, &read);
  Keys known;
  for (const auto& [kind, keys] : read) {
    for (const auto& [key, used] : keys) {
      known[kind].insert(key);
      EXPECT_TRUE(used) << "no sample has the key " << key << " of a " << kind;
    }
  }
  EXPECT_GT(known.size(), 20U);
  const Keys described = DescribedKeys();
  for (const auto& [kind, keys] : known) {
    const auto it = described.find(kind);
    ASSERT_NE(it, described.end()) << "the page has no table of: " << kind;
    EXPECT_EQ(it->second, keys) << kind;
  }
  EXPECT_EQ(described.size(), known.size()) << "the page has a table too many";
}

}  // namespace
}  // namespace muster::inprocess
