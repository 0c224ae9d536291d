#include "models/hardware/networks/changed_cluster.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/config_text.h"
#include "sim/core/params.h"
#include "sim/core/settings_text.h"

namespace foretrace {
namespace {

using Kind = ConfigValue::Kind;

bool is_field(const ConfigValue& value) {
  return value.kind == Kind::number || value.kind == Kind::text || value.kind == Kind::boolean;
}

/// Bytes per second; 0: the text is none, which who reads the cluster says.
double bandwidth_of(const ConfigValue& value) {
  const auto read = parse_quantity(value.text, ParamType::bandwidth);
  return read.ok() ? *read : 0;
}

void scale_regimes(ConfigValue& node, double factor) {
  ConfigValue* const regimes = find_member(node, "regimes");
  if (regimes == nullptr || !(factor > 0)) return;
  for (ConfigValue& regime : regimes->items) {
    ConfigValue* const bandwidth = find_member(regime, "bandwidth");
    if (bandwidth == nullptr) continue;
    bandwidth->text = fmt::format("{} B/s", bandwidth_of(*bandwidth) * factor);
  }
}

class Changes {
 public:
  explicit Changes(ConfigValue& document) : document_(document) {}

  Status set(const std::string& key, const std::string& text) {
    for (const std::string_view part : {"", "node", "network"}) {
      ConfigValue* const object = part.empty() ? &document_ : find_member(document_, part);
      if (object == nullptr || object->kind != Kind::object) continue;
      ConfigValue* const field = find_member(*object, key);
      if (field == nullptr || !is_field(*field) || key == "schema") continue;
      change(*object, *field, text, part);
      return ok_status();
    }
    const std::vector<std::string> known = fields();
    const std::vector<std::string_view> words(known.begin(), known.end());
    return Error{ErrorCode::bad_usage,
                 fmt::format("unknown field '{}'{}, expected one of {}", key,
                             did_you_mean(key, words), fmt::join(known, ", "))};
  }

 private:
  static void change(ConfigValue& object, ConfigValue& field, const std::string& text,
                     std::string_view part) {
    const double before = bandwidth_of(field);
    field.text = text;
    if (part == "node" && &field == find_member(object, "link_bandwidth") && before > 0) {
      scale_regimes(object, bandwidth_of(field) / before);
    }
  }

  [[nodiscard]] std::vector<std::string> fields() const {
    std::vector<std::string> names;
    const auto add = [&](const ConfigValue& object) {
      for (std::size_t i = 0; i < object.items.size(); ++i) {
        if (is_field(object.items[i]) && object.keys[i] != "schema")
          names.push_back(object.keys[i]);
      }
    };
    add(document_);
    for (const std::string_view part : {"node", "network"}) {
      const ConfigValue* const object = document_.find(part);
      if (object != nullptr && object->kind == Kind::object) add(*object);
    }
    return names;
  }

  ConfigValue& document_;
};

}  // namespace

Result<ConfigValue> changed_cluster(const ConfigValue& document, std::string_view changes) {
  FORETRACE_TRY(const NamedSettings settings,
                parse_named_settings("cluster", fmt::format("cluster:{}", changes)));
  ConfigValue changed = document;
  Changes all(changed);
  for (const auto& [key, text] : settings.parameters) {
    FORETRACE_TRY(all.set(key, text));
  }
  return changed;
}

}  // namespace foretrace
