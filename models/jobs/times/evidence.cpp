#include "models/jobs/times/evidence.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/config.h"

namespace foretrace {
namespace {

constexpr double most_factor = 1e3;
constexpr double most_cells = 1e6;
constexpr double most_evidence_ranks = 1e7;
constexpr std::array<std::string_view, measured_kind_count> kind_names = {
    "training", "expert_training", "prompts", "decoding"};

EvidenceFamily family_from(ConfigFields& fields) {
  EvidenceFamily family;
  fields.text("framework", family.framework);
  fields.text("accelerator", family.accelerator);
  family.cells = read_count(fields, "cells", most_cells);
  family.least_ranks = read_count(fields, "least_ranks", most_evidence_ranks);
  family.most_ranks = read_count(fields, "most_ranks", most_evidence_ranks);
  family.factor.low = read_within(fields, "low", ParamType::number, 1);
  family.factor.high = read_within(fields, "high", ParamType::number, most_factor);
  if (family.factor.high < 1) fields.mistake("high", "expected at least 1");
  return family;
}

EvidenceKind kind_from(ConfigFields& fields) {
  EvidenceKind kind;
  kind.new_family = read_within(fields, "new_family", ParamType::number, most_factor);
  if (kind.new_family < 1) fields.mistake("new_family", "expected at least 1");
  const ConfigValue* const list = fields.objects("families");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields inner(list->items[i], fields.file(),
                       fmt::format("{}/{}", fields.pointer_of("families"), i));
    kind.families.push_back(family_from(inner));
    fields.take(inner.finish());
  }
  return kind;
}

std::string configurations(std::uint32_t count) {
  return fmt::format("{} measured configuration{}", count, count == 1 ? "" : "s");
}

/// What is new of a case, in words.
std::vector<std::string> new_axes(const EvidenceKind& kind, const EvidenceCase& asked) {
  const auto none = [&kind](auto is) {
    return std::none_of(kind.families.begin(), kind.families.end(), is);
  };
  std::vector<std::string> axes;
  if (none([&](const EvidenceFamily& one) { return one.framework == asked.framework; })) {
    axes.push_back(fmt::format("framework {}", asked.framework));
  }
  if (none([&](const EvidenceFamily& one) { return one.accelerator == asked.accelerator; })) {
    axes.push_back(fmt::format("accelerator {}", asked.accelerator));
  }
  return axes;
}

EvidenceRange new_range(const EvidenceKind& kind, const std::vector<std::string>& axes,
                        const EvidenceFamily* own) {
  const auto count = static_cast<double>(std::max<std::size_t>(1, axes.size()));
  const double widest = std::pow(kind.new_family, std::sqrt(count));
  EvidenceRange range{.factor = {1, 1 / widest, widest},
                      .basis = fmt::format("{} not measured", fmt::join(axes, " and "))};
  if (own != nullptr) {
    range.factor.low = std::min(range.factor.low, own->factor.low);
    range.factor.high = std::max(range.factor.high, own->factor.high);
  }
  range.basis += kind.knows_new()
                     ? fmt::format(", as far off as others of {} families", kind.families.size())
                     : fmt::format(", no evidence ({} famil{} measured)", kind.families.size(),
                                   kind.families.size() == 1 ? "y" : "ies");
  return range;
}

}  // namespace

std::string_view to_string(MeasuredKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

MeasuredKind measured_kind(const TransformerSpec& model, Pass pass) {
  switch (pass) {
    case Pass::prefill: return MeasuredKind::prompts;
    case Pass::decode: return MeasuredKind::decoding;
    case Pass::training: break;
  }
  return model.experts.count > 0 ? MeasuredKind::expert_training : MeasuredKind::training;
}

EvidenceRange evidence_range(const EvidenceKind& kind, const EvidenceCase& asked) {
  const auto own =
      std::find_if(kind.families.begin(), kind.families.end(), [&](const EvidenceFamily& one) {
        return one.framework == asked.framework && one.accelerator == asked.accelerator;
      });
  if (own == kind.families.end()) {
    auto axes = new_axes(kind, asked);
    if (axes.empty()) {
      axes.push_back(fmt::format("framework {} on {}", asked.framework, asked.accelerator));
    }
    return new_range(kind, axes, nullptr);
  }
  if (asked.ranks < own->least_ranks || asked.ranks > own->most_ranks) {
    return new_range(
        kind,
        {fmt::format("{} on {} with {} ranks", asked.framework, asked.accelerator, asked.ranks)},
        &*own);
  }
  return {own->factor, fmt::format("{} of {} on {}", configurations(own->cells), own->framework,
                                   own->accelerator)};
}

std::optional<EvidenceRange> evidence_range(const Framework& framework, MeasuredKind kind,
                                            std::string_view accelerator, std::uint32_t ranks) {
  const double stated =
      kind == MeasuredKind::expert_training ? framework.expert_step_error : framework.step_error;
  if (stated >= 0) {
    return EvidenceRange{{1, 1 / (1 + stated), 1 + stated}, "step_error of the framework's file"};
  }
  if (framework.evidence == nullptr) return std::nullopt;
  return evidence_range(framework.evidence->of(kind), {framework.name, accelerator, ranks});
}

Result<Evidence> parse_evidence(std::string_view text, const std::string& where) {
  FORETRACE_TRY(const auto root, parse_config_document(text, where, evidence_schema));
  ConfigFields fields(root, where);
  std::string ignored;
  fields.text("schema", ignored);
  fields.optional_text("made_by", ignored);
  Evidence evidence;
  for (std::size_t i = 0; i < measured_kind_count; ++i) {
    const ConfigValue* const object = fields.object(kind_names[i]);
    if (object == nullptr) continue;
    ConfigFields inner(*object, where, fields.pointer_of(kind_names[i]));
    evidence.kinds[i] = kind_from(inner);
    fields.take(inner.finish());
  }
  FORETRACE_TRY(fields.finish());
  return evidence;
}

Result<std::shared_ptr<const Evidence>> find_evidence(const Catalogue& catalogue) {
  const std::string path = config_file(catalogue.directory(), "evidence", "ranges");
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) {
    return std::shared_ptr<const Evidence>();
  }
  FORETRACE_TRY(const auto text, read_config_text(path));
  FORETRACE_TRY(auto evidence, parse_evidence(text, path));
  return std::shared_ptr<const Evidence>(std::make_shared<const Evidence>(std::move(evidence)));
}

}  // namespace foretrace
