#include "adapters/local/slurm/batch_text.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local::slurm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kScript[] =
    "#!/bin/bash\n#SBATCH --time=10 -J own\n\n#SBATCH --gres gpu:2\necho a\n"
    "#SBATCH --mem=1G\n";

TEST(BatchTextTest, OptionsStandBeforeTheFirstCommandAndOverride) {
  const auto text =
      WithOptions(kScript, {{"time", "20", true}, {"requeue", "", false}}, {});
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("gpu:2\n#SBATCH --time='20'\n#SBATCH --requeue\n"
                               "echo a\n"));
  const auto parsed = ParseBatch(kScript, *text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->job.active_deadline, 20 * 60 * kSecond);
  EXPECT_TRUE(parsed->job.requeue);
  EXPECT_EQ(parsed->job.name, "own");
}

TEST(BatchTextTest, AScriptOfCommentsAloneGetsItsOptions) {
  for (const char* script : {"#!/bin/sh", "#!/bin/sh\n", "#!/bin/sh\n# x\n"}) {
    const auto text = WithOptions(script, {{"job-name", "a b", true}}, {});
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(ParseBatch(script, *text)->job.name, "a b") << *text;
  }
}

TEST(BatchTextTest, ValuesMayHaveQuotesOfOneKind) {
  const std::string script = "#!/bin/sh\n";
  for (const char* name : {"it's", "a \"b\"", "# c", "$HOME"}) {
    const auto text = WithOptions(script, {{"job-name", name, true}}, {});
    ASSERT_TRUE(text.ok()) << name;
    EXPECT_EQ(ParseBatch(script, *text)->job.name, name);
  }
  for (const char* name : {"'\"", "a\nb"}) {
    EXPECT_FALSE(WithOptions(script, {{"job-name", name, true}}, {}).ok());
  }
}

TEST(BatchTextTest, ErrorsNameLinesOfTheScriptAlone) {
  const auto text = WithOptions(kScript, {{"time", "x", true}}, {});
  const std::string said(ParseBatch(kScript, *text).status().message());
  EXPECT_THAT(said, HasSubstr("--time: 'x'"));
  EXPECT_THAT(said, Not(HasSubstr("line")));
  const std::string bad = "#!/bin/sh\n#SBATCH --time=y\n";
  EXPECT_THAT(std::string(ParseBatch(bad, bad).status().message()),
              HasSubstr("line 2: --time"));
}

TEST(BatchTextTest, ArgumentsAreThoseOfTheShell) {
  const auto text = WithOptions(kScript, {}, {"a", "b c", "d'e", "", "-x"});
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("\nset -- a 'b c' 'd'\\''e' '' -x\necho a\n"));
  EXPECT_TRUE(WithOptions("#!/usr/bin/env bash\n", {}, {"a"}).ok());
  EXPECT_TRUE(absl::IsUnimplemented(
      WithOptions("#!/usr/bin/env python3\n", {}, {"a"}).status()));
}

TEST(BatchTextTest, TheScriptsOwnOptionsAreSeen) {
  std::vector<std::string> seen;
  for (const BatchOption& option :
       OptionsOf("#!/bin/sh\n#SBATCH -G2 --export=NONE --mem 4G # --x\n"
                 "#SBATCH --hold\ntrue\n#SBATCH --time=1\n")) {
    seen.push_back(option.name + "=" + option.value);
  }
  EXPECT_THAT(seen,
              ::testing::ElementsAre("G=2", "export=NONE", "mem=4G", "hold="));
}

TEST(BatchTextTest, WhatIsNoScriptIsRefused) {
  EXPECT_TRUE(CheckScript("#!/bin/sh\ntrue\n").ok());
  EXPECT_FALSE(CheckScript("true\n").ok());
  EXPECT_FALSE(CheckScript("").ok());
  EXPECT_FALSE(CheckScript("#!/bin/sh\r\ntrue\r\n").ok());
}

TEST(BatchTextTest, FileNamesHaveTheUserAndTheNode) {
  EXPECT_EQ(ExpandHere("%u-%j-%N.%%u", "ann", "box"), "ann-%j-box.%%u");
  EXPECT_EQ(ExpandHere("%", "ann", "box"), "%");
}

}  // namespace
}  // namespace muster::local::slurm
