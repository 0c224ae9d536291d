#include "trace/formats/nodes/node_values.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "trace/formats/json/json_check.h"
#include "trace/formats/json/scan.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

constexpr int deepest_value = 32;
// Longer arguments (generated code, lists of process groups) say nothing about the work.
constexpr std::size_t longest_argument = 512;

class Values {
 public:
  explicit Values(std::string_view text) : text_(text) {}

  [[nodiscard]] char peek() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == ',')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void skip_byte() { ++at_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  void move_to(std::size_t at) { at_ = at; }
  [[nodiscard]] std::string_view from(std::size_t start) const {
    return text_.substr(start, at_ - start);
  }

  // Over one value of any kind. False at the end or where it is too deep.
  bool skip_value(int depth = 0) {
    const char c = peek();
    if (c == '[' || c == '(' || c == '{') {
      ++at_;
      while (true) {
        const char next = peek();
        if (next == ']' || next == ')' || next == '}') {
          ++at_;
          return true;
        }
        if (next == '\0' || depth >= deepest_value || !skip_value(depth + 1)) return false;
      }
    }
    return c == '"' || c == '\'' ? skip_text(c) : skip_word();
  }

  std::optional<std::uint64_t> integer() {
    const char c = peek();
    std::uint64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [behind, error] = std::from_chars(text_.data() + at_, end, value);
    if (c == '\0' || error != std::errc() ||
        (behind != end && *behind != ',' && *behind != ']' && !is_blank(*behind))) {
      return std::nullopt;
    }
    at_ = static_cast<std::size_t>(behind - text_.data());
    return value;
  }

 private:
  bool skip_text(char quote) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return true;
      }
    }
    return false;
  }
  bool skip_word() {
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           std::string_view(",[](){}\"'").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    at_ += at_ == start && at_ < text_.size() ? 1 : 0;  // a stray bracket
    return at_ > start;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// [tensor, storage, offset, elements, bytes per element, "device"] at the cursor.
std::optional<NodeTensor> tensor_at(Values& values, NameTable& names) {
  constexpr std::uint64_t highest = std::uint64_t{1} << 62U;
  const std::size_t start = values.at();
  std::uint64_t numbers[5] = {};
  values.skip_byte();
  for (std::uint64_t& number : numbers) {
    const auto value = values.integer();
    if (!value) {
      values.move_to(start);
      return std::nullopt;
    }
    number = *value;
  }
  const char quote = values.peek();
  const std::size_t device = values.at();
  if ((quote != '"' && quote != '\'') || !values.skip_value() || numbers[2] > highest ||
      numbers[3] > highest || numbers[4] > highest) {
    values.move_to(start);
    return std::nullopt;
  }
  std::string_view name = values.from(device);
  name = name.substr(1, name.size() - 2);
  while (values.peek() != ']' && values.skip_value()) {
  }
  if (values.peek() == ']') {
    values.skip_byte();
  }
  return NodeTensor{.node = {},
                    .tensor = numbers[0],
                    .storage = numbers[1],
                    .offset = static_cast<std::int64_t>(numbers[2]),
                    .elements = static_cast<std::int64_t>(numbers[3]),
                    .element_bytes = static_cast<std::int64_t>(numbers[4]),
                    .device = names.intern(name)};
}

}  // namespace

std::string take_tensors(std::string_view text, bool is_output, NameTable& names,
                         std::vector<NodeTensor>& tensors) {
  Values values(text);
  if (values.peek() != '[') return "[]";
  values.skip_byte();
  std::string others = "[";
  const auto take = [&] {
    auto tensor = tensor_at(values, names);
    if (tensor) {
      tensor->is_output = is_output;
      tensors.push_back(*tensor);
    }
    return tensor.has_value();
  };
  while (values.peek() != ']' && values.peek() != '\0') {
    const std::size_t start = values.at();
    bool is_tensor = values.peek() == '[' && take();
    if (!is_tensor) {
      Values inside = values;
      if (inside.peek() == '[') {  // a list of tensors?
        values.skip_byte();
        while (values.peek() == '[' && take()) {
          is_tensor = true;
        }
      }
      values.move_to(start);
      if (!values.skip_value()) break;
    }
    std::string_view argument = is_tensor ? std::string_view() : values.from(start);
    const bool quoted = argument.size() > 1 && (argument[0] == '"' || argument[0] == '\'');
    argument = quoted ? argument.substr(1, argument.size() - 2) : argument;
    others += others.size() > 1 ? ", \"" : "\"";
    others += json_escaped(shortened(argument, longest_argument)) + "\"";
  }
  return others + "]";
}

std::string as_json(std::string_view text) {
  if (is_valid_json(text)) return with_plain_blanks(text);
  std::string spelled(text);
  if (spelled.find('"') == std::string::npos) {
    std::replace(spelled.begin(), spelled.end(), '\'', '"');
  }
  if (is_valid_json(spelled)) return with_plain_blanks(spelled);
  return "\"" + json_escaped(with_valid_utf8(text)) + "\"";
}

}  // namespace foretrace::trace::formats
