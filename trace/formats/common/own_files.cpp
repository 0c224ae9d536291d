#include "trace/formats/common/own_files.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/config.h"

namespace foretrace::trace::formats {
namespace {

struct Taker {
  std::string_view schema;
  std::string_view command;  ///< with {} where the file goes; without it, it goes last
};

constexpr std::array takers = {
    Taker{"foretrace.scenario/", "simulate"},
    Taker{"foretrace.training/", "simulate"},
    Taker{"foretrace.schedule/", "schedule"},
    Taker{"foretrace.serving/", "simulate"},
    Taker{"foretrace.streams/", "simulate"},
    Taker{"foretrace.mapping/", "simulate"},
    Taker{"foretrace.storage/", "simulate"},
    Taker{"foretrace.federated/", "simulate"},
    Taker{"foretrace.sweep/", "sweep"},
    Taker{"foretrace.accelerator/", "whatif TRACE --accelerator {}"},
    Taker{"foretrace.cluster/", "plan MODEL --cluster {}"},
    Taker{"foretrace.framework/", "plan MODEL --cluster NAME --framework {}"},
    Taker{"foretrace.model/", "plan {} --cluster NAME"},
    Taker{"foretrace.what_if/", "whatif TRACE --apply @{}"},
    Taker{"foretrace.kernel_table/", "whatif TRACE --apply kernel_table:table={}"},
    Taker{"foretrace.attention/", "whatif TRACE --apply attention_backend:table={}"}};

}  // namespace

std::string_view own_schema(std::string_view prefix) {
  constexpr std::size_t most = std::size_t{64} << 10U;  // as names_schema()
  const std::string_view schema = schema_in(prefix.substr(0, most));
  return schema.starts_with("foretrace.") ? schema : std::string_view();
}

std::string taker_of(std::string_view schema, std::string_view path) {
  const auto* const taker = std::find_if(takers.begin(), takers.end(), [schema](const Taker& one) {
    return schema.starts_with(one.schema);
  });
  if (taker == takers.end()) return {};
  const bool is_pipe = path == "standard input";  // none of them reads a pipe
  const std::size_t at = taker->command.find("{}");
  if (at == std::string_view::npos) {
    return fmt::format("{} takes it{}", taker->command, is_pipe ? " as a file" : "");
  }
  return fmt::format("{}{}{} takes it", taker->command.substr(0, at), is_pipe ? "FILE" : path,
                     taker->command.substr(at + 2));
}

}  // namespace foretrace::trace::formats
