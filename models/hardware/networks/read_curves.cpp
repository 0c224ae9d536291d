#include "models/hardware/networks/read_curves.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

// "64 KiB=20.1 us": one point of a measured curve.
bool read_point(std::string_view text, MeasuredCurve& curve) {
  const auto at = text.find('=');
  if (at == std::string_view::npos) return false;
  const auto bytes = parse_quantity(text.substr(0, at), ParamType::bytes);
  const auto ns = parse_quantity(text.substr(at + 1), ParamType::time);
  if (!bytes.ok() || !ns.ok() || !(*bytes > 0) || !(*ns > 0)) return false;
  if (!curve.bytes.empty() && !(*bytes > curve.bytes.back())) return false;
  curve.bytes.push_back(*bytes);
  curve.ns.push_back(*ns);
  return true;
}

CollectiveKind collective_of(ConfigFields& fields, std::string_view key) {
  std::string name;
  fields.text(key, name);
  std::vector<std::string_view> valid;
  for (std::size_t i = 1; i < collective_kind_count; ++i) {
    valid.push_back(to_string(static_cast<CollectiveKind>(i)));
    if (valid.back() == name) return static_cast<CollectiveKind>(i);
  }
  fields.mistake(key, fmt::format("got {}{}, expected one of {}", in_quotes(name),
                                  did_you_mean(name, valid), fmt::join(valid, ", ")));
  return CollectiveKind::none;
}

}  // namespace

void read_curves(ConfigFields& fields, std::vector<MeasuredCurve>& curves) {
  const ConfigValue* list = fields.optional_objects("curves");
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    ConfigFields inner(list->items[i], fields.file(),
                       fmt::format("{}/{}", fields.pointer_of("curves"), i));
    MeasuredCurve curve;
    curve.kind = collective_of(inner, "collective");
    curve.ranks = read_count(inner, "ranks", 1e6);
    curve.nodes = read_count(inner, "nodes", 1e6);
    inner.text("source", curve.source);
    std::vector<std::string> points;
    inner.texts("points", points);
    for (const std::string& point : points) {
      if (read_point(point, curve)) continue;
      inner.mistake("points", fmt::format("got {}, expected rising sizes with times such as "
                                          "'64 KiB=20.1 us'",
                                          in_quotes(point)));
      break;
    }
    if (points.empty()) inner.mistake("points", "got none, expected at least one");
    fields.take(inner.finish());
    curves.push_back(std::move(curve));
  }
}

}  // namespace foretrace
