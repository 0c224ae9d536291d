// The files of one run of `foretrace collect`: names of their own, so that nothing else is touched.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/run_program.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// What tells whether a file is still the one that was there.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Where the recordings of a run go.
struct RecordingNames {
  std::string out;       ///< as it was asked for
  std::string manifest;  ///< beside it: "run.ftr.json"
  std::string begin;     ///< of every recording: "/folder/run.5f1d2c3b4a697887"
  std::optional<FileStamp> out_before;
  std::optional<FileStamp> manifest_before;
};

/// Names for a run. Errors, before anything runs: a folder that cannot be written; an output that
/// is a word of the command, or something else than a recording of ours.
[[nodiscard]] Result<RecordingNames> name_recordings(const std::string& out,
                                                     std::span<const std::string> command);

/// What became of a run's recordings.
struct Gathered {
  std::vector<std::string> files;  ///< recordings, where they are now
  std::size_t idle = 0;            ///< recordings without device work, not among `files`
  std::uint64_t bytes = 0;
  std::string manifest;                 ///< that lists them; empty: could not be written
  std::vector<std::string> unrecorded;  ///< why processes were not recorded, one each
  std::vector<std::string> warnings;    ///< what the recordings lack, and what went wrong here
  bool out_was_taken = false;           ///< somebody else wrote the output meanwhile: it stays
};

/// Names the only recording as it was asked for, and writes the list of all. `command` is kept in
/// the list if it is not empty.
[[nodiscard]] Gathered gather_recordings(const RecordingNames& names, const ProgramEnd& end,
                                         std::span<const std::string> command);

}  // namespace foretrace::app
