#include "apps/driver/how_to.h"

#include <array>
#include <utility>

#include "sim/core/config.h"

namespace foretrace::driver {
namespace {

struct Framework {
  std::string_view key;
  std::string_view name;
};
constexpr std::array<Framework, 2> frameworks = {{{"pytorch", "PyTorch"}, {"jax", "JAX"}}};

}  // namespace

Result<HowTos> read_how_tos(const std::string& config_directory) {
  const std::string path = config_directory + "/how_to.json";
  const Result<ConfigValue> document = read_config(path, "foretrace.how_to/1");
  if (!document.ok()) return document.error();
  ConfigFields fields(*document, path);
  const ConfigValue* const what_ifs = fields.object("what_ifs");
  HowTos all;
  for (std::size_t i = 0; what_ifs != nullptr && i < what_ifs->keys.size(); ++i) {
    const std::string& name = what_ifs->keys[i];
    if (what_ifs->items[i].kind != ConfigValue::Kind::object) {
      return Error{ErrorCode::bad_config, path + ": /what_ifs/" + name + ": " +
                                              what_ifs->items[i].described() +
                                              ", expected lines by framework"};
    }
    ConfigFields entry(what_ifs->items[i], path, "/what_ifs/" + name);
    for (const Framework& framework : frameworks) {
      std::vector<std::string> lines;
      entry.optional_texts(framework.key, lines);
      if (!lines.empty()) all[name].emplace(framework.key, std::move(lines));
    }
    if (const Status read = entry.finish(); !read.ok()) return read.error();
  }
  if (const Status read = fields.finish(); !read.ok()) return read.error();
  return all;
}

std::vector<std::string> lines_of(const HowTos& all, std::string_view what_if) {
  std::vector<std::string> lines;
  const auto found = all.find(what_if);
  if (found == all.end()) return lines;
  for (const Framework& framework : frameworks) {
    const auto own = found->second.find(framework.key);
    if (own == found->second.end()) continue;
    bool is_first = true;
    for (const std::string& line : own->second) {
      lines.push_back((is_first ? std::string(framework.name) + ": " : std::string()) + line);
      is_first = false;
    }
  }
  return lines;
}

}  // namespace foretrace::driver
