// Which files a job consists of, and which rank a file's name stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"

namespace foretrace::trace {

/// The rank that a file's name tells: after "rank", else after "worker", else its last number.
[[nodiscard]] std::optional<std::int32_t> rank_of_name(std::string_view path);

/// The name with its rank replaced by '#': files of one job share it.
[[nodiscard]] std::string pattern_of_name(std::string_view path);

/// The files of all inputs, folders replaced by the traces in them, in order of name. Errors: a
/// folder without traces, or with those of several jobs.
[[nodiscard]] Result<std::vector<std::string>> list_job_files(std::span<const std::string> inputs);

/// True if the file is a tar archive, plain or compressed.
[[nodiscard]] bool is_tar_file(const std::string& path);

}  // namespace foretrace::trace
