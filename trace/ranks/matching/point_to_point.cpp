#include "trace/ranks/matching/point_to_point.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <tuple>

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

/// The readings of a channel that may be right: where recorded numbers agree first, then the
/// longest first. Each is looked at only when it is asked for. `offset_ns` is added to the times of
/// receives.
class Readings {
 public:
  Readings(const Channel& channel, std::int64_t offset_ns, std::uint64_t& compared)
      : sends_(channel.sends),
        receives_(channel.receives),
        offset_ns_(offset_ns),
        compared_(compared) {
    const auto most = static_cast<std::int64_t>(ranks::most_message_shifts);
    const std::int64_t from = std::max(-most, 1 - static_cast<std::int64_t>(sends_.size()));
    const std::int64_t to = std::min(most, static_cast<std::int64_t>(receives_.size()) - 1);
    for (std::int64_t shift = from; shift <= to; ++shift) {
      Reading reading{.shift = shift, .pairs = pairs_at(shift)};
      reading.numbers_agree = numbers_agree(reading);
      if (overlaps(reading)) {
        list_.push_back({reading});
      }
    }
    std::stable_sort(list_.begin(), list_.end(), [](const Entry& a, const Entry& b) {
      return std::tuple(!a.reading.numbers_agree, b.reading.pairs) <
             std::tuple(!b.reading.numbers_agree, a.reading.pairs);
    });
    for (const Entry& entry : list_) {
      most_pairs_ = std::max(most_pairs_, entry.reading.pairs);
    }
  }

  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] std::size_t most_pairs() const { return most_pairs_; }
  /// Its shift, pairs and numbers alone.
  [[nodiscard]] const Reading& brief(std::size_t i) const { return list_[i].reading; }
  /// Null if its messages do not look alike.
  [[nodiscard]] const Reading* at(std::size_t i) {
    Entry& entry = list_[i];
    if (!entry.is_looked_at) {
      entry.is_looked_at = true;
      entry.is_alike = look_at(entry.reading);
    }
    return entry.is_alike ? &entry.reading : nullptr;
  }

  [[nodiscard]] PeerAlignment::Pairs pairs(std::int64_t shift) const {
    PeerAlignment::Pairs list;
    const std::size_t first = first_send(shift);
    for (std::size_t i = first; i < first + pairs_at(shift); ++i) {
      list.emplace_back(static_cast<std::uint32_t>(i),
                        static_cast<std::uint32_t>(static_cast<std::int64_t>(i) + shift));
    }
    return list;
  }

 private:
  struct Entry {
    Reading reading;
    bool is_looked_at = false;
    bool is_alike = false;
  };

  static std::size_t first_send(std::int64_t shift) {
    return static_cast<std::size_t>(std::max<std::int64_t>(0, -shift));
  }
  [[nodiscard]] const MessageEnd& receive_of(std::size_t send, std::int64_t shift) const {
    return receives_[static_cast<std::size_t>(static_cast<std::int64_t>(send) + shift)];
  }
  [[nodiscard]] std::size_t pairs_at(std::int64_t shift) const {
    const auto first = static_cast<std::size_t>(std::max<std::int64_t>(0, shift));
    return std::min(sends_.size() - first_send(shift), receives_.size() - first);
  }

  [[nodiscard]] bool numbers_agree(const Reading& reading) {
    const std::size_t first = first_send(reading.shift);
    for (std::size_t i = first; i < first + reading.pairs; ++i) {
      ++compared_;
      const std::int64_t number = sends_[i].sequence;
      if (number < 0 || number != receive_of(i, reading.shift).sequence) return false;
    }
    return true;
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

  /// Fills in the times; false if its messages do not look alike.
  bool look_at(Reading& reading) {
    std::size_t alike = 0;
    std::vector<std::int64_t> transfers;
    const std::size_t first = first_send(reading.shift);
    for (std::size_t i = first; i < first + reading.pairs; ++i) {
      const MessageEnd& send = sends_[i];
      const MessageEnd& receive = receive_of(i, reading.shift);
      const bool sized = send.bytes >= 0 && receive.bytes >= 0;
      alike += !sized || send.bytes == receive.bytes ? 1 : 0;
      const std::int64_t end = receive.end_ns + offset_ns_;
      reading.lack_ns = std::max(reading.lack_ns, send.end_ns - end);
      transfers.push_back(end - std::max(send.start_ns, receive.start_ns + offset_ns_));
    }
    compared_ += reading.pairs;
    reading.transfer_ns = upper_median(std::move(transfers));
    return static_cast<double>(alike) >= ranks::alike_share * static_cast<double>(reading.pairs);
  }

  const std::vector<MessageEnd>& sends_;
  const std::vector<MessageEnd>& receives_;
  std::int64_t offset_ns_;
  std::uint64_t& compared_;
  std::vector<Entry> list_;
  std::size_t most_pairs_ = 0;
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
    if (low <= 0 && high >= 0) return 0;
    return is_tight() ? low + (high - low) / 2 : std::clamp<std::int64_t>(0, low, high);
  }
  /// Nothing better is left among those that are no longer.
  [[nodiscard]] bool fits_well() const { return back ? is_tight() : there.lack_ns <= slack(); }
  [[nodiscard]] auto key() const {
    return std::tuple(!numbers_agree(), !fits_well(), -static_cast<std::int64_t>(pairs()),
                      std::abs(offset()), std::abs(there.transfer_ns), std::abs(there.shift));
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

/// The best joint reading of a channel and, if there is one, of its way back.
class Search {
 public:
  Search(Readings& there, Readings* back, bool clocks_are_known)
      : there_(there), back_(back), clocks_are_known_(clocks_are_known) {}

  std::optional<Joint> run() {
    const std::size_t most_back = back_ != nullptr ? back_->most_pairs() : 0;
    for (std::size_t i = 0; i < there_.size(); ++i) {
      const Reading& brief = there_.brief(i);
      // Numbers of the way back may disagree; then this one's do not count.
      if (is_worse(brief.numbers_agree, brief.pairs + most_back)) continue;
      const Reading* way = there_.at(i);
      has_alike_ = has_alike_ || way != nullptr;
      if (way != nullptr) {
        back_ == nullptr ? offer(joint_of(*way, nullptr)) : join(*way);
      }
    }
    return best_;
  }
  [[nodiscard]] bool has_alike() const { return has_alike_; }

 private:
  void join(const Reading& way) {
    for (std::size_t i = 0; i < back_->size(); ++i) {
      const Reading& brief = back_->brief(i);
      if (!is_worse(way.numbers_agree && brief.numbers_agree, way.pairs + brief.pairs)) {
        if (const Reading* back = back_->at(i)) {
          offer(joint_of(way, back));
        }
      }
    }
  }

  /// Whether no joint reading of so many pairs can be better than the best, whatever its times are.
  [[nodiscard]] bool is_worse(bool numbers_agree, std::size_t pairs) const {
    if (!best_ || !best_->fits_well()) return false;
    return best_->numbers_agree() == numbers_agree ? pairs < best_->pairs()
                                                   : best_->numbers_agree();
  }

  void offer(const Joint& joint) {
    const bool fits = joint.is_possible() &&
                      (!clocks_are_known_ || std::abs(joint.offset()) < ranks::largest_spread_ns);
    if (fits && (!best_ || joint.key() < best_->key())) {
      best_ = joint;
    }
  }

  Readings& there_;
  Readings* back_;
  bool clocks_are_known_;
  bool has_alike_ = false;
  std::optional<Joint> best_;
};

bool has_any(Readings& readings) {
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (readings.at(i) != nullptr) return true;
  }
  return false;
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
  PeerAlignment result;
  Readings there(*pair.there, target_offset_ns, result.compared);
  std::optional<Readings> back;
  if (pair.back != nullptr && pair.back->has_both()) {
    back.emplace(*pair.back, -target_offset_ns, result.compared);
  }
  Search search(there, back && has_any(*back) ? &*back : nullptr, clocks_are_known);
  const std::optional<Joint> best = search.run();
  if (!best) {
    result.refused = search.has_alike() ? "messages would be received before they are sent"
                                        : "sends and receives do not look alike";
    return result;
  }
  result.method = best->numbers_agree() ? MatchMethod::sequence : MatchMethod::order;
  result.there = there.pairs(best->there.shift);
  if (best->back) {
    result.back = back->pairs(best->back->shift);
    result.is_bounded = true;
    result.offset_ns = best->offset();
    result.spread_ns = std::max<std::int64_t>(1, std::abs(best->width()) / 2);
  }
  return result;
}

}  // namespace foretrace::trace
