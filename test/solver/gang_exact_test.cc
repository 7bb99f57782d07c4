// Two roles on some 36 nodes, beyond brute force, against an integer program:
// HiGHS, which ./dev setup installs; skipped without it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "test/solver/oracle.h"
#include "test/solver/random_world.h"
#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

constexpr int kNotInstalled = 77;  // The script says so.
constexpr int kNoPython = 127;     // The shell says so.
constexpr uint32_t kBlocks = 3;
constexpr uint32_t kRacks = 3;  // Of a block.
constexpr uint32_t kNodes = 4;  // Of a rack.

// The Python that has the solver. Tests run in the root of the source tree.
std::string Python() {
  if (const char* named = std::getenv("MUSTER_ORACLE_PYTHON")) return named;
  const std::string own = "build/oracle-venv/bin/python";
  return std::ifstream(own).good() ? own : "python3";
}

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
  w.request.exact_steps = 50'000'000;
  w.Place(answer.question.gang);
  // Only what spans blocks is compared over all nodes.
  if (w.result.fit == Fit::kFits && EnclosingLevel(w.cluster, w.held) == -1) {
    answer.certificate = w.result.certificate;
  }
  return answer;
}

void Check(const Answer& answer, std::istringstream* lines) {
  const Certificate& c = answer.certificate;
  EXPECT_TRUE(c.optimal) << "36 nodes are few";
  if (c.traffic.talks) {
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
  const std::string path = testing::TempDir() + "gang_questions.json";
  std::ofstream file(path);
  for (uint64_t seed = 1; answers.size() < 40 && seed < 1000; ++seed) {
    Answer answer = Ask(seed);
    const Certificate& c = answer.certificate;
    if (c.levels.empty() && !c.traffic.talks) continue;
    file << answer.question.Line();
    answers.emplace_back(seed, std::move(answer));
  }
  file.close();
  ASSERT_EQ(answers.size(), 40u);

  const std::string command = Python() + " test/solver/gang_exact.py <" + path;
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) {
    output += static_cast<char>(c);
  }
  const int status = pclose(pipe);
  std::remove(path.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoPython) GTEST_SKIP() << "no python3";
  if (WEXITSTATUS(status) == kNotInstalled) GTEST_SKIP() << "no highspy";
  ASSERT_EQ(WEXITSTATUS(status), 0);

  std::istringstream lines(output);
  for (const auto& [seed, answer] : answers) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Check(answer, &lines);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace muster::solver_test
