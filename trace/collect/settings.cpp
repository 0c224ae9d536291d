#include "trace/collect/settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace foretrace::trace::collector {
namespace {

constexpr const char* file_variable = "FORETRACE_COLLECT_FILE";
constexpr const char* steps_variable = "FORETRACE_COLLECT_STEPS";
constexpr const char* memory_variable = "FORETRACE_COLLECT_MEMORY";
constexpr const char* ranges_variable = "FORETRACE_COLLECT_NVTX";

std::optional<std::int64_t> count_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() && value >= 0 && !text.empty()
             ? std::optional(value)
             : std::nullopt;
}

}  // namespace

std::optional<StepRange> step_range_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto first = count_of(text.substr(0, colon));
  const auto last = colon == std::string_view::npos ? first : count_of(text.substr(colon + 1));
  return first && last && *first <= *last ? std::optional(StepRange{*first, *last}) : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> variables_of(const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> variables = {{file_variable, settings.file}};
  if (settings.steps) {
    variables.emplace_back(steps_variable, std::to_string(settings.steps->first) + ":" +
                                               std::to_string(settings.steps->last));
  }
  if (settings.memory) {
    variables.emplace_back(memory_variable, "1");
  }
  if (settings.ranges) {
    variables.emplace_back(ranges_variable, "1");
  }
  return variables;
}

Settings settings_from(const std::function<const char*(const char*)>& get) {
  const auto text = [&get](const char* name) {
    const char* const value = get(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  Settings settings;
  settings.file = std::string(text(file_variable));
  settings.steps = step_range_of(text(steps_variable));
  settings.memory = text(memory_variable) == "1";
  settings.ranges = text(ranges_variable) == "1";
  return settings;
}

std::string file_of_process(std::string_view pattern, std::int64_t process) {
  const std::size_t mark = pattern.rfind("%p");
  if (mark == std::string_view::npos) {
    return std::string(pattern);
  }
  return std::string(pattern.substr(0, mark)) + std::to_string(process) +
         std::string(pattern.substr(mark + 2));
}

bool names_step(std::string_view range) {
  constexpr std::array<std::string_view, 4> words = {"profilerstep", "step", "iteration", "iter"};
  std::string lower(range.substr(0, 16));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    if (!lower.starts_with(word)) {
      return false;
    }
    const std::size_t digits = lower.find_first_not_of("#_ -:", word.size());
    return digits == std::string::npos
               ? lower.size() == word.size()
               : std::isdigit(static_cast<unsigned char>(lower[digits])) != 0;
  });
}

bool names_update(std::string_view range) {
  constexpr std::string_view word = "optimizer.step";
  std::string lower(range.substr(0, word.size()));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return static_cast<char>(c == '_' ? '.' : std::tolower(c));
  });
  return lower == word;
}

bool StepWindow::counts(std::string_view range) {
  // emit_nvtx adds ", seq = 12" and the like, which differ from one to the next.
  const std::string_view name = range.substr(0, range.find(','));
  const bool update = names_update(range);
  if (mark_ == Mark::none && (update || names_step(range))) {
    mark_ = update ? Mark::updates : Mark::steps;
    optimizer_ = update ? name : std::string_view();
  }
  return mark_ == Mark::steps ? !update && names_step(range)
                              : mark_ == Mark::updates && name == optimizer_;
}

StepWindow::Change StepWindow::range_began(std::string_view range) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!counts(range)) {
    return Change::none;
  }
  const std::int64_t step = next_++;
  if (step == range_.first) {
    return Change::start;
  }
  return step == range_.last + 1 ? Change::stop : Change::none;
}

std::pair<std::int64_t, StepWindow::Mark> StepWindow::seen() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {next_, mark_};
}

}  // namespace foretrace::trace::collector
