#include "apps/sweep/space/read_axes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "apps/sweep/space/document.h"
#include "sim/core/config_text.h"
#include "sim/core/params.h"

namespace foretrace::sweeping {
namespace {

constexpr double most_values = 1e6;
constexpr std::array<std::string_view, 2> spacings = {"linear", "log"};
// Columns of the store, and words of expressions.
constexpr std::array<std::string_view, 9> reserved = {"id",    "reason", "feasible", "none", "true",
                                                      "false", "min",    "max",      "rowid"};

bool is_name(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= 64 && name.front() >= 'a' && name.front() <= 'z' &&
         std::all_of(name.begin(), name.end(), is_good);
}

/// "/apply/0/parameters/factor" is called factor, "/apply/2" is apply_2.
std::string usual_name(std::span<const std::string> parts) {
  std::string name = parts.back();
  const bool is_place =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (is_place && parts.size() > 1) name = parts[parts.size() - 2] + "_" + name;
  return name;
}

void read_range(ConfigFields& fields, Axis& axis) {
  fields.quantity("from", ParamType::number, axis.from);
  fields.quantity("to", ParamType::number, axis.to);
  fields.optional_text("unit", axis.unit);
  fields.optional_boolean("whole", axis.is_whole);
  if (fields.has("spacing")) axis.is_logarithmic = fields.word("spacing", spacings) == 1;
  if (!fields.has("spacing")) static_cast<void>(fields.optional_value("spacing"));
  double count = 0;
  fields.optional_quantity("count", ParamType::integer, count);
  if (!(std::abs(axis.from) <= 1e15 && std::abs(axis.to) <= 1e15)) {
    return fields.mistake("to", "expected numbers up to 1e15");
  }
  if (axis.is_logarithmic && !(axis.from > 0 && axis.to > 0)) {
    return fields.mistake("spacing", "got 'log' for a range that is not above 0");
  }
  if (fields.has("count") && !(count >= 1 && count <= most_values)) {
    return fields.mistake("count", "expected a whole number from 1 to 1e6");
  }
  std::vector<ConfigValue> values;
  // NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): whole numbers are exact
  for (double i = 0; i < count; ++i) {
    const double share = count > 1 ? i / (count - 1) : 0;
    values.push_back(Space::value_of(axis, at_share(axis, share)));
    if (values.size() > 1 && json_text(values.back()) == json_text(values[values.size() - 2])) {
      values.pop_back();
    }
  }
  axis.values = std::move(values);
}

void check_pointer(ConfigFields& fields, const ConfigValue& document, Axis& axis) {
  auto parts = pointer_parts(axis.pointer);
  if (!parts.ok()) return fields.mistake("pointer", parts.error().message);
  axis.parts = std::move(*parts);
  ConfigValue tried = document;
  // What comes to be there is not null, so that a list may get it as a new last item.
  if (const Status set = set_at(tried, axis.parts, text_value("")); !set.ok()) {
    fields.mistake("pointer",
                   fmt::format("got {}: {}", in_quotes(axis.pointer), set.error().message));
  }
}

Axis read_axis(ConfigFields& fields, const ConfigValue& document) {
  Axis axis;
  fields.text("pointer", axis.pointer);
  if (!axis.pointer.empty()) check_pointer(fields, document, axis);
  if (!axis.parts.empty()) axis.name = usual_name(axis.parts);
  fields.optional_text("name", axis.name);
  if (!axis.parts.empty() && !is_name(axis.name)) {
    fields.mistake("name", fmt::format("got {}, expected lower-case letters, digits and _",
                                       in_quotes(axis.name)));
  }
  const ConfigValue* values = fields.optional_value("values");
  if (values == nullptr && fields.has("from")) {
    read_range(fields, axis);
    return axis;
  }
  if (values == nullptr) return axis;  // a list of points may give them
  if (values->kind != ConfigValue::Kind::list || values->items.empty() ||
      static_cast<double>(values->items.size()) > most_values) {
    fields.mistake("values", fmt::format("{}, expected a list of 1 to 1e6 values",
                                         values->items.empty() ? "got none" : values->described()));
    return axis;
  }
  axis.values = values->items;
  return axis;
}

void check_names(ConfigFields& fields, std::span<const MetricInfo> metrics,
                 std::span<const Axis> axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string& name = axes[i].name;
    const auto is_same = [&](const Axis& other) { return other.name == name; };
    const bool is_metric =
        std::any_of(metrics.begin(), metrics.end(),
                    [&](const MetricInfo& metric) { return metric.name == name; });
    if (is_metric || std::find(reserved.begin(), reserved.end(), name) != reserved.end()) {
      fields.mistake("axes", fmt::format("'{}' has another meaning; set \"name\"", name));
    }
    if (std::any_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i), is_same)) {
      fields.mistake("axes", fmt::format("two are called '{}'; set \"name\"", name));
    }
  }
}

}  // namespace

std::vector<Axis> read_axes(ConfigFields& fields, const ConfigValue& document,
                            std::span<const MetricInfo> metrics) {
  std::vector<Axis> axes;
  const ConfigValue* list = fields.objects("axes");
  if (list == nullptr) return axes;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    ConfigFields one(list->items[i], fields.file(),
                     fmt::format("{}/{}", fields.pointer_of("axes"), i));
    const std::size_t first = axes.size();
    if (one.has("zip")) {
      const ConfigValue* zipped = one.objects("zip");
      for (std::size_t k = 0; zipped != nullptr && k < zipped->items.size(); ++k) {
        ConfigFields inner(zipped->items[k], fields.file(),
                           fmt::format("{}/{}", one.pointer_of("zip"), k));
        axes.push_back(read_axis(inner, document));
        one.take(inner.finish());
        if (axes.back().values.size() != axes[first].values.size()) {
          one.mistake("zip", fmt::format("'{}' has {} values, '{}' has {}, expected as many",
                                         axes[first].name, axes[first].values.size(),
                                         axes.back().name, axes.back().values.size()));
        }
      }
    } else {
      axes.push_back(read_axis(one, document));
    }
    fields.take(one.finish());
    for (std::size_t k = first; k < axes.size(); ++k) axes[k].group = i;
  }
  // Numbers of groups follow each other, also after an empty zip.
  std::size_t last = axes.empty() ? 0 : axes.front().group;
  std::size_t next = 0;
  for (Axis& axis : axes) {
    if (axis.group != last) ++next;
    last = axis.group;
    axis.group = next;
  }
  check_names(fields, metrics, axes);
  return axes;
}

void read_listed_points(ConfigFields& method, std::vector<Axis>& axes) {
  const ConfigValue* list = method.optional_value("points");
  if (list == nullptr || list->kind != ConfigValue::Kind::list || list->items.empty()) {
    return method.mistake("points", "expected a list of points, each a list of one value per axis");
  }
  for (Axis& axis : axes) {
    if (axis.is_listed()) {
      method.mistake("points", fmt::format("the axis '{}' has values of its own", axis.name));
    }
    axis.group = 0;
    axis.values.clear();
  }
  for (const ConfigValue& point : list->items) {
    if (point.kind != ConfigValue::Kind::list || point.items.size() != axes.size()) {
      return method.mistake("points", fmt::format("got {}, expected lists of {} values",
                                                  in_quotes(json_text(point)), axes.size()));
    }
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i].values.push_back(point.items[i]);
  }
}

}  // namespace foretrace::sweeping
