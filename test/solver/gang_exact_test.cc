// Two roles on some 36 nodes, beyond brute force, against an integer program:
// HiGHS, which ./dev setup installs; skipped without it.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "test/solver/integer_program.h"
#include "test/solver/oracle.h"
#include "test/solver/random_world.h"
#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

constexpr uint32_t kBlocks = 3;
constexpr uint32_t kRacks = 3;  // Of a block.
constexpr uint32_t kNodes = 4;  // Of a rack.

// Workers with a device and a core, servers with two cores; they fit into no
// block alone more often than not.
struct Question {
  explicit Question(uint64_t seed) : random(seed) {
    gang.roles = {MakeRole("w", 18 + random.Below(12), 1, 1),
                  MakeRole("ps", 1 + random.Below(4), 0, 2)};
    if (random.Chance(50)) gang.traffic = {{"w", "ps", 2}};
    for (uint32_t i = 0; i < kBlocks * kRacks * kNodes; ++i) {
      NodeSpec node{.path = "n" + std::to_string(i)};
      node.gpus = random.Below(5);
      node.cpu = random.Below(7);
      node.labels = {{"block", std::to_string(i / kNodes / kRacks)},
                     {"rack", std::to_string(i / kNodes)}};
      nodes.push_back(node);
    }
  }

  std::string Line() const {
    std::ostringstream line;
    line << "{\"want\": [" << gang.roles[0].min_tasks << ", "
         << gang.roles[1].min_tasks << "], \"demand\": [[1, 1], [0, 2]]"
         << ", \"talk\": " << (gang.traffic.empty() ? 0 : 2);
    const auto list = [&](const char* name, const auto& pair) {
      line << ", \"" << name << "\": [";
      for (size_t i = 0; i < nodes.size(); ++i) {
        line << (i > 0 ? ", " : "") << pair(i);
      }
      line << "]";
    };
    const auto both = [](size_t a, size_t b) {
      return "[" + std::to_string(a) + ", " + std::to_string(b) + "]";
    };
    list("free", [&](size_t i) {
      return both(nodes[i].gpus, static_cast<size_t>(nodes[i].cpu));
    });
    list("paths",
         [&](size_t i) { return both(i / kNodes / kRacks, i / kNodes); });
    line << "}\n";
    return line.str();
  }

  Random random;
  Gang gang{};
  std::vector<NodeSpec> nodes{};
};

// The answer's level, and what it says of itself.
struct Answer {
  Question question;
  Certificate certificate{};
};

Answer Ask(uint64_t seed) {
  Answer answer{Question(seed)};
  World w(TwoLevels());
  for (const NodeSpec& node : answer.question.nodes) w.Add(node);
  w.request.placement_steps = 50'000'000;
  w.Place(answer.question.gang);
  // Only what spans blocks is compared over all nodes.
  if (w.result.fit == Fit::kFits && EnclosingLevel(w.cluster, w.placed) == -1) {
    answer.certificate = w.result.certificate;
  }
  return answer;
}

void Check(const Answer& answer, std::istringstream* lines) {
  const Certificate& c = answer.certificate;
  EXPECT_TRUE(c.optimal) << "36 nodes are few";
  if (c.traffic.has_traffic) {
    int64_t best = 0;
    ASSERT_TRUE(*lines >> best);
    EXPECT_EQ(c.traffic.cost, best);
    EXPECT_EQ(c.traffic.least, best);
    return;
  }
  ASSERT_EQ(c.levels.size(), 3u);
  for (const Certificate::Level& level : c.levels) {
    uint32_t best = 0;
    ASSERT_TRUE(*lines >> best);
    EXPECT_EQ(level.used, best);
  }
}

TEST(GangExact, AgreesWithAnIntegerProgram) {
  std::vector<std::pair<uint64_t, Answer>> answers;
  std::string questions;
  for (uint64_t seed = 1; answers.size() < 40 && seed < 1000; ++seed) {
    Answer answer = Ask(seed);
    const Certificate& c = answer.certificate;
    if (c.levels.empty() && !c.traffic.has_traffic) continue;
    questions += answer.question.Line();
    answers.emplace_back(seed, std::move(answer));
  }
  ASSERT_EQ(answers.size(), 40u);

  const ProgramAnswer answered =
      AskIntegerProgram("solver/gang_exact.py", questions);
  if (!answered.skipped.empty()) GTEST_SKIP() << answered.skipped;
  ASSERT_EQ(answered.status, 0);

  std::istringstream lines(answered.output);
  for (const auto& [seed, answer] : answers) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Check(answer, &lines);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace muster::solver_test
