// Writes <foretrace/what_ifs.h>: a function per what-if, whose settings are those of its table.
#include <cctype>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/whatifs/what_if.h"

namespace foretrace {
namespace {

constexpr std::string_view head =
    R"(// What-ifs as functions, for Session::ask: generated from their tables of parameters.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <foretrace/what_if.h>

namespace foretrace::with {
namespace settings {

inline std::string text(const std::string& value, const char*) { return value; }
inline std::string text(bool value, const char*) { return value ? "true" : "false"; }
inline std::string text(std::int64_t value, const char* unit) {
  return std::to_string(value) + unit;
}
inline std::string text(std::chrono::nanoseconds value, const char* unit) {
  return std::to_string(value.count()) + unit;
}
inline std::string text(double value, const char* unit) {
  char digits[32];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  return std::string(static_cast<const char*>(digits), end) + unit;
}
/// What is not given keeps its default.
template <typename T>
void add(WhatIfSpec& spec, const char* key, const T& value, const char* unit) {
  spec.parameters.emplace_back(key, text(value, unit));
}
template <typename T>
void add(WhatIfSpec& spec, const char* key, const std::optional<T>& value, const char* unit) {
  if (value) add(spec, key, *value, unit);
}

}  // namespace settings
)";

/// How C++ says a value, and the unit that its number is in.
struct Typed {
  std::string_view type;
  std::string_view unit;
};

Typed typed(ParamType type) {
  switch (type) {
    case ParamType::number: return {"double", ""};
    case ParamType::integer: return {"std::int64_t", ""};
    case ParamType::time: return {"std::chrono::nanoseconds", " ns"};
    case ParamType::bytes: return {"std::int64_t", " B"};
    case ParamType::bandwidth: return {"double", " B/s"};
    case ParamType::flops: return {"double", " FLOP/s"};
    case ParamType::boolean: return {"bool", ""};
    case ParamType::text:
    case ParamType::selection: break;
  }
  return {"std::string", ""};
}

/// "mixed_precision" -> "MixedPrecision".
std::string type_name(std::string_view name) {
  std::string text;
  bool begins = true;
  for (const char c : name) {
    if (c != '_') text += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '_';
  }
  return text;
}

std::string function_of(const WhatIfInfo& info) {
  const std::string type = type_name(info.name);
  std::string members;
  std::string added;
  bool is_optional = true;
  for (const ParamInfo& row : info.params) {
    const auto [value, unit] = typed(row.type);
    const bool is_given = row.default_text.empty();
    is_optional = is_optional && !is_given;
    members += fmt::format("  {} {}{{}};  ///< {}\n",
                           is_given ? std::string(value) : fmt::format("std::optional<{}>", value),
                           row.name, row.doc);
    added += fmt::format("  settings::add(spec, \"{0}\", given.{0}, \"{1}\");\n", row.name, unit);
  }
  if (members.empty()) {
    return fmt::format("\n/// {0}\ninline WhatIfSpec {1}() {{ return {{\"{1}\", {{}}}}; }}\n",
                       info.summary, info.name);
  }
  return fmt::format(
      "\nstruct {2} {{\n{3}}};\n/// {0}\ninline WhatIfSpec {1}(const {2}& given{5}) {{\n"
      "  WhatIfSpec spec{{\"{1}\", {{}}}};\n{4}  return spec;\n}}\n",
      info.summary, info.name, type, members, added, is_optional ? " = {}" : "");
}

}  // namespace
}  // namespace foretrace

int main() {
  std::string text(foretrace::head);
  for (const foretrace::WhatIfInfo* const info : foretrace::what_ifs::all()) {
    text += foretrace::function_of(*info);
  }
  text += "\n}  // namespace foretrace::with\n";
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
