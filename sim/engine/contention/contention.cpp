#include "sim/engine/contention/contention.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace foretrace::engine {
namespace {

constexpr double full_share = 1.0 - 1e-9;  // a capacity used to this share counts as full
constexpr double one_tick = 1e-6;          // ns; rounding noise must not add a whole ns

struct ByTask {
  bool operator()(const Demand& demand, TaskId task) const { return demand.task < task; }
  bool operator()(TaskId task, const Demand& demand) const { return task < demand.task; }
};

[[nodiscard]] std::span<const Demand> demands_of(const std::vector<Demand>& demands, TaskId task) {
  const auto [first, last] = std::equal_range(demands.begin(), demands.end(), task, ByTask{});
  return {first, last};
}

}  // namespace

Contention::Contention(const GraphContext& context)
    : context_(context),
      on_capacity_(context.capacities.size()),
      is_gathered_(context.capacities.size(), 0),
      local_(context.capacities.size(), 0),
      use_(context.capacities.size(), 0.0),
      full_ns_(context.capacities.size(), 0),
      full_since_ns_(context.capacities.size(), -1) {}

bool Contention::has_demands(TaskId task) const {
  return !demands_of(context_.demands, task).empty() || !demands_of(appended_, task).empty();
}

void Contention::add_demands(TaskId task, std::span<const Demand> demands) {
  for (Demand demand : demands) {
    demand.task = task;
    appended_.push_back(demand);
  }
}

void Contention::begin(TaskId task, std::int64_t now_ns, std::int64_t duration_ns) {
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Running& running = slots_[slot];
  running.task = task;
  running.left_ns = static_cast<double>(duration_ns);
  running.rate = 0;
  running.since_ns = now_ns;
  running.end_ns = -1;
  running.uses.clear();
  for (const auto& demands : {demands_of(context_.demands, task), demands_of(appended_, task)}) {
    for (const Demand& demand : demands) {
      running.uses.push_back({demand.capacity, static_cast<double>(demand.amount)});
      on_capacity_[demand.capacity].push_back(slot);
      dirty_.push_back(demand.capacity);
    }
  }
  slot_of_[static_cast<std::uint32_t>(task)] = slot;
}

void Contention::finish(TaskId task, std::int64_t now_ns) {
  const auto found = slot_of_.find(static_cast<std::uint32_t>(task));
  FORETRACE_CHECK(found != slot_of_.end());
  const std::uint32_t slot = found->second;
  slot_of_.erase(found);
  Running& running = slots_[slot];
  account(running, now_ns);
  for (const FlowUse& use : running.uses) {
    std::vector<std::uint32_t>& slots = on_capacity_[use.capacity];
    slots.erase(std::find(slots.begin(), slots.end(), slot));
    dirty_.push_back(use.capacity);
  }
  free_slots_.push_back(slot);
}

std::int64_t Contention::end_ns(TaskId task) const {
  const auto found = slot_of_.find(static_cast<std::uint32_t>(task));
  return found == slot_of_.end() ? -1 : slots_[found->second].end_ns;
}

void Contention::account(Running& running, std::int64_t now_ns) {
  // The end is a whole ns: the last one may have less to do.
  const double worked =
      std::min(running.left_ns, running.rate * static_cast<double>(now_ns - running.since_ns));
  running.left_ns -= worked;
  running.since_ns = now_ns;
  for (const FlowUse& use : running.uses) {
    use_[use.capacity] += use.amount * worked;
  }
}

void Contention::gather_component(std::uint32_t capacity) {
  capacities_.assign(1, capacity);
  members_.clear();
  is_gathered_[capacity] = 1;
  for (std::size_t next = 0; next < capacities_.size(); ++next) {
    for (const std::uint32_t slot : on_capacity_[capacities_[next]]) {
      members_.push_back(slot);
      for (const FlowUse& use : slots_[slot].uses) {
        if (is_gathered_[use.capacity] != 0) continue;
        is_gathered_[use.capacity] = 1;
        capacities_.push_back(use.capacity);
      }
    }
  }
  const auto by_task = [this](std::uint32_t a, std::uint32_t b) {
    return slots_[a].task < slots_[b].task;
  };
  std::sort(members_.begin(), members_.end(), by_task);
  members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
  std::sort(capacities_.begin(), capacities_.end());
}

Status Contention::share_component(std::int64_t now_ns, std::vector<TaskId>& moved) {
  std::vector<double> sizes;
  for (const std::uint32_t capacity : capacities_) {
    local_[capacity] = static_cast<std::uint32_t>(sizes.size());
    sizes.push_back(context_.capacities[capacity].size);
  }
  solver_.reset(sizes);
  std::vector<FlowUse> uses;
  for (const std::uint32_t slot : members_) {
    uses = slots_[slot].uses;
    for (FlowUse& use : uses) {
      use.capacity = local_[use.capacity];
    }
    solver_.add_flow(uses, 1.0);
  }
  const std::span<const double> rates = solver_.solve();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Running& running = slots_[members_[i]];
    if (rates[i] <= 0.0) {
      return Error{ErrorCode::bad_config,
                   fmt::format("contention: task {} demands capacity '{}', of which there is none",
                               index(running.task),
                               context_.capacities[running.uses.front().capacity].name)};
    }
    if (rates[i] == running.rate && running.end_ns >= 0) continue;
    account(running, now_ns);
    running.rate = rates[i];
    const double left = std::ceil(running.left_ns / running.rate - one_tick);
    const std::int64_t end = now_ns + static_cast<std::int64_t>(std::max(left, 0.0));
    if (end != running.end_ns) {
      moved.push_back(running.task);
    }
    running.end_ns = end;
  }
  return ok_status();
}

void Contention::note_fullness(std::int64_t now_ns) {
  for (const std::uint32_t capacity : capacities_) {
    double used = 0;
    for (const std::uint32_t slot : on_capacity_[capacity]) {
      for (const FlowUse& use : slots_[slot].uses) {
        if (use.capacity == capacity) {
          used += use.amount * slots_[slot].rate;
        }
      }
    }
    std::int64_t& since = full_since_ns_[capacity];
    const bool full = used > 0 && used >= context_.capacities[capacity].size * full_share;
    if (since >= 0 && !full) {
      full_ns_[capacity] += now_ns - since;
      since = -1;
    } else if (since < 0 && full) {
      since = now_ns;
    }
  }
}

Status Contention::settle(std::int64_t now_ns, std::vector<TaskId>& moved) {
  std::sort(dirty_.begin(), dirty_.end());
  std::vector<std::uint32_t> touched;
  for (const std::uint32_t capacity : dirty_) {
    if (is_gathered_[capacity] != 0) continue;
    gather_component(capacity);
    touched.insert(touched.end(), capacities_.begin(), capacities_.end());
    FORETRACE_TRY(share_component(now_ns, moved));
    note_fullness(now_ns);
  }
  for (const std::uint32_t capacity : touched) {
    is_gathered_[capacity] = 0;
  }
  dirty_.clear();
  return ok_status();
}

}  // namespace foretrace::engine
