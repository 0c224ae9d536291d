#include "tests/validation/maps/overlap_slowdown.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"

namespace foretrace {
namespace {

constexpr std::string_view overlap_schema = "foretrace.overlap/1";

std::array<std::string_view, kernel_class_count> class_names() {
  std::array<std::string_view, kernel_class_count> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_string(static_cast<KernelClass>(i));
  return names;
}

OverlapSlowdown::Rule read_rule(ConfigFields& fields) {
  OverlapSlowdown::Rule rule;
  fields.optional_text("name", rule.name);
  constexpr auto none = static_cast<std::size_t>(KernelClass::other);
  rule.kernel_class = static_cast<KernelClass>(optional_word(fields, "class", class_names(), none));
  read_ranged(fields, "slowdown", rule.slowdown);
  if (rule.name.empty() == (rule.kernel_class == KernelClass::other)) {
    fields.mistake("name", "expected either a name or a class of kernels");
  }
  if (!(rule.slowdown.low > 0)) fields.mistake("slowdown", "got low 0, expected above 0");
  return rule;
}

Result<OverlapSlowdown> overlap_from(const ConfigValue& root, const std::string& path) {
  OverlapSlowdown overlap;
  ConfigFields fields(root, path);
  fields.text("machine", overlap.machine);
  if (const ConfigValue* rules = fields.objects("kernels")) {
    for (std::size_t i = 0; i < rules->items.size(); ++i) {
      ConfigFields inner(rules->items[i], path, fmt::format("/kernels/{}", i));
      overlap.rules.push_back(read_rule(inner));
      fields.take(inner.finish());
    }
  }
  fields.numbers("fitted_to", overlap.fitted_to);
  if (overlap.fitted_to.size() % 2 != 0) {
    fields.mistake("fitted_to", "expected pairs of a time alone and one beside a collective");
  }
  constexpr std::array<std::string_view, 3> no_figures = {"schema", "machine", "sources"};
  overlap.sources = read_sources(fields, root, no_figures);
  FORETRACE_TRY(fields.finish());
  return overlap;
}

}  // namespace

Ranged OverlapSlowdown::of(std::string_view kernel) const {
  KernelText text;
  text.name = kernel;
  const KernelClass kind = classify(text).kernel_class;
  for (const Rule& rule : rules) {
    if (rule.name.empty() ? rule.kernel_class == kind
                          : kernel.find(rule.name) != std::string_view::npos) {
      return rule.slowdown;
    }
  }
  return {1, 1, 1};
}

bool OverlapSlowdown::is_fitted_to(double us_alone, double us_beside) const {
  for (std::size_t i = 0; i + 1 < fitted_to.size(); i += 2) {
    if (fitted_to[i] == us_alone && fitted_to[i + 1] == us_beside) return true;
  }
  return false;
}

// During the share it does 1 / slowdown of the work that it would do alone.
double time_beside(double alone, double share, double slowdown) {
  return alone / (1 - share + share / slowdown);
}

Result<OverlapSlowdown> parse_overlap(std::string_view text, const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, overlap_schema));
  return overlap_from(root, where);
}

Result<OverlapSlowdown> find_overlap(const Catalogue& catalogue, std::string_view name) {
  FORETRACE_TRY(auto path, config_path(catalogue.directory(), {"slowdown", "overlap"}, name));
  FORETRACE_TRY(const std::string text, read_config_text(path));
  return parse_overlap(text, path);
}

}  // namespace foretrace
