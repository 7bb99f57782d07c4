// Makes a failing sequence smaller while it fails in the same way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace muster {

// Delta debugging: takes out chunks, halves, quarters, ..., single elements,
// as long as `fails` holds for what remains. At most `max_tries` trials.
template <class T, class Fails>
std::vector<T> Shrink(std::vector<T> sequence, const Fails& fails,
                      int max_tries = 2000) {
  for (size_t chunk = std::max<size_t>(1, sequence.size() / 2);;) {
    bool smaller = false;
    for (size_t end = sequence.size(); end > 0 && max_tries > 0;) {
      const size_t begin = end > chunk ? end - chunk : 0;
      std::vector<T> trial = sequence;
      trial.erase(trial.begin() + static_cast<std::ptrdiff_t>(begin),
                  trial.begin() + static_cast<std::ptrdiff_t>(end));
      --max_tries;
      if (fails(trial)) {
        sequence = std::move(trial);
        smaller = true;
        end = std::min(begin, sequence.size());
      } else {
        end = begin;
      }
    }
    if (max_tries <= 0 || (chunk == 1 && !smaller)) return sequence;
    if (chunk > 1) chunk /= 2;
  }
}

}  // namespace muster
