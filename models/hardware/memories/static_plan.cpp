// Offsets for tensors: greedy, then checked.
#include "models/hardware/memories/static_plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace foretrace {
namespace {

constexpr std::size_t most_items = 30'000;
// What allocators and libraries align to.
constexpr std::int64_t alignment = 512;

std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Places items one by one; what is placed is kept by offset.
class Placer {
 public:
  explicit Placer(std::span<const PlanItem> items) : items_(items), offset_(items.size(), -1) {}

  std::int64_t place(const std::vector<std::uint32_t>& order) {
    placed_.clear();
    for (const std::uint32_t item : order) {
      const std::int64_t offset = tightest_gap(item);
      offset_[item] = offset;
      end_ = std::max(end_, offset + aligned(items_[item].bytes));
      const auto at = std::lower_bound(
          placed_.begin(), placed_.end(), offset,
          [&](std::uint32_t other, std::int64_t value) { return offset_[other] < value; });
      placed_.insert(at, item);
    }
    return end_;
  }
  [[nodiscard]] std::vector<std::int64_t> take() { return std::move(offset_); }

 private:
  [[nodiscard]] std::int64_t tightest_gap(std::uint32_t item) const {
    const std::int64_t size = aligned(items_[item].bytes);
    std::int64_t reached = 0;
    std::int64_t best = -1;
    std::int64_t best_gap = std::numeric_limits<std::int64_t>::max();
    for (const std::uint32_t other : placed_) {
      if (may_follow(items_[item], items_[other]) || may_follow(items_[other], items_[item])) {
        continue;
      }
      const std::int64_t gap = offset_[other] - reached;
      if (gap >= size && gap < best_gap) {
        best = reached;
        best_gap = gap;
      }
      reached = std::max(reached, offset_[other] + aligned(items_[other].bytes));
    }
    return best >= 0 ? best : reached;
  }

  std::span<const PlanItem> items_;
  std::vector<std::int64_t> offset_;
  std::vector<std::uint32_t> placed_;  // by offset
  std::int64_t end_ = 0;
};

std::int64_t most_live(std::span<const PlanItem> items) {
  std::vector<std::pair<std::size_t, std::int64_t>> steps;
  for (const PlanItem& item : items) {
    steps.emplace_back(item.from, aligned(item.bytes));
    steps.emplace_back(item.to, -aligned(item.bytes));
  }
  std::sort(steps.begin(), steps.end());  // at one place frees come first: they are negative
  std::int64_t live = 0;
  std::int64_t most = 0;
  for (const auto& [at, bytes] : steps) {
    live += bytes;
    most = std::max(most, live);
  }
  return most;
}

template <typename Key>
std::vector<std::uint32_t> ordered(std::span<const PlanItem> items, Key key) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(items[a]) > key(items[b]); });
  return order;
}

}  // namespace

bool may_follow(const PlanItem& first, const PlanItem& second) {
  if (first.to > second.from || first.needed_until == never_done) return false;
  return first.stream < second.done_before.size() &&
         second.done_before[first.stream] >= first.needed_until;
}

Result<StaticPlan> plan_statically(std::span<const PlanItem> items) {
  if (items.size() > most_items) {
    return Error{
        ErrorCode::unsupported,
        fmt::format("static plan: got {} tensors, expected at most {}", items.size(), most_items)};
  }
  StaticPlan plan;
  for (const PlanItem& item : items) {
    plan.no_reuse_bytes += aligned(item.bytes);
    plan.streams = std::max(plan.streams, item.done_before.size());
  }
  plan.ideal_bytes = most_live(items);
  const auto size = [](const PlanItem& item) { return item.bytes; };
  const auto area = [](const PlanItem& item) {
    return static_cast<double>(item.bytes) * static_cast<double>(item.to - item.from + 1);
  };
  const auto length = [](const PlanItem& item) {
    return std::make_tuple(item.to - item.from, item.bytes);
  };
  for (const auto& order : {ordered(items, size), ordered(items, area), ordered(items, length)}) {
    Placer placer(items);
    const std::int64_t bytes = placer.place(order);
    if (plan.offset.empty() || bytes < plan.bytes) {
      plan.bytes = bytes;
      plan.offset = placer.take();
    }
    if (plan.bytes == plan.ideal_bytes) break;
  }
  return plan;
}

Status check_plan(std::span<const PlanItem> items, const StaticPlan& plan) {
  if (plan.offset.size() != items.size()) {
    return Error{ErrorCode::bad_usage, fmt::format("static plan: got {} offsets for {} tensors",
                                                   plan.offset.size(), items.size())};
  }
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return plan.offset[a] != plan.offset[b] ? plan.offset[a] < plan.offset[b] : a < b;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const PlanItem& item = items[order[i]];
    const std::int64_t end = plan.offset[order[i]] + item.bytes;
    if (plan.offset[order[i]] < 0 || end > plan.bytes) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("static plan: tensor {} lies outside the plan", order[i])};
    }
    for (std::size_t j = i + 1; j < order.size() && plan.offset[order[j]] < end; ++j) {
      const PlanItem& other = items[order[j]];
      if (item.bytes > 0 && other.bytes > 0 && !may_follow(item, other) &&
          !may_follow(other, item)) {
        return Error{ErrorCode::bad_usage,
                     fmt::format("static plan: tensors {} and {} share bytes and may be in use at "
                                 "the same time",
                                 order[i], order[j])};
      }
    }
  }
  return ok_status();
}

}  // namespace foretrace
