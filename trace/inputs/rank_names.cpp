#include "trace/inputs/rank_names.h"

#include <array>
#include <charconv>
#include <cstddef>

#include "sim/core/text.h"

namespace foretrace::trace {
namespace {

/// Where the number of the rank stands in a name; length 0 if it has none.
struct Number {
  std::size_t at = 0;
  std::size_t length = 0;
};

Number number_from(std::string_view name, std::size_t at) {
  std::size_t end = at;
  while (end < name.size() && is_digit(name[end])) {
    ++end;
  }
  return {at, end - at};
}

Number number_after(std::string_view name, std::string_view word) {
  const std::string lower = lower_case(name);
  for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
    std::size_t digit = at + word.size();
    while (digit < name.size() &&
           (name[digit] == '-' || name[digit] == '_' || name[digit] == '=' || name[digit] == '.')) {
      ++digit;
    }
    const Number number = number_from(name, digit);
    if (number.length > 0) {
      return number;
    }
  }
  return {};
}

/// File name without folder and without the suffixes that name formats.
std::string_view stem_of(std::string_view path) {
  std::string_view name = file_name_of(path);
  constexpr std::array<std::string_view, 4> suffixes = {".gz", ".json", ".trace", ".pt"};
  for (const std::string_view suffix : suffixes) {
    name = name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
  }
  return name;
}

Number number_of(std::string_view stem) {
  for (const std::string_view word : {"rank", "worker"}) {
    const Number number = number_after(stem, word);
    if (number.length > 0) {
      return number;
    }
  }
  std::size_t end = stem.size();
  while (end > 0 && !is_digit(stem[end - 1])) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_digit(stem[begin - 1])) {
    --begin;
  }
  return {begin, end - begin};
}

}  // namespace

std::optional<std::int32_t> rank_of_name(std::string_view path) {
  const std::string_view stem = stem_of(path);
  const Number number = number_of(stem);
  constexpr std::size_t most_digits = 7;
  if (number.length == 0 || number.length > most_digits) {
    return std::nullopt;
  }
  std::int32_t rank = 0;
  std::from_chars(stem.data() + number.at, stem.data() + number.at + number.length, rank);
  return rank;
}

std::string pattern_of_name(std::string_view path) {
  std::string name(file_name_of(path));
  const Number number = number_of(stem_of(path));
  if (number.length > 0) {
    name.replace(number.at, number.length, "#");
    // Behind the rank come time stamps and counters that differ from rank to rank.
    std::string rest;
    for (std::size_t i = number.at + 1; i < name.size(); ++i) {
      if (!is_digit(name[i])) {
        rest += name[i];
      } else if (rest.empty() || rest.back() != '*') {
        rest += '*';
      }
    }
    name = name.substr(0, number.at + 1) + rest;
  }
  return name;
}

}  // namespace foretrace::trace
