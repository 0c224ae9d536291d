// Config files: strict JSON (comments allowed) with units in the values and named positions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/params.h"
#include "sim/core/result.h"

namespace foretrace {

/// A JSON value of a config file. Numbers keep their text: nothing is rounded before it is typed.
struct ConfigValue {
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  std::string text;                ///< texts; numbers and booleans as written
  std::vector<std::string> keys;   ///< objects: one per item, in the order of the file
  std::vector<ConfigValue> items;  ///< lists and objects

  /// The member of this name; null if there is none.
  [[nodiscard]] const ConfigValue* find(std::string_view key) const;
  /// What stands here, for messages: "got the number 900", "got 'a100'", "got a list".
  [[nodiscard]] std::string described() const;
};

/// Parses JSON text. Refuses double keys, over 1,000 keys, over 64 levels and what comes after it.
[[nodiscard]] Result<ConfigValue> parse_config(std::string_view text);

/// Parses a config: one object that names this schema, such as "foretrace.accelerator/1". Errors
/// begin with `where`.
[[nodiscard]] Result<ConfigValue> parse_config_document(std::string_view text,
                                                        const std::string& where,
                                                        std::string_view schema);

/// The text of a config file of at most 16 MiB. Errors name the file.
[[nodiscard]] Result<std::string> read_config_text(const std::string& path);
/// What the member "schema" of the outermost object holds, as far as the text goes: a document may
/// stand in another one, and a trace may quote one. Empty: none.
[[nodiscard]] std::string_view schema_in(std::string_view text);
/// The same of a file, within its first 64 KiB: nothing more is read of it. Empty too if it is
/// none.
[[nodiscard]] std::string schema_of_file(const std::string& path);
/// Which kind of file is meant: true if its schema begins so.
[[nodiscard]] bool names_schema(const std::string& path, std::string_view schema);
/// Reads a config file of at most 16 MiB. Errors name the file.
[[nodiscard]] Result<ConfigValue> read_config(const std::string& path, std::string_view schema);

/// Takes the keys of one object one by one and remembers the first mistake; finish() reports it, or
/// a key that nobody took. Errors read "<file>: /pointer: what, got X, expected Y".
class ConfigFields {
 public:
  ConfigFields(const ConfigValue& object, std::string file, std::string pointer = "");

  void text(std::string_view key, std::string& out);
  void texts(std::string_view key, std::vector<std::string>& out);
  /// Dimensioned types are texts with a unit ("80 GiB"), number and integer are JSON numbers.
  void quantity(std::string_view key, ParamType type, double& out);
  /// As quantity(); without the key `out` keeps its value.
  void optional_quantity(std::string_view key, ParamType type, double& out);
  void optional_text(std::string_view key, std::string& out);
  /// The place of the text at `key` among these words; none, and remembered with the nearest word,
  /// if it is something else.
  [[nodiscard]] std::optional<std::size_t> word(std::string_view key,
                                                std::span<const std::string_view> words);
  /// An enumerator by the word that to_string() has for it.
  template <typename Enum, std::size_t Count>
  void word(std::string_view key, Enum& out) {
    std::array<std::string_view, Count> words;
    for (std::size_t i = 0; i < Count; ++i) words[i] = to_string(static_cast<Enum>(i));
    if (const auto found = word(key, words)) out = static_cast<Enum>(*found);
  }
  /// A member that is an object. Null (and remembered) if it is missing or something else.
  [[nodiscard]] const ConfigValue* object(std::string_view key);
  [[nodiscard]] const ConfigValue* optional_object(std::string_view key);
  /// A member that is a list of objects. Null (and remembered) if it is missing or something else.
  [[nodiscard]] const ConfigValue* objects(std::string_view key);
  /// As objects(), null without a word if the key is not there.
  [[nodiscard]] const ConfigValue* optional_objects(std::string_view key);
  /// As texts(); without the key `out` keeps its value.
  void optional_texts(std::string_view key, std::vector<std::string>& out);
  /// A member that is a list of numbers.
  void numbers(std::string_view key, std::vector<double>& out);
  /// A member of any kind, for those who look themselves; null if it is missing.
  [[nodiscard]] const ConfigValue* optional_value(std::string_view key);
  /// True or false; without the key `out` keeps its value.
  void optional_boolean(std::string_view key, bool& out);

  /// Remembers a mistake at a key ("" for the object itself) unless one is remembered already.
  void mistake(std::string_view key, std::string_view what);
  /// Remembers the mistake of a part that was read with its own fields.
  void take(const Status& part);
  [[nodiscard]] Status finish();

  [[nodiscard]] bool has(std::string_view key) const { return value_->find(key) != nullptr; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// JSON pointer of a member: "/peak_flops/fp16".
  [[nodiscard]] std::string pointer_of(std::string_view key) const;

 private:
  const ConfigValue* taken(std::string_view key, std::string_view expected, bool required);
  void read_quantity(std::string_view key, ParamType type, const ConfigValue& value, double& out);

  const ConfigValue* value_;
  std::string file_;
  std::string pointer_;
  std::vector<std::string> known_;
  std::string mistake_;
};

}  // namespace foretrace
