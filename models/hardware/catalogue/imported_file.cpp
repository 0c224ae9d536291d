#include "models/hardware/catalogue/imported_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/config_json.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

// Lists of layers that are not quantized are objects of thousands.
constexpr std::size_t most_imported_keys = 16384;

/// Python writes numbers that JSON has not: they become null, which says as much.
std::string without_python_numbers(std::string_view text) {
  constexpr std::array<std::string_view, 3> words = {"-Infinity", "Infinity", "NaN"};
  std::string json;
  json.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const auto* const word =
        in_string ? words.end() : std::find_if(words.begin(), words.end(), [&](auto each) {
          return text.substr(i).starts_with(each);
        });
    if (word != words.end()) {
      json += "null";
      i += word->size();
      continue;
    }
    if (in_string && text[i] == '\\' && i + 1 < text.size()) json += text[i++];
    if (text[i] == '"') in_string = !in_string;
    json += text[i++];
  }
  return json;
}

}  // namespace

bool ImportedFile::has(std::span<const std::string_view> members) const {
  if (document.kind != ConfigValue::Kind::object) return false;
  return std::all_of(members.begin(), members.end(),
                     [this](std::string_view member) { return document.find(member) != nullptr; });
}

Result<ImportedFile> imported_text(std::string text, const std::string& path) {
  ImportedFile file;
  file.path = path;
  file.text = std::move(text);
  const std::size_t first = file.text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (file.text[first] != '{' && file.text[first] != '/')) {
    return file;
  }
  FORETRACE_TRY(
      file.document,
      parse_config_of(most_imported_keys, without_python_numbers(file.text)).with_context(path));
  return file;
}

Result<ImportedFile> read_imported_file(const std::string& path) {
  FORETRACE_TRY(auto text, read_config_text(path));
  return imported_text(std::move(text), path);
}

std::string_view first_line(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<std::string_view> ImportedLines::next() {
  ++line_;
  if (rest_.empty() || !ok()) return std::nullopt;
  const std::string_view line = first_line(rest_);
  const std::size_t end = rest_.find('\n');
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  return line;
}

double ImportedLines::number(std::string_view what, std::string_view text, double most) {
  const auto is_around = [](char c) { return c == ' ' || c == '\''; };
  while (!text.empty() && is_around(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_around(text.back())) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= most) {
    return value;
  }
  mistake(fmt::format("{}: got {}, expected a number from 0 to {:g}", what, in_quotes(text), most));
  return 0;
}

std::vector<double> ImportedLines::numbers(std::string_view what, std::string_view text,
                                           double most) {
  std::vector<double> values;
  while (!text.empty() && ok()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    values.push_back(number(what, text.substr(0, end), most));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return values;
}

void ImportedLines::mistake(std::string_view what) {
  if (ok()) mistake_ = fmt::format("{}:{}: {}", path_, line_, what);
}

void ImportedLines::mistake_of_all(std::string_view what) {
  if (ok()) mistake_ = fmt::format("{}: {}", path_, what);
}

Members::Members(const ConfigValue& object, std::string file, std::string pointer)
    : value_(&object), file_(std::move(file)), pointer_(std::move(pointer)) {}

std::string Members::pointer_of(std::string_view key) const {
  return key.empty() ? pointer_ : fmt::format("{}/{}", pointer_, key);
}

void Members::mistake(std::string_view key, std::string_view what) {
  if (mistake_.empty()) mistake_ = fmt::format("{}: {}: {}", file_, pointer_of(key), what);
}

void Members::take(const Status& part) {
  if (mistake_.empty() && !part.ok()) mistake_ = part.error().message;
}

Status Members::finish() {
  if (mistake_.empty()) return ok_status();
  return Error{ErrorCode::bad_config, std::move(mistake_)};
}

void Members::expected(std::string_view key, std::string_view what) {
  if (const ConfigValue* const value = value_->find(key)) {
    return mistake(key, fmt::format("{}, expected {}", value->described(), what));
  }
  // A member that is nearly called so and that nobody took.
  std::vector<std::string_view> others;
  for (const std::string& other : value_->keys) {
    if (std::find(known_.begin(), known_.end(), other) == known_.end()) others.push_back(other);
  }
  mistake(key, fmt::format("missing key{}, expected {}", did_you_mean(key, others), what));
}

const ConfigValue* Members::of_kind(std::string_view key, ConfigValue::Kind kind,
                                    std::string_view what) {
  known_.emplace_back(key);
  const ConfigValue* const value = value_->find(key);
  if (value != nullptr && value->kind == kind) return value;
  expected(key, what);
  return nullptr;
}

double Members::number(std::string_view key, double low, double high) {
  const std::string what = fmt::format("a number from {:g} to {:g}", low, high);
  const ConfigValue* const value = of_kind(key, ConfigValue::Kind::number, what);
  if (value == nullptr) return low;
  const auto read = parse_quantity(value->text, ParamType::number);
  if (read.ok() && *read >= low && *read <= high) return *read;
  expected(key, what);
  return low;
}

std::uint32_t Members::whole(std::string_view key, double most) {
  const std::string what = fmt::format("a whole number from 1 to {:g}", most);
  const ConfigValue* const value = of_kind(key, ConfigValue::Kind::number, what);
  if (value == nullptr) return 1;
  const auto read = parse_quantity(value->text, ParamType::number);
  if (read.ok() && *read >= 1 && *read <= most && *read == std::floor(*read)) {
    return static_cast<std::uint32_t>(*read);
  }
  expected(key, what);
  return 1;
}

bool Members::flag(std::string_view key) {
  const ConfigValue* const value = of_kind(key, ConfigValue::Kind::boolean, "true or false");
  return value != nullptr && value->text == "true";
}

std::size_t Members::word(std::string_view key, std::span<const std::string_view> words) {
  const std::string what = fmt::format("one of {}", fmt::join(words, ", "));
  const ConfigValue* const value = of_kind(key, ConfigValue::Kind::text, what);
  if (value == nullptr) return 0;
  const auto at = std::find(words.begin(), words.end(), value->text);
  if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  mistake(key, fmt::format("{}{}, expected {}", value->described(),
                           did_you_mean(value->text, words), what));
  return 0;
}

std::string Members::text(std::string_view key) {
  const ConfigValue* const value = of_kind(key, ConfigValue::Kind::text, "a text");
  return value == nullptr ? std::string() : value->text;
}

const ConfigValue* Members::object(std::string_view key) {
  return of_kind(key, ConfigValue::Kind::object, "an object");
}

const ConfigValue* Members::list(std::string_view key) {
  return of_kind(key, ConfigValue::Kind::list, "a list");
}

}  // namespace foretrace
