#include "apps/questions/memory/max_batch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/questions/memory/fit.h"
#include "apps/session/what_if_stack.h"
#include "sim/core/parallel.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

// Skyline calls a fit good that predicts further batches within 5 %.
constexpr double largest_line_error = 0.05;

// As far as the what-if itself goes.
constexpr std::int64_t largest_factor = 4096;
constexpr std::int64_t largest_divisor = 1000;

class BatchSearch {
 public:
  BatchSearch(const Session& session, std::span<const WhatIf> stack, const Progress& progress)
      : session_(session), stack_(stack), progress_(progress) {
    progress_.expect(most_batch_trials);
  }

  Result<BatchAnswer> run(const MemoryTarget& target) {
    answer_.target = target;
    answer_.recorded_batch = recorded_batch(session_.recording());
    if (answer_.recorded_batch <= 0) {
      return Error{ErrorCode::missing_cost,
                   fmt::format("largest batch: unknown batch size of {}, expected forward kernels "
                               "of operators with shapes (record_shapes=True)",
                               session_.recording().path)};
    }
    FORETRACE_TRY(count_passes());
    const std::int64_t middle = std::max<std::int64_t>(2, answer_.recorded_batch);
    answer_.sampled = {middle / 2, middle, 2 * middle};
    FORETRACE_TRY(try_all(answer_.sampled));
    answer_.step_line = line_of([](const Tried& tried) { return tried.step_ns; });
    answer_.live_line = line_of([](const Tried& tried) { return tried.live_bytes; });
    needed_line_ = line_of([](const Tried& tried) { return tried.needed_bytes; });
    FORETRACE_TRY(find());
    FORETRACE_TRY(add_points());
    return std::move(answer_);
  }

 private:
  struct Tried {
    std::int64_t step_ns = 0;
    std::int64_t live_bytes = 0;
    std::int64_t needed_bytes = 0;
    bool fits = false;
  };

  /// What the stack makes of the samples of a step, at any batch.
  Status count_passes() {
    WhatIfStack changed(session_.recording());
    for (const WhatIf& what_if : in_order(stack_)) {
      FORETRACE_TRY(changed.push(what_if, Neutral::keep));
    }
    answer_.passes = std::max<std::int64_t>(1, to_whole(changed.samples().value_or(1)));
    return ok_status();
  }

  [[nodiscard]] Result<std::vector<WhatIf>> stack_at(std::int64_t batch) const {
    const double factor = static_cast<double>(batch) / static_cast<double>(answer_.recorded_batch);
    FORETRACE_TRY(WhatIf resized, check_what_if(resize_batch(factor)));
    std::vector<WhatIf> all(stack_.begin(), stack_.end());
    if (factor != 1) {
      all.push_back(std::move(resized));
    }
    return in_order(all);
  }

  [[nodiscard]] Result<Tried> tried_at(std::int64_t batch) const {
    FORETRACE_TRY(const std::vector<WhatIf> stack, stack_at(batch));
    WhatIfStack changed(session_.recording());
    for (const WhatIf& what_if : stack) {
      FORETRACE_TRY(changed.push(what_if, Neutral::keep));
    }
    FORETRACE_TRY(const Run run, simulate_run(changed.graph(), session_.options()));
    const MemoryNeed need =
        session_.memory_model().need(changed.graph(), run.timeline).value_or(MemoryNeed{});
    return Tried{run.answer.step_ns, need.live_bytes, answer_.target.needed_bytes(need),
                 answer_.target.fits(need)};
  }

