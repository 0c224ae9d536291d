// Which kind of file a run is, without reading all of it.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::driver {

/// True if the file names a schema that begins so within its first 64 KiB.
[[nodiscard]] bool names_schema(const std::string& path, std::string_view schema);

}  // namespace foretrace::driver
