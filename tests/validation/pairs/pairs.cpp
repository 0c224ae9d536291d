#include "tests/validation/pairs/pairs.h"

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "apps/session/predict.h"
#include "apps/session/session.h"
#include "apps/session/throughput.h"
#include "apps/session/what_if_stack.h"
#include "models/whatifs/examples.h"
#include "sim/core/parallel.h"

namespace foretrace {
namespace {

struct Single {
  WhatIf what_if;
  std::optional<PairOutcome> outcome{};  ///< none: it finds nothing to change
};

class Pairs {
 public:
  explicit Pairs(const Session& session) : session_(session) {}

  /// Those that change something, in the order in which they are applied.
  Result<std::vector<Single>> singles(const Catalogue& catalogue) const {
    std::vector<WhatIf> all;
    for (const WhatIfInfo* const info : what_ifs::all()) {
      FORETRACE_TRY(Example example, example_of(catalogue, *info));
      all.push_back(std::move(example.what_if));
    }
    std::vector<Single> tried;
    for (WhatIf& what_if : in_order(all)) tried.push_back({std::move(what_if)});
    for_each_index(tried.size(), [&](std::size_t i) {
      const auto outcome = outcome_of({&tried[i].what_if, 1}, Neutral::refuse);
      if (outcome.ok()) tried[i].outcome = *outcome;
    });
    std::erase_if(tried, [](const Single& single) { return !single.outcome; });
    return tried;
  }

  [[nodiscard]] WhatIfPair together(const Single& first, const Single& second) const {
    WhatIfPair row{std::string(first.what_if.info->name), std::string(second.what_if.info->name),
                   *first.outcome, *second.outcome};
    const auto outcome = outcome_of(std::array{first.what_if, second.what_if}, Neutral::keep);
    if (outcome.ok()) {
      row.together = *outcome;
    } else {
      row.refusal = reason_of(outcome.error(), row.second);
    }
    return row;
  }

  /// Of a modelled job as the program answers: some what-ifs change the job rather than its graph.
  [[nodiscard]] Result<PairOutcome> outcome_of(std::span<const WhatIf> stack,
                                               Neutral neutral) const {
    RunOptions options = session_.options();
    options.checks = Checks::all;
    options.neutral = neutral;
    FORETRACE_TRY(const auto changed, changed_run(session_.recording(), stack, options));
    const auto need = session_.memory_model().need(changed.graph, changed.run.timeline);
    return PairOutcome{
        speedup_of(session_.step_ns(), changed.run.answer.step_ns, changed.samples.value_or(1)),
        need ? std::optional(need->live_bytes) : std::nullopt};
  }

 private:
  const Session& session_;
};

}  // namespace

Result<WhatIfPairs> what_if_pairs(const CataloguePtr& catalogue, const std::string& recording) {
  FORETRACE_TRY(const Session session, open(recording, {.load = {.catalogue = catalogue}}));
  const Pairs pairs(session);
  FORETRACE_TRY(const auto singles, pairs.singles(*catalogue));
  WhatIfPairs table{.recording = recording, .applied = singles.size()};
  if (session.need()) table.now.live_bytes = session.need()->live_bytes;
  std::vector<std::pair<const Single*, const Single*>> twos;
  for (std::size_t i = 0; i < singles.size(); ++i) {
    for (std::size_t j = i + 1; j < singles.size(); ++j) {
      if (in_conflict(*singles[i].what_if.info, *singles[j].what_if.info)) continue;
      twos.emplace_back(&singles[i], &singles[j]);
    }
  }
  table.rows.resize(twos.size());
  for_each_index(twos.size(), [&](std::size_t i) {
    table.rows[i] = pairs.together(*twos[i].first, *twos[i].second);
  });
  return table;
}

}  // namespace foretrace
