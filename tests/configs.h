// The configs of the source tree, for tests.
#pragma once

#include <memory>
#include <string_view>

#include "models/hardware/catalogue/catalogue.h"

namespace foretrace::test {

/// Read once.
inline const CataloguePtr& shipped() {
  static const CataloguePtr known =
      std::make_shared<const Catalogue>(Catalogue::read(FORETRACE_SOURCE_DIR "/configs").value());
  return known;
}

inline Result<Accelerator> find_accelerator(std::string_view name) {
  const auto found = shipped()->accelerator(name);
  return found.ok() ? Result<Accelerator>(**found) : found.error();
}

}  // namespace foretrace::test
