// Which step a user asks for, and what is said where there is none.
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/result/steps/step_breakdown.h"

namespace foretrace {

Result<StepChoice> parse_step_choice(std::string_view text) {
  if (text == "median") {
    return StepChoice{};
  }
  if (text == "all") {
    return StepChoice{StepChoice::Kind::all, 0};
  }
  StepChoice choice{StepChoice::Kind::number, 0};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, choice.number);
  if (error != std::errc() || stop != end) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("step: got '{}', expected median, all or a step number", text)};
  }
  return choice;
}

Result<StepAnswer> answer_of(const StepTimes& times, const StepChoice& choice) {
  if (const std::optional<StepAnswer> answer = find_answer(times, choice)) return *answer;
  if (times.host_ns.empty()) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("step {}: the trace has no steps", choice.number)};
  }
  return Error{ErrorCode::bad_usage, fmt::format("step {}: the trace has the steps {}",
                                                 choice.number, fmt::join(times.numbers, ", "))};
}

}  // namespace foretrace
