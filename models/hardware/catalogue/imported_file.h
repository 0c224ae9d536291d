// Files of other programs: their text, and their members read one by one without a schema of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

/// A file as importers see it.
struct ImportedFile {
  std::string path;      ///< stands in messages; its stem is the name of what is in it
  std::string text;      ///< all of it
  ConfigValue document;  ///< null where the text is no JSON
  std::vector<ImportedFile> with = {};  ///< others that the user names together with it

  /// True if it is an object with all of these members.
  [[nodiscard]] bool has(std::span<const std::string_view> members) const;
};
/// A file of at most 16 MiB. Errors name the file; text that begins as a JSON object and is none is
/// one.
[[nodiscard]] Result<ImportedFile> read_imported_file(const std::string& path);
[[nodiscard]] Result<ImportedFile> imported_text(std::string text, const std::string& path);

/// Goes through the lines of a file without their ends, and remembers the first mistake.
///
/// Errors read "<file>:<line>: what".
class ImportedLines {
 public:
  explicit ImportedLines(const ImportedFile& file) : path_(file.path), rest_(file.text) {}

  /// None behind the last line, or behind a mistake.
  [[nodiscard]] std::optional<std::string_view> next();
  /// A number from 0 to `most`, with blanks or single quotes around it; `what` it is.
  [[nodiscard]] double number(std::string_view what, std::string_view text, double most);
  /// Numbers of that kind with semicolons between them.
  [[nodiscard]] std::vector<double> numbers(std::string_view what, std::string_view text,
                                            double most);

  /// What an importer says of the line at hand: "got ..., expected ...".
  void mistake(std::string_view what);
  /// The same of the file as a whole.
  void mistake_of_all(std::string_view what);
  [[nodiscard]] bool ok() const { return mistake_.empty(); }
  [[nodiscard]] Error error() const { return {ErrorCode::bad_config, mistake_}; }

 private:
  std::string path_;
  std::string_view rest_;
  std::size_t line_ = 0;
  std::string mistake_;
};
/// The first line of a text, without its end.
[[nodiscard]] std::string_view first_line(std::string_view text);

/// Takes members of one object and remembers the first mistake; members that nobody takes are none:
/// which ones another program has is its own matter. Errors read
/// "<file>: /pointer: what, expected Y", with the member that was meant where one is nearly called
/// so.
class Members {
 public:
  Members(const ConfigValue& object, std::string file, std::string pointer = "");

  /// A number from `low` to `high`.
  [[nodiscard]] double number(std::string_view key, double low, double high);
  /// A whole number from 1 to `most`.
  [[nodiscard]] std::uint32_t whole(std::string_view key, double most);
  [[nodiscard]] bool flag(std::string_view key);
  /// Position among `words`; 0 (and a remembered mistake) if it is none of them.
  [[nodiscard]] std::size_t word(std::string_view key, std::span<const std::string_view> words);
  [[nodiscard]] std::string text(std::string_view key);
  /// Null (and remembered) if it is missing or something else.
  [[nodiscard]] const ConfigValue* object(std::string_view key);
  [[nodiscard]] const ConfigValue* list(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) const { return value_->find(key) != nullptr; }

  /// What an importer says of a member: "got ..., expected ...".
  void mistake(std::string_view key, std::string_view what);
  /// Remembers the mistake of a part that was read on its own.
  void take(const Status& part);
  [[nodiscard]] Status finish();
  [[nodiscard]] std::string pointer_of(std::string_view key) const;
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  const ConfigValue* of_kind(std::string_view key, ConfigValue::Kind kind, std::string_view what);
  void expected(std::string_view key, std::string_view what);

  const ConfigValue* value_;
  std::string file_;
  std::string pointer_;
  std::vector<std::string> known_;
  std::string mistake_;
};

}  // namespace foretrace
