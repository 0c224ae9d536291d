// Sweep: one document per point, axes that change it, constraints, objectives; read from JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/sweep/space/expression.h"
#include "apps/sweep/space/metrics.h"
#include "apps/sweep/space/space.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

inline constexpr std::string_view sweep_schema = "foretrace.sweep/1";

/// What a point should have; points that do not are not evaluated if axes alone tell, and else are
/// not feasible.
struct Constraint {
  Expression holds;
  bool needs_results = false;
};

struct Objective {
  Expression value;
  bool is_maximized = false;
};

/// A sweep as its file says. Expressions see axes first, then metrics.
struct Sweep {
  std::string path;
  std::string text;    ///< the file without comments and blanks, a scenario's file in
                       ///< its place; `folder` is not part of it
  std::string folder;  ///< names of files in it are relative to this
  Subject subject = Subject::trace;
  ConfigValue document;  ///< a point before the axes change it
  Space space;
  Method method = Method::grid;
  SearchSettings search;            ///< of the methods that search
  std::vector<MetricInfo> metrics;  ///< computed of every point
  std::vector<std::string> names;   ///< of axes and metrics, as expressions see them
  std::vector<Constraint> constraints;
  std::vector<Objective> objectives;

  [[nodiscard]] const std::vector<Axis>& axes() const { return space.axes(); }
  /// The document of a point.
  [[nodiscard]] ConfigValue document_at(std::span<const double> where) const;
};

/// Errors read "<file>: /pointer: what, got X, expected Y" with the nearest valid name.
[[nodiscard]] Result<Sweep> read_sweep(const std::string& path);
/// The same of text; `folder` is what names of files are relative to.
[[nodiscard]] Result<Sweep> parse_sweep(std::string_view text, const std::string& where,
                                        const std::string& folder);
/// The sweep of a store: its metrics are those that the store has columns of, which another program
/// may have chosen. Errors: a column that is no metric, a metric that an expression needs and that
/// has no column.
[[nodiscard]] Result<Sweep> parse_stored_sweep(std::string_view text, const std::string& where,
                                               const std::string& folder,
                                               std::span<const std::string> columns);

/// "FILE" beside the sweep file.
[[nodiscard]] std::string beside(const std::string& folder, const std::string& file);

}  // namespace foretrace::sweeping
