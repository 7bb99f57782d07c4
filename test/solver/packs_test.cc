// Gangs whose groups each lie in one rack, packed: small ones against all ways
// there are, larger ones against an integer program (HiGHS, which ./dev setup
// installs; skipped without it) and by construction.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "test/solver/integer_program.h"
#include "test/solver/random_world.h"
#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

// A group of `whole` tasks on nodes of their own and `half` tasks of which two
// share a node.
struct Part {
  uint32_t whole = 0;
  uint32_t half = 0;
};

struct Question {
  std::vector<std::vector<uint32_t>> racks{};  // By block: their nodes.
  std::vector<Part> parts{};
  Part loose{};            // Tasks that may be anywhere.
  bool one_block = false;  // For all of it.

  Gang MakeGang() const {
    Gang gang;
    gang.groups.emplace_back();
    if (one_block) gang.groups[0].topology.required = "block";
    for (uint32_t i = 0; i < parts.size(); ++i) {
      const auto group = static_cast<uint32_t>(gang.groups.size());
      gang.groups.push_back({.name = "p" + std::to_string(i)});
      gang.groups.back().topology.required = "rack";
      AddRoles(parts[i], group, &gang);
    }
    AddRoles(loose, 0, &gang);
    return gang;
  }
  static void AddRoles(const Part& part, uint32_t group, Gang* gang) {
    const auto add = [&](const char* kind, uint32_t tasks, uint32_t gpus) {
      if (tasks == 0) return;
      Role role = MakeRole(kind + std::to_string(group), tasks, gpus);
      role.group = group;
      gang->roles.push_back(role);
    };
    add("whole", part.whole, 8);
    add("half", part.half, 4);
  }

  void AddNodes(World* w) const {
    for (size_t b = 0; b < racks.size(); ++b) {
      for (size_t r = 0; r < racks[b].size(); ++r) {
        const std::string rack = std::to_string(b) + "-" + std::to_string(r);
        w->AddMany("z/b" + std::to_string(b) + "/r" + rack + "/n" + rack + "-",
                   racks[b][r], 8);
      }
    }
  }

  // In half nodes, by rack: what is left when the parts from `next` on are
  // placed in every way.
  bool Packs(size_t next, std::vector<uint32_t>& left) const {
    if (next == parts.size()) {
      uint32_t whole = 0, half = 0;
      for (const uint32_t n : left) {
        whole += n / 2;
        half += n;
      }
      return whole >= loose.whole && half >= 2 * loose.whole + loose.half;
    }
    const uint32_t need = 2 * parts[next].whole + parts[next].half;
    for (uint32_t& n : left) {
      if (n < need) continue;
      n -= need;
      if (Packs(next + 1, left)) return true;
      n += need;
    }
    return false;
  }
  bool Packs() const {
    std::vector<uint32_t> all;
    for (const std::vector<uint32_t>& block : racks) {
      std::vector<uint32_t> left;
      for (const uint32_t n : block) left.push_back(2 * n);
      all.insert(all.end(), left.begin(), left.end());
      if (one_block && Packs(0, left)) return true;
    }
    return !one_block && Packs(0, all);
  }
};

// As tight as can be more often than not.
Question RandomQuestion(uint64_t seed, bool mixed) {
  Random random(seed);
  Question q;
  q.one_block = random.Chance(40);
  for (uint32_t b = q.one_block ? 2 : 1 + random.Below(2); b > 0; --b) {
    std::vector<uint32_t>& block = q.racks.emplace_back();
    for (uint32_t r = 2 + random.Below(3); r > 0; --r) {
      block.push_back(2 + random.Below(5));
    }
  }
  uint32_t left = 0;  // Half nodes.
  for (const std::vector<uint32_t>& block : q.racks) {
    const uint32_t here = 2 * std::accumulate(block.begin(), block.end(), 0u);
    left = q.one_block ? std::max(left, here) : left + here;
  }
  left -= std::min(left, 2 * random.Below(3));
  if (random.Chance(30)) {
    q.loose = {random.Below(2), mixed ? random.Below(3) : 0};
    left -= 2 * q.loose.whole + q.loose.half;
  }
  while (left >= 2 && q.parts.size() < 10) {
    Part part{.whole = 1 + random.Below(4)};
    if (mixed && random.Chance(50)) {
      part.half = 1 + random.Below(3);
      part.whole = random.Below(3);
    }
    if (2 * part.whole + part.half > left) part = {.whole = left / 2};
    left -= 2 * part.whole + part.half;
    q.parts.push_back(part);
  }
  return q;
}

