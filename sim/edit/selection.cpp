// Parser of the selection grammar.
#include "sim/edit/selection.h"

#include <array>
#include <charconv>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/edit/text_pattern.h"

namespace foretrace {

namespace {

using Key = Selection::Key;

constexpr std::array<std::string_view, 10> key_names = {
    "kind", "name", "operator", "layer", "phase", "resource", "rank", "device", "stream", "step"};
constexpr std::array<std::string_view, 2> resource_names = {"host", "device"};

template <typename Enum, std::size_t count>
std::array<std::string_view, count> names_of() {
  std::array<std::string_view, count> names;
  for (std::size_t i = 0; i < count; ++i) names[i] = to_string(static_cast<Enum>(i));
  return names;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<Selection::Predicate>> run() {
    std::vector<Selection::Predicate> predicates;
    while (true) {
      FORETRACE_TRY(auto predicate, one());
      predicates.push_back(std::move(predicate));
      if (at_ == text_.size()) return predicates;
      if (text_[at_] != '&') return expected("'&' or the end");
      ++at_;
    }
  }

 private:
  [[nodiscard]] Error wrong(std::size_t position, const std::string& what) const {
    return Error{ErrorCode::bad_usage, fmt::format("selection {}, character {}: {}",
                                                   in_quotes(text_), position + 1, what)};
  }
  [[nodiscard]] Error expected(const char* what) const {
    const std::string found = at_ == text_.size() ? "the end" : in_quotes(text_.substr(at_, 1));
    return wrong(at_, fmt::format("got {}, expected {}", found, what));
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool accept(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  Result<Selection::Predicate> one() {
    Selection::Predicate predicate;
    predicate.negated = accept('!');
    skip_blanks();
    const std::size_t key_at = at_;
    while (at_ < text_.size() && text_[at_] >= 'a' && text_[at_] <= 'z') ++at_;
    const std::string_view key = text_.substr(key_at, at_ - key_at);
    if (key.empty()) return expected("a key such as kind or name");
    std::size_t number = 0;
    while (number < key_names.size() && key_names[number] != key) ++number;
    if (number == key_names.size()) {
      return wrong(key_at, fmt::format("unknown key {}{}, expected one of {}", in_quotes(key),
                                       did_you_mean(key, key_names), fmt::join(key_names, ", ")));
    }
    predicate.key = static_cast<Key>(number);
    if (accept('!')) predicate.negated = !predicate.negated;
    predicate.expression = accept('~');
    if (!predicate.expression && !accept('=')) return expected("'=', '~', '!=' or '!~'");
    skip_blanks();
    const std::size_t value_at = at_;
    FORETRACE_TRY(predicate.value, this->value());
    FORETRACE_TRY(check(predicate, value_at));
    return predicate;
  }

  Result<std::string> value() {
    std::string result;
    const std::size_t begin = at_;
    if (accept('\'')) {
      while (true) {
        if (at_ == text_.size()) return wrong(begin, "the quote is not closed");
        const char c = text_[at_++];
        if (c != '\'') {
          result += c;
        } else if (at_ < text_.size() && text_[at_] == '\'') {
          result += text_[at_++];
        } else {
          break;
        }
      }
      skip_blanks();
      return result;
    }
    while (at_ < text_.size() && text_[at_] != '&' && text_[at_] != '\'') result += text_[at_++];
    while (!result.empty() && is_blank(result.back())) result.pop_back();
    return result;
  }

  [[nodiscard]] Status one_of(std::span<const std::string_view> names, std::string_view value,
                              std::size_t position) const {
    for (const std::string_view name : names) {
      if (name == value) return ok_status();
    }
    return wrong(position, fmt::format("unknown {}{}, expected one of {}", in_quotes(value),
                                       did_you_mean(value, names), fmt::join(names, ", ")));
  }

  [[nodiscard]] Status check(const Selection::Predicate& predicate, std::size_t position) const {
    if (predicate.expression) {
      auto pattern = selecting::TextPattern::compile(predicate.value);
      if (!pattern) return wrong(position, pattern.error().message);
      return ok_status();
    }
    switch (predicate.key) {
      case Key::kind:
        return one_of(names_of<TaskKind, task_kind_count>(), predicate.value, position);
      case Key::phase: return one_of(names_of<Phase, phase_count>(), predicate.value, position);
      case Key::resource: return one_of(resource_names, predicate.value, position);
      case Key::name:
      case Key::operator_name:
      case Key::layer: return ok_status();
      case Key::rank:
      case Key::device:
      case Key::stream:
      case Key::step: break;
    }
    std::int64_t number = 0;
    const char* end = predicate.value.data() + predicate.value.size();
    const auto [stop, failure] = std::from_chars(predicate.value.data(), end, number);
    if (failure == std::errc{} && stop == end) return ok_status();
    return wrong(position,
                 fmt::format("got {}, expected a whole number", in_quotes(predicate.value)));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Selection> Selection::parse(std::string_view text) {
  FORETRACE_TRY(auto predicates, Parser(text).run());
  Selection selection;
  selection.predicates_ = std::move(predicates);
  return selection;
}

Result<std::vector<TaskId>> select(const TaskGraph& graph, std::string_view selection) {
  FORETRACE_TRY(auto parsed, Selection::parse(selection));
  return parsed.of(graph);
}

}  // namespace foretrace
