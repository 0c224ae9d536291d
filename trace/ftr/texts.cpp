#include "trace/ftr/texts.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "trace/ftr/bytes.h"
#include "trace/ftr/column.h"
#include "trace/ftr/deflate.h"
#include "trace/ftr/rows.h"

namespace foretrace::trace::ftr {

std::string put_names(std::uint64_t first, std::span<const std::string_view> texts, int level) {
  std::vector<std::int64_t> lengths;
  std::string plain;
  for (const std::string_view text : texts) {
    lengths.push_back(static_cast<std::int64_t>(text.size()));
    plain += text;
  }
  std::string column;
  put_column(column, lengths);
  std::string payload;
  put_number(payload, first);
  put_number(payload, texts.size());
  put_text(payload, column);
  put_number(payload, plain.size());
  put_text(payload, deflated(plain, level));
  finish_rows(payload, texts.size());
  return payload;
}

bool take_names(std::string_view payload, std::uint64_t limit,
                const std::function<void(std::uint64_t, std::string_view)>& name) {
  ByteReader reader(payload);
  const std::uint64_t first = reader.number();
  const std::uint64_t count = reader.number();
  const std::string_view column = reader.text();
  const std::uint64_t size = reader.number();
  const std::string_view packed = reader.text();
  if (!reader.ok() || count > most_rows || count > payload.size() * most_rows_per_byte ||
      first > limit || count > limit - first) {
    return false;
  }
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(count));
  const std::optional<std::string> plain = inflated(packed, size);
  if (!plain || !take_column(column, std::span<std::int64_t>(lengths))) return false;
  std::uint64_t left = size;
  for (const std::int64_t length : lengths) {
    if (length < 0 || static_cast<std::uint64_t>(length) > left) return false;
    left -= static_cast<std::uint64_t>(length);
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto length = static_cast<std::size_t>(lengths[i]);
    name(first + i, std::string_view(*plain).substr(at, length));
    at += length;
  }
  return true;
}

std::string put_pairs(const Pairs& pairs) {
  std::string payload;
  put_number(payload, pairs.size());
  for (const auto& [key, value] : pairs) {
    put_text(payload, key);
    put_text(payload, value);
  }
  return payload;
}

bool take_pairs(std::string_view payload, Pairs& pairs) {
  ByteReader reader(payload);
  const std::uint64_t count = reader.number();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    const std::string_view key = reader.text();
    const std::string_view value = reader.text();
    if (reader.ok()) {
      pairs.emplace_back(key, value);
    }
  }
  return reader.ok();
}

std::string_view value_of(const Pairs& pairs, std::string_view key) {
  const auto found =
      std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == key; });
  return found == pairs.end() ? std::string_view() : std::string_view(found->second);
}

std::int64_t number_of(const Pairs& pairs, std::string_view key, std::int64_t otherwise) {
  const std::string_view text = value_of(pairs, key);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? value : otherwise;
}

}  // namespace foretrace::trace::ftr
