#include "models/hardware/networks/changed_cluster.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/config_text.h"
#include "sim/core/params.h"
#include "sim/core/settings_text.h"

namespace foretrace {
namespace {

/// Bytes per second; 0: the text is none, which who reads the cluster says.
double bandwidth_of(std::string_view text) {
  const auto read = parse_quantity(text, ParamType::bandwidth);
  return read.ok() ? *read : 0;
}

void scale_regimes(ConfigValue& node, double factor) {
  ConfigValue* const regimes = find_member(node, "regimes");
  if (regimes == nullptr || !(factor > 0)) return;
  for (ConfigValue& regime : regimes->items) {
    ConfigValue* const bandwidth = find_member(regime, "bandwidth");
    if (bandwidth == nullptr) continue;
    bandwidth->text = fmt::format("{} B/s", bandwidth_of(bandwidth->text) * factor);
  }
}

/// A torus has the accelerators that the sizes of its axes make, which no single field changes.
Status check_torus(const ConfigValue& document, std::string_view key, std::string_view before,
                   std::string_view text) {
  const ConfigValue* const node = document.find("node");
  const bool is_count = key == "nodes" || key == "accelerators";
  if (!is_count || before == text || node == nullptr || node->find("tiers") == nullptr) {
    return ok_status();
  }
  return Error{ErrorCode::bad_usage,
               fmt::format("{}: got {}, expected {}: the axes of a torus make its number of "
                           "accelerators; another one is a cluster file of its own",
                           key, text, before)};
}

}  // namespace

Result<ConfigValue> changed_cluster(const ConfigValue& document, std::string_view changes) {
  FORETRACE_TRY(const NamedSettings settings,
                parse_named_settings("cluster", fmt::format("cluster:{}", changes)));
  ConfigValue changed = document;
  constexpr std::array<std::string_view, 2> parts = {"node", "network"};
  for (const auto& [key, text] : settings.parameters) {
    FORETRACE_TRY(const ChangedField change, change_field(changed, parts, key, text));
    FORETRACE_TRY(check_torus(document, key, change.before, text));
    const double before = bandwidth_of(change.before);
    if (change.object == find_member(changed, "node") && key == "link_bandwidth" && before > 0) {
      scale_regimes(*change.object, bandwidth_of(text) / before);
    }
  }
  return changed;
}

}  // namespace foretrace
