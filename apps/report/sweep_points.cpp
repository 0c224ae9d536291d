#include "apps/report/sweep_points.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "apps/report/csv_cell.h"
#include "sim/core/whole.h"

namespace foretrace::report {
namespace {

using sweeping::MetricInfo;
using sweeping::SelectedPoint;
using sweeping::Space;
using sweeping::Sweep;

constexpr std::size_t bytes_per_write = std::size_t{1} << 16U;

/// A cell of a text, as its readers may have it.
using Cell = std::string (*)(std::string_view);

std::string names_line(const Sweep& sweep) {
  std::string line = "id";
  for (const auto& axis : sweep.axes()) line += "," + csv_cell(axis.name);
  line += ",feasible";
  for (const MetricInfo& metric : sweep.metrics) line += "," + csv_cell(metric.name);
  return line + ",reason\n";
}

void add_point(const Sweep& sweep, const SelectedPoint& point, Cell cell, std::string& out) {
  out += fmt::format("{}", point.result.point);
  for (std::size_t i = 0; i < sweep.axes().size(); ++i) {
    out += "," + cell(Space::text_of(sweep.axes()[i], point.result.where[i]));
  }
  out += point.is_feasible ? ",1" : ",0";
  for (std::size_t i = 0; i < sweep.metrics.size(); ++i) {
    out += ',';
    if (i >= point.result.metrics.size() || std::isnan(point.result.metrics[i])) continue;
    const double value = point.result.metrics[i];
    out +=
        sweep.metrics[i].is_whole ? fmt::format("{}", to_whole(value)) : fmt::format("{}", value);
  }
  out += "," + cell(point.result.reason) + "\n";
}

}  // namespace

Status write_points(const sweeping::StoredSweep& stored, const sweeping::PointQuestion& question,
                    const std::function<bool(std::string_view)>& sink, CsvReaders readers) {
  const Cell cell = readers == CsvReaders::programs ? csv_cell : csv_name;
  const Error not_written{ErrorCode::io, "cannot write"};
  std::string lines = names_line(stored.sweep);
  const auto counts =
      sweeping::select_points(stored, question, [&](const SelectedPoint& point) -> Status {
        add_point(stored.sweep, point, cell, lines);
        if (lines.size() < bytes_per_write) return ok_status();
        const bool is_written = sink(lines);
        lines.clear();
        if (!is_written) return not_written;
        return ok_status();
      });
  FORETRACE_TRY(counts);
  if (!sink(lines)) return not_written;
  return ok_status();
}

}  // namespace foretrace::report
