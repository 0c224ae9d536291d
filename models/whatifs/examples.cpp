#include "models/whatifs/examples.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace foretrace {
namespace {

namespace fs = std::filesystem;

Result<WhatIfSpec> shipped_spec(const Catalogue& catalogue, const WhatIfInfo& info) {
  std::error_code failed;
  const fs::path folder = fs::path(catalogue.directory()) / "optimizations";
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->path().stem() != info.name) continue;
    FORETRACE_TRY(std::vector<WhatIfSpec> specs, read_what_ifs(at->path().string()));
    if (specs.size() == 1) return std::move(specs.front());
  }
  return WhatIfSpec{std::string(info.name), {}};
}

}  // namespace

Result<Example> example_of(const Catalogue& catalogue, const WhatIfInfo& info) {
  FORETRACE_TRY(const WhatIfSpec spec, shipped_spec(catalogue, info));
  FORETRACE_TRY(WhatIf what_if, check_what_if(spec));
  Example example{std::move(what_if), {}};
  for (const auto& [key, value] : spec.parameters) {
    example.settings += fmt::format("{}{}={}", example.settings.empty() ? "" : ",", key, value);
  }
  return example;
}

}  // namespace foretrace
