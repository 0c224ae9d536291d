#include "models/hardware/catalogue/evidence.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"
#include "models/hardware/catalogue/twin_range.h"
#include "sim/core/config.h"

namespace foretrace {
namespace {

constexpr double most_factor = 1e3;
constexpr double most_cells = 1e6;
constexpr double most_evidence_ranks = 1e7;
constexpr FamilyAxes of_steps = {"framework", "accelerator"};
constexpr FamilyAxes of_collectives = {"machine", "collective"};

struct KindWords {
  std::string_view name;
  FamilyAxes axes = of_steps;
  bool is_needed = false;  ///< files that were written before it lack it
};
constexpr std::array<KindWords, measured_kind_count> kind_words = {
    {{"training", of_steps, true},
     {"expert_training", of_steps, true},
     {"prompts", of_steps, true},
     {"decoding", of_steps, true},
     {"memory"},
     {"small_collectives", of_collectives},
     {"medium_collectives", of_collectives},
     {"large_collectives", of_collectives},
     {"small_curves", of_collectives},
     {"medium_curves", of_collectives},
     {"large_curves", of_collectives}}};

EvidenceFamily family_from(ConfigFields& fields, FamilyAxes axes) {
  EvidenceFamily family;
  fields.text(axes.first, family.first);
  fields.text(axes.second, family.second);
  family.cells = read_count(fields, "cells", most_cells);
  family.least_ranks = read_count(fields, "least_ranks", most_evidence_ranks);
  family.most_ranks = read_count(fields, "most_ranks", most_evidence_ranks);
  fields.optional_texts("publishers", family.publishers);
  family.factor.low = read_within(fields, "low", ParamType::number, 1);
  family.factor.high = read_within(fields, "high", ParamType::number, most_factor);
  if (family.factor.high < 1) fields.mistake("high", "expected at least 1");
  fields.optional_quantity("typical", ParamType::number, family.factor.typical);
  const Ranged& factor = family.factor;
  if (!(factor.typical >= factor.low && factor.typical <= factor.high)) {
    fields.mistake("typical", "expected a figure from low to high");
  }
  return family;
}

EvidenceKind kind_from(ConfigFields& fields, FamilyAxes axes) {
  EvidenceKind kind{.axes = axes, .families = {}};
  kind.new_family = read_within(fields, "new_family", ParamType::number, most_factor);
  if (kind.new_family < 1) fields.mistake("new_family", "expected at least 1");
  const ConfigValue* const list = fields.objects("families");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields inner(list->items[i], fields.file(),
                       fmt::format("{}/{}", fields.pointer_of("families"), i));
    kind.families.push_back(family_from(inner, axes));
    fields.take(inner.finish());
  }
  return kind;
}

std::string configurations(std::uint32_t count) {
  return fmt::format("{} measured configuration{}", count, count == 1 ? "" : "s");
}

/// Whose runs these are.
std::string publishers_of(const EvidenceFamily& family) {
  const auto& all = family.publishers;
  if (all.empty()) return {};
  if (all.size() == 1) return fmt::format(", {} by {}", family.cells > 1 ? "all" : "run", all[0]);
  return fmt::format(", by {}", fmt::join(all, ", "));
}

/// What is new of a case, in words.
std::vector<std::string> new_axes(const EvidenceKind& kind, const EvidenceCase& asked) {
  const auto none = [&kind](auto is) {
    return std::none_of(kind.families.begin(), kind.families.end(), is);
  };
  std::vector<std::string> axes;
  if (none([&](const EvidenceFamily& one) { return one.first == asked.first; })) {
    axes.push_back(fmt::format("{} {}", kind.axes.first, asked.first));
  }
  if (none([&](const EvidenceFamily& one) { return one.second == asked.second; })) {
    axes.push_back(fmt::format("{} {}", kind.axes.second, asked.second));
  }
  return axes;
}

/// Where at least nine of ten measured figures lie on one side of the prediction.
std::string bias_of(const Ranged& factor) {
  constexpr double least = 1.05;
  const bool is_high = factor.typical > least && factor.low > 1 / least - 1e-3;
  const bool is_low = factor.typical < 1 / least && factor.high < least + 1e-3;
  if (!is_high && !is_low) return {};
  return fmt::format("; biased: measured is {:.2f} times the prediction in the middle",
                     factor.typical);
}

/// The same program on another device.
bool is_twin(const EvidenceKind& kind, const EvidenceFamily& family, const EvidenceCase& asked) {
  return kind.axes.first == of_steps.first && family.first == asked.first;
}

EvidenceRange new_range(const EvidenceKind& kind, const std::vector<std::string>& axes,
                        const EvidenceFamily* own, const EvidenceCase& asked) {
  const auto count = static_cast<double>(std::max<std::size_t>(1, axes.size()));
  const double widest = std::pow(kind.new_family, std::sqrt(count));
  EvidenceRange range{.factor = {1, 1 / widest, widest},
                      .basis = fmt::format("{} not measured", fmt::join(axes, " and ")),
                      .is_new = true};
  range.basis += kind.knows_new()
                     ? fmt::format(", as far off as others of {} families", kind.families.size())
                     : fmt::format(", no evidence ({} famil{} measured)", kind.families.size(),
                                   kind.families.size() == 1 ? "y" : "ies");
  std::vector<Ranged> twins;
  for (const EvidenceFamily& family : kind.families) {
    if (&family != own && is_twin(kind, family, asked)) twins.push_back(family.factor);
  }
  range.factor = no_narrower_than_twins(range.factor, twins);
  if (range.factor.low < 1 / widest || range.factor.high > widest) {
    range.basis += fmt::format(", or as {} on other {}s", asked.first, kind.axes.second);
  }
  if (own != nullptr) range.factor = no_narrower_than_twins(range.factor, {own->factor});
  return range;
}

}  // namespace

