#include "tests/validation/report/ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "models/hardware/catalogue/evidence.h"
#include "models/hardware/catalogue/twin_range.h"

namespace foretrace::validation {
namespace {

constexpr double share_held = 0.8;
constexpr double least_width = 0.0487901641694320;  // ln 1.05
constexpr double unproven = 1.5;                    // of the largest residual
constexpr std::size_t signed_from = 10;             // cells
constexpr std::size_t few_publishers = 4;
constexpr double side_held = 1 - (1 - share_held) / 2;

/// Of n: what a share of new ones calls for; above 1 where there are too few to tell.
double level_of(double share, std::size_t n) {
  const auto count = static_cast<double>(n);
  return share * (count + 1) / count;
}

void add_residuals(const RangeFamily& family, double weight, double sign,
                   std::vector<WeighedResidual>& all) {
  for (const auto& [name, residuals] : family.cells) {
    const double each =
        weight / static_cast<double>(family.cells.size()) / static_cast<double>(residuals.size());
    for (const double r : residuals) {
      all.push_back({sign == 0 ? std::abs(r) : sign * r, each});
    }
  }
}

double family_quantile(const RangeFamily& family, double sign, double share) {
  std::vector<WeighedResidual> all;
  add_residuals(family, 1, sign, all);
  return weighed_quantile(std::move(all), level_of(share, family.cells.size()));
}

/// ln of the half-width for a family that is none of these.
double new_width(std::span<const RangeFamily> families, const RangeFamily* left_out) {
  const std::size_t count = families.size() - (left_out == nullptr ? 0 : 1);
  std::vector<WeighedResidual> all;
  for (const RangeFamily& family : families) {
    if (&family != left_out) add_residuals(family, 1.0 / static_cast<double>(count), 0, all);
  }
  const double level = level_of(share_held, count);
  const double width = weighed_quantile(std::move(all), level);
  return std::max(least_width, count < least_families ? unproven * width : width);
}

/// Residuals of one publisher in a family.
void add_published(const RangeFamily& family, const std::string& publisher, double weight,
                   std::vector<WeighedResidual>& all) {
  const auto own = family.publishers.find(publisher);
  if (own == family.publishers.end()) return;
  RangeFamily part;
  for (const std::string& cell : own->second) part.cells[cell] = family.cells.at(cell);
  add_residuals(part, weight, 0, all);
}

/// Eight of ten measured steps; of fewer than four cells nothing says more than that of a new one,
/// and of fewer than four publishers nothing more than that of another one.
void set_factor(RangeFamily& family, double new_family, double publisher) {
  double above = 0;  // too slow
  double below = 0;
  const std::size_t cells = family.cells.size();
  if (cells >= signed_from) {
    above = family_quantile(family, 1, side_held);
    below = family_quantile(family, -1, side_held);
  } else {
    above = below = family_quantile(family, 0, share_held);
    if (level_of(share_held, cells) > 1) above = below = std::max(above, new_family);
  }
  if (!family.publishers.empty() && family.publishers.size() < few_publishers) {
    above = std::max(above, publisher);
    below = std::max(below, publisher);
  }
  family.factor.low = std::exp(-std::max(above, least_width));
  family.factor.high = std::exp(std::max(below, least_width));
  std::vector<WeighedResidual> all;
  add_residuals(family, 1, -1, all);
  family.factor.typical = std::clamp(std::exp(weighed_quantile(std::move(all), 0.5)),
                                     family.factor.low, family.factor.high);
}

/// Programs on devices, not collectives of machines.
bool is_of_steps(const RangeKind& kind) {
  for (std::size_t i = 0; i < measured_kind_count; ++i) {
    const auto measured = static_cast<MeasuredKind>(i);
    if (to_string(measured) == kind.name) return axes_of(measured).first == "framework";
  }
  return true;
}

double axes_new(const RangeFamily& one, std::span<const RangeFamily> families) {
  const auto is_new = [&](auto same) {
    return std::none_of(families.begin(), families.end(),
                        [&](const RangeFamily& other) { return &other != &one && same(other); });
  };
  const int axes =
      (is_new([&](const RangeFamily& other) { return other.first == one.first; }) ? 1 : 0) +
      (is_new([&](const RangeFamily& other) { return other.second == one.second; }) ? 1 : 0);
  return std::max(1, axes);
}

double share_within(const RangeFamily& family, const Ranged& factor) {
  std::vector<WeighedResidual> all;
  add_residuals(family, 1, -1, all);
  const double low = std::log(factor.low);
  const double high = std::log(factor.high);
  double held = 0;
  for (const WeighedResidual& one : all) {
    held += one.size >= low && one.size <= high ? one.weight : 0;
  }
  return held;
}

/// What the others say of this family as if it were new, as evidence_range answers it.
Ranged range_from_others(const RangeKind& kind, const RangeFamily& family, double publisher) {
  const double others = std::max(new_width(kind.families, &family), publisher);
  const double width = others * std::sqrt(axes_new(family, kind.families));
  Ranged factor{1, std::exp(-width), std::exp(width)};
  if (!is_of_steps(kind)) return factor;
  std::vector<Ranged> twins;
  for (const RangeFamily& other : kind.families) {
    if (&other == &family || other.first != family.first) continue;
    RangeFamily twin = other;
    set_factor(twin, others, publisher);
    twins.push_back(twin.factor);
  }
  return no_narrower_than_twins(factor, twins);
}

void finish(RangeKind& kind, std::span<const RangeKind> all) {
  // Whoever runs what nobody measured is one more publisher, too.
  const bool has_publishers =
      std::any_of(kind.families.begin(), kind.families.end(),
                  [](const RangeFamily& family) { return !family.publishers.empty(); });
  const auto publisher_without = [&](const RangeFamily* family) {
    return has_publishers ? publisher_width(all, family) : 0;
  };
  const double publisher = publisher_without(nullptr);
  const double width = std::max(new_width(kind.families, nullptr), publisher);
  kind.new_family = std::exp(width);
  for (RangeFamily& family : kind.families) set_factor(family, width, publisher);
  if (kind.families.size() < 2) return;
  double covered = 0;
  double widths = 0;
  for (const RangeFamily& family : kind.families) {
    const Ranged one = range_from_others(kind, family, publisher_without(&family));
    covered += share_within(family, one);
    widths += std::log(one.high / one.low) / 2;
  }
  const auto count = static_cast<double>(kind.families.size());
  kind.covered = covered / count;
  kind.half_width = std::exp(widths / count);
}

RangeFamily& family_of(std::vector<RangeFamily>& families, const MeasuredOf& of) {
  auto at = std::find_if(families.begin(), families.end(), [&](const RangeFamily& one) {
    return one.first == of.first && one.second == of.second;
  });
  if (at == families.end()) {
    at = families.insert(
        families.end(),
        {.first = of.first, .second = of.second, .cells = {}, .publishers = {}, .factor = {}});
    at->least_ranks = of.ranks;
  }
  return *at;
}

void add_point(const MeasuredOf& of, std::map<std::string, RangeKind>& kinds) {
  RangeKind& kind = kinds[of.kind];
  kind.name = of.kind;
  RangeFamily& family = family_of(kind.families, of);
  // The same configuration of another publisher is another run.
  const std::string cell =
      of.publisher.empty() ? of.cell : fmt::format("{}: {}", of.publisher, of.cell);
  auto& residuals = family.cells[cell];
  if (residuals.empty() && !of.publisher.empty()) family.publishers[of.publisher].push_back(cell);
  residuals.push_back(of.residual);
  family.least_ranks = std::min(family.least_ranks, of.ranks);
  family.most_ranks = std::max(family.most_ranks, of.ranks);
}

/// Of all publishers but one; empty: of all.
std::vector<RangeKind> ranges_without(std::span<const TableResult> tables,
                                      std::string_view publisher) {
  std::map<std::string, RangeKind> kinds;
  for (const TableResult& table : tables) {
    for (const TablePoint& point : table.points) {
      const MeasuredOf& of = point.of;
      if (of.kind.empty() || !std::isfinite(of.residual)) continue;
      if (publisher.empty() || of.publisher != publisher) add_point(of, kinds);
    }
  }
  std::vector<RangeKind> all;
  for (auto& [name, kind] : kinds) {
    std::sort(kind.families.begin(), kind.families.end(),
              [](const RangeFamily& a, const RangeFamily& b) {
                return std::tie(a.first, a.second) < std::tie(b.first, b.second);
              });
    all.push_back(std::move(kind));
  }
  for (RangeKind& kind : all) finish(kind, all);
  return all;
}

Result<Evidence> evidence_of(std::span<const RangeKind> kinds) {
  return parse_evidence(evidence_text(kinds), "ranges");
}

const EvidenceKind* kind_called(const Evidence& evidence, std::string_view name) {
  for (std::size_t i = 0; i < measured_kind_count; ++i) {
    const auto measured = static_cast<MeasuredKind>(i);
    if (to_string(measured) == name) return &evidence.of(measured);
  }
  return nullptr;
}

std::string publishers_text(const RangeFamily& family) {
  if (family.publishers.empty()) return {};
  std::string text;
  for (const auto& [name, cells] : family.publishers) {
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  }
  return fmt::format("\"publishers\": [{}], ", text);
}

std::string kind_text(const RangeKind* kind, FamilyAxes axes) {
  if (kind == nullptr) return R"({"new_family": 1, "families": []})";
  std::string text = fmt::format("{{\"new_family\": {:.3f}, \"families\": [", kind->new_family);
  for (const RangeFamily& one : kind->families) {
    text += fmt::format(
        "{}\n    {{\"{}\": \"{}\", \"{}\": \"{}\", \"cells\": {}, \"least_ranks\": {}, "
        "\"most_ranks\": {}, {}\"low\": {:.3f}, \"typical\": {:.3f}, \"high\": {:.3f}}}",
        &one == kind->families.data() ? "" : ",", axes.first, one.first, axes.second, one.second,
        one.cells.size(), one.least_ranks, one.most_ranks, publishers_text(one), one.factor.low,
        one.factor.typical, one.factor.high);
  }
  return text + "]}";
}

}  // namespace

double weighed_quantile(std::vector<WeighedResidual> residuals, double level) {
  std::sort(residuals.begin(), residuals.end(),
            [](const WeighedResidual& a, const WeighedResidual& b) { return a.size < b.size; });
  const double total =
      std::accumulate(residuals.begin(), residuals.end(), 0.0,
                      [](double sum, const WeighedResidual& one) { return sum + one.weight; });
  constexpr double rounding = 1e-9;
  double held = 0;
  for (const WeighedResidual& one : residuals) {
    held += one.weight;
    if (held >= (level - rounding) * total) return one.size;
  }
  return residuals.empty() ? 0 : residuals.back().size;
}

double publisher_width(std::span<const RangeKind> kinds, const RangeFamily* left_out) {
  std::map<std::string, std::vector<const RangeFamily*>> publishers;
  for (const RangeKind& kind : kinds) {
    for (const RangeFamily& family : kind.families) {
      if (&family == left_out) continue;
      for (const auto& [name, cells] : family.publishers) publishers[name].push_back(&family);
    }
  }
  const std::size_t count = publishers.size();
  std::vector<WeighedResidual> all;
  for (const auto& [name, families] : publishers) {
    const double each = 1.0 / static_cast<double>(count * families.size());
    for (const RangeFamily* family : families) add_published(*family, name, each, all);
  }
  if (count == 0) return 0;
  const double width = weighed_quantile(std::move(all), level_of(share_held, count));
  return count < least_families ? unproven * width : width;
}

std::vector<RangeKind> ranges_of(std::span<const TableResult> tables) {
  return ranges_without(tables, {});
}

std::vector<RangePublisher> left_out_publishers(std::span<const TableResult> tables) {
  std::map<std::string, std::map<std::string, std::vector<const MeasuredOf*>>> runs;  // cells
  for (const TableResult& table : tables) {
    for (const TablePoint& point : table.points) {
      const MeasuredOf& of = point.of;
      if (of.publisher.empty() || !std::isfinite(of.residual)) continue;
      runs[of.publisher][fmt::format("{} {} {} {}", of.kind, of.first, of.second, of.cell)]
          .push_back(&of);
    }
  }
  std::vector<RangePublisher> all;
  for (const auto& [name, cells] : runs) {
    const auto evidence = evidence_of(ranges_without(tables, name));
    if (!evidence.ok()) continue;
    RangePublisher one{.name = name, .cells = cells.size()};
    double widths = 0;
    for (const auto& [cell, points] : cells) {
      const EvidenceKind* const kind = kind_called(*evidence, points.front()->kind);
      if (kind == nullptr) continue;
      for (const MeasuredOf* of : points) {
        const double weight = 1.0 / static_cast<double>(points.size() * cells.size());
        const Ranged factor = evidence_range(*kind, {of->first, of->second, of->ranks}).factor;
        const double measured = std::exp(-of->residual);
        one.covered += measured >= factor.low && measured <= factor.high ? weight : 0;
        widths += weight * std::log(factor.high / factor.low) / 2;
      }
    }
    one.half_width = std::exp(widths);
    all.push_back(std::move(one));
  }
  return all;
}

std::string evidence_text(std::span<const RangeKind> kinds) {
  std::string text =
      fmt::format("{{\n  \"schema\": \"{}\",\n  \"made_by\": \"make ranges\"", evidence_schema);
  for (std::size_t i = 0; i < measured_kind_count; ++i) {
    const auto measured = static_cast<MeasuredKind>(i);
    const std::string_view name = to_string(measured);
    const auto at = std::find_if(kinds.begin(), kinds.end(),
                                 [name](const RangeKind& kind) { return kind.name == name; });
    text += fmt::format(",\n  \"{}\": {}", name,
                        kind_text(at == kinds.end() ? nullptr : &*at, axes_of(measured)));
  }
  return text + "\n}\n";
}

}  // namespace foretrace::validation
