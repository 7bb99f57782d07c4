// Division that rounds up.
#ifndef MUSTER_LIB_BASE_CEIL_DIV_H_
#define MUSTER_LIB_BASE_CEIL_DIV_H_

namespace muster {

// How many parts of size `part` > 0 hold `whole` >= 0; the sum of both must fit
// into T.
template <class T>
constexpr T CeilDiv(T whole, T part) {
  return (whole + part - 1) / part;
}

}  // namespace muster

#endif  // MUSTER_LIB_BASE_CEIL_DIV_H_
