// A FakeApi to which things happen by chance. For tests of random histories.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "test/adapters/kubernetes/fake_api.h"

namespace muster::kubernetes {

class RandomCluster {
 public:
  explicit RandomCluster(uint64_t seed) : random_(seed) {}

  FakeApi api;

  uint64_t Below(uint64_t end) { return random_() % end; }
  int64_t Upto(int64_t most) {
    return static_cast<int64_t>(Below(static_cast<uint64_t>(most + 1)));
  }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // One that was not given before.
  std::string Name(const std::string& what) {
    return what + std::to_string(++names_);
  }
  // There is one at least.
  std::string AnyOf(const std::vector<std::string>& names) {
    return names[Below(names.size())];
  }
  // An outcome that is not kDone.
  ApiOutcome AnyFault();

  // Names of pods.
  std::vector<std::string> Running() const;
  // A running pod ends, most often well.
  void FinishOne();
  // A pod is deleted.
  void DeleteOne();
  // All that run end; so do those that start then, until for so many times
  // `quiet` long there were none. `meanwhile`: done before each time.
  void FinishAll(
      int times, Duration quiet, absl::FunctionRef<void()> meanwhile = [] {});

 private:
  std::mt19937_64 random_;
  int names_ = 0;
};

}  // namespace muster::kubernetes
