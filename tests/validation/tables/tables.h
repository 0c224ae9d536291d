// Tables of published and measured figures beside what the program predicts for their rows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"
#include "tests/validation/studies/truth_table.h"

namespace foretrace {

/// What a point says about predictions of its kind.
struct MeasuredOf {
  std::string kind;    ///< see MeasuredKind, or a class of collectives; empty: it says nothing
  std::string first;   ///< framework; of collectives the machine
  std::string second;  ///< accelerator; of collectives their kind
  std::string cell;    ///< its configuration: points of one are replicates
  std::uint32_t ranks = 1;
  double residual = 0;         ///< ln(predicted / measured) of the time
  std::string publisher = {};  ///< whose runs; empty: nobody says, or it does not matter

  [[nodiscard]] bool is_of_training() const { return kind.ends_with("training"); }
};

struct TablePoint {
  std::size_t row = 0;  ///< index in the table's rows
  std::string column;   ///< the measured one
  double predicted = 0;
  double low = 0;
  double high = 0;
  double measured = 0;
  std::string group = {};  ///< rows that belong together; may be empty
  MeasuredOf of = {};
};

struct SkippedRow {
  std::size_t row = 0;
  std::string reason;
};

/// One table (or one kind of figure of a table) with its points.
struct TableResult {
  std::string name;
  std::string unit;       ///< of predicted and measured
  bool is_share = false;  ///< errors are differences, not ratios
  std::vector<TablePoint> points;
  std::vector<SkippedRow> skipped;
  std::vector<std::string> notes;  ///< what was assumed for all rows
};

/// Errors of a table.
struct TableErrors {
  double mean = 0;  ///< of absolute errors
  double median = 0;
  double largest = 0;
  double bias = 0;
  double rank_correlation = 0;  ///< Kendall's tau-b of predicted and measured
  double covered = 0;           ///< share of measured figures within low and high
};
[[nodiscard]] TableErrors errors_of(std::span<const TablePoint> points, bool is_share);
[[nodiscard]] double error_of(const TablePoint& point, bool is_share);
/// Kendall's tau-b.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);

/// What readers share: files of configs read once, and other tables.
class TableInputs {
 public:
  /// Keeps the catalogue by reference.
  explicit TableInputs(const Catalogue& catalogue) : catalogue_(catalogue) {}
  void add(TruthTable table) { tables_.push_back(std::move(table)); }
  [[nodiscard]] const TruthTable* table(std::string_view id) const;
  [[nodiscard]] const Catalogue& catalogue() const { return catalogue_; }
  [[nodiscard]] Result<std::shared_ptr<const Cluster>> cluster(const std::string& name);
  [[nodiscard]] Result<std::shared_ptr<const Framework>> framework(const std::string& name);
  /// By a name that tables use.
  [[nodiscard]] Result<std::shared_ptr<const ModelSpec>> model(const std::string& called);

 private:
  const Catalogue& catalogue_;
  std::vector<TruthTable> tables_;
  std::map<std::string, std::shared_ptr<const Cluster>> clusters_;
  std::map<std::string, std::shared_ptr<const Framework>> frameworks_;
  std::map<std::string, std::shared_ptr<const ModelSpec>> models_;
};

/// A reader of one family of tables: a file of this folder.
struct TableReaderInfo {
  std::string_view name;
  std::string_view summary;
  /// Ids of its tables; a '*' at the end stands for anything.
  std::span<const std::string_view> tables;
  Result<std::vector<TableResult>> (*read)(const TruthTable& table, TableInputs& inputs) = nullptr;
  /// Ids of those that take minutes: they are read where they are asked for by name.
  std::span<const std::string_view> slow_tables{};

  [[nodiscard]] bool takes_minutes(std::string_view id) const;
};
namespace table_readers {
[[nodiscard]] std::span<const TableReaderInfo* const> all();
}  // namespace table_readers

/// Null: no reader knows a table of this id.
[[nodiscard]] const TableReaderInfo* reader_of(std::string_view id);

struct TablesReport {
  std::vector<TableResult> tables;
  std::vector<std::string> unknown;   ///< tables that no reader knows
  std::vector<std::string> broken;    ///< one line each
  std::vector<std::string> left_out;  ///< tables that take minutes and were not asked for by name
};

}  // namespace foretrace
