// Walks through a JSON document of any size in order: enters objects and lists, takes whole values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/core/result.h"
#include "trace/formats/json/value_reader.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::formats {

/// What is left of a document is decided by the caller: nothing here fails, it only ends.
class JsonCursor {
 public:
  JsonCursor(ByteSource& source, const ValueReader::Progress& progress);

  /// The next byte that is not blank; '\0' at the end.
  [[nodiscard]] char peek() { return reader_.peek(); }
  [[nodiscard]] bool at_end() { return reader_.at_end(); }
  /// Uses up the bracket if it is the next byte.
  [[nodiscard]] bool enter(char bracket);
  /// Goes to the next item before `closing`, which is used up. False at it and at damage.
  [[nodiscard]] bool next(char closing);
  /// The key that stands here and its colon; empty (see broken()) if there is none.
  [[nodiscard]] std::string key();
  /// The value that stands here; its text is valid until the next call. Empty if it cannot be
  /// taken: cut off, longer than 16 MiB (that is counted in `report`) or broken.
  [[nodiscard]] std::string_view value(ImportReport& report);
  /// Uses up the value that stands here.
  void skip(ImportReport& report) { (void)value(report); }

  /// The document ended inside something.
  [[nodiscard]] bool cut_off() const { return cut_off_; }
  /// Something that is no JSON stands at offset().
  [[nodiscard]] bool broken() const { return broken_; }
  /// Of the value or key that was asked for last.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Reading can go on.
  [[nodiscard]] bool sound() const { return !cut_off_ && !broken_; }
  /// Bytes read so far, with what is still unused.
  [[nodiscard]] std::uint64_t bytes() { return reader_.buffer().offset_of(reader_.buffer().end()); }
  /// An error of the source itself, or ok. Call at the end.
  [[nodiscard]] Status source_status();
  /// Warnings about a document that ended early: "the file ends inside ...".
  void report_end(ImportReport& report, std::string_view what);

 private:
  ByteSource& source_;
  ValueReader reader_;
  std::uint64_t offset_ = 0;
  bool cut_off_ = false;
  bool broken_ = false;
};

}  // namespace foretrace::trace::formats