void ExpectParts(const World& w, const Gang& gang) {
  for (uint32_t r = 0; r < gang.roles.size(); ++r) {
    for (uint32_t other = 0; other < gang.roles.size(); ++other) {
      const uint32_t group = gang.roles[r].group;
      if (group == 0 || gang.roles[other].group != group) continue;
      std::istringstream a(w.Where(r, "rack")), b(w.Where(other, "rack"));
      std::string rack, here;
      a >> rack;
      while (b >> here) EXPECT_EQ(here, rack);
    }
  }
}

struct Counts {
  int fits = 0;
  int no = 0;
  int open = 0;
};

Counts AskMany(uint64_t seeds, bool mixed) {
  Counts counts;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Question q = RandomQuestion(seed, mixed);
    if (q.parts.size() < 2) continue;
    World w;
    q.AddNodes(&w);
    const uint64_t before = w.cluster.Hash();
    const Gang gang = q.MakeGang();
    w.Place(gang);
    const bool packs = q.Packs();
    if (w.result.fit == Fit::kFits) {
      EXPECT_TRUE(packs);
      ExpectParts(w, gang);
      ++counts.fits;
      continue;
    }
    EXPECT_EQ(w.cluster.Hash(), before);
    EXPECT_EQ(w.result.cut_short,
              w.result.reason.code == ReasonCode::kNotFound);
    EXPECT_NE(w.result.reason.code, ReasonCode::kBudget);
    EXPECT_TRUE(w.result.cut_short || !packs);
    ++(w.result.cut_short ? counts.open : counts.no);
  }
  return counts;
}

