#include "apps/driver/serving/schema.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace foretrace::driver {

bool names_schema(const std::string& path, std::string_view schema) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;  // what a pipe gave is gone
  std::ifstream file(path, std::ios::binary);
  std::string head(std::size_t{64} << 10U, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const auto at = head.find("\"" + std::string(schema));
  return at != std::string::npos && head.rfind("\"schema\"", at) != std::string::npos;
}

}  // namespace foretrace::driver
