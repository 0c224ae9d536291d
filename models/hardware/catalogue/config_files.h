// Files of the folders of configs by name: what is there, and what a wrong name may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"

namespace foretrace {

/// "<directory>/<folder>" and "<directory>/<folder>/<name>.json".
[[nodiscard]] std::string config_folder(const std::string& directory, std::string_view folder);
[[nodiscard]] std::string config_file(const std::string& directory, std::string_view folder,
                                      std::string_view name);
/// Stems of <directory>/<folder>/*.json, sorted; none if the folder is not there.
[[nodiscard]] std::vector<std::string> config_names(const std::string& directory,
                                                    std::string_view folder);
/// True if it is the name of a file and none of the catalogue: it has a folder, or the ending of a
/// kind of file that configs and importers read.
[[nodiscard]] bool names_file(std::string_view name);
/// "dgx_h100" of "dgx_h100:nodes=4": a name without the fields that it changes.
[[nodiscard]] std::string_view without_changes(std::string_view name);
/// The file that a name in the file at `path` means: the one beside it, or else the one that is
/// called so from the working folder. The first of the two if neither is there.
[[nodiscard]] std::string file_named_in(const std::string& path, const std::string& name);
/// Which kind of file is meant: "cluster" of the folder "clusters".
struct ConfigKind {
  std::string_view what;
  std::string_view folder;
};
/// Path of the file with this name, or `name` itself if it names a file. not_found:
/// unknown_config.
[[nodiscard]] Result<std::string> config_path(const std::string& directory, ConfigKind kind,
                                              std::string_view name);
/// "cluster 'selena': not found in configs/clusters (did you mean 'selene'?), expected ...".
[[nodiscard]] Error unknown_config(std::string_view what, const std::string& folder,
                                   std::string_view name, std::span<const std::string> names);

}  // namespace foretrace
