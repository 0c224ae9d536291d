// Which kind of config a file is.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "sim/core/config.h"

namespace foretrace {

bool names_schema(const std::string& path, std::string_view schema) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;  // what a pipe gave is gone
  std::ifstream file(path, std::ios::binary);
  std::string head(std::size_t{64} << 10U, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const auto at = head.find("\"" + std::string(schema));
  return at != std::string::npos && head.rfind("\"schema\"", at) != std::string::npos &&
         head.find("traceEvents") == std::string::npos;
}

}  // namespace foretrace
