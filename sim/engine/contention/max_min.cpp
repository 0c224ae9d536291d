#include "sim/engine/contention/max_min.h"

#include <algorithm>
#include <numeric>

#include "sim/core/result.h"

namespace foretrace {
namespace {

constexpr double open_rate = -1.0;

/// Shares only grow while flows freeze; by less than this they count as unchanged.
constexpr double same_level = 1e-12;

/// What is left of a sum after this many digits were subtracted is noise: it is summed up again.
constexpr double noise = 1e-6;

}  // namespace

void MaxMin::reset(std::span<const double> capacities) {
  left_.assign(capacities.begin(), capacities.end());
  active_.assign(capacities.size(), 0.0);
  open_.assign(capacities.size(), 0);
  offsets_.assign(1, 0);
  uses_.clear();
  limits_.clear();
  counts_.clear();
}

void MaxMin::add_flow(std::span<const FlowUse> uses, double limit, double count) {
  for (const FlowUse& use : uses) {
    FORETRACE_CHECK(use.capacity < left_.size());
    if (use.amount <= 0) continue;
    uses_.push_back(use);
    active_[use.capacity] += use.amount * count;
    ++open_[use.capacity];
  }
  offsets_.push_back(static_cast<std::uint32_t>(uses_.size()));
  limits_.push_back(std::max(limit, 0.0));
  counts_.push_back(count);
}

void MaxMin::link_capacities() {
  flow_offsets_.assign(left_.size() + 1, 0);
  for (const FlowUse& use : uses_) {
    ++flow_offsets_[use.capacity + 1];
  }
  std::partial_sum(flow_offsets_.begin(), flow_offsets_.end(), flow_offsets_.begin());
  flows_.resize(uses_.size());
  amounts_.resize(uses_.size());
  std::vector<std::uint32_t> next(flow_offsets_.begin(), flow_offsets_.end() - 1);
  for (std::size_t flow = 0; flow < limits_.size(); ++flow) {
    for (std::uint32_t i = offsets_[flow]; i < offsets_[flow + 1]; ++i) {
      const std::uint32_t at = next[uses_[i].capacity]++;
      flows_[at] = static_cast<std::uint32_t>(flow);
      amounts_[at] = uses_[i].amount * counts_[flow];
    }
  }
}

double MaxMin::level_of(std::uint32_t capacity) {
  if (active_[capacity] < total_[capacity] * noise) {
    active_[capacity] = 0;
    for (std::uint32_t i = flow_offsets_[capacity]; i < flow_offsets_[capacity + 1]; ++i) {
      if (rates_[flows_[i]] < 0) {
        active_[capacity] += amounts_[i];
      }
    }
    total_[capacity] = active_[capacity];
  }
  return std::max(left_[capacity], 0.0) / active_[capacity];
}

void MaxMin::push(std::uint32_t capacity) {
  heap_.push_back({level_of(capacity), capacity});
  std::push_heap(heap_.begin(), heap_.end(),
                 [](const Share& a, const Share& b) { return b.before(a); });
}

bool MaxMin::next_share(Share& share) {
  const auto later = [](const Share& a, const Share& b) { return b.before(a); };
  while (!heap_.empty()) {
    share = heap_.front();
    const bool open = open_[share.capacity] != 0;
    const double level = open ? level_of(share.capacity) : 0.0;
    if (open && level <= share.level * (1.0 + same_level)) return true;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    if (open) {
      push(share.capacity);
    }
  }
  return false;
}

void MaxMin::freeze(std::size_t flow, double rate) {
  rates_[flow] = rate;
  for (std::uint32_t i = offsets_[flow]; i < offsets_[flow + 1]; ++i) {
    const double amount = uses_[i].amount * counts_[flow];
    left_[uses_[i].capacity] -= amount * rate;
    active_[uses_[i].capacity] -= amount;
    --open_[uses_[i].capacity];
  }
}

std::span<const double> MaxMin::solve() {
  link_capacities();
  total_ = active_;
  rates_.assign(limits_.size(), open_rate);
  heap_.clear();
  for (std::uint32_t capacity = 0; capacity < left_.size(); ++capacity) {
    if (flow_offsets_[capacity] != flow_offsets_[capacity + 1]) {
      push(capacity);
    }
  }
  by_limit_.resize(limits_.size());
  std::iota(by_limit_.begin(), by_limit_.end(), 0U);
  std::stable_sort(by_limit_.begin(), by_limit_.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return limits_[a] < limits_[b]; });
  std::size_t next = 0;
  while (true) {
    while (next < by_limit_.size() && rates_[by_limit_[next]] >= 0) {
      ++next;
    }
    if (next == by_limit_.size()) break;
    const std::uint32_t smallest = by_limit_[next];
    Share share;
    if (!next_share(share) || limits_[smallest] <= share.level) {
      freeze(smallest, limits_[smallest]);
      continue;
    }
    for (std::uint32_t i = flow_offsets_[share.capacity]; i < flow_offsets_[share.capacity + 1];
         ++i) {
      if (rates_[flows_[i]] < 0) {
        freeze(flows_[i], share.level);
      }
    }
  }
  return rates_;
}

}  // namespace foretrace
