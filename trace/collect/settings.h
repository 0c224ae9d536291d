// What `foretrace collect` tells the library in the program, through the environment.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foretrace::trace::collector {

/// Steps [first, last] to record, counted from 0.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct Settings {
  std::string file;  ///< with "%p" where the process id goes; empty: nothing is recorded
  std::optional<StepRange> steps;
  bool memory = false;
  bool ranges = false;  ///< of NVTX
};

/// "2:5", "3" (one step); empty if it is neither, or ends before it begins.
[[nodiscard]] std::optional<StepRange> step_range_of(std::string_view text);

/// Variables and their values that carry the settings.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> variables_of(
    const Settings& settings);
/// The settings that these variables carry; `get` gives null for one that is not set.
[[nodiscard]] Settings settings_from(const std::function<const char*(const char*)>& get);

/// The file of one process.
[[nodiscard]] std::string file_of_process(std::string_view pattern, std::int64_t process);

/// True for the name of a range that stands for a step: "ProfilerStep#3", "step 3", "Iteration_3".
[[nodiscard]] bool names_step(std::string_view range);

/// True for the name of a range around an update of the parameters: "Optimizer.step#SGD.step".
[[nodiscard]] bool names_update(std::string_view range);

/// Says when recording starts and stops, from the ranges that begin. The first range that stands
/// for a step or an update decides which of the two is counted; of optimizers of several kinds the
/// first one counts. A step by updates lasts from the begin of one update to that of the next. Any
/// thread.
class StepWindow {
 public:
  enum class Change : std::uint8_t { none, start, stop };
  enum class Mark : std::uint8_t { none, steps, updates };
  explicit StepWindow(StepRange range) : range_(range) {}
  Change range_began(std::string_view range);
  /// Steps that began, and by what they were counted.
  [[nodiscard]] std::pair<std::int64_t, Mark> seen() const;

 private:
  [[nodiscard]] bool counts(std::string_view range);

  StepRange range_;
  mutable std::mutex mutex_;
  Mark mark_ = Mark::none;
  std::string optimizer_;  // its range without what follows the first comma
  std::int64_t next_ = 0;
};

}  // namespace foretrace::trace::collector
