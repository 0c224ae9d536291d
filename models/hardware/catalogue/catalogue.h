// Catalogue: what a folder of configs says of accelerators, clusters and kernel tables, read once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/evidence.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

/// Made once and handed to what needs it; nothing in it reads a file after it was made, so that a
/// what-if touches no file. Threads may share a const one.
class Catalogue {
 public:
  /// Knows nothing: no device is recognized, no name is found.
  Catalogue() = default;
  /// Reads accelerators, the constants fitted for them, what libraries take of their memory,
  /// clusters, kernel tables and evidence. A file with a mistake is an error that names it.
  [[nodiscard]] static Result<Catalogue> read(std::string directory);

  /// The folder it was read from; models and frameworks are found in it by name.
  [[nodiscard]] const std::string& directory() const { return directory_; }
  /// How far predictions were off; null: nothing is known.
  [[nodiscard]] const std::shared_ptr<const Evidence>& evidence() const { return evidence_; }
  /// Sorted by name.
  [[nodiscard]] std::span<const Accelerator> accelerators() const { return accelerators_; }
  [[nodiscard]] std::vector<std::string> accelerator_names() const;
  /// By name, or by the path of a file that was added. not_found, with the nearest name.
  [[nodiscard]] Result<const Accelerator*> accelerator(std::string_view name) const;
  /// The accelerator that has this name in traces; of several the one nearest in memory.
  [[nodiscard]] const Accelerator* accelerator_of_device(std::string_view device_name,
                                                         std::int64_t memory_bytes) const;
  /// The document of a cluster or a kernel table, by name or by the path of a file that was added.
  [[nodiscard]] Result<const ConfigValue*> document(ConfigKind kind, std::string_view name) const;
  /// Names of the documents of a folder, sorted.
  [[nodiscard]] std::vector<std::string> document_names(std::string_view folder) const;

  /// Reads a file of the user's: from then on its path is a name. `folder` says what it is:
  /// "accelerators", "attention", "clusters" or "kernel_tables".
  [[nodiscard]] Status add_file(std::string_view folder, const std::string& path);

 private:
  std::string directory_;
  std::shared_ptr<const Evidence> evidence_;
  std::vector<Accelerator> accelerators_;
  std::map<std::string, Accelerator, std::less<>> accelerator_files_;          // by path
  std::map<std::pair<std::string, std::string>, ConfigValue> documents_;       // by folder and name
  std::map<std::pair<std::string, std::string>, ConfigValue> document_files_;  // by folder and path
};

/// One that knows nothing.
[[nodiscard]] const Catalogue& no_catalogue();
/// What recordings keep; null where nothing is known.
using CataloguePtr = std::shared_ptr<const Catalogue>;

}  // namespace foretrace
