// What one file holds: a trace, the processes in it, the members of an archive, or the list of
// recordings that `foretrace collect` writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/core/result.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace {

/// A trace and where it was found: "job.tar.gz:rank0.json", "run.sqlite (rank 1)".
struct FoundTrace {
  std::string path;
  LoadedTrace trace;
  bool is_named_by_rank = true;  ///< a number in the name of its file may be its rank
};

/// A recording of a list.
struct ListedFile {
  std::string path;
  std::int32_t rank = -1;  ///< -1: not known
};

/// The recordings of a list that are there.
struct Listing {
  std::string path;  ///< of the list
  std::vector<ListedFile> files;
  std::vector<std::string> warnings;  ///< of those that are not there
};

/// Opens a file ("-": standard input) once, finds out what it is, and reads it. Members of an
/// archive that are no traces are left out and told; of several processes in one recording, the
/// first has what was said of the file. Errors: no trace in it.
[[nodiscard]] Result<std::variant<std::vector<FoundTrace>, Listing>> open_input(
    const std::string& path, const ReadOptions& options);

/// True for a plain file that begins like a list of recordings.
[[nodiscard]] bool is_list(const std::string& path);
/// The list that a plain file is; none if it is anything else, or nothing that it lists is there.
[[nodiscard]] std::optional<Listing> listing_of(const std::string& path);

/// A file that a list names, with the rank that it gives. Errors: those of open_input, another
/// list.
[[nodiscard]] Result<std::vector<FoundTrace>> read_listed(const Listing& listing,
                                                          const ListedFile& file,
                                                          const ReadOptions& options);

/// Every trace of a file or of the files that it lists, at least one.
[[nodiscard]] Result<std::vector<FoundTrace>> read_input(const std::string& path,
                                                         const ReadOptions& options);

}  // namespace foretrace::trace
