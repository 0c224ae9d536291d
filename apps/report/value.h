// A figure, a word or a list of an answer: what it is in, so that every format writes it its way.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace foretrace::report {

enum class Unit : std::uint8_t {
  none,          ///< not known: null in documents
  words,         ///< text
  flag,          ///< true or false
  time,          ///< ns
  bytes,         ///< of memory or of a message
  bytes_change,  ///< with a sign
  count,         ///< of things: "75,718"
  plain,         ///< a number that stands for itself: an id, a slope
  share,         ///< of a whole: "12.3 %"
  change,        ///< relative, with a sign: "-4.0 %"
  factor,        ///< "2.50x"
  bandwidth,     ///< bytes per second
  list,
  object
};

struct Member;

/// One value. A figure is finite, or it is none: to make one of something else is an error of ours.
/// Documents get it as it is; pages get it with its unit, or in its own words.
struct Value {
  using Numbers = std::vector<std::int64_t>;
  using List = std::vector<Value>;
  using Object = std::vector<Member>;

  Unit unit = Unit::none;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Numbers, List, Object>
      held;             // without {}, for which clang 14 has to know Member here
  std::string shown{};  ///< what pages write instead; empty: the value with its unit
  /// Of a value without a key: where its document has it, as a JSON pointer, or what it follows
  /// from:
  /// "/part of /whole", "/after to /before" (relative), "/after less /before".
  std::string source{};

  /// The same value, in other words on pages.
  [[nodiscard]] Value as(std::string text) const;
  /// The same value, which the document has there or leaves to be worked out from there.
  [[nodiscard]] Value from(std::string pointers) const;
  [[nodiscard]] bool is_known() const { return unit != Unit::none; }

  /// Null; pages show `text`.
  [[nodiscard]] static Value none(std::string text = "-");
  [[nodiscard]] static Value words(std::string_view text);
  /// Null if the text is empty.
  [[nodiscard]] static Value known_words(std::string_view text);
  [[nodiscard]] static Value flag(bool value);
  [[nodiscard]] static Value time(std::int64_t ns);
  /// Null below 0.
  [[nodiscard]] static Value known_time(std::int64_t ns);
  [[nodiscard]] static Value time(const std::optional<std::int64_t>& ns);
  [[nodiscard]] static Value bytes(std::int64_t bytes);
  /// Null below 0.
  [[nodiscard]] static Value known_bytes(std::int64_t bytes);
  [[nodiscard]] static Value bytes_change(std::int64_t bytes);
  [[nodiscard]] static Value count(std::uint64_t count);
  template <std::integral Number>
  [[nodiscard]] static Value plain(Number number);
  [[nodiscard]] static Value plain(double number);
  /// Null below 0: ids and sizes that were not recorded.
  [[nodiscard]] static Value known(std::int64_t number);
  [[nodiscard]] static Value share(double share);
  /// A share that cannot be less than nothing or more than the whole.
  [[nodiscard]] static Value part(double share);
  [[nodiscard]] static Value change(double change);
  [[nodiscard]] static Value factor(double factor);
  /// Null below 0.
  [[nodiscard]] static Value bandwidth(double bytes_per_second);
  [[nodiscard]] static Value numbers(Numbers numbers);
  [[nodiscard]] static Value list(List values);
  [[nodiscard]] static Value object(Object members);

  /// A list of words.
  template <typename Texts>
  [[nodiscard]] static Value texts(const Texts& texts);
};

/// A value with its name in documents.
struct Member {
  std::string key;
  Value value;
};

template <std::integral Number>
Value Value::plain(Number number) {
  return {Unit::plain, static_cast<std::int64_t>(number)};
}

template <typename Texts>
Value Value::texts(const Texts& texts) {
  List values;
  for (const auto& text : texts) {
    values.push_back(words(text));
  }
  return list(std::move(values));
}

/// As a page shows it; decimals of times follow `scale_ns` (0: each time its own).
[[nodiscard]] std::string shown_text(const Value& value, std::int64_t scale_ns = 0);

/// True for what stands at the right edge of its column.
[[nodiscard]] bool is_figure(const Value& value);

}  // namespace foretrace::report
