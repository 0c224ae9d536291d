#include "models/hardware/power/board_power.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "sim/core/config.h"

namespace foretrace {

Result<std::optional<BoardPower>> board_power(const Catalogue& catalogue,
                                              std::string_view accelerator) {
  std::optional<BoardPower> none;
  if (catalogue.document_names("power").empty()) return none;
  FORETRACE_TRY(const auto document, catalogue.document({"power table", "power"}, "boards"));
  const std::string file = config_file(catalogue.directory(), "power", "boards");
  ConfigFields fields(*document, file);
  BoardPower power;
  double idle = 0;
  double busy = 0;
  std::string source;
  std::vector<std::string> measured;
  fields.quantity("idle", ParamType::number, idle);
  fields.quantity("busy", ParamType::number, busy);
  fields.quantity("less", ParamType::number, power.less);
  fields.quantity("more", ParamType::number, power.more);
  fields.text("source", source);
  fields.texts("measured", measured);
  const ConfigValue* limits = fields.object("limits_watts");
  if (!(idle >= 0 && idle <= busy && busy <= 1)) {
    fields.mistake("busy", "expected 0 <= idle <= busy <= 1");
  }
  if (!(power.less >= 1 && power.more >= 1)) fields.mistake("less", "expected less, more >= 1");
  FORETRACE_TRY(fields.finish());
  ConfigFields watts(*limits, file, "/limits_watts");
  for (const std::string& name : limits->keys) {
    double limit = 0;
    watts.quantity(name, ParamType::number, limit);
    if (!(limit > 0)) watts.mistake(name, fmt::format("got {:g}, expected watts above 0", limit));
    if (name == accelerator) power.limit_w = limit;
  }
  FORETRACE_TRY(watts.finish());
  if (limits->find(accelerator) == nullptr) return none;
  power.idle_w = idle * power.limit_w;
  power.busy_w = busy * power.limit_w;
  const bool is_measured =
      std::find(measured.begin(), measured.end(), accelerator) != measured.end();
  power.provenance = is_measured ? Provenance::table : Provenance::assumed;
  return std::optional(power);
}

Energy energy_of(const BoardPower& power, std::int64_t time_ns, double filled_ns) {
  const double seconds = static_cast<double>(std::max<std::int64_t>(0, time_ns)) * 1e-9;
  const double filled = std::clamp(filled_ns * 1e-9, 0.0, seconds);
  Energy energy{.provenance = power.provenance};
  energy.joules = power.idle_w * (seconds - filled) + power.busy_w * filled;
  energy.low_joules = energy.joules / power.less;
  energy.high_joules = std::min(energy.joules * power.more, power.limit_w * seconds);
  energy.watts = seconds > 0 ? energy.joules / seconds : 0;
  return energy;
}

}  // namespace foretrace