  /// Those that have not been tried yet.
  Status try_all(std::span<const std::int64_t> batches) {
    std::vector<std::int64_t> fresh;
    for (const std::int64_t batch : batches) {
      if (tried_.find(batch) == tried_.end()) fresh.push_back(batch);
    }
    std::vector<Result<Tried>> results(fresh.size(), Tried{});
    for_each_index(fresh.size(), [&](std::size_t i) {
      results[i] = tried_at(fresh[i]);
      progress_.one_more();
    });
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      FORETRACE_TRY(results[i]);
      tried_[fresh[i]] = *results[i];
    }
    return ok_status();
  }

  template <typename Value>
  [[nodiscard]] BatchLine line_of(const Value& value) const {
    std::vector<std::pair<double, double>> points;
    for (const std::int64_t batch : answer_.sampled) {
      points.emplace_back(static_cast<double>(batch), static_cast<double>(value(tried_.at(batch))));
    }
    return line_through(points);
  }

  [[nodiscard]] std::int64_t most() const { return answer_.recorded_batch * largest_factor; }
  [[nodiscard]] std::int64_t least() const {
    return (answer_.recorded_batch + largest_divisor - 1) / largest_divisor;
  }

  /// Where a line reaches so many bytes, as far as batches go.
  [[nodiscard]] std::int64_t where(const BatchLine& line, std::int64_t bytes) const {
    const double batch = std::floor((static_cast<double>(bytes) - line.offset) / line.slope);
    return to_whole(std::clamp(batch, static_cast<double>(least()), static_cast<double>(most())));
  }

  [[nodiscard]] std::int64_t first_guess() const {
    return needed_line_.slope > 0 ? where(needed_line_, answer_.target.capacity_bytes)
                                  : answer_.recorded_batch;
  }

  /// Live blocks and the context are the least that a batch takes.
  [[nodiscard]] bool may_fit(const Tried& tried) const {
    return tried.live_bytes + answer_.target.context_high_bytes <= answer_.target.capacity_bytes;
  }

  Status find() {
    BatchScanProblem problem;
    problem.least = least();
    problem.most = most();
    problem.guess = first_guess();
    problem.may_guess = answer_.live_line.slope > 0
                            ? where(answer_.live_line, answer_.target.capacity_bytes -
                                                           answer_.target.context_high_bytes)
                            : answer_.recorded_batch;
    problem.try_batches =
        [this](std::span<const std::int64_t> batches) -> Result<std::vector<BatchTrial>> {
      FORETRACE_TRY(try_all(batches));
      std::vector<BatchTrial> trials;
      for (const std::int64_t batch : batches) {
        const Tried& tried = tried_.at(batch);
        trials.push_back({tried.fits, may_fit(tried)});
      }
      return trials;
    };
    FORETRACE_TRY(const BatchScan scan, scan_batches(problem));
    answer_.scan = scan;
    answer_.max_batch = scan.largest;
    answer_.is_limit_of_model = scan.largest == most();
    return ok_status();
  }

  [[nodiscard]] Result<BatchPoint> point_at(std::int64_t batch) const {
    FORETRACE_TRY(const std::vector<WhatIf> stack, stack_at(batch));
    FORETRACE_TRY(const Answer answer, session_.ask(stack));
    BatchPoint point{.batch = batch,
                     .step_ns = answer.step_ns(),
                     .low_ns = answer.low_ns(),
                     .high_ns = answer.high_ns(),
                     .samples_per_second = 0,
                     .need = answer.need().value_or(MemoryNeed{}),
                     .fits = false,
                     .provenance = answer.analysis().provenance};
    point.fits = answer_.target.fits(point.need);
    point.samples_per_second = static_cast<double>(answer_.passes * batch) * 1e9 /
                               static_cast<double>(std::max<std::int64_t>(1, point.step_ns));
    return point;
  }

  /// The batches to show: those sampled, half of the largest one, the largest and the next.
  Status add_points() {
    std::set<std::int64_t> batches(answer_.sampled.begin(), answer_.sampled.end());
    batches.insert(answer_.recorded_batch);
    if (answer_.max_batch >= 2 * least()) batches.insert(answer_.max_batch / 2);
    if (answer_.max_batch > 0) batches.insert(answer_.max_batch);
    // The largest smaller one that does not fit.
    if (!answer_.scan.gaps.empty()) batches.insert(answer_.scan.gaps.back().to);
    if (!answer_.is_limit_of_model) batches.insert(std::max(least(), answer_.max_batch + 1));
    const std::vector<std::int64_t> list(batches.begin(), batches.end());
    std::vector<Result<BatchPoint>> points(list.size(), BatchPoint{});
    for_each_index(list.size(), [&](std::size_t i) { points[i] = point_at(list[i]); });
    for (const Result<BatchPoint>& point : points) {
      FORETRACE_TRY(point);
      answer_.points.push_back(*point);
      const auto batch = static_cast<double>(point->batch);
      note_error(answer_.step_line, batch, static_cast<double>(point->step_ns));
      note_error(answer_.live_line, batch, static_cast<double>(point->need.live_bytes));
    }
    if (answer_.live_line.is_straight() && answer_.live_line.slope > 0) {
      const std::int64_t room = answer_.target.capacity_bytes - answer_.target.context_low_bytes;
      answer_.at_most_batch = std::max(answer_.max_batch, where(answer_.live_line, room));
    }
    return ok_status();
  }

  static void note_error(BatchLine& line, double batch, double value) {
    const double error = (line.slope * batch + line.offset) / std::max(1.0, value) - 1;
    line.worst_error = std::abs(error) > std::abs(line.worst_error) ? error : line.worst_error;
  }

  const Session& session_;
  std::span<const WhatIf> stack_;
  ProgressCount progress_;
  BatchAnswer answer_;
  BatchLine needed_line_;
  std::map<std::int64_t, Tried> tried_;
};

}  // namespace

