// One overload per provider; the variant is looked at once per provider and batch, not per task.
#include "models/hardware/costs/cost_book.h"

#include <optional>

namespace foretrace {
namespace {

std::optional<Cost> answer(const MeasuredCosts& /*provider*/, const CostQuery& query) {
  if (query.measured_ns < 0 || !are_same(query.from, query.to)) return std::nullopt;
  return kept_cost(query.measured_ns);
}

std::optional<Cost> answer(const ScaledCosts& /*provider*/, const CostQuery& query) {
  const bool known = query.measured_ns >= 0 && query.kernel != nullptr &&
                     query.from.accelerator != nullptr && query.to.accelerator != nullptr;
  if (!known) return std::nullopt;
  return scaled_cost(query.measured_ns, *query.kernel, query.from, query.to);
}

std::optional<Cost> modelled(const CostQuery& query, Provenance wanted) {
  if (query.kernel == nullptr || query.to.accelerator == nullptr) return std::nullopt;
  auto cost = roofline_cost(*query.kernel, query.to, query.what);
  if (!cost || cost->provenance != wanted) return std::nullopt;
  return *cost;
}

std::optional<Cost> answer(const TableCosts& /*provider*/, const CostQuery& query) {
  return modelled(query, Provenance::table);
}

std::optional<Cost> answer(const RooflineCosts& /*provider*/, const CostQuery& query) {
  return modelled(query, Provenance::roofline);
}

std::optional<Cost> answer(const AssumedCosts& provider, const CostQuery& query) {
  if (query.kernel == nullptr) return std::nullopt;
  const auto at = static_cast<std::size_t>(query.kernel->traits.kernel_class);
  if (provider.ns[at] < 0) return std::nullopt;
  return Cost{provider.ns[at], Provenance::assumed, provider.low, provider.high, "stated"};
}

}  // namespace

Provenance provenance_of(const CostProvider& provider) {
  constexpr std::array<Provenance, std::variant_size_v<CostProvider>> words = {
      Provenance::measured, Provenance::scaled, Provenance::table, Provenance::roofline,
      Provenance::assumed};
  return words[provider.index()];
}

CostBook::CostBook() : providers_{MeasuredCosts{}, ScaledCosts{}, TableCosts{}, RooflineCosts{}} {}

Result<Cost> CostBook::cost(const CostQuery& query) const {
  Cost found;
  FORETRACE_TRY(costs({&query, 1}, {&found, 1}));
  return found;
}

Status CostBook::costs(std::span<const CostQuery> queries, std::span<Cost> out) const {
  FORETRACE_CHECK(queries.size() == out.size());
  std::vector<bool> answered(queries.size(), false);
  std::size_t open = queries.size();
  for (const CostProvider& provider : providers_) {
    if (open == 0) break;
    std::visit(
        [&](const auto& chosen) {
          for (std::size_t i = 0; i < queries.size(); ++i) {
            if (answered[i]) continue;
            const auto cost = answer(chosen, queries[i]);
            if (!cost) continue;
            out[i] = *cost;
            answered[i] = true;
            --open;
          }
        },
        provider);
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (!answered[i]) return missing_cost(queries[i].what);
  }
  return ok_status();
}

}  // namespace foretrace
