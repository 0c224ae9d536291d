// The shape of a matrix product.
#pragma once

namespace foretrace {

/// batch products of an m x k with a k x n matrix.
struct GemmShape {
  double batch = 1;
  double m = 0;
  double n = 0;
  double k = 0;
  [[nodiscard]] double flops() const { return 2 * batch * m * n * k; }
  [[nodiscard]] double numbers() const { return batch * (m * k + k * n + m * n); }
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

}  // namespace foretrace
