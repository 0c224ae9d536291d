#include "apps/report/report_kernels.h"

#include <fmt/format.h>

#include "apps/report/text.h"

namespace foretrace::app {
namespace {

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

double total_error(const driver::KernelErrorRow& row) {
  return static_cast<double>(row.predicted_ns) / static_cast<double>(row.measured_ns) - 1;
}

}  // namespace

std::string kernel_error_page(const std::vector<driver::PairRow>& pairs) {
  using Align = Table::Align;
  Table table({Align::left, Align::left, Align::right, Align::right, Align::right, Align::right,
               Align::right, Align::right, Align::right});
  table.row(
      {"pair", "kernels", "number", "before", "predicted", "measured", "total", "median", "90 %"});
  bool found = false;
  for (const driver::PairRow& pair : pairs) {
    for (const driver::KernelErrorRow& row : pair.kernels.rows) {
      if (row.measured_ns <= 0) continue;
      found = true;
      table.row({pair.id, row.kernel_class, count_text(row.kernels), time_text(row.before_ns),
                 time_text(row.predicted_ns), time_text(row.measured_ns),
                 fmt::format("{:+.0f} %", 100 * total_error(row)), percent(row.predicted.median),
                 percent(row.predicted.p90)});
    }
  }
  return found
             ? "kernels on the other accelerator, matched by operator and shapes\n" + table.text(2)
             : "";
}

std::string kernel_error_markdown(const std::vector<driver::PairRow>& pairs) {
  std::string text =
      "| pair | kernels | number | operators x shapes | before ms | predicted ms | measured ms | "
      "total | mean | median | 90 % | bandwidth ratio only: mean, median |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  for (const driver::PairRow& pair : pairs) {
    for (const driver::KernelErrorRow& row : pair.kernels.rows) {
      if (row.measured_ns <= 0) continue;
      const std::string name = row.kernel_class == "all"
                                   ? fmt::format("all ({} of the kernel time matched)",
                                                 percent(pair.kernels.matched_share))
                                   : row.kernel_class;
      text += fmt::format(
          "| {} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:+.0f} % | {} | {} | {} | {}, {} |\n",
          pair.id, name, row.kernels, row.predicted.rows, ms(row.before_ns), ms(row.predicted_ns),
          ms(row.measured_ns), 100 * total_error(row), percent(row.predicted.mean),
          percent(row.predicted.median), percent(row.predicted.p90), percent(row.bandwidth.mean),
          percent(row.bandwidth.median));
    }
  }
  return text;
}

}  // namespace foretrace::app
