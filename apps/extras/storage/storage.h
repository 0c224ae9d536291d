// A training job that reads its input through a cache, as users write it (schema
// foretrace.storage/1).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "apps/extras/storage/input_pipeline.h"
#include "sim/core/result.h"

namespace foretrace {

inline constexpr std::string_view storage_schema = "foretrace.storage/1";

/// Of a table of reads.
inline constexpr std::array<std::string_view, 2> stored_read_columns = {"item", "bytes"};

/// A cache of the list, which gets a run of its own.
struct CacheChoice {
  std::string name;
  storage::CacheOptions options;
};

struct StoredInput {
  std::string path;
  std::vector<std::string> files;  ///< that it names
  storage::InputOrder order;
  double data_bytes = 0;           ///< of all items, each once
  storage::InputOptions pipeline;  ///< without a cache
  std::vector<CacheChoice> caches;
};

/// Errors name file, JSON pointer, what was got and what is expected.
[[nodiscard]] Result<StoredInput> read_stored_input(const std::string& path);
[[nodiscard]] Result<StoredInput> parse_stored_input(std::string_view text,
                                                     const std::string& where);
/// The epochs of every cache, in the order of the file.
[[nodiscard]] std::vector<std::vector<storage::EpochFigures>> run_stored_input(
    const StoredInput& input);

}  // namespace foretrace
