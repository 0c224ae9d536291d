// Two training jobs on one accelerator, from how fast each is alone (Gavel's pairs under MPS).
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/predictor/sharing.h"
#include "tests/validation/studies/row_numbers.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::table_readers::colocation_parts {
namespace {

using Times = std::map<double, double>;  ///< seconds of a step alone, by batch size

/// One of the two jobs of a row.
struct SharingJob {
  std::string model;
  double batch = 0;   ///< 0: the table does not say it
  double alone = 0;   ///< steps/s
  double shared = 0;  ///< 0: the pair was not run
};
using Pair = std::array<SharingJob, 2>;

Result<Pair> pair_of(const TruthRow& row) {
  RowNumbers numbers(row);
  Pair pair;
  for (std::size_t job = 0; job < pair.size(); ++job) {
    const char letter = job == 0 ? 'a' : 'b';
    pair[job].model = row.text(fmt::format("model_{}", letter));
    pair[job].batch = numbers.count_or(fmt::format("batch_{}", letter), 0, most_sequences);
    pair[job].alone = numbers.measured(fmt::format("alone_{}", letter));
    pair[job].shared = numbers.number(fmt::format("shared_{}", letter), 0, most_measured);
  }
  FORETRACE_TRY(numbers.status());
  return pair;
}

/// What every model takes alone: of all rows.
std::map<std::string, Times> times_alone(const TruthTable& table) {
  std::map<std::string, Times> times;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto pair = pair_of(table.row(i));
    if (!pair.ok()) continue;
    for (const SharingJob& job : *pair) times[job.model][job.batch] = 1 / job.alone;
  }
  return times;
}

/// Share of a step in which the device works. Device time grows with the batch, the rest does not:
/// where a step grows fastest from one batch size to the next it is bound by the device, and that
/// growth per sample is the device time of a sample. With one batch size alone nothing is known,
/// and the device is taken for busy.
double busy_share(const Times& times, double batch) {
  double per_sample = 0;
  for (auto at = times.begin(); at != times.end() && std::next(at) != times.end(); ++at) {
    const auto next = std::next(at);
    per_sample = std::max(per_sample, (next->second - at->second) / (next->first - at->first));
  }
  if (!(per_sample > 0)) return 1;
  return std::min(1.0, per_sample * batch / times.at(batch));
}

struct Ranks {
  std::vector<double> predicted;
  std::vector<double> alike;
  std::vector<double> measured;
  std::vector<double> predicted_share;
  std::vector<double> measured_share;
};

std::string ranks_note(const Ranks& ranks) {
  return fmt::format(
      "rank correlation of rates {:.3f}, with all pairs slowed alike {:.3f}; of speeds against "
      "alone {:.3f}, with all pairs alike 0",
      rank_correlation(ranks.predicted, ranks.measured),
      rank_correlation(ranks.alike, ranks.measured),
      rank_correlation(ranks.predicted_share, ranks.measured_share));
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& /*inputs*/) {
  const std::map<std::string, Times> times = times_alone(table);
  TableResult result;
  result.name = table.id;
  result.unit = "steps/s";
  Ranks ranks;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto pair = pair_of(table.row(i));
    if (!pair.ok()) {
      result.skipped.push_back({i, pair.error().message});
      continue;
    }
    if (!((*pair)[0].shared > 0 && (*pair)[1].shared > 0)) {
      result.skipped.push_back({i, "the pair was not run, or does not fit in memory"});
      continue;
    }
    std::array<DeviceUse, 2> use;
    for (std::size_t job = 0; job < 2; ++job) {
      use[job].busy = busy_share(times.at((*pair)[job].model), (*pair)[job].batch);
    }
    const std::array<double, 2> speed = shared_speeds(Sharing::mps, use);
    for (std::size_t job = 0; job < 2; ++job) {
      const auto& [model, batch, alone, shared] = (*pair)[job];
      const double rate = alone * speed[job];
      result.points.push_back(
          {i, job == 0 ? "shared_a" : "shared_b", rate, rate, rate, shared, ""});
      ranks.predicted.push_back(rate);
      ranks.alike.push_back(alone);
      ranks.measured.push_back(shared);
      ranks.predicted_share.push_back(speed[job]);
      ranks.measured_share.push_back(shared / alone);
    }
  }
  result.notes.push_back(ranks_note(ranks));
  result.notes.emplace_back(
      "only rates alone are known of the jobs: how busy each keeps the device follows from how its "
      "steps grow with the batch, and its kernels are taken to fill the device");
  result.notes.emplace_back(
      "no range is given: nothing says how far a pair is off before it is measured");
  return std::vector{std::move(result)};
}

constexpr std::array<std::string_view, 1> names = {"colocation_pairs_*"};

}  // namespace

extern constexpr TableReaderInfo info = {"colocation", "two training jobs on one accelerator",
                                         names, read};

}  // namespace foretrace::table_readers::colocation_parts
