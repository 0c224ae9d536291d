#include "models/whatifs/fusion/attention_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace foretrace::editing {
namespace {

constexpr std::array<std::string_view, 2> passes = {"forward", "backward"};
constexpr std::array<std::string_view, 2> masks = {"full", "causal"};
constexpr std::array<std::string_view, 2> types = {"16 bit", "fp32"};
// A rate of another head size or mask: those of FlashAttention-3's figures differ by up to this.
constexpr double other_row = 1.3;
constexpr double tera = 1e12;

}  // namespace

Result<AttentionTable::Row> AttentionTable::read_row(const ConfigValue& value,
                                                     const std::string& where, std::size_t at) {
  ConfigFields fields(value, where, fmt::format("/rows/{}", at));
  Row row;
  fields.text("backend", row.backend);
  if (const auto pass = fields.word("pass", passes)) row.backward = *pass == 1;
  if (fields.has("mask")) {
    if (const auto mask = fields.word("mask", masks)) row.mask = static_cast<int>(*mask);
  }
  if (fields.has("type")) {
    if (const auto type = fields.word("type", types)) row.fp32 = *type == 1;
  }
  fields.optional_quantity("head", ParamType::number, row.head);
  fields.numbers("rates", row.shares);
  FORETRACE_TRY(fields.finish());
  return row;
}

Result<AttentionTable> AttentionTable::from(const ConfigValue& document, const std::string& where) {
  AttentionTable table;
  ConfigFields fields(document, where);
  std::string unused;
  double compute = 0;
  double peak = 0;
  fields.text("schema", unused);
  fields.text("source", unused);
  fields.quantity("compute", ParamType::integer, compute);
  fields.quantity("peak", ParamType::flops, peak);
  fields.quantity("spread", ParamType::number, table.spread_);
  fields.numbers("positions", table.positions_);
  const ConfigValue* rows = fields.objects("rows");
  if (!(compute >= 1 && compute < 1000)) fields.mistake("compute", "expected 1 or more");
  if (!(peak > 0)) fields.mistake("peak", "expected a positive rate");
  if (!(table.spread_ >= 1 && table.spread_ < 10)) fields.mistake("spread", "expected 1 to 10");
  if (table.positions_.empty() || !(table.positions_.front() > 0) ||
      !std::is_sorted(table.positions_.begin(), table.positions_.end())) {
    fields.mistake("positions", "expected positive numbers in ascending order");
  }
  FORETRACE_TRY(fields.finish());
  table.compute_ = static_cast<std::int32_t>(compute);
  for (std::size_t i = 0; i < rows->items.size(); ++i) {
    FORETRACE_TRY(auto row, read_row(rows->items[i], where, i));
    for (double& share : row.shares) share *= tera / peak;
    const bool usable = row.shares.size() == table.positions_.size() &&
                        std::all_of(row.shares.begin(), row.shares.end(),
                                    [](double share) { return share > 0 && share <= 1; });
    if (!usable) {
      return Error{ErrorCode::bad_config,
                   fmt::format("{}: /rows/{}/rates: expected {} rates in TFLOP/s up to the peak",
                               where, i, table.positions_.size())};
    }
    table.rows_.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> AttentionTable::backends() const {
  std::set<std::string> names;
  for (const Row& row : rows_) names.insert(row.backend);
  return {names.begin(), names.end()};
}

double AttentionTable::share_at(const Row& row, double positions) const {
  const auto above = std::lower_bound(positions_.begin(), positions_.end(), positions);
  // Not known: as for long sequences, which attention takes most of its time for.
  if (!(positions > 0) || above == positions_.end()) return row.shares.back();
  const auto at = static_cast<std::size_t>(above - positions_.begin());
  if (at == 0) return row.shares.front();
  const double part =
      std::log(positions / positions_[at - 1]) / std::log(positions_[at] / positions_[at - 1]);
  return row.shares[at - 1] + part * (row.shares[at] - row.shares[at - 1]);
}

std::optional<AttentionTableRate> AttentionTable::rate(const AttentionCase& wanted) const {
  const int mask = wanted.causal ? causal_mask : full_mask;
  const Row* best = nullptr;
  std::pair<bool, double> nearest;  // another mask, distance of head sizes
  for (const Row& row : rows_) {
    if (row.backend != wanted.backend || row.backward != wanted.backward ||
        row.fp32 != wanted.fp32) {
      continue;
    }
    const bool other_mask = row.mask != any_mask && row.mask != mask;
    const bool known = row.head > 0 && wanted.head > 0;
    const std::pair distance(other_mask, known ? std::abs(std::log(row.head / wanted.head)) : 0.0);
    if (best == nullptr || distance < nearest) {
      best = &row;
      nearest = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  const bool exact = !nearest.first && nearest.second == 0;
  return AttentionTableRate{share_at(*best, wanted.positions),
                            exact ? spread_ : spread_ * other_row};
}

}  // namespace foretrace::editing
