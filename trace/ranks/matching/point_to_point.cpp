#include "trace/ranks/matching/point_to_point.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "sim/core/statistics.h"
#include "trace/ranks/matching/constants.h"

namespace foretrace::trace {
namespace {

constexpr std::int64_t unbounded_ns = std::int64_t{1} << 61;

/// One way to lay receives beside sends: send i and receive i + shift.
struct Reading {
  std::int64_t shift = 0;
  std::size_t pairs = 0;
  bool numbers_agree = false;
  /// How much earlier than its send the earliest receive ends, clocks as they are: what the
  /// receiver's clock lacks at least.
  std::int64_t lack_ns = -unbounded_ns;
  /// From the arrival of both to the end of the receive, as a median.
  std::int64_t transfer_ns = 0;
};

/// Every reading of a channel that may be right. `offset_ns` is added to the times of receives.
class Readings {
 public:
  Readings(const Channel& channel, std::int64_t offset_ns)
      : sends_(channel.sends), receives_(channel.receives), offset_ns_(offset_ns) {}

  [[nodiscard]] std::vector<Reading> all() const {
    const std::int64_t most = static_cast<std::int64_t>(ranks::most_message_shifts);
    const std::int64_t from = std::max(-most, 1 - static_cast<std::int64_t>(sends_.size()));
    const std::int64_t to = std::min(most, static_cast<std::int64_t>(receives_.size()) - 1);
    std::vector<Reading> list;
    for (std::int64_t shift = from; shift <= to; ++shift) {
      if (const auto reading = at(shift)) {
        list.push_back(*reading);
      }
    }
    return list;
  }

  [[nodiscard]] PeerAlignment::Pairs pairs(std::int64_t shift) const {
    PeerAlignment::Pairs list;
    for (auto i = static_cast<std::size_t>(std::max<std::int64_t>(0, -shift)); i < sends_.size();
         ++i) {
      const auto j = static_cast<std::size_t>(static_cast<std::int64_t>(i) + shift);
      if (j >= receives_.size()) {
        break;
      }
      list.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
    }
    return list;
  }

 private:
  [[nodiscard]] std::optional<Reading> at(std::int64_t shift) const {
    const PeerAlignment::Pairs list = pairs(shift);
    Reading reading{.shift = shift, .pairs = list.size(), .numbers_agree = true};
    std::size_t alike = 0;
    std::vector<std::int64_t> transfers;
    for (const auto& [i, j] : list) {
      const MessageEnd& send = sends_[i];
      const MessageEnd& receive = receives_[j];
      const bool sized = send.bytes >= 0 && receive.bytes >= 0;
      alike += !sized || send.bytes == receive.bytes ? 1 : 0;
      reading.numbers_agree =
          reading.numbers_agree && send.sequence >= 0 && send.sequence == receive.sequence;
      const std::int64_t end = receive.end_ns + offset_ns_;
      reading.lack_ns = std::max(reading.lack_ns, send.end_ns - end);
      transfers.push_back(end - std::max(send.start_ns, receive.start_ns + offset_ns_));
    }
    if (!overlaps(reading) ||
        static_cast<double>(alike) < ranks::alike_share * static_cast<double>(list.size())) {
      return std::nullopt;
    }
    reading.transfer_ns = upper_median(std::move(transfers));
    return reading;
  }

  /// Enough of the shorter list; of a few messages everything, or numbers must tell.
  [[nodiscard]] bool overlaps(const Reading& reading) const {
    const std::size_t shorter = std::min(sends_.size(), receives_.size());
    const bool is_whole = reading.shift == 0 && sends_.size() == receives_.size();
    const double least = std::max(static_cast<double>(ranks::fewest_pairs),
                                  std::ceil(ranks::fewest_overlap * static_cast<double>(shorter)));
    return reading.pairs > 0 &&
           (is_whole || reading.numbers_agree || static_cast<double>(reading.pairs) >= least);
  }

  const std::vector<MessageEnd>& sends_;
  const std::vector<MessageEnd>& receives_;
  std::int64_t offset_ns_;
};

/// Readings of both directions and what they leave for the target's clock: low <= offset <= high.
struct Joint {
  Reading there;
  std::optional<Reading> back{};
  std::int64_t low_ns = -unbounded_ns;
  std::int64_t high_ns = unbounded_ns;

