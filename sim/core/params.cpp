// Parameters as data: reads given texts against a component's table.
#include "sim/core/params.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/core/whole.h"

namespace foretrace {
namespace {

bool has_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const auto bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    choices = bar == std::string_view::npos ? std::string_view{} : choices.substr(bar + 1);
  }
  return false;
}

std::vector<std::string_view> split_choices(std::string_view choices) {
  std::vector<std::string_view> words;
  while (!choices.empty()) {
    const auto bar = choices.find('|');
    words.push_back(choices.substr(0, bar));
    choices = bar == std::string_view::npos ? std::string_view{} : choices.substr(bar + 1);
  }
  return words;
}

std::string bounded(const ParamInfo& info) {
  const bool low = info.minimum > -1e299;
  const bool high = info.maximum < 1e299;
  if (low && high) return fmt::format("from {:g} to {:g}", info.minimum, info.maximum);
  if (low) return fmt::format("at least {:g}", info.minimum);
  return fmt::format("at most {:g}", info.maximum);
}

// Bounds are kept in stored units; say which where that is not obvious.
std::string_view stored_unit(ParamType type) {
  switch (type) {
    case ParamType::time: return " ns";
    case ParamType::bytes: return " B";
    case ParamType::bandwidth: return " B/s";
    case ParamType::flops: return " FLOP/s";
    case ParamType::number:
    case ParamType::integer:
    case ParamType::text:
    case ParamType::selection:
    case ParamType::boolean: return "";
  }
  return "";
}

Error about(std::string_view component, std::string_view parameter, std::string message) {
  return Error{ErrorCode::bad_usage,
               fmt::format("{}: parameter '{}': {}", component, parameter, message)};
}

Error unknown_parameter(std::string_view component, std::span<const ParamInfo> table,
                        std::string_view key) {
  std::vector<std::string_view> names;
  names.reserve(table.size());
  for (const ParamInfo& info : table) names.push_back(info.name);
  return Error{ErrorCode::bad_usage,
               fmt::format("{}: unknown parameter {}{}, expected {}", component, in_quotes(key),
                           did_you_mean(key, names),
                           names.empty() ? std::string("none")
                                         : fmt::format("one of {}", fmt::join(names, ", ")))};
}

/// Default of a row that may be left out and then has no value: no other row has it, and given()
/// says whether there is one.
constexpr std::string_view no_value = "-";

bool is_number(ParamType type) {
  return type != ParamType::text && type != ParamType::selection && type != ParamType::boolean;
}

}  // namespace

struct ParamValues::Reader {
  std::string_view component;

  [[nodiscard]] Result<Reading> read(const ParamInfo& info, std::string_view text) const {
    Reading reading{std::string(text), 0};
    if (info.type == ParamType::boolean) {
      if (text != "true" && text != "false") return wrong(info, text, expectation(info.type));
      reading.number = text == "true" ? 1 : 0;
      return reading;
    }
    if (!is_number(info.type)) {
      if (info.choices.empty() || has_choice(info.choices, text)) return reading;
      const auto words = split_choices(info.choices);
      return wrong(info, text,
                   fmt::format("one of {}{}", fmt::join(words, ", "), did_you_mean(text, words)));
    }
    auto number = parse_quantity(text, info.type);
    if (!number) return about(component, info.name, number.error().message);
    reading.number = *number;
    if (reading.number < info.minimum || reading.number > info.maximum) {
      return wrong(info, text, fmt::format("a value {}{}", bounded(info), stored_unit(info.type)));
    }
    return reading;
  }

  [[nodiscard]] Error wrong(const ParamInfo& info, std::string_view text,
                            std::string_view expected) const {
    return about(component, info.name,
                 fmt::format("got {}, expected {}", in_quotes(text), expected));
  }

  // Tables are ours: a default that does not parse is a broken invariant.
  [[nodiscard]] Reading own(const ParamInfo& info, std::string_view text) const {
    auto reading = read(info, text);
    FORETRACE_CHECK(reading.ok());
    return std::move(*reading);
  }
};

Result<ParamValues> ParamValues::parse(std::string_view component, std::span<const ParamInfo> table,
                                       std::span<const std::pair<std::string, std::string>> given) {
  const Reader reader{component};
  std::vector<std::optional<std::size_t>> given_at(table.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto row = std::find_if(table.begin(), table.end(), [&](const ParamInfo& info) {
      return info.name == given[i].first;
    });
    if (row == table.end()) return unknown_parameter(component, table, given[i].first);
    auto& slot = given_at[static_cast<std::size_t>(row - table.begin())];
    if (slot) return about(component, row->name, "given twice, expected it once");
    slot = i;
  }

  ParamValues values;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const ParamInfo& info = table[i];
    Value value;
    value.name = info.name;
    value.type = info.type;
    const bool may_lack = info.default_text == no_value;
    value.given = given_at[i].has_value() && !(may_lack && given[*given_at[i]].second == no_value);
    if (value.given) {
      FORETRACE_TRY(value.reading, reader.read(info, given[*given_at[i]].second));
    } else if (info.default_text.empty()) {
      return about(component, info.name,
                   fmt::format("missing, expected {} ({})", expectation(info.type), info.doc));
    } else if (may_lack) {
      value.reading.text = no_value;
    } else {
      value.reading = reader.own(info, info.default_text);
    }
    const bool ranged = !value.given && !info.optimistic.empty();
    value.optimistic = ranged ? reader.own(info, info.optimistic) : value.reading;
    value.pessimistic = !value.given && !info.pessimistic.empty()
                            ? reader.own(info, info.pessimistic)
                            : value.reading;
    values.values_.push_back(std::move(value));
  }
  return values;
}

const ParamValues::Value& ParamValues::at(const ParamInfo& row) const {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [&](const Value& value) { return value.name == row.name; });
  FORETRACE_CHECK(found != values_.end());
  return *found;
}

double ParamValues::number(const ParamInfo& row) const {
  const Value& value = at(row);
  FORETRACE_CHECK(is_number(value.type));
  return value.reading.number;
}

std::int64_t ParamValues::integer(const ParamInfo& row) const {
  const double value = number(row);
  FORETRACE_CHECK(std::abs(value) < 0x1p62);
  return to_whole(value);
}

const std::string& ParamValues::text(const ParamInfo& row) const { return at(row).reading.text; }

bool ParamValues::boolean(const ParamInfo& row) const {
  const Value& value = at(row);
  FORETRACE_CHECK(value.type == ParamType::boolean);
  return value.reading.number != 0;
}

bool ParamValues::given(const ParamInfo& row) const { return at(row).given; }

std::vector<std::pair<std::string, std::string>> ParamValues::texts() const {
  std::vector<std::pair<std::string, std::string>> out;
  out.reserve(values_.size());
  for (const Value& value : values_) {
    if (!value.given && value.reading.text == no_value) continue;
    out.emplace_back(value.name, value.reading.text);
  }
  return out;
}

ParamValues ParamValues::at_bound(Bound bound) const {
  ParamValues moved = *this;
  for (Value& value : moved.values_) {
    if (bound == Bound::optimistic) value.reading = value.optimistic;
    if (bound == Bound::pessimistic) value.reading = value.pessimistic;
  }
  return moved;
}

bool ParamValues::has_range() const {
  return std::any_of(values_.begin(), values_.end(), [](const Value& value) {
    return value.optimistic.text != value.reading.text ||
           value.pessimistic.text != value.reading.text;
  });
}

}  // namespace foretrace
