// ClusterImport: reads machines from files of another simulator; one file of networks/imports each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/catalogue/imported_file.h"
#include "models/hardware/networks/cluster.h"
#include "sim/core/result.h"

namespace foretrace {

struct ClusterImport {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< repository and path of what reads such files
  /// By its members or its first lines.
  bool (*recognizes)(const ImportedFile& file) = nullptr;
  /// What has no counterpart here goes into Cluster::notes. Errors read "<file>: /pointer: got X,
  /// expected Y".
  Result<Cluster> (*read)(const Catalogue& catalogue, const ImportedFile& file) = nullptr;
};

namespace cluster_imports {
[[nodiscard]] std::span<const ClusterImport* const> all();
}  // namespace cluster_imports

/// The importer that recognizes the file; null if none does.
[[nodiscard]] const ClusterImport* cluster_import_of(const ImportedFile& file);

}  // namespace foretrace