std::string_view to_string(MeasuredKind kind) {
  return kind_words[static_cast<std::size_t>(kind)].name;
}

FamilyAxes axes_of(MeasuredKind kind) { return kind_words[static_cast<std::size_t>(kind)].axes; }

MeasuredKind measured_kind(double collective_bytes, bool is_curve) {
  if (collective_bytes < collective_class_bytes[0]) {
    return is_curve ? MeasuredKind::small_curves : MeasuredKind::small_collectives;
  }
  if (collective_bytes < collective_class_bytes[1]) {
    return is_curve ? MeasuredKind::medium_curves : MeasuredKind::medium_collectives;
  }
  return is_curve ? MeasuredKind::large_curves : MeasuredKind::large_collectives;
}

EvidenceRange evidence_range(const EvidenceKind& kind, const EvidenceCase& asked) {
  const auto own =
      std::find_if(kind.families.begin(), kind.families.end(), [&](const EvidenceFamily& one) {
        return one.first == asked.first && one.second == asked.second;
      });
  const bool is_step = kind.axes.first == of_steps.first;
  const std::string named = fmt::format("{} on {}", is_step ? asked.first : asked.second,
                                        is_step ? asked.second : asked.first);
  if (own == kind.families.end()) {
    auto axes = new_axes(kind, asked);
    if (axes.empty()) {
      axes.push_back(is_step ? fmt::format("{} {}", kind.axes.first, named) : named);
    }
    return new_range(kind, axes, nullptr, asked);
  }
  if (asked.ranks < own->least_ranks || asked.ranks > own->most_ranks) {
    return new_range(kind, {fmt::format("{} with {} ranks", named, asked.ranks)}, &*own, asked);
  }
  return {{1, own->factor.low, own->factor.high},
          fmt::format("{} of {}{}{}", configurations(own->cells), named, publishers_of(*own),
                      bias_of(own->factor))};
}

Result<Evidence> parse_evidence(std::string_view text, const std::string& where) {
  FORETRACE_TRY(const auto root, parse_config_document(text, where, evidence_schema));
  ConfigFields fields(root, where);
  std::string ignored;
  fields.text("schema", ignored);
  fields.optional_text("made_by", ignored);
  Evidence evidence;
  for (std::size_t i = 0; i < measured_kind_count; ++i) {
    const auto& [name, axes, is_needed] = kind_words[i];
    evidence.kinds[i].axes = axes;
    const ConfigValue* const object =
        is_needed ? fields.object(name) : fields.optional_object(name);
    if (object == nullptr) continue;
    ConfigFields inner(*object, where, fields.pointer_of(name));
    evidence.kinds[i] = kind_from(inner, axes);
    fields.take(inner.finish());
  }
  FORETRACE_TRY(fields.finish());
  return evidence;
}

Result<std::shared_ptr<const Evidence>> read_evidence(const std::string& directory) {
  const std::string path = config_file(directory, "evidence", "ranges");
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) {
    return std::shared_ptr<const Evidence>();
  }
  FORETRACE_TRY(const auto text, read_config_text(path));
  FORETRACE_TRY(auto evidence, parse_evidence(text, path));
  return std::shared_ptr<const Evidence>(std::make_shared<const Evidence>(std::move(evidence)));
}

}  // namespace foretrace
