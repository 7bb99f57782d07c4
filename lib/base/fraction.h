// Exact arithmetic: division that rounds up, fractions compared.
#pragma once

#include <compare>

namespace muster {

// How many parts of size `part` > 0 hold `whole` >= 0; the sum of both must fit
// into T.
template <class T>
constexpr T CeilDiv(T whole, T part) {
  return (whole + part - 1) / part;
}

__extension__ typedef __int128 Wide;

// A number num / den; num >= 0, den > 0.
struct Fraction {
  Wide num = 0;
  Wide den = 1;
};

// Compares the values, whatever the size of the products. O(1), or O(log) where
// they exceed 127 bits (then as Euclid's algorithm does: whole parts first).
inline std::strong_ordering Compare(Fraction a, Fraction b) {
  Wide left = 0, right = 0;
  if (!__builtin_mul_overflow(a.num, b.den, &left) &&
      !__builtin_mul_overflow(b.num, a.den, &right)) {
    return left <=> right;
  }
  const Wide x = a.num / a.den, y = b.num / b.den;
  if (x != y) return x <=> y;
  a.num %= a.den;
  b.num %= b.den;
  if (a.num == 0 || b.num == 0) return a.num <=> b.num;
  return Compare({b.den, b.num}, {a.den, a.num});
}

}  // namespace muster
