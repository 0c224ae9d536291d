// Every figure needs a source: its own key ("peak_flops/fp8") or that of its group ("peak_flops").
#include "models/hardware/catalogue/sources.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {

FigureSources read_sources(ConfigFields& fields, const ConfigValue& root,
                           std::span<const std::string_view> no_figures) {
  FigureSources sources;
  const ConfigValue* object = fields.object("sources");
  if (object == nullptr) return sources;
  std::vector<std::string> figures;
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    const std::string& key = root.keys[i];
    if (std::find(no_figures.begin(), no_figures.end(), key) != no_figures.end()) continue;
    figures.push_back(key);
    for (const std::string& part : root.items[i].keys) {
      figures.push_back(key);
      figures.back().append("/").append(part);
    }
  }
  const std::vector<std::string_view> valid(figures.begin(), figures.end());

  ConfigFields inner(*object, fields.file(), fields.pointer_of("sources"));
  for (const std::string& key : object->keys) {
    std::string text;
    inner.text(key, text);
    if (std::find(figures.begin(), figures.end(), key) == figures.end()) {
      inner.mistake(key,
                    fmt::format("source of a figure that is not in the file{}, expected one of {}",
                                did_you_mean(key, valid), fmt::join(figures, ", ")));
    }
    sources.emplace_back(key, std::move(text));
  }
  for (const std::string& figure : figures) {
    const ConfigValue* group = root.find(figure);
    const bool is_group = group != nullptr && group->kind == ConfigValue::Kind::object;
    const std::string parent = figure.substr(0, figure.find('/'));
    if (is_group || object->find(figure) != nullptr || object->find(parent) != nullptr) continue;
    inner.mistake(figure, "missing source of this figure, expected its origin and year");
  }
  fields.take(inner.finish());
  return sources;
}

}  // namespace foretrace
