#include "trace/collect/settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <sys/stat.h>
#include <unistd.h>

namespace foretrace::trace::collector {
namespace {

constexpr const char* file_variable = "FORETRACE_COLLECT_FILE";
constexpr const char* steps_variable = "FORETRACE_COLLECT_STEPS";
constexpr const char* memory_variable = "FORETRACE_COLLECT_MEMORY";
constexpr const char* ranges_variable = "FORETRACE_COLLECT_NVTX";
constexpr const char* host_variable = "FORETRACE_COLLECT_HOST";
constexpr const char* command_variable = "FORETRACE_COLLECT_COMMAND";
constexpr const char* limit_variable = "FORETRACE_COLLECT_LIMIT";
constexpr const char* stderr_variable = "FORETRACE_COLLECT_STDERR";

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
  // All of them, also those that are off: a collect around this one may have set others.
  return {{file_variable, settings.file},
          {host_variable, settings.host},
          {steps_variable, settings.steps ? std::to_string(settings.steps->first) + ":" +
                                                std::to_string(settings.steps->last)
                                          : ""},
          {memory_variable, settings.memory ? "1" : ""},
          {ranges_variable, settings.ranges ? "1" : ""},
          {command_variable, settings.command ? "1" : ""},
          {limit_variable, std::to_string(settings.most_bytes)},
          {stderr_variable, settings.stderr_file},
          {first_library_variable, settings.goes_first}};
}

Settings settings_from(const std::function<const char*(const char*)>& get) {
  const auto text = [&get](const char* name) {
    const char* const value = get(name);
    return std::string(value == nullptr ? "" : value);
  };
  Settings settings;
  settings.file = text(file_variable);
  settings.host = text(host_variable);
  settings.steps = step_range_of(text(steps_variable));
  settings.memory = text(memory_variable) == "1";
  settings.ranges = text(ranges_variable) == "1";
  settings.command = text(command_variable) == "1";
  settings.most_bytes = static_cast<std::uint64_t>(count_of(text(limit_variable)).value_or(0));
  settings.stderr_file = text(stderr_variable);
  settings.goes_first = text(first_library_variable);
  return settings;
}

namespace {

std::string name_of_process(std::string_view begin, std::string_view host, std::int64_t process) {
  std::string name(begin);
  name += host.empty() ? "" : "." + std::string(host);
  return name + "." + std::to_string(process);
}

}  // namespace

std::string file_of_process(std::string_view begin, std::string_view host, std::int64_t process,
                            int attempt) {
  return name_of_process(begin, host, process) +
         (attempt > 1 ? "-" + std::to_string(attempt) : "") + ".ftr";
}

std::string note_of_process(std::string_view begin, std::string_view host, std::int64_t process) {
  return name_of_process(begin, host, process) + ".note";
}

std::string host_name() {
  constexpr std::size_t longest = 63;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) {
    return {};
  }
  std::string host;
  for (const char c : std::string_view(name.data())) {
    if (c == '.' || host.size() == longest) break;
    host += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  }
  return host;
}

std::string file_identity(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0
             ? std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino)
             : std::string();
}

bool names_step(std::string_view range) {
  constexpr std::array<std::string_view, 4> words = {"profilerstep", "step", "iteration", "iter"};
  std::string lower(range.substr(0, 16));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    if (!lower.starts_with(word)) return false;
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
  if (!counts(range)) return Change::none;
  const std::int64_t step = next_++;
  if (step == range_.first) return Change::start;
  if (step > range_.first && step <= range_.last) return Change::step;
  if (step == range_.last + 1) return Change::stop;
  return step == range_.last + 2 ? Change::off : Change::none;
}

std::pair<std::int64_t, StepWindow::Mark> StepWindow::seen() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {next_, mark_};
}

}  // namespace foretrace::trace::collector
