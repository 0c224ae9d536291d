#include "trace/annotate/device_twins.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

namespace foretrace::trace {
namespace {

/// Work is equal if it does the same on the same amount of data.
struct Work {
  NameId name{};
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::int64_t bytes = -1;

  [[nodiscard]] bool has_shape() const { return grid[0] != 0; }
};

Work work_of(const EventTable& events, EventId event) {
  Work work{.name = events.name[index(event)]};
  const std::size_t row = index(events.descriptor[index(event)]);
  if (row < events.descriptors.size()) {
    work.grid = events.descriptors[row].grid;
    work.block = events.descriptors[row].block;
    work.bytes = events.descriptors[row].bytes;
  }
  return work;
}

/// ROCm records no grid of work whose launch it did not see: then the name decides.
bool is_equal(const Work& a, const Work& b) {
  if (a.name != b.name) return false;
  if (a.has_shape() && b.has_shape() && (a.grid != b.grid || a.block != b.block)) return false;
  return a.bytes < 0 || b.bytes < 0 || a.bytes == b.bytes;
}

/// (rank, name, grid, block, bytes)
using WorkKey = std::tuple<std::int32_t, NameId, std::array<std::int32_t, 3>,
                           std::array<std::int32_t, 3>, std::int64_t>;

/// All that is known of equal work in a rank.
struct Agreement {
  Phase phase = Phase::unknown;
  std::uint32_t layer = 0;
  bool is_known = false;
  bool has_one_phase = true;
};

void take(Agreement& agreement, Phase phase, std::uint32_t layer) {
  if (!agreement.is_known) {
    agreement = {.phase = phase, .layer = layer, .is_known = true};
    return;
  }
  if (agreement.phase != phase) agreement.has_one_phase = false;
  if (agreement.layer != layer) agreement.layer = 0;
}

class TwinPass {
 public:
  TwinPass(Attribution& attribution, const std::vector<EventId>& launches)
      : attribution_(attribution),
        events_(attribution.events),
        result_(attribution.result),
        launches_(launches) {}

  void run() {
    if (!has_open()) return;
    sort_streams();
    for_each_stream(&TwinPass::repeat_period);
    match_equal_work();
    if (attribution_.use.has(PhaseEvidence::context)) for_each_stream(&TwinPass::fill_between);
  }

 private:
  [[nodiscard]] bool is_open(EventId event) const {
    return launches_[index(event)] == none<EventId> && events_.is_device_event(event) &&
           result_.phase[index(event)] == Phase::unknown;
  }

  [[nodiscard]] bool has_open() const {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (is_open(make_id<EventId>(i))) return true;
    }
    return false;
  }

