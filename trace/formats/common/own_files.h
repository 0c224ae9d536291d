// What the program itself reads beside traces, so that a file in the wrong place is named.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace foretrace::trace::formats {

/// "foretrace.scenario/1", if these are the first bytes of such a file; else empty.
[[nodiscard]] std::string_view own_schema(std::string_view prefix);

/// "a scenario", "an accelerator": what a file of a schema is, if users have such files. Errors end
/// with "it is a scenario"; a program knows what to do with it.
[[nodiscard]] std::string_view kind_of_own(std::string_view schema);

/// " (did you mean 'foretrace.scenario'?)", of a schema that is none; empty where nothing is near.
[[nodiscard]] std::string nearest_own(std::string_view schema);

/// "foretrace.scenario/", which files with these keys have where they do not leave it out; else
/// empty.
[[nodiscard]] std::string_view own_schema_of(std::span<const std::string> keys);

}  // namespace foretrace::trace::formats
