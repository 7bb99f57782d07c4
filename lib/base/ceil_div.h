// Division that rounds up.
#pragma once

namespace muster {

// How many parts of size `part` > 0 hold `whole` >= 0; the sum of both must fit
// into T.
template <class T>
constexpr T CeilDiv(T whole, T part) {
  return (whole + part - 1) / part;
}

}  // namespace muster