  void sort_streams() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_.is_device_event(make_id<EventId>(i))) order_.push_back(make_id<EventId>(i));
    }
    std::sort(order_.begin(), order_.end(), [this](EventId a, EventId b) {
      return std::tuple(events_.track[index(a)], events_.start_ns[index(a)], a) <
             std::tuple(events_.track[index(b)], events_.start_ns[index(b)], b);
    });
  }

  void for_each_stream(void (TwinPass::*pass)(std::span<const EventId>)) {
    for (auto begin = order_.begin(); begin != order_.end();) {
      const TrackId track = events_.track[index(*begin)];
      const auto end = std::find_if(begin, order_.end(), [this, track](EventId event) {
        return events_.track[index(event)] != track;
      });
      (this->*pass)({begin, end});
      begin = end;
    }
  }

  void give(EventId event, Phase phase, PhaseEvidence evidence) {
    result_.phase[index(event)] = phase;
    result_.evidence[index(event)] = evidence;
  }

  /// Work of a training loop repeats: finds by how many places, and copies from there.
  void repeat_period(std::span<const EventId> stream) {
    const auto first_launched = std::find_if(stream.begin(), stream.end(), [this](EventId event) {
      return launches_[index(event)] != none<EventId>;
    });
    const auto before = static_cast<std::size_t>(first_launched - stream.begin());
    if (before == 0 || before == stream.size()) return;
    std::vector<Work> works;
    works.reserve(stream.size());
    for (const EventId event : stream) works.push_back(work_of(events_, event));
    const std::size_t period = find_period(works, before);
    if (period == 0) return;
    for (std::size_t i = before; i-- > 0;) {
      const std::size_t twin = i + period;
      if (twin >= stream.size() || !is_open(stream[i]) || !is_equal(works[i], works[twin])) {
        continue;
      }
      const Phase phase = result_.phase[index(stream[twin])];
      if (phase == Phase::unknown) continue;
      give(stream[i], phase, PhaseEvidence::twin);
      result_.layer[index(stream[i])] = result_.layer[index(stream[twin])];
    }
  }

  /// The shift by which the work before the trace repeats what the trace holds; 0 if none does.
  static std::size_t find_period(const std::vector<Work>& works, std::size_t before) {
    constexpr std::size_t fewest = 16;           // fewer equal works in a row occur by chance
    constexpr std::size_t most_compared = 2048;  // bounds the time
    constexpr std::size_t most_tried = 2048;
    const std::size_t compared = std::min(before, most_compared);
    const std::size_t most_misses = compared / 10;
    std::size_t best = 0;
    std::size_t best_score = std::max(fewest, compared - most_misses) - 1;
    std::size_t tried = 0;
    for (std::size_t end = before; end < works.size() && tried < most_tried; ++end) {
      if (!is_equal(works[before - 1], works[end])) continue;
      ++tried;
      std::size_t misses = 0;
      for (std::size_t k = 1; k < compared && misses <= most_misses; ++k) {
        if (!is_equal(works[before - 1 - k], works[end - k])) ++misses;
      }
      // Of equal ones the longest: a row of like layers repeats at less than a step.
      if (misses <= most_misses && compared - misses >= best_score) {
        best_score = compared - misses;
        best = end - (before - 1);
      }
    }
    return best_score >= fewest ? best : 0;
  }

  [[nodiscard]] WorkKey key_of(EventId event, bool with_shape) const {
    const Work work = work_of(events_, event);
    const std::int32_t rank = events_.tracks[index(events_.track[index(event)])].rank;
    if (!with_shape) return {rank, work.name, {}, {}, work.bytes};
    return {rank, work.name, work.grid, work.block, work.bytes};
  }

  void match_equal_work() {
    std::map<WorkKey, Agreement> agreements;
    for (const EventId event : order_) {
      if (is_open(event)) agreements.try_emplace(key_of(event, true));
    }
    for (const EventId event : order_) {
      if (launches_[index(event)] == none<EventId>) continue;
      const bool has_shape = work_of(events_, event).has_shape();
      for (const bool with_shape : {false, true}) {
        const auto place = agreements.find(key_of(event, with_shape));
        if (place == agreements.end() || (with_shape && !has_shape)) continue;
        take(place->second, result_.phase[index(event)], result_.layer[index(event)]);
      }
    }
    for (const EventId event : order_) {
      if (!is_open(event)) continue;
      const Agreement& agreement = agreements.at(key_of(event, true));
      if (!agreement.is_known || !agreement.has_one_phase) continue;
      if (agreement.phase == Phase::unknown) continue;
      give(event, agreement.phase, PhaseEvidence::twin);
      result_.layer[index(event)] = agreement.layer;
    }
  }

  /// Streams run in order, so work between two of one phase is of that phase.
  void fill_between(std::span<const EventId> stream) {
    Phase before = Phase::unknown;
    std::vector<EventId> waiting;
    for (const EventId event : stream) {
      if (is_open(event)) {
        waiting.push_back(event);
        continue;
      }
      const Phase phase = result_.phase[index(event)];
      if (phase != Phase::unknown && phase == before) {
        for (const EventId e : waiting) give(e, phase, PhaseEvidence::context);
      }
      waiting.clear();
      before = phase;
    }
  }

  Attribution& attribution_;
  const EventTable& events_;
  Annotation& result_;
  const std::vector<EventId>& launches_;
  std::vector<EventId> order_;  // device events by (track, start)
};

}  // namespace

void attribute_twins(Attribution& attribution, const std::vector<EventId>& launches) {
  TwinPass(attribution, launches).run();
}

}  // namespace foretrace::trace
