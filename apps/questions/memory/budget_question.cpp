// What is asked of a memory budget, as the user says it and as it is counted.
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/questions/memory/memory_budget.h"
#include "apps/session/memory/memory_fits.h"
#include "apps/session/replay/memory_need.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace {

Result<BudgetSize> parse_budget_size(std::string_view text) {
  BudgetSize size;
  if (text.ends_with('%')) {
    std::string_view number = text.substr(0, text.size() - 1);
    while (number.ends_with(' ')) number.remove_suffix(1);
    const Result<double> percent = parse_quantity(number, ParamType::number);
    if (!percent.ok() || !(*percent > 0 && *percent <= 1000)) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("memory budget: got {}, expected a share of the peak from above 0 "
                               "to 1000 %",
                               in_quotes(text))};
    }
    size.share = *percent / 100;
    return size;
  }
  FORETRACE_TRY(double bytes, parse_quantity(text, ParamType::bytes).with_context("memory budget"));
  if (!(bytes >= 1 && bytes <= 1e17)) {
    return Error{
        ErrorCode::bad_usage,
        fmt::format("memory budget: got {}, expected from 1 B to 100 PB", in_quotes(text))};
  }
  size.bytes = to_whole(bytes);
  return size;
}

Result<WhenFullChoice> parse_when_full(std::string_view text) {
  WhenFullChoice choice;
  FORETRACE_TRY(WhatIfSpec spec, parse_what_if(text).with_context("when full"));
  choice.name = spec.name;
  if (choice.name == "block" || choice.name == "fail") {
    if (spec.parameters.empty()) return choice;
    return Error{ErrorCode::bad_usage, fmt::format("when full: '{}' has no parameters, got '{}'",
                                                   choice.name, spec.parameters.front().first)};
  }
  std::vector<std::string_view> names = {"block", "fail"};
  for (const PolicyInfo* const policy : policies::all()) {
    names.push_back(policy->name);
    if (policy->name == choice.name) choice.policy = policy;
  }
  if (choice.policy == nullptr) {
    return Error{ErrorCode::not_found,
                 fmt::format("when full: unknown policy '{}', expected block, fail or one of "
                             "foretrace list policies{}",
                             choice.name, did_you_mean(choice.name, names))};
  }
  FORETRACE_TRY(ParamValues values,
                ParamValues::parse(choice.name, choice.policy->params, spec.parameters));
  choice.parameters = values.texts();
  choice.values = std::move(values);
  return choice;
}

Status count_overhead(const Session& session, BudgetQuestion& question) {
  const Recording& recording = session.recording();
  FORETRACE_TRY(check_tensors(recording, "memory budget"));
  const std::optional<MemoryNeed>& need = session.need();
  if (need && question.size.share == 0) {
    const MemoryTarget target = target_of_size(question.size.bytes, recording.accelerator);
    question.overhead_bytes = target.needed_bytes(*need) - need->live_bytes;
    if (question.size.bytes <= question.overhead_bytes) {
      const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
      return Error{ErrorCode::no_match,
                   fmt::format("memory budget: {:.1f} MiB do not fit: the driver's context and "
                               "reserved memory beyond live blocks need {:.1f} MiB",
                               mib(question.size.bytes), mib(question.overhead_bytes))};
    }
  }
  return ok_status();
}

}  // namespace foretrace
