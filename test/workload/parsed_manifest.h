// The job in a test's manifest, and what is wrong with a wrong one.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "muster/workload/parse.h"
#include "test/workload/manifests.h"

namespace muster::workload {

// The only job of a file, which is right.
inline ParsedJob ParseOne(std::string_view text) {
  auto jobs = Parse(text);
  EXPECT_TRUE(jobs.ok()) << jobs.status() << "\n" << text;
  if (!jobs.ok()) return {};
  EXPECT_EQ(jobs->size(), 1u);
  return jobs->front();
}
inline Job JobOf(std::string_view name) {
  return ParseOne(ManifestOf(name)).job;
}

// The message of a refusal.
inline std::string Refusal(std::string_view text) {
  const auto jobs = Parse(text);
  if (jobs.ok()) return "none";
  return std::string(jobs.status().message());
}

// `text` with the first `what` replaced.
inline std::string With(std::string_view text, std::string_view what,
                        std::string_view by) {
  std::string changed(text);
  const size_t at = changed.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (at != std::string::npos) changed.replace(at, what.size(), by);
  return changed;
}

// A TFJob of which an annotation says the order of starting.
inline std::string WithOrder(std::string_view order) {
  return With(ManifestOf("tf-kubedl"), "namespace: ns",
              "namespace: ns, annotations: {muster.dev/dag: \"" +
                  std::string(order) + "\"}");
}

}  // namespace muster::workload
