// What Prometheus reads, whatever the texts in it are.
#include "adapters/serve/metrics_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/serve/metrics_reader.h"

namespace muster::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(MetricsTextTest, CountersAndGauges) {
  MetricsText metrics;
  metrics.Counter("muster_a_total", "How many.");
  metrics.Sample({{"kind", "x"}, {"outcome", "y"}}, uint64_t{7});
  metrics.Gauge("muster_b_seconds", "How long.");
  metrics.Sample({}, 0.25);
  EXPECT_EQ(metrics.text(),
            "# HELP muster_a_total How many.\n"
            "# TYPE muster_a_total counter\n"
            "muster_a_total{kind=\"x\",outcome=\"y\"} 7\n"
            "# HELP muster_b_seconds How long.\n"
            "# TYPE muster_b_seconds gauge\n"
            "muster_b_seconds 0.25\n");
}

TEST(MetricsTextTest, AHistogramsBucketsHoldWhatIsBelow) {
  Histogram histogram({0.001, 0.01, 0.1});
  for (const double seconds : {0.0005, 0.001, 0.05, 7.0}) {
    histogram.Add(seconds);
  }
  MetricsText metrics;
  metrics.Add("muster_pass_seconds", "Time.", histogram);
  const auto families = ReadMetrics(metrics.text());
  ASSERT_TRUE(families.ok()) << families.status();
  std::vector<std::pair<std::string, double>> samples;
  for (const MetricSample& s : families->at("muster_pass_seconds").samples) {
    const auto le = s.labels.find("le");
    samples.emplace_back(le == s.labels.end() ? s.name : le->second, s.value);
  }
  EXPECT_THAT(samples, ElementsAre(Pair("0.001", 2), Pair("0.01", 2),
                                   Pair("0.1", 3), Pair("+Inf", 4),
                                   Pair("muster_pass_seconds_sum", 7.0515),
                                   Pair("muster_pass_seconds_count", 4)));
}

TEST(MetricsTextTest, TextsOfUsersBreakNothing) {
  const std::string names[] = {
      R"(a"b)",
      "a\nb",
      R"(a\b)",
      R"(a\"} 1)",
      "a\xff\xfe"
      "b",
      std::string("a\0b", 3),
      "\xe2\x82",
      "Kö\xcc\x88ln",
      std::string(100'000, 'x'),
      std::string(300, '\xff'),
  };
  for (const std::string& name : names) {
    MetricsText metrics;
    metrics.Gauge("muster_pods_pending", "Pods.");
    metrics.Sample({{"queue", name}}, uint64_t{1});
    const auto families = ReadMetrics(metrics.text());
    ASSERT_TRUE(families.ok()) << families.status();
    const auto& samples = families->at("muster_pods_pending").samples;
    ASSERT_EQ(samples.size(), 1u) << name;
    const std::string value = samples[0].labels.at("queue");
    EXPECT_LE(value.size(), kMaxLabel);
    EXPECT_EQ(value.substr(0, 1) == "a", name[0] == 'a');
    EXPECT_EQ(value.find('\xff'), std::string::npos);
  }
}

TEST(MetricsTextTest, ATextThatIsValidComesBackAsItWas) {
  MetricsText metrics;
  metrics.Gauge("muster_x", "X.");
  metrics.Sample({{"queue", "q\"\\\nö"}}, uint64_t{1});
  const auto families = ReadMetrics(metrics.text());
  ASSERT_TRUE(families.ok()) << families.status();
  EXPECT_EQ(families->at("muster_x").samples[0].labels.at("queue"), "q\"\\\nö");
}

// The reader that the other tests rely on finds what is wrong.
TEST(MetricsReaderTest, RefusesWhatPrometheusWould) {
  const std::string head = "# HELP m_total X.\n# TYPE m_total counter\n";
  EXPECT_TRUE(ReadMetrics(head + "m_total{a=\"b\"} 1\n").ok());
  for (const std::string& text :
       {std::string("m_total 1\n"), head + "m_total 1", head + "m_total x\n",
        head + "m_total{a=\"b} 1\n", head + "m_total{a=\"b\"c\"} 1\n",
        head + "m_total 1\nm_total 2\n", head + head + "m_total 1\n",
        head + "m_total -1\n", head + "other 1\n",
        std::string("# HELP m X.\n# TYPE m counter\nm 1\n")}) {
    EXPECT_FALSE(ReadMetrics(text).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::serve
