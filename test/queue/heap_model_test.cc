// Runs the programs of heap_model.cc: all executions with few preemptions, and
// many random ones.

#include "test/queue/heap_model.h"

#include <cctype>
#include <cstdint>
#include <iostream>
#include <string>

#include "gtest/gtest.h"

namespace muster::test {
namespace {

class HeapModelTest : public testing::TestWithParam<Model> {
 protected:
  void Expect(const ModelResult& result) {
    std::cout << GetParam().name << ": " << result.executions
              << " executions\n";
    EXPECT_TRUE(result.ok) << result.report;
  }
};

TEST_P(HeapModelTest, EveryExecutionWithTwoPreemptions) {
  Expect(GetParam().run(ModelSearch::kBounded, 2));
}

TEST_P(HeapModelTest, ManyRandomExecutions) {
  Expect(GetParam().run(ModelSearch::kRandom, 100'000));
}

INSTANTIATE_TEST_SUITE_P(Programs, HeapModelTest,
                         testing::ValuesIn(Models().begin(), Models().end()),
                         [](const auto& program) {
                           std::string name;
                           for (const char* c = program.param.name; *c; ++c) {
                             if (std::isalnum(*c)) name += *c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace muster::test