TEST(Packs, OfEqualTasksAreFoundIfAndOnlyIfTheyExist) {
  const Counts counts = AskMany(1'500, false);
  EXPECT_EQ(counts.open, 0);
  EXPECT_GT(counts.fits, 300);
  EXPECT_GT(counts.no, 100);
}

// Half nodes are left over in racks, which slots and sums do not tell: most
// such questions are small enough for the exhaustive search.
TEST(Packs, OfUnequalTasksAreFoundIfAndOnlyIfTheyExist) {
  const Counts counts = AskMany(1'500, true);
  EXPECT_LT(counts.open, 15);
  EXPECT_GT(counts.fits, 300);
  EXPECT_GT(counts.no, 100);
}

// Ten racks with what the parts need and one node more, if anything.
Question TightQuestion(uint64_t seed) {
  Random random(seed);
  Question q;
  std::vector<uint32_t>& racks = q.racks.emplace_back();
  uint32_t left = 0;
  for (int r = 0; r < 10; ++r) {
    racks.push_back(8 + random.Below(9));
    left += racks.back();
  }
  left -= random.Below(2);
  while (left > 0) {
    const uint32_t part = std::min(left, 5 + random.Below(4));
    q.parts.push_back({.whole = part});
    left -= part;
  }
  return q;
}

std::string LineOf(const Question& q) {
  std::vector<uint32_t> count(17);
  for (const Part& part : q.parts) ++count[part.whole];
  std::ostringstream line;
  const char* comma = "{\"parts\": [";
  for (uint32_t need = 0; need < count.size(); ++need) {
    if (count[need] == 0) continue;
    line << comma << "[" << need << ", " << count[need] << "]";
    comma = ", ";
  }
  comma = "], \"room\": [";
  for (const uint32_t room : q.racks[0]) {
    line << comma << room;
    comma = ", ";
  }
  line << "]}\n";
  return line.str();
}

TEST(Packs, AgreeWithAnIntegerProgram) {
  constexpr uint64_t kQuestions = 60;
  std::string questions;
  std::vector<bool> fits;
  for (uint64_t seed = 1; seed <= kQuestions; ++seed) {
    const Question q = TightQuestion(seed);
    World w;
    q.AddNodes(&w);
    w.Place(q.MakeGang());
    EXPECT_FALSE(w.result.cut_short) << "seed " << seed;
    fits.push_back(w.result.fit == Fit::kFits);
    questions += LineOf(q);
  }
  EXPECT_GT(std::ranges::count(fits, true), 10);
  EXPECT_GT(std::ranges::count(fits, false), 10);
  const ProgramAnswer answered =
      AskIntegerProgram("solver/packs.py", questions);
  if (!answered.skipped.empty()) GTEST_SKIP() << answered.skipped;
  ASSERT_EQ(answered.status, 0);
  std::istringstream lines(answered.output);
  for (uint64_t seed = 1; seed <= kQuestions; ++seed) {
    int packs = -1;
    ASSERT_TRUE(lines >> packs);
    EXPECT_EQ(fits[seed - 1], packs == 1) << "seed " << seed;
  }
}

// 62 racks, 49 of which have ten nodes and 13 nine: they hold 49 groups of ten.
TEST(Packs, OneGroupMoreThanThereAreRacksForIsAProvenNo) {
  Question q;
  q.racks.emplace_back(49, 10);
  q.racks[0].insert(q.racks[0].end(), 13, 9);
  for (const uint32_t groups : {50u, 55u, 60u}) {
    q.parts.assign(groups, {.whole = 10});
    World w;
    q.AddNodes(&w);
    w.Place(q.MakeGang());
    EXPECT_EQ(w.result.fit, Fit::kNotNow);
    EXPECT_FALSE(w.result.cut_short);
    EXPECT_EQ(w.result.reason.code, ReasonCode::kNoDomain);
    EXPECT_EQ(w.result.reason.object_kind, ReasonObject::kLevel);
    EXPECT_EQ(w.result.reason.object, 2u);  // Racks.
    EXPECT_EQ(w.result.reason.needed, 10 * groups);
    EXPECT_EQ(w.result.reason.available, 490);
  }
  q.parts.assign(49, {.whole = 10});
  World w;
  q.AddNodes(&w);
  EXPECT_EQ(w.Place(q.MakeGang()).fit, Fit::kFits);
}

// Two supers of racks, each to be inside one block: the blocks are packed, and
// in each the racks.
TEST(Packs, AreFoundInsidePacks) {
  World w;
  for (const char* block : {"b0", "b1"}) {
    for (const char* rack : {"r0", "r1"}) {
      const std::string name = std::string(block) + rack;
      w.AddMany("z/" + std::string(block) + "/" + name + "/" + name + "-n", 12,
                8);
    }
  }
  Gang gang;
  gang.groups.emplace_back();
  // Greedily, the largest first, 5 + 5 leave 2 of 12 nodes.
  for (uint32_t super = 0; super < 2; ++super) {
    const auto parent = static_cast<uint32_t>(gang.groups.size());
    gang.groups.push_back({.name = "s" + std::to_string(super)});
    gang.groups.back().topology.required = "block";
    for (const uint32_t size : {5u, 5u, 4u, 4u, 3u, 3u}) {
      Role role = MakeRole("w" + std::to_string(gang.roles.size()), size, 8);
      role.group = parent;
      role.topology.required = "rack";
      gang.roles.push_back(role);
    }
  }
  EXPECT_EQ(w.Place(gang).fit, Fit::kFits);
}

// The group that has lost a task gets it back in its rack, whatever else would
// fit there, too.
TEST(Packs, LeaveRoomForGroupsThatRunAlready) {
  Question q{.racks = {{6, 6, 6}}, .parts = {}};
  q.parts = {{.whole = 2}, {.whole = 4}, {.whole = 3}, {.whole = 3},
             {.whole = 3}, {.whole = 2}, {.whole = 1}};
  World w;
  q.AddNodes(&w);
  ASSERT_EQ(w.Place(q.MakeGang()).fit, Fit::kFits);
  const std::vector<Assignment> placed = w.placed;
  for (size_t keep = 0; keep < placed.size(); ++keep) {
    // Only this task runs on.
    const uint32_t role = placed[keep].task.role;
    std::istringstream before(w.Where(role, "rack"));
    std::string rack;
    before >> rack;
    for (const Assignment& a : w.placed) {
      if (a.task != placed[keep].task) w.cluster.Credit(a.at, Ledger::kBoth);
    }
    w.placed = {placed[keep]};
    ASSERT_EQ(w.PlaceAgain().fit, Fit::kFits) << keep;
    std::istringstream racks(w.Where(role, "rack"));
    for (std::string at; racks >> at;) EXPECT_EQ(at, rack);
    // As before.
    for (const Assignment& a : w.placed) {
      w.cluster.Credit(a.at, Ledger::kBoth);
    }
    for (const Assignment& a : placed) {
      w.cluster.Charge(a.at, Ledger::kBoth);
    }
    w.placed = placed;
  }
}

}  // namespace
}  // namespace muster::solver_test
