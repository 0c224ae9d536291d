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

/// A file of a job.
struct JobFile {
  std::string path;
  std::int32_t rank = -1;      ///< that a manifest gives it; -1: none does
  bool from_manifest = false;  ///< a number in its name is that of a process
};

struct JobFiles {
  std::vector<JobFile> files;
  std::vector<std::string> warnings;  ///< files that a manifest lists and that are not there
};

/// The files of all inputs: folders replaced by the traces in them, in order of name, manifests of
/// `foretrace collect` by the recordings they list. Errors: a folder without traces, or with those
/// of several jobs; a manifest that cannot be read, or of whose files none is there.
[[nodiscard]] Result<JobFiles> list_job_files(std::span<const std::string> inputs);

/// True if the file is a tar archive, plain or compressed. Pipes are none: looking would use up
/// what is in them.
[[nodiscard]] bool is_tar_file(const std::string& path);

/// True if the file is a manifest of `foretrace collect`.
[[nodiscard]] bool is_manifest_file(const std::string& path);

}  // namespace foretrace::trace
