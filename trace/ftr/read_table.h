// From the chunks of a .ftr file back to the EventTable that was written.
#pragma once

#include <span>

#include "trace/ftr/container.h"
#include "trace/ftr/texts.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace::ftr {

/// Names of a file by their number, as ids of a table.
class FileNames {
 public:
  /// Takes every chunk of names. No number is beyond what a file of this size can hold.
  void read(std::span<const Chunk> chunks, std::uint64_t file_bytes, NameTable& names,
            ImportReport& report);
  /// NameId 0, and counted, for a number without a name.
  [[nodiscard]] NameId id(std::uint64_t number) {
    if (number >= ids_.size() || ids_[static_cast<std::size_t>(number)] == none<NameId>) {
      ++missing_;
      return {};
    }
    return ids_[static_cast<std::size_t>(number)];
  }
  /// True if every number below size() is its own id.
  [[nodiscard]] bool is_identity() const { return identity_; }
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] std::uint64_t missing() const { return missing_; }

 private:
  std::vector<NameId> ids_;
  std::uint64_t missing_ = 0;
  bool identity_ = true;
};

/// Fills the table and the report from checked chunks.
void read_table(std::span<const Chunk> chunks, std::uint64_t file_bytes, const Pairs& info,
                LoadedTrace& trace);

/// Adds a warning if the file has no end mark.
void warn_if_unfinished(std::span<const Chunk> chunks, LoadedTrace& trace);

}  // namespace foretrace::trace::ftr
