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

/// Names a library that starts before ours does.
inline constexpr const char* first_library_variable = "FORETRACE_COLLECT_FIRST";

/// Steps [first, last] to record, counted from 0.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct Settings {
  std::string file;  ///< what names of recordings begin with; empty: nothing is recorded
  std::string host;  ///< where collect runs: recordings of other hosts carry theirs in the name
  std::optional<StepRange> steps;
  bool memory = false;
  bool ranges = false;           ///< of NVTX
  bool command = false;          ///< keep the command line, which may hold secrets
  std::uint64_t most_bytes = 0;  ///< per recording; 0: no limit
  std::string stderr_file;       ///< what collect has as stderr, as `file_identity` writes it
  std::string goes_first;        ///< a library that was to be put into the program before ours
};

/// "2:5", "3" (one step); empty if it is neither, or ends before it begins.
[[nodiscard]] std::optional<StepRange> step_range_of(std::string_view text);

/// Variables and their values that carry the settings.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> variables_of(
    const Settings& settings);
/// The settings that these variables carry; `get` gives null for one that is not set.
[[nodiscard]] Settings settings_from(const std::function<const char*(const char*)>& get);

/// The recording of one process: "run.1f2e.4711.ftr", and with a host "run.1f2e.node7.4711.ftr".
/// `attempt` above 1 is part of the name too: numbers of processes come back.
[[nodiscard]] std::string file_of_process(std::string_view begin, std::string_view host,
                                          std::int64_t process, int attempt = 1);
/// Where a process says why it was not recorded.
[[nodiscard]] std::string note_of_process(std::string_view begin, std::string_view host,
                                          std::int64_t process);

/// The first part of this machine's name, made of letters, digits and dashes.
[[nodiscard]] std::string host_name();

/// Device and inode of an open file, "12:34"; empty if it is none.
[[nodiscard]] std::string file_identity(int descriptor);

/// True for the name of a range that stands for a step: "ProfilerStep#3", "step 3", "Iteration_3".
[[nodiscard]] bool names_step(std::string_view range);

/// True for the name of a range around an update of the parameters: "Optimizer.step#SGD.step".
[[nodiscard]] bool names_update(std::string_view range);

/// Says when recording starts and stops and when its steps begin, from the ranges that begin. The
/// first range that stands for a step or an update decides which of the two is counted; of
/// optimizers of several kinds the first one counts. A step by updates lasts from the begin of one
/// update to that of the next. Any thread.
class StepWindow {
 public:
  /// `start` and `step` begin a step to record, `stop` is the end of the last one. Recording goes
  /// on for one step more, up to `off`: CUPTI gives wrong ends to device work that is under way
  /// when it is switched off (kernels of graphs, seen on an H100 with CUPTI 13.0).
  enum class Change : std::uint8_t { none, start, step, stop, off };
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
