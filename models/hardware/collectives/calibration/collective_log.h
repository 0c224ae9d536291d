// What nccl-tests and rccl-tests print: times of one collective by size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task.h"

namespace foretrace {

/// One run of a test. What its text does not say is 0, or no collective.
struct CollectiveLog {
  CollectiveKind kind = CollectiveKind::none;
  std::uint32_t ranks = 0;
  std::uint32_t nodes = 0;      ///< hosts that ranks are on
  std::string library{};        ///< "NCCL 2.21.5"; empty: not said
  std::vector<double> bytes{};  ///< ascending; the buffer as the test counts it
  std::vector<double> ns{};     ///< out of place; in place where that was not run
  std::size_t damaged = 0;      ///< rows of its table whose size cannot be read
};

/// True for text that has the head of the tests' table.
[[nodiscard]] bool is_collective_log(std::string_view text);

/// Every run in a text, also where the output of several programs, or of a launcher that names the
/// rank of each line, stands in it. Error: no run, a size without a time, sizes that do not rise, a
/// time that its own bandwidth contradicts.
[[nodiscard]] Result<std::vector<CollectiveLog>> parse_collective_logs(std::string_view text,
                                                                       const std::string& where);

}  // namespace foretrace
