// ModelImport: reads models from files of other programs; one file of workloads/imports each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/hardware/catalogue/imported_file.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/result.h"

namespace foretrace {

struct ModelImport {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< repository and path of what reads or writes such files
  /// By its members or its first lines.
  bool (*recognizes)(const ImportedFile& file) = nullptr;
  /// What has no counterpart here goes into ModelSpec::notes. Errors read "<file>: /pointer: got X,
  /// expected Y".
  Result<ModelSpec> (*read)(const ImportedFile& file) = nullptr;
};

namespace model_imports {
[[nodiscard]] std::span<const ModelImport* const> all();
}  // namespace model_imports

/// Reads the members of a config.json (Hugging Face transformers) wherever they stand.
[[nodiscard]] Result<ModelSpec> model_from_hugging_face(const ConfigValue& root,
                                                        const std::string& where);

/// The importer that recognizes the file; null if none does, or if it names a schema of ours.
[[nodiscard]] const ModelImport* model_import_of(const ImportedFile& file);

}  // namespace foretrace
