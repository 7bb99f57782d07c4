// A life and its host for stories.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/workload/life_host.h"
#include "test/workload/parsed_manifest.h"

namespace muster::workload {

// Complaints of the host fail the test.
class LifeTest : public testing::Test {
 protected:
  LifeHost& Begin(Job job) {
    auto life = Life::Make(std::move(job));
    EXPECT_TRUE(life.ok()) << life.status();
    life_ = std::make_unique<Life>(*std::move(life));
    host_ = std::make_unique<LifeHost>(life_.get());
    return *host_;
  }
  LifeHost& Begin(std::string_view manifest) { return Begin(JobOf(manifest)); }
  // All its tasks are ready.
  LifeHost& Run(Job job) {
    LifeHost& h = Begin(std::move(job));
    h.Submit();
    h.PlaceAll();
    h.RunAll();
    EXPECT_EQ(h.phase(), LifePhase::kRunning);
    return h;
  }
  LifeHost& Run(std::string_view manifest) { return Run(JobOf(manifest)); }
  // Eight tasks in three places, of which all are to succeed.
  static Job AllIndexes() {
    Job job = JobOf("batch");
    job.success = {{.roles = {0}}};
    return job;
  }
  void TearDown() override {
    ASSERT_NE(host_, nullptr);
    EXPECT_EQ(host_->problem(), "");
  }
  // "Type:status:reason" of all conditions.
  std::vector<std::string> Conditions() const {
    std::vector<std::string> all;
    for (const Condition& c : host_->state().conditions) {
      all.push_back(std::string(Name(c.type)) + (c.status ? ":" : ":not:") +
                    std::string(c.reason));
    }
    return all;
  }

  std::unique_ptr<Life> life_;
  std::unique_ptr<LifeHost> host_;
};

}  // namespace muster::workload
