#include "apps/cli/names/configs.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace foretrace::app {
namespace {

namespace fs = std::filesystem;

// Set before anything else runs.
std::string& found_directory() {
  static std::string directory;
  return directory;
}

Result<CataloguePtr> read_catalogue() {
  if (std::error_code ignored; !fs::is_directory(config_directory(), ignored)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("FORETRACE_CONFIGS: {} is no folder, expected that of the configs",
                             config_directory())};
  }
  FORETRACE_TRY(Catalogue read, Catalogue::read(config_directory()));
  return CataloguePtr(std::make_shared<const Catalogue>(std::move(read)));
}

}  // namespace

void find_configs(const std::string& source_tree) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, before any thread
  if (const char* const given = std::getenv("FORETRACE_CONFIGS"); given != nullptr && *given != 0) {
    found_directory() = given;
    return;
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path shared = program.parent_path().parent_path() / "share/foretrace/configs";
  const bool installed = !error && fs::is_directory(shared, error);
  found_directory() = installed ? shared.string() : source_tree;
}

const std::string& config_directory() { return found_directory(); }

Result<CataloguePtr> catalogue() {
  static const Result<CataloguePtr> read = read_catalogue();
  return read;
}

const Result<HowTos>& how_tos() {
  static const Result<HowTos> read = read_how_tos(config_directory());
  return read;
}

}  // namespace foretrace::app
