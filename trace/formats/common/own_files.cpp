#include "trace/formats/common/own_files.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/core/config.h"

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

}  // namespace foretrace::trace::formats
