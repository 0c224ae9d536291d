#include "sim/core/settings_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include <fmt/format.h>

namespace foretrace {
namespace {

/// Walks over the text of one component.
class SettingsParser {
 public:
  SettingsParser(std::string_view kind, std::string_view text) : kind_(kind), text_(text) {}

  Result<NamedSettings> parse() {
    NamedSettings spec;
    spec.name = word();
    if (spec.name.empty()) return wrong("a name", "is missing");
    if (at_end()) return spec;
    if (peek() != ':') return wrong("':' and parameters", "is expected after the name");
    do {
      ++at_;
      FORETRACE_TRY(auto parameter, key_and_value());
      if (std::any_of(spec.parameters.begin(), spec.parameters.end(),
                      [&](const auto& other) { return other.first == parameter.first; })) {
        return Error{ErrorCode::bad_usage, fmt::format("{} '{}': parameter '{}' is given twice",
                                                       kind_, text_, parameter.first)};
      }
      spec.parameters.push_back(std::move(parameter));
    } while (!at_end() && peek() == ',');
    if (!at_end()) return wrong("','", "is expected");
    return spec;
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char peek() const { return text_[at_]; }
  [[nodiscard]] Error wrong(std::string_view what, std::string_view how) const {
    return {ErrorCode::bad_usage,
            fmt::format("{} '{}': {} {} at position {}", kind_, text_, what, how, at_ + 1)};
  }

  std::string word() {
    const std::size_t start = at_;
    while (!at_end() && (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '_' ||
                         peek() == '-' || peek() == '.')) {
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  Result<std::pair<std::string, std::string>> key_and_value() {
    std::string key = word();
    if (key.empty()) return wrong("the name of a parameter", "is missing");
    if (at_end() || peek() != '=') {
      return wrong(fmt::format("'=' and a value for '{}'", key), "is expected");
    }
    ++at_;
    FORETRACE_TRY(std::string value, !at_end() && peek() == '\'' ? quoted() : bare(key));
    return std::pair(std::move(key), std::move(value));
  }

  Result<std::string> quoted() {
    const std::size_t open = at_++;
    std::string value;
    while (!at_end()) {
      if (peek() != '\'') {
        value += text_[at_++];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
        value += '\'';
        at_ += 2;
      } else {
        ++at_;
        return value;
      }
    }
    at_ = open;
    return wrong("the quote", "is never closed, it opens");
  }

  Result<std::string> bare(std::string_view key) {
    const std::size_t start = at_;
    while (!at_end() && peek() != ',') {
      if (std::string_view("&~:='").find(peek()) != std::string_view::npos) {
        const std::string_view rest = text_.substr(start);
        return Error{ErrorCode::bad_usage,
                     fmt::format("{} '{}': a value that contains '{}' needs quotes that reach the "
                                 "program: \"...{}='{}'...\"",
                                 kind_, text_, peek(), key, rest.substr(0, rest.find(',')))};
      }
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  std::string_view kind_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// A quote inside is doubled.
std::string quoted_text(std::string_view value) {
  std::string text = "'";
  for (const char c : value) {
    text += c;
    if (c == '\'') {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace

Result<NamedSettings> parse_named_settings(std::string_view kind, std::string_view text) {
  return SettingsParser(kind, text).parse();
}

std::string text_of(const NamedSettings& settings) {
  std::string text = settings.name;
  for (std::size_t i = 0; i < settings.parameters.size(); ++i) {
    const auto& [key, value] = settings.parameters[i];
    const bool quoted = value.find_first_of("&~:=', ") != std::string::npos;
    text += fmt::format("{}{}={}", i == 0 ? ":" : ",", key, quoted ? quoted_text(value) : value);
  }
  return text;
}

}  // namespace foretrace
