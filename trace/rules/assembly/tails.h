// The last operations of all streams as of a position in program order that moves on: which ended
// latest, without a look at every stream.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace::rules {

class Tails {
 public:
  explicit Tails(const Assembly& assembly)
      : assembly_(assembly), tail_(assembly.streams.size(), nothing) {}

  /// To what stands before a position; never back.
  void advance_to(std::uint32_t position);

  /// The stream whose tail ended latest in (from, until], the first one of equals; or nothing.
  [[nodiscard]] std::uint32_t ended_within(std::int64_t from, std::int64_t until) const;
  /// Latest end of a tail, or `none` if no stream has one.
  [[nodiscard]] std::int64_t latest_end(std::int64_t none) const;
  /// Streams whose tail ended after `time`, the latest first.
  [[nodiscard]] std::vector<std::uint32_t> ended_after(std::int64_t time) const;
  /// Up to `most` streams whose tail ended no later than `time`, the latest first.
  [[nodiscard]] std::vector<std::uint32_t> ended_by(std::int64_t time, std::size_t most) const;

 private:
  /// End of a tail, and its stream counted down, so that the first stream is the last of equals.
  using Row = std::pair<std::int64_t, std::uint32_t>;
  [[nodiscard]] Row row_of(std::uint32_t op) const {
    return {assembly_.ops[op].end_ns, nothing - assembly_.ops[op].stream};
  }

  const Assembly& assembly_;
  std::uint32_t position_ = 0;
  std::vector<std::uint32_t> tail_;  // per stream
  std::set<Row> by_end_;
};

/// All operations of the streams by their ends.
class Ends {
 public:
  explicit Ends(const Assembly& assembly);

  /// Of those that stand before `position` and ended in [from, until] the one that ended last, of
  /// equal ones that of the first stream; or nothing.
  [[nodiscard]] std::uint32_t last_within(std::int64_t from, std::int64_t until,
                                          std::uint32_t position) const;

 private:
  const Assembly& assembly_;
  std::vector<std::uint32_t> ops_;
};

}  // namespace foretrace::trace::rules
