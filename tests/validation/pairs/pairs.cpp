#include "tests/validation/pairs/pairs.h"

#include <utility>

#include "apps/session/answer_laws.h"
#include "apps/session/session.h"
#include "apps/session/throughput.h"
#include "apps/session/what_if_stack.h"
#include "models/whatifs/examples.h"
#include "sim/core/parallel.h"

namespace foretrace {
namespace {

struct Single {
  WhatIf what_if;
  std::optional<WhatIfStack> stack{};
  PairOutcome outcome{};
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
      WhatIfStack stack(session_.recording(), Checks::all);
      if (!stack.push(tried[i].what_if, Neutral::refuse).ok()) return;
      tried[i].outcome = outcome_of(stack);
      tried[i].stack = std::move(stack);
    });
    std::erase_if(tried, [](const Single& single) { return !single.stack; });
    return tried;
  }

  [[nodiscard]] WhatIfPair together(const Single& first, const Single& second) const {
    WhatIfPair row{std::string(first.what_if.info->name), std::string(second.what_if.info->name),
                   first.outcome, second.outcome};
    WhatIfStack stack = *first.stack;
    const Status pushed = stack.push(second.what_if, Neutral::keep);
    if (pushed.ok()) {
      row.together = outcome_of(stack);
    } else {
      row.refusal = reason_of(pushed.error(), row.second);
    }
    return row;
  }

  [[nodiscard]] PairOutcome outcome_of(const WhatIfStack& stack) const {
    const auto changed = stack.simulate(session_.options());
    FORETRACE_CHECK(changed.ok());
    expect_laws(session_.recording(), *changed);
    const auto need = session_.memory_model().need(changed->graph, changed->run.timeline);
    return {
        speedup_of(session_.step_ns(), changed->run.answer.step_ns, changed->samples.value_or(1)),
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
