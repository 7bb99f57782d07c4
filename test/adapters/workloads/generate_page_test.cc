// The tables of docs/workload.md are those of the generator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "adapters/workloads/generate_cluster.h"
#include "adapters/workloads/generate_model.h"

namespace muster::inprocess {
namespace {

constexpr Preset kAllPresets[] = {Preset::kSmall, Preset::kMedium,
                                  Preset::kLarge};

// As the page writes numbers: 12,500.
std::string Grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

std::string Row(std::initializer_list<std::string> cells) {
  std::string row = "|";
  for (const std::string& cell : cells) {
    row += cell.empty() ? " |" : " " + cell + " |";
  }
  return row;
}

class GeneratePageTest : public testing::Test {
 protected:
  GeneratePageTest() {
    std::ifstream in("docs/workload.md");
    EXPECT_TRUE(in.good());
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
  }

  // The row that begins with this is this one.
  void ExpectRow(const std::string& begin, const std::string& row) const {
    std::vector<std::string> found;
    for (const std::string& line : lines_) {
      if (line.starts_with(begin)) found.push_back(line);
    }
    EXPECT_THAT(found, testing::ElementsAre(row));
  }

  // Of each preset, what `cell` says.
  template <typename Cell>
  void ExpectPresets(const std::string& key, Cell cell) const {
    ExpectRow("| " + key + " |",
              Row({key, cell(kAllPresets[0]), cell(kAllPresets[1]),
                   cell(kAllPresets[2])}));
  }

  std::vector<std::string> lines_;
};

TEST_F(GeneratePageTest, TellsEachPresetsCluster) {
  ExpectPresets("nodes", [](Preset p) { return Grouped(ModelOf(p).nodes); });
  ExpectPresets("GPUs", [](Preset p) {
    int64_t gpus = 0;
    for (const Node& node : MakeSetup({.preset = p}).nodes) {
      gpus += static_cast<int64_t>(node.devices.size());
    }
    return Grouped(gpus);
  });
  ExpectPresets("rack", [](Preset p) {
    return std::to_string(ModelOf(p).nodes_per_rack) + " nodes";
  });
  ExpectPresets("block", [](Preset p) {
    return std::to_string(ModelOf(p).racks_per_block) + " racks";
  });
  ExpectPresets("zone", [](Preset p) {
    return std::to_string(ModelOf(p).blocks_per_zone) + " blocks";
  });
  ExpectPresets("largest gang", [](Preset p) {
    return std::to_string(ModelOf(p).most_gpus) +
           (p == Preset::kSmall ? " GPUs" : "");
  });
  ExpectPresets("departments, tenants", [](Preset p) {
    return std::to_string(ModelOf(p).departments) + ", " +
           std::to_string(ModelOf(p).tenants);
  });
}

TEST_F(GeneratePageTest, TellsHowManyJobsHaveEachSize) {
  const std::span<const JobSize> sizes = JobSizes();
  ASSERT_EQ(sizes.size(), 12u);
  const auto share = [&](size_t i) { return Grouped(sizes[i].per_100000); };
  const auto begins = [&](const std::string& key, const std::string& value) {
    const std::string begin = "| " + key + " | " + value + " |";
    EXPECT_TRUE(std::ranges::any_of(lines_, [&](const std::string& line) {
      return line.starts_with(begin);
    })) << begin;
  };
  begins("no GPU", share(0));
  begins("a part of one", share(1));
  begins("1", share(2));
  for (size_t i = 3; i < sizes.size(); i += 3) {
    begins(std::to_string(sizes[i].gpus) + ", " +
               std::to_string(sizes[i + 1].gpus) + ", " +
               std::to_string(sizes[i + 2].gpus),
           share(i) + ", " + share(i + 1) + ", " + share(i + 2));
  }
}

TEST_F(GeneratePageTest, TellsHowLongJobsRun) {
  constexpr int64_t kColumns[] = {0,   50,  250, 500, 750, 900,
                                  950, 980, 990, 995, 1000};
  const auto ends = [&](const std::string& key, const JobSize& size) {
    std::string cells;
    size_t told = 0;
    for (const int64_t column : kColumns) {
      const auto at =
          std::ranges::find(size.run_times, column, &Quantile::per_mille);
      const bool there = at != size.run_times.end();
      told += there ? 1 : 0;
      cells += there ? " " + Grouped(at->seconds) + " |" : " |";
    }
    EXPECT_EQ(told, size.run_times.size()) << key << ": a column is missing";
    EXPECT_TRUE(std::ranges::any_of(lines_,
                                    [&](const std::string& line) {
                                      return line.starts_with("| " + key +
                                                              " (") &&
                                             line.ends_with(") |" + cells);
                                    }))
        << key << cells;
  };
  const std::span<const JobSize> sizes = JobSizes();
  ends("no GPU", sizes[0]);
  ends("a part of one", sizes[1]);
  ends("1", sizes[2]);
  ends("2, 4", sizes[3]);
  ends("2, 4", sizes[4]);
  ends("8", sizes[5]);
  for (size_t i = 6; i < sizes.size(); ++i) ends("16 and more", sizes[i]);
}

TEST_F(GeneratePageTest, TellsWhenJobsComeAndWhatBefallsNodes) {
  const auto weights = [](const auto& values) {
    std::string text;
    for (const int64_t value : values) {
      text += (text.empty() ? "" : " ") + std::to_string(value);
    }
    return text;
  };
  ExpectRow("| hours, 0 to 23 |",
            Row({"hours, 0 to 23", weights(kHourWeights)}));
  ExpectRow("| days, Monday to Sunday |",
            Row({"days, Monday to Sunday", weights(kDayWeights)}));

  const auto begins = [&](const std::string& begin) {
    EXPECT_TRUE(std::ranges::any_of(lines_, [&](const std::string& line) {
      return line.starts_with(begin);
    })) << begin;
  };
  // Failures of 100,000 nodes in a day are hundredths of those of 1,000.
  ASSERT_EQ(kFailure.of, 100 * 1000 * 24);
  begins("| a node fails | " + std::to_string(kFailure.hits / 100) + "." +
         std::to_string(kFailure.hits % 100) +
         " times in 1,000 nodes and days;");
  begins("| and is back | after " + std::to_string(kRepairSeconds / 3600) +
         " h |");
  begins("| a spot node is taken back | with a chance of " +
         std::to_string(kSpotReclaim.hits) + "/" +
         std::to_string(kSpotReclaim.of) + " an hour |");
  begins("| which is told | " + std::to_string(kSpotNoticeSeconds) +
         " s before |");
  begins("| and is back | after " + std::to_string(kSpotAwaySeconds / 3600) +
         " h |");
}

}  // namespace
}  // namespace muster::inprocess