bool BatchLine::is_straight() const {
  return slope >= 0 && offset >= 0 && std::abs(worst_error) <= largest_line_error;
}

BatchLine line_through(std::span<const std::pair<double, double>> points) {
  double mean_x = 0;
  double mean_y = 0;
  for (const auto& [x, y] : points) {
    mean_x += x / static_cast<double>(points.size());
    mean_y += y / static_cast<double>(points.size());
  }
  double covariance = 0;
  double variance = 0;
  for (const auto& [x, y] : points) {
    covariance += (x - mean_x) * (y - mean_y);
    variance += (x - mean_x) * (x - mean_x);
  }
  BatchLine line;
  line.slope = variance > 0 ? covariance / variance : 0;
  line.offset = mean_y - line.slope * mean_x;
  return line;
}

Result<std::optional<Accelerator>> accelerator_after(const Session& session,
                                                     std::span<const WhatIf> stack) {
  WhatIfStack changed(session.recording());
  for (const WhatIf& what_if : in_order(stack)) {
    FORETRACE_TRY(changed.push(what_if, Neutral::keep));
  }
  return changed.accelerator();
}

Result<BatchAnswer> find_max_batch(const Session& session, std::span<const WhatIf> stack,
                                   const MemoryTarget& target, const Progress& progress) {
  FORETRACE_TRY(check_tensors(session.recording(), "largest batch"));
  const bool resizes = std::any_of(stack.begin(), stack.end(), [](const WhatIf& what_if) {
    return what_if.info->batch_param != nullptr;
  });
  if (resizes) {
    return Error{ErrorCode::bad_usage,
                 "largest batch: it changes the batch itself, leave out batch_size"};
  }
  FORETRACE_TRY(const auto batch, find_what_if("batch_size"));
  for (const WhatIf& what_if : stack) {
    if (in_conflict(*what_if.info, *batch)) {
      return Error{
          ErrorCode::bad_usage,
          fmt::format("largest batch: {} uses the time of the recorded batch; leave it out",
                      what_if.info->name)};
    }
  }
  return BatchSearch(session, stack, progress).run(target);
}

Result<std::optional<WhatIf>> move_to_fit(const Session& session, std::span<const WhatIf> stack,
                                          std::string_view target) {
  const auto named = session.recording().catalogue().accelerator(target);
  const WhatIfSpec swap = swap_to(std::string(target));
  const bool is_moved = std::any_of(stack.begin(), stack.end(), [&](const WhatIf& what_if) {
    return what_if.info->name == swap.name;
  });
  if (!named.ok() || is_moved) return std::optional<WhatIf>();
  FORETRACE_TRY(const auto device, accelerator_after(session, stack));
  if (!device || device->name == (*named)->name) return std::optional<WhatIf>();
  FORETRACE_TRY(WhatIf move, check_what_if(swap));
  std::vector<WhatIf> moved(stack.begin(), stack.end());
  moved.push_back(move);
  FORETRACE_TRY(accelerator_after(session, moved)
                    .with_context(fmt::format("fit {} (a size such as 24GiB asks about memory "
                                              "alone)",
                                              target)));
  return std::optional(std::move(move));
}

}  // namespace foretrace
