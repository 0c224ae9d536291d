#include "trace/inputs/rank_names.h"

#include <algorithm>
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
    if (number.length > 0) return number;
  }
  return {};
}

/// File name without folder and without the suffixes that name formats.
std::string_view stem_of(std::string_view path) {
  std::string_view name = file_name_of(path);
  constexpr std::array<std::string_view, 7> suffixes = {".gz",   ".zst",   ".xz", ".bz2",
                                                        ".json", ".trace", ".pt"};
  for (const std::string_view suffix : suffixes) {
    name = name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
  }
  return name;
}

bool is_letter(char c) { return to_lower(c) >= 'a' && to_lower(c) <= 'z'; }
bool is_hex(char c) { return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f'); }

/// Where the groups of a UUID end (8-4-4-4-12), or 0.
std::size_t length_of_uuid(std::string_view text) {
  std::size_t at = 0;
  for (const std::size_t length : {8U, 4U, 4U, 4U, 12U}) {
    const std::string_view group = text.substr(at, length);
    const bool is_last = length == 12;
    if (group.size() < length || !std::all_of(group.begin(), group.end(), is_hex) ||
        (!is_last && text.substr(at + length, 1) != "-")) {
      return 0;
    }
    at += length + (is_last ? 0 : 1);
  }
  return at;
}

/// A commit, a container, a digest: eight and more hexadecimal digits, of both kinds.
bool is_hash(std::string_view word) {
  constexpr std::size_t shortest = 8;
  return word.size() >= shortest && std::all_of(word.begin(), word.end(), is_hex) &&
         std::any_of(word.begin(), word.end(), is_digit) &&
         std::any_of(word.begin(), word.end(), is_letter);
}

/// The name with every character of a hash or UUID replaced by '*': digits in them say nothing.
std::string without_hashes(std::string_view name) {
  std::string plain(name);
  for (std::size_t at = 0; at < plain.size();) {
    std::size_t length = length_of_uuid(std::string_view(plain).substr(at));
    const bool is_uuid = length > 0;
    while (!is_uuid && at + length < plain.size() &&
           (is_digit(plain[at + length]) || is_letter(plain[at + length]))) {
      ++length;
    }
    if (is_uuid || is_hash(std::string_view(plain).substr(at, length))) {
      plain.replace(at, length, length, '*');
    }
    at += std::max<std::size_t>(length, 1);
  }
  return plain;
}

/// "host_1375.1724066820235157909", as PyTorch's handler names the traces of a folder: host,
/// process and time in ns. All of them differ from rank to rank.
bool is_named_by_process(std::string_view stem) {
  constexpr std::size_t fewest_digits = 13;
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string_view::npos || stem.size() - dot - 1 < fewest_digits) return false;
  const std::string_view before = stem.substr(0, dot);
  const std::size_t mark = before.rfind('_');
  return mark != std::string_view::npos && mark + 1 < before.size() &&
         std::all_of(before.begin() + static_cast<std::ptrdiff_t>(mark) + 1, before.end(),
                     is_digit) &&
         std::all_of(stem.begin() + static_cast<std::ptrdiff_t>(dot) + 1, stem.end(), is_digit);
}

/// The number behind "rank", else behind "worker".
Number told_number(std::string_view stem) {
  const Number rank = number_after(stem, "rank");
  return rank.length > 0 ? rank : number_after(stem, "worker");
}

Number number_of(std::string_view stem) {
  const Number told = told_number(stem);
  if (told.length > 0) return told;
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
  const std::string stem = without_hashes(stem_of(path));
  const Number number = number_of(stem);
  constexpr std::size_t most_digits = 7;
  if (number.length == 0 || number.length > most_digits) return std::nullopt;
  std::int32_t rank = 0;
  std::from_chars(stem.data() + number.at, stem.data() + number.at + number.length, rank);
  return rank;
}

bool names_rank(std::string_view path) {
  return told_number(without_hashes(stem_of(path))).length > 0;
}

std::string pattern_of_name(std::string_view path) {
  const std::string_view stem = stem_of(path);
  const std::string plain = without_hashes(stem);
  const std::string_view suffix = file_name_of(path).substr(stem.size());
  const Number told = told_number(plain);
  if (told.length == 0 && is_named_by_process(stem)) return "*_*.*" + std::string(suffix);
  const Number number = number_of(plain);
  // Behind the rank come time stamps and counters that differ from rank to rank.
  std::string pattern;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (number.length > 0 && i == number.at) {
      pattern += '#';
      i += number.length - 1;
    } else if (plain[i] != '*' && (number.length == 0 || i < number.at || !is_digit(plain[i]))) {
      pattern += plain[i];
    } else if (pattern.empty() || pattern.back() != '*') {
      pattern += '*';
    }
  }
  return pattern + std::string(suffix);
}

}  // namespace foretrace::trace
