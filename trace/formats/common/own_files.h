// What the program itself reads beside traces, so that a file in the wrong place is named.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::trace::formats {

/// "foretrace.scenario/1", if these are the first bytes of such a file; else empty.
[[nodiscard]] std::string_view own_schema(std::string_view prefix);

/// "simulate takes it", "whatif TRACE --accelerator FILE takes it": where a file of a schema
/// belongs. Empty: in a folder of configs, or nowhere.
[[nodiscard]] std::string taker_of(std::string_view schema, std::string_view path);

}  // namespace foretrace::trace::formats