  /// Kernels of one message end in either order, this far apart.
  [[nodiscard]] static std::int64_t slack() { return ranks::smallest_spread_ns; }
  [[nodiscard]] std::int64_t width() const { return high_ns - low_ns; }
  [[nodiscard]] bool is_possible() const { return width() >= -ranks::largest_spread_ns; }
  [[nodiscard]] bool is_tight() const { return width() <= 2 * ranks::largest_spread_ns; }
  [[nodiscard]] std::size_t pairs() const { return there.pairs + (back ? back->pairs : 0); }
  [[nodiscard]] bool numbers_agree() const {
    return there.numbers_agree && (!back || back->numbers_agree);
  }
  /// 0 unless messages contradict it; else the middle of close bounds, or the nearer of two that
  /// are far apart.
  [[nodiscard]] std::int64_t offset() const {
    const auto [low, high] = std::minmax(low_ns, high_ns);
    if (low <= 0 && high >= 0) {
      return 0;
    }
    return is_tight() ? low + (high - low) / 2 : std::clamp<std::int64_t>(0, low, high);
  }
  [[nodiscard]] auto key() const {
    return std::tuple(!numbers_agree(), back ? !is_tight() : there.lack_ns > slack(),
                      -static_cast<std::int64_t>(pairs()), std::abs(offset()),
                      std::abs(there.transfer_ns), std::abs(there.shift));
  }
};

Joint joint_of(const Reading& there, const Reading* back) {
  Joint joint{.there = there};
  joint.low_ns = there.lack_ns - Joint::slack();
  if (back != nullptr) {
    joint.back = *back;
    joint.high_ns = Joint::slack() - back->lack_ns;
  }
  return joint;
}

}  // namespace

std::vector<ChannelPair> pairs_of(const Channels& channels) {
  std::vector<ChannelPair> pairs;
  std::vector<bool> taken(channels.list.size(), false);
  // There and back in one group first, then in whatever groups: a schedule may have one for each.
  for (const bool in_one_group : {true, false}) {
    for (std::size_t i = 0; i < channels.list.size(); ++i) {
      const Channel& there = channels.list[i];
      for (std::size_t j = i + 1; j < channels.list.size() && !taken[i]; ++j) {
        const Channel& back = channels.list[j];
        const bool is_back = back.source == there.target && back.target == there.source;
        if (there.has_both() && is_back && !taken[j] &&
            (!in_one_group || back.target_group == there.source_group)) {
          pairs.push_back({&there, &back});
          taken[i] = taken[j] = true;
        }
      }
    }
  }
  for (std::size_t i = 0; i < channels.list.size(); ++i) {
    if (channels.list[i].has_both() && !taken[i]) {
      pairs.push_back({&channels.list[i], nullptr});
    }
  }
  return pairs;
}

PeerAlignment align_peers(const ChannelPair& pair, std::int64_t target_offset_ns,
                          bool clocks_are_known) {
  const Readings there(*pair.there, target_offset_ns);
  const std::vector<Reading> ways = there.all();
  std::vector<Reading> returns;
  if (pair.back != nullptr && pair.back->has_both()) {
    returns = Readings(*pair.back, -target_offset_ns).all();
  }
  std::optional<Joint> best;
  const auto offer = [&](const Joint& joint) {
    const bool fits = joint.is_possible() &&
                      (!clocks_are_known || std::abs(joint.offset()) < ranks::largest_spread_ns);
    if (fits && (!best || joint.key() < best->key())) {
      best = joint;
    }
  };
  for (const Reading& way : ways) {
    for (const Reading& back : returns) {
      offer(joint_of(way, &back));
    }
    if (returns.empty()) {
      offer(joint_of(way, nullptr));
    }
  }
  PeerAlignment result;
  if (!best) {
    result.refused = ways.empty() ? "sends and receives do not look alike"
                                  : "messages would be received before they are sent";
    return result;
  }
  result.method = best->numbers_agree() ? MatchMethod::sequence : MatchMethod::order;
  result.there = there.pairs(best->there.shift);
  if (best->back) {
    result.back = Readings(*pair.back, 0).pairs(best->back->shift);
    result.is_bounded = true;
    result.offset_ns = best->offset();
    result.spread_ns = std::max<std::int64_t>(1, std::abs(best->width()) / 2);
  }
  return result;
}

}  // namespace foretrace::trace
