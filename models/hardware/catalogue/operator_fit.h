// Fitted forms of operators: the time of a product or a row operator from shape and device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/gemm_shape.h"
#include "sim/graph/task.h"

namespace foretrace {

/// Operators for which measured tables exist.
enum class OperatorKind : std::uint8_t {
  gemm,
  batched_gemm,
  softmax,
  layer_norm,
  rms_norm,
  gelu,
  add,
  gated_activation,  ///< reads two halves, writes one
  rope,              ///< rotary position embedding
  embedding
};
inline constexpr std::size_t operator_kind_count = 10;
/// Works on whole rows: normalization, softmax.
[[nodiscard]] constexpr bool reduces_rows(OperatorKind kind) {
  return kind == OperatorKind::softmax || kind == OperatorKind::layer_norm ||
         kind == OperatorKind::rms_norm;
}
[[nodiscard]] std::string_view to_string(OperatorKind kind);
[[nodiscard]] std::optional<OperatorKind> operator_kind(std::string_view name);
[[nodiscard]] constexpr bool is_product(OperatorKind kind) {
  return kind == OperatorKind::gemm || kind == OperatorKind::batched_gemm;
}
/// Numbers read and written per element of a row operator.
[[nodiscard]] double numbers_per_element(OperatorKind kind);

enum class FitForm : std::uint8_t {
  roofline,  ///< fixed + max(arithmetic, bytes)
  tiles,     ///< products: waves of tiles over the multiprocessors, split along k, or bytes
  rows       ///< reductions of rows: what does not fit on chip is read again; one row at a time
};
inline constexpr std::size_t fit_form_count = 3;
[[nodiscard]] std::string_view to_string(FitForm form);

/// Constants of one form for one operator in one precision on one accelerator.
struct OperatorFit {
  OperatorKind kind = OperatorKind::gemm;
  Precision precision = Precision::unknown;
  FitForm form = FitForm::roofline;
  double rate_share = 0.75;       ///< of the peak, for the largest tile, at clock 1
  double bandwidth_share = 0.75;  ///< of the memory bandwidth
  double fixed_ns = 0;            ///< of every kernel
  double operand_traffic = 0;     ///< a tile reaches 1 / (1 + this (1/m + 1/n)) of an endless one
  double tile_overhead_k = 0;     ///< prologue and epilogue of a tile, in units of k
  double split_ns = 2000;         ///< of the kernel that adds the parts of a product split along k
  double row_limit = 16384;       ///< bytes of a row that are kept on chip
  double excess_passes = 2;       ///< times the bytes of what a row has beyond the limit
  double row_bytes_per_ns = 20;   ///< of the block that works on one row
  double low = 1;                 ///< tenth percentile of measured / fitted
  double high = 1;                ///< ninetieth percentile
};

/// Rates of a device in one precision, at the clock that counts.
struct DeviceRates {
  double flops_per_ns = 0;  ///< peak
  double bytes_per_ns = 0;
  double multiprocessors = 1;
  double number_bytes = 4;
};

/// `batch` products, or m rows of n numbers.
using OperatorShape = GemmShape;

/// Time in ns; 0 if the device has no rate for it or the shape is empty.
[[nodiscard]] double fitted_ns(const OperatorFit& fit, const DeviceRates& device,
                               const OperatorShape& shape);

/// Time that one multiprocessor spends on a tile per unit of k.
[[nodiscard]] double tile_ns_per_k(const OperatorFit& fit, const DeviceRates& device, double tile_m,
                                   double tile_n);

/// Sizes of |predicted / measured - 1|.
struct ErrorSummary {
  std::size_t rows = 0;
  double mean = 0;
  double median = 0;
  double p90 = 0;
  double bias = 0;  ///< mean of predicted / measured - 1
};

/// What belongs to those who measured and not to the device: how the clock stood and what the timer
/// adds.
struct SourceTerms {
  std::string source;
  double clock = 1;     ///< against the slowest source
  double fixed_ns = 0;  ///< added to every row
  double floor_ns = 0;  ///< no row can be shorter: time of the host that was measured with it
};

/// One form fitted to the rows of one operator.
struct FormResult {
  OperatorFit fit;
  std::vector<SourceTerms> sources;
  ErrorSummary held_back;  ///< every third held back in turn: no row is predicted by its own fit
  ErrorSummary fitted;     ///< of the constants above, on the rows that they were fitted to
};

/// One operator in one precision on one accelerator.
struct CalibratedOperator {
  std::string accelerator;
  FormResult chosen;
  FormResult roofline;  ///< fitted to the same rows, for comparison
};

}  // namespace foretrace
