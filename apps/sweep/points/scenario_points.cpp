#include "apps/sweep/points/scenario_points.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "apps/sweep/space/document.h"
#include "models/jobs/program/job_members.h"
#include "models/jobs/scenario/scenario_files.h"

namespace foretrace::sweeping {
namespace {

/// A part of a scenario that axes may change.
struct ScenarioPart {
  bool (*differs)(const Scenario& a, const Scenario& b) = nullptr;
  void (*copy)(const Scenario& from, Scenario& to) = nullptr;
};

template <auto Member>
constexpr ScenarioPart named_part() {
  return {[](const Scenario& a, const Scenario& b) { return a.*Member != b.*Member; },
          [](const Scenario& from, Scenario& to) { to.*Member = from.*Member; }};
}
template <std::size_t Member>
constexpr ScenarioPart job_part() {
  return {[](const Scenario& a, const Scenario& b) {
            return std::get<Member>(members_of(a.job)) != std::get<Member>(members_of(b.job));
          },
          [](const Scenario& from, Scenario& to) {
            std::get<Member>(members_of(to.job)) = std::get<Member>(members_of(from.job));
          }};
}

template <std::size_t... Members>
constexpr auto all_parts(std::index_sequence<Members...> /*members*/) {
  return std::array{named_part<&Scenario::model>(), named_part<&Scenario::cluster>(),
                    named_part<&Scenario::framework>(), named_part<&Scenario::what_ifs>(),
                    job_part<Members>()...};
}

/// All that scenario_of() reads.
using JobMembers = decltype(members_of(std::declval<const Job&>()));
constexpr std::array scenario_parts =
    all_parts(std::make_index_sequence<std::tuple_size_v<JobMembers>>());

bool takes_away(const Axis& axis) {
  return std::any_of(axis.values.begin(), axis.values.end(), [](const ConfigValue& value) {
    return value.kind == ConfigValue::Kind::null;
  });
}

}  // namespace

Result<Scenario> read_point(const Sweep& sweep, const Catalogue& catalogue, ConfigValue document,
                            ScenarioParts& known) {
  place_files(document, [&](const std::string& name) { return beside(sweep.folder, name); });
  FORETRACE_TRY(auto scenario, scenario_of(catalogue, document, "scenario", known));
  FORETRACE_TRY(check_ranks_alike(scenario).with_context("scenario"));
  return scenario;
}

std::unique_ptr<const AxisEffects> AxisEffects::of(const Sweep& sweep, const Catalogue& catalogue,
                                                   ScenarioParts& known) {
  auto effects = std::make_unique<AxisEffects>();
  std::vector<double> where(sweep.axes().size());
  auto first = read_point(sweep, catalogue, sweep.document_at(where), known);
  if (!first.ok()) return nullptr;
  effects->first_ = std::move(*first);
  std::vector<bool> is_taken(scenario_parts.size());
  for (std::size_t axis = 0; axis < where.size(); ++axis) {
    const Axis& at = sweep.axes()[axis];
    if (!at.is_listed() || takes_away(at)) return nullptr;
    AxisEffect effect;
    std::vector<bool> changes(scenario_parts.size());
    for (std::size_t place = 0; place < at.values.size(); ++place) {
      std::vector<double> there = where;
      there[axis] = static_cast<double>(place);
      auto scenario = read_point(sweep, catalogue, sweep.document_at(there), known);
      if (!scenario.ok()) return nullptr;
      for (std::size_t part = 0; part < scenario_parts.size(); ++part) {
        if (scenario_parts[part].differs(*scenario, effects->first_)) changes[part] = true;
      }
      effect.values.push_back(std::move(*scenario));
    }
    for (std::size_t part = 0; part < scenario_parts.size(); ++part) {
      if (!changes[part]) continue;
      if (is_taken[part]) return nullptr;  // another axis changes it too
      is_taken[part] = true;
      effect.parts.push_back(part);
    }
    effects->axes_.push_back(std::move(effect));
  }
  return effects;
}

void AxisEffects::apply(std::size_t axis, std::size_t place, Scenario& scenario) const {
  const AxisEffect& effect = axes_[axis];
  for (const std::size_t part : effect.parts)
    scenario_parts[part].copy(effect.values[place], scenario);
}

ScenarioPoints::ScenarioPoints(const Sweep& sweep, const Catalogue& catalogue)
    : sweep_(sweep),
      catalogue_(catalogue),
      effects_(AxisEffects::of(sweep, catalogue, parts_)),
      stands_(sweep.axes().size()) {
  if (effects_ == nullptr) return;
  now_ = effects_->first();
  keep_names();
}

void ScenarioPoints::keep_names() {
  named_model_ = now_.model;
  named_framework_ = now_.framework;
  named_expert_tensor_ = now_.job.plan.expert_tensor;
}

Result<const Scenario*> ScenarioPoints::at(std::span<const double> where) {
  if (effects_ == nullptr) {
    FORETRACE_TRY(now_, read_point(sweep_, catalogue_, sweep_.document_at(where), parts_));
    keep_names();
  } else {
    now_.model = named_model_;
    now_.framework = named_framework_;
    now_.job.plan.expert_tensor = named_expert_tensor_;
    for (std::size_t axis = 0; axis < where.size(); ++axis) {
      if (stands_[axis] == where[axis]) continue;
      effects_->apply(axis, static_cast<std::size_t>(where[axis]), now_);
      stands_[axis] = where[axis];
    }
    keep_names();
  }
  FORETRACE_TRY(completion_.complete(now_));
  return &now_;
}

}  // namespace foretrace::sweeping
