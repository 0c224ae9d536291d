#include "trace/formats/common/own_files.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/params.h"

namespace foretrace::trace::formats {
namespace {

struct OwnFile {
  std::string_view schema;
  std::string_view what;
};

constexpr std::array own_files = {OwnFile{"foretrace.scenario/", "a scenario"},
                                  OwnFile{"foretrace.training/", "a training run"},
                                  OwnFile{"foretrace.schedule/", "jobs on a cluster"},
                                  OwnFile{"foretrace.serving/", "a served model"},
                                  OwnFile{"foretrace.streams/", "streams"},
                                  OwnFile{"foretrace.mapping/", "a mapping"},
                                  OwnFile{"foretrace.storage/", "remote storage"},
                                  OwnFile{"foretrace.federated/", "federated learning"},
                                  OwnFile{"foretrace.sweep/", "a sweep"},
                                  OwnFile{"foretrace.accelerator/", "an accelerator"},
                                  OwnFile{"foretrace.cluster/", "a cluster"},
                                  OwnFile{"foretrace.framework/", "a framework"},
                                  OwnFile{"foretrace.model/", "a model"},
                                  OwnFile{"foretrace.what_if/", "a what-if"},
                                  OwnFile{"foretrace.kernel_table/", "a table of kernels"},
                                  OwnFile{"foretrace.attention/", "a table of attention"}};

/// Two keys that files of a kind have, and no other file.
struct OwnKeys {
  std::string_view schema;
  std::string_view one;
  std::string_view other;
};

constexpr std::array own_keys = {OwnKeys{"foretrace.scenario/", "workload", "parallelism"},
                                 OwnKeys{"foretrace.scenario/", "workload", "cluster"},
                                 OwnKeys{"foretrace.serving/", "engine", "requests"},
                                 OwnKeys{"foretrace.schedule/", "jobs", "policies"},
                                 OwnKeys{"foretrace.sweep/", "axes", "objectives"}};

}  // namespace

std::string_view own_schema(std::string_view prefix) {
  constexpr std::size_t most = std::size_t{64} << 10U;  // as names_schema()
  const std::string_view schema = schema_in(prefix.substr(0, most));
  return schema.starts_with("foretrace.") ? schema : std::string_view();
}

std::string_view kind_of_own(std::string_view schema) {
  const auto* const file =
      std::find_if(own_files.begin(), own_files.end(),
                   [schema](const OwnFile& one) { return schema.starts_with(one.schema); });
  return file == own_files.end() ? std::string_view() : file->what;
}

std::string nearest_own(std::string_view schema) {
  const auto without_version = [](std::string_view name) { return name.substr(0, name.find('/')); };
  std::vector<std::string_view> names;
  for (const OwnFile& file : own_files) names.push_back(without_version(file.schema));
  return did_you_mean(without_version(schema), names);
}

std::string_view own_schema_of(std::span<const std::string> keys) {
  const auto has = [&keys](std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  const auto* const file =
      std::find_if(own_keys.begin(), own_keys.end(),
                   [&has](const OwnKeys& one) { return has(one.one) && has(one.other); });
  return file == own_keys.end() || has("schema") ? std::string_view() : file->schema;
}

}  // namespace foretrace::trace::formats
