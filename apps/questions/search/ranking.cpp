// Every what-if alone.
#include "apps/questions/search/ranking.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "apps/session/answer_laws.h"
#include "apps/session/what_if_stack.h"
#include "models/whatifs/examples.h"
#include "sim/core/parallel.h"

namespace foretrace {
namespace {

using Tried = std::variant<Ranked, Unranked>;

/// Hands answers over one at a time.
class Keeper {
 public:
  explicit Keeper(const RankHow& how) : how_(how) {}
  void keep(const WhatIfInfo& info, Answer answer) {
    if (!how_.keep) return;
    const std::lock_guard lock(one_at_a_time_);
    how_.keep(info, std::move(answer));
  }

 private:
  const RankHow& how_;
  std::mutex one_at_a_time_;
};

// Another device, more of them and another network are bought: none is tried with our settings.
bool is_bought(const WhatIfInfo& info) {
  return info.stage == ApplyStage::device || info.stage == ApplyStage::spread ||
         info.alters_network;
}

/// More memory than the run as it is, or less of it on another device. A job that was never run need
/// not fit as it is: what takes less is then worth a row.
bool needs_more(const Session& session, const Answer& answer) {
  const std::optional<Accelerator>& before = session.recording().accelerator;
  const std::optional<Accelerator>& after = answer.prediction().accelerator;
  if (!before || !after || before->name != after->name) return true;
  return !session.need() || !answer.need() ||
         answer.need()->reserved_bytes() > session.need()->reserved_bytes();
}

Tried try_alone(const WhatIfInfo& info, const Session& session, bool examples, Keeper& keeper) try {
  if (info.basis == Basis::formula) {
    return Unranked{info.name, Unranked::Cause::is_formula,
                    "a rough formula, see foretrace explain"};
  }
  std::optional<WhatIf> what_if = with_defaults(info);
  std::string settings;
  if (!what_if && examples && !is_bought(info)) {
    Result<Example> example = example_of(session.recording().catalogue(), info);
    if (example.ok() && !example->settings.empty()) {
      what_if = std::move(example->what_if);
      settings = std::move(example->settings);
    }
  }
  if (!what_if) {
    return Unranked{info.name, Unranked::Cause::needs_parameter,
                    "needs a value, see foretrace explain"};
  }
  Result<Answer> answer = session.ask({&*what_if, 1}, Neutral::refuse);
  if (!answer.ok()) {
    const Error& error = answer.error();
    return Unranked{
        info.name,
        error.code == ErrorCode::no_match ? Unranked::Cause::finds_nothing : Unranked::Cause::error,
        reason_of(error, info.name)};
  }
  const bool fits = answer->fits();
  if (!fits && needs_more(session, *answer)) {
    return Unranked{info.name, Unranked::Cause::does_not_fit,
                    text_of_misfit(*answer->target(), *answer->need())};
  }
  const auto before = static_cast<double>(session.step_ns());
  const std::int64_t step = answer->step_ns();
  const double samples = answer->samples();
  const double gain = 1 - static_cast<double>(step) / (std::max(1.0, before) * samples);
  const double scatter = session.replay().scatter;
  const Ranked row{&info,
                   step,
                   answer->low_ns(),
                   answer->high_ns(),
                   answer->speedup(),
                   samples,
                   scatter > 0 && std::abs(gain) <= scatter,
                   answer->need(),
                   std::move(settings),
                   answer->prediction().doubts(),
                   fits};
  keeper.keep(info, *std::move(answer));
  return row;
} catch (const BrokenLaw& broken) {
  return Unranked{info.name, Unranked::Cause::error, broken.what()};
}

double time_per_sample(const Ranked& row) { return static_cast<double>(row.step_ns) / row.samples; }

}  // namespace

std::string_view name_of(Unranked::Cause cause) {
  switch (cause) {
    case Unranked::Cause::needs_parameter: return "needs_parameter";
    case Unranked::Cause::is_formula: return "is_formula";
    case Unranked::Cause::finds_nothing: return "finds_nothing";
    case Unranked::Cause::does_not_fit: return "does_not_fit";
    case Unranked::Cause::error: return "failed";
  }
  return "?";
}

Status expect_device_work(const TaskGraph& graph, std::string_view question) {
  for (std::size_t t = 0; t < graph.size(); ++t) {
    if (is_device(graph.kind(make_id<TaskId>(t)))) return ok_status();
  }
  return Error{
      ErrorCode::missing_cost,
      fmt::format("{}: the recording has tensors, but no work and no times, expected an order by "
                  "memory",
                  question)};
}

bool ranks_before(const Ranked& a, const Ranked& b, RankBy by) {
  if (by == RankBy::memory && a.memory->live_bytes != b.memory->live_bytes) {
    return a.memory->live_bytes < b.memory->live_bytes;
  }
  if (a.fits != b.fits) return a.fits;
  return time_per_sample(a) < time_per_sample(b);
}

std::optional<WhatIf> with_defaults(const WhatIfInfo& info) {
  if (std::any_of(info.params.begin(), info.params.end(),
                  [](const ParamInfo& param) { return param.default_text.empty(); })) {
    return std::nullopt;
  }
  Result<WhatIf> what_if = check_what_if({std::string(info.name), {}});
  FORETRACE_CHECK(what_if.ok());  // defaults are checked by the tests of the catalogue
  return *std::move(what_if);
}

Result<Ranking> rank_all(const Session& session, const RankHow& how) {
  const RankBy by = how.by;
  Keeper keeper(how);
  const MemoryModel& memory = session.memory_model();
  if (by == RankBy::memory && !memory.is_known()) {
    return Error{ErrorCode::missing_cost,
                 "order by memory: the trace records neither device memory nor tensor shapes, "
                 "expected one recorded with profile_memory=True (or record_shapes=True)"};
  }
  if (by == RankBy::time && memory.is_known()) {
    FORETRACE_TRY(expect_device_work(session.graph(), "ranking"));
  }
  const auto all = what_ifs::all();
  std::vector<Tried> tried(all.size());
  for_each_index(all.size(), [&](std::size_t i) {
    tried[i] = try_alone(*all[i], session, how.examples, keeper);
  });
  Ranking ranking;
  ranking.by = by;
  ranking.memory = session.need();
  for (Tried& one : tried) {
    if (auto* const row = std::get_if<Ranked>(&one)) {
      ranking.rows.push_back(*row);
    } else {
      ranking.left_out.push_back(std::get<Unranked>(std::move(one)));
    }
  }
  std::stable_sort(ranking.rows.begin(), ranking.rows.end(),
                   [by](const Ranked& a, const Ranked& b) { return ranks_before(a, b, by); });
  return ranking;
}

}  // namespace foretrace
