#include "models/hardware/catalogue/operator_fit.h"

#include <cmath>

#include <doctest/doctest.h>

using namespace foretrace;

namespace {

// 1,000 FLOP/ns and 10 B/ns on 10 multiprocessors, 2 bytes per number.
const DeviceRates device{1000, 10, 10, 2};

OperatorFit fit_of(OperatorKind kind, FitForm form) {
  OperatorFit fit;
  fit.kind = kind;
  fit.form = form;
  fit.rate_share = 0.5;
  fit.bandwidth_share = 0.5;
  fit.fixed_ns = 100;
  return fit;
}

}  // namespace

TEST_CASE("operator fit: a roofline is the longer of arithmetic and bytes") {
  const OperatorFit fit = fit_of(OperatorKind::gemm, FitForm::roofline);
  // 2 * 1000^3 / (1000 * 0.5) = 4,000,000 ns against 6,000,000 B / 5 = 1,200,000 ns.
  CHECK(fitted_ns(fit, device, {1, 1000, 1000, 1000}) == doctest::Approx(4000100));
  // A vector: 2 * 1000 * 1000 / 500 = 4,000 ns against 2 * (1000 + 1e6 + 1000) / 5 = 400,800 ns.
  CHECK(fitted_ns(fit, device, {1, 1, 1000, 1000}) == doctest::Approx(400900));
}

TEST_CASE("operator fit: tiles fill multiprocessors in waves") {
  OperatorFit fit = fit_of(OperatorKind::gemm, FitForm::tiles);
  fit.split_ns = 1e9;  // never split
  fit.operand_traffic = 0;
  // 10 tiles of 256 x 128 in one wave: 2 * 256 * 128 * k / (1000 * 0.5 / 10) with k = 10,000.
  const double one = 2.0 * 256 * 128 * 10000 / 50;
  CHECK(fitted_ns(fit, device, {1, 2560, 128, 10000}) == doctest::Approx(100 + one));
  // One row more: 11 such tiles are two waves; with 64 x 64 tiles 41 x 2 = 82 in 9 waves of an
  // eighth each is what is chosen instead.
  CHECK(fitted_ns(fit, device, {1, 2561, 128, 10000}) == doctest::Approx(100 + one * 9 / 8));
}

TEST_CASE("operator fit: a long product with few tiles is split along k where that pays") {
  OperatorFit fit = fit_of(OperatorKind::gemm, FitForm::tiles);
  fit.split_ns = 1000;
  // One tile of 64 x 64, k = 100,000: alone 2 * 64 * 64 * 1e5 / 50 = 16,384,000 ns on one of ten.
  // In four parts the bytes take longer than the arithmetic: 2 (2 * 64 * 1e5 + 64 * 64) B of
  // operands and 8 * 64 * 64 * 4 B of partial sums at 5 B/ns, and 1,000 ns to add them.
  const double bytes = 2.0 * (2 * 64 * 1e5 + 64 * 64) + 8.0 * 64 * 64 * 4;
  CHECK(fitted_ns(fit, device, {1, 64, 64, 100000}) == doctest::Approx(100 + 1000 + bytes / 5));
  fit.split_ns = 1e9;
  CHECK(fitted_ns(fit, device, {1, 64, 64, 100000}) == doctest::Approx(100 + 16384000));
}

TEST_CASE("operator fit: what a row has beyond the limit is read again") {
  OperatorFit fit = fit_of(OperatorKind::softmax, FitForm::rows);
  fit.row_limit = 1000;
  fit.excess_passes = 2;
  fit.row_bytes_per_ns = 1e6;  // no latency of a single row
  // 100 rows of 500 numbers, 1,000 B: read and written 200,000 B / 5.
  CHECK(fitted_ns(fit, device, {1, 100, 500, 0}) == doctest::Approx(100 + 40000));
  // 1,000 numbers: 2,000 B and 1,000 B of excess once more: three times the above.
  CHECK(fitted_ns(fit, device, {1, 100, 1000, 0}) == doctest::Approx(100 + 120000));
}

TEST_CASE("operator fit: few rows wait for the block that works on one") {
  OperatorFit fit = fit_of(OperatorKind::rms_norm, FitForm::rows);
  fit.row_bytes_per_ns = 2;
  // One row of 4,096 numbers: 16,384 B moved, 8,192 ns by one block, 3,276.8 ns by the bandwidth;
  // together the root of their squares.
  CHECK(fitted_ns(fit, device, {1, 1, 4096, 0}) ==
        doctest::Approx(100 + std::sqrt(8192.0 * 8192.0 + 3276.8 * 3276.8)));
}

TEST_CASE("operator fit: nothing is said of empty shapes and of devices without a rate") {
  const OperatorFit fit = fit_of(OperatorKind::gemm, FitForm::tiles);
  CHECK(fitted_ns(fit, device, {1, 0, 10, 10}) == 0);
  CHECK(fitted_ns(fit, {0, 10, 10, 2}, {1, 10, 10, 10}) == 0);
  CHECK(fitted_ns(fit, {1000, 0, 10, 2}, {1, 10, 10, 10}) == 0);
}

TEST_CASE("operator fit: names of operators and forms are unique and found again") {
  for (std::size_t i = 0; i < operator_kind_count; ++i) {
    const auto kind = static_cast<OperatorKind>(i);
    CHECK(operator_kind(to_string(kind)) == kind);
  }
  CHECK_FALSE(operator_kind("gem").has_value());
}
