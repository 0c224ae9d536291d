// Kinds of files that one command reads, runs and shows: what a *_file.cpp below exports.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/report/section.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

struct FileKind {
  std::string_view schema;   ///< "foretrace.serving/1"
  std::string_view holds;    ///< "requests to a served model"
  std::string_view command;  ///< that takes it: "simulate"
  /// Reads the file, runs what it holds and shows what came out.
  Result<report::Page> (*page)(const Catalogue& catalogue, const std::string& path);
};

namespace file_kinds {
/// Every kind, sorted by file (generated from the files of apps/extras).
[[nodiscard]] std::span<const FileKind* const> all();
}  // namespace file_kinds

/// The kind of a file, whatever version its schema is of: its reader tells which it knows. Null: it
/// is none of these.
[[nodiscard]] const FileKind* find_file_kind(const std::string& path);
/// The same for `schedule`, which also runs what has gone to `simulate`. What names no schema is
/// for the reader of jobs. Error: its schema is another.
[[nodiscard]] Result<const FileKind*> schedule_file_kind(const std::string& path);

}  // namespace foretrace
