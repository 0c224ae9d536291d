// How the rows of a kind of table become scenarios: a file of this folder per kind.
//
//   {"schema": "foretrace.table_map/1",
//    "tables": ["vtrain_single_node"], "unit": "s", "notes": ["..."],
//    "publisher": "NVIDIA", "fixed": {"seq_len": {"count": 1e6}},
//    "columns": {"gpu": {"words": {"H100": {"scenario": {"cluster": "dgx_h100"}}}},
//                "tp": {"count": 1000000, "standard": 1}, "mfu_pct": "ignored"},
//    "run": {"scenario": {"parallelism": {"tensor": "=tp", "sequence": "?tp > 1"}}},
//    "points": [{"column": "iter_ms", "is": "time", "unit": 0.001, "group": "tensor {tp}"}]}
//
// A row with a column or a word that its map does not have is skipped: nothing is guessed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace::validation {

/// What a column of a table, or a key that it holds fixed, says.
struct ColumnMap {
  enum class Kind : std::uint8_t {
    ignored,   ///< follows from others, or is another measurement
    text,      ///< a name, for {column}
    number,    ///< for expressions
    words,     ///< each word changes the run
    parts,     ///< "128|256": a number each, or one for all
    pattern,   ///< "4x v5e-256" by "{slices}x {chip}-{size}": columns of their own
    measured,  ///< what points compare
  };
  std::string name;
  Kind kind = Kind::ignored;
  bool is_whole = true;
  double low = 1;
  double high = 1;
  std::optional<double> standard{};  ///< where a row leaves it out
  /// Where a row leaves it out: what may have been chosen, of which the fastest that fits into
  /// memory counts.
  std::vector<double> tries{};
  std::vector<std::pair<std::string, ConfigValue>> words{};
  std::vector<std::string> parts{};
  std::vector<std::string> patterns{};  ///< the first that fits
  std::vector<ColumnMap> inner{};       ///< columns of a pattern
  ConfigValue given{};                  ///< changes the run where a row has it
  ConfigValue missing{};                ///< and where it leaves it out
  ConfigValue positive{};               ///< and where its number is above 0
};

/// What a point may be. Of a step: time, rate, memory (GiB of the fullest stage), forward (its
/// forward pass). Of its layers alone, of a rank of the first stage: layer (forward and backward),
/// layer_forward, layer_backward, operators, states and activations (GiB). Of sequences that start
/// together: prompt, token, total. Of requests to a server, each or their mean: served_token,
/// served_first_token, served_latency. Of single operations: collective, exchange (us),
/// exchange_rate (GB/s), beside (us).
inline constexpr std::array<std::string_view, 20> point_kinds = {
    "time",           "rate",           "memory",    "forward",       "layer",
    "layer_forward",  "layer_backward", "operators", "states",        "activations",
    "prompt",         "token",          "total",     "served_token",  "served_first_token",
    "served_latency", "collective",     "exchange",  "exchange_rate", "beside"};

/// A measured figure of a row beside a predicted one.
struct PointMap {
  std::string column;
  std::string as{};                  ///< its name in answers; else the column's
  std::vector<ColumnMap> columns{};  ///< that are about this point alone
  std::string is;                    ///< one of point_kinds
  double unit = 1;                   ///< of the measured figure in that of the prediction
  std::string amount{};    ///< rate: of what, per step; else: how many of what is predicted
  std::string measured{};  ///< calculated from the figure in the table, not the figure itself
  std::string group{};
  std::string result{};      ///< points of another kind: "memory_gib" of "<table>.memory_gib"
  std::string unless{};      ///< not where a row has this column
  bool is_optional = false;  ///< a row without it is not skipped
  std::string only{};        ///< where this expression is not 0
  ConfigValue with{};        ///< changes the run
  ConfigValue against{};     ///< changes it to the run that the prediction is divided by
};

struct ResultMap {
  std::string name;  ///< "" is the table itself
  std::string unit{};
  std::vector<std::string> notes{};
  bool is_share = false;   ///< errors are differences
  bool has_total = false;  ///< "<name>.total": all points together
  std::string mean{};      ///< what a note gives both means of: "TTFT"
};

/// Rows that leave out one of these columns have the value of the first row of the same kind.
struct SharedColumns {
  std::string by{};  ///< the column that tells kinds apart
  std::vector<std::string> columns{};
};

struct TableMap {
  std::string path;
  /// Who ran what was measured: others tune the same programs less, or more.
  std::string publisher{};
  /// With what each changes of the run: one map may serve several machines. A '*' at the end of an
  /// id stands for anything.
  std::vector<std::pair<std::string, ConfigValue>> tables;
  std::optional<ColumnMap> id{};  ///< what the id of a table says
  SharedColumns shared{};
  std::vector<ColumnMap> fixed{};
  std::vector<ColumnMap> columns{};
  ConfigValue run{};
  std::vector<PointMap> points{};
  std::vector<ResultMap> results{};

  [[nodiscard]] bool has_result(std::string_view name) const;
  /// Null: none of its tables has this id.
  [[nodiscard]] const std::pair<std::string, ConfigValue>* of(std::string_view table_id) const;
};

/// Error: the first mistake, with its place.
[[nodiscard]] Result<TableMap> parse_table_map(std::string_view text, const std::string& path);
/// Every map of a folder, by file name. Error: the first mistake.
[[nodiscard]] Result<std::vector<TableMap>> read_table_maps(const std::string& folder);

}  // namespace foretrace::validation
