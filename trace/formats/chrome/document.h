// Walks a whole trace document: finds the list of events wherever it is and keeps the metadata.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "sim/core/result.h"
#include "trace/formats/chrome/event_scanner.h"
#include "trace/formats/chrome/table_builder.h"
#include "trace/formats/json/value_reader.h"
#include "trace/formats/reader.h"
#include "trace/table/import_report.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace::formats {

/// Raw JSON values of top-level keys.
using TopLevelValues = std::map<std::string, std::string, std::less<>>;

class DocumentWalker {
 public:
  DocumentWalker(ByteSource& source, const ReadOptions& options, ImportReport& report,
                 TableBuilder& builder);

  /// Reads to the end. Errors: the source cannot be read, or this is no trace document.
  [[nodiscard]] Status walk();
  /// The top-level keys that say something about the run.
  [[nodiscard]] const TopLevelValues& values() const { return values_; }

 private:
  enum class End : std::uint8_t { closed, not_closed, inside_event, inside_value };

  [[nodiscard]] Status walk_object();
  void walk_events();
  void take_event();
  void take_unexpected();
  void reserve_once();
  void take_other_element();
  void take_damaged(const ValueReader::Taken& taken);
  void take_metadata(std::string_view key);
  void resume(std::string_view reason, const ValueReader::Taken& taken);
  void stop_at_end(End end) { end_ = end; }
  [[nodiscard]] Status finish();
  void warn_about_end();
  [[nodiscard]] Error refusal(std::string_view what) const;

  ByteSource& source_;
  ImportReport& report_;
  TableBuilder& builder_;
  ValueReader reader_;
  TopLevelValues values_;
  EventScanner scanner_;
  EventScanner canonical_scanner_;  // its own, as it learns another spelling
  EventFields fields_;
  std::string canonical_;
  std::uint32_t resumes_left_;
  bool found_events_ = false;
  bool stopped_ = false;
  bool reserved_ = false;
  End end_ = End::closed;
};

/// A whole document: its events, what it says about the run, and the names of its processes.
struct ChromeDocument {
  LoadedTrace trace;
  TopLevelValues values;
  std::map<std::int64_t, std::string> process_names;
};
/// `format` is the name of the reader.
[[nodiscard]] Result<ChromeDocument> read_chrome(ByteSource& source, const ReadOptions& options,
                                                 std::string_view format);

}  // namespace foretrace::trace::formats
