// Kernels alone and beside NCCL: how well factors by kind of kernel tell the slowdown.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/jobs/times/overlap_slowdown.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::table_readers::overlap_parts {
namespace {

struct Kernel {
  std::string name;
  double alone = 0;
  double beside = 0;
  double share = 0;
};

Result<Kernel> kernel_of(const TruthRow& row) {
  RowNumbers numbers(row);
  Kernel kernel{row.text("kernel"), numbers.measured("us_alone"), numbers.measured("us_in_step"),
                numbers.number("overlap_ratio", 0, 1)};
  FORETRACE_TRY(numbers.status());
  return kernel;
}

TablePoint point_of(const Kernel& kernel, std::size_t i, const OverlapSlowdown& overlap) {
  const Ranged slowdown = overlap.of(kernel.name);
  const auto time = [&kernel](double factor) {
    return time_beside(kernel.alone, kernel.share, factor);
  };
  // Kernels repeat within 3 %.
  return {i,
          "us_in_step",
          time(slowdown.typical),
          0.97 * time(slowdown.low),
          1.03 * time(slowdown.high),
          kernel.beside,
          kernel.name};
}

/// All of the overlapped kernels together: what a step gets longer by.
TableResult total_of(const TableResult& kernels) {
  TableResult total;
  total.name = kernels.name + ".total";
  total.unit = "us";
  TablePoint sum;
  sum.column = "us_in_step";
  for (const TablePoint& point : kernels.points) {
    sum.predicted += point.predicted;
    sum.measured += point.measured;
    sum.low += point.low;
    sum.high += point.high;
  }
  total.points.push_back(sum);
  return total;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  FORETRACE_TRY(const auto overlap, find_overlap(inputs.catalogue(), "a100_nccl"));
  std::array<TableResult, 2> results;
  results[0].name = table.id;
  results[1].name = table.id + ".fitted";
  results[1].notes.emplace_back("rows that the factors were made from");
  for (TableResult& result : results) result.unit = "us";
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto kernel = kernel_of(table.row(i));
    if (!kernel.ok()) {
      results[0].skipped.push_back({i, kernel.error().message});
    } else if (!(kernel->share > 0)) {
      results[0].skipped.push_back({i, "nothing ran beside it"});
    } else {
      const bool fitted = overlap.is_fitted_to(kernel->alone, kernel->beside);
      results[fitted ? 1 : 0].points.push_back(point_of(*kernel, i, overlap));
    }
  }
  std::vector<TableResult> all;
  for (TableResult& result : results) {
    if (result.points.empty() && result.skipped.empty()) continue;
    all.push_back(std::move(result));
    if (!all.back().points.empty()) all.push_back(total_of(all.back()));
  }
  return all;
}

constexpr std::array<std::string_view, 1> names = {"overlap_slowdown_echo"};

constexpr TableReaderInfo info = {"overlap", "kernels beside a collective, by kind of kernel",
                                  names, read};

}  // namespace
}  // namespace foretrace::table_readers::overlap_parts

namespace foretrace::table_readers {
extern const TableReaderInfo overlap;
constinit const TableReaderInfo overlap = overlap_parts::info;
}  // namespace foretrace::table_readers
