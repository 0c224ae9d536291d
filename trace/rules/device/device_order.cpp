// Operations that waited for one that was launched after them: they take their place behind it, so
// that causes come before effects in program order.
//
//   before:  launch C | launch K     C and K are ready, K begins first and fills the device
//   after:   launch C | launch K, K, C
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"
#include "trace/rules/assembly/tail_looks.h"

namespace foretrace::trace::rules::device_order_parts {
namespace {

class DeviceOrder {
 public:
  explicit DeviceOrder(Assembly& assembly) : a_(assembly), looks_(assembly) {}

  void run() {
    by_start_.resize(a_.ops.size());
    std::iota(by_start_.begin(), by_start_.end(), 0U);
    std::sort(by_start_.begin(), by_start_.end(), [&](std::uint32_t x, std::uint32_t y) {
      return std::tuple(a_.ops[x].start_ns, a_.ops[x].position) <
             std::tuple(a_.ops[y].start_ns, a_.ops[y].position);
    });
    find_places();
    for (bool kept = give_up_contradictions(); !kept; kept = give_up_contradictions()) {
      find_places();
    }
    move();
  }

 private:
  /// The position that every operation comes behind: its own, or that of what it waits for. In
  /// order of time, as causes begin before effects and the operations of a stream one by one.
  void find_places() {
    place_.resize(a_.ops.size());
    for (std::size_t i = 0; i < a_.ops.size(); ++i) {
      place_[i] = a_.ops[i].position;
    }
    for (const std::uint32_t i : by_start_) {
      const DeviceOp& op = a_.ops[i];
      if (op.behind != nothing) {
        place_[i] = std::max(place_[i], place_[op.behind]);
      }
      if (op.previous != nothing) {
        place_[i] = std::max(place_[i], place_[op.previous]);
      }
    }
  }

  /// An operation whose stream somebody looks at in between, or that would come before what it
  /// waits for, stays where it is: its delay is not explained then. False if there was one.
  bool give_up_contradictions() {
    bool kept = true;
    for (std::size_t i = 0; i < a_.ops.size(); ++i) {
      DeviceOp& op = a_.ops[i];
      const bool is_seen = place_[i] > op.position && looks_.any(op.stream, op.position, place_[i]);
      const bool is_early = (op.behind != nothing && place_[i] < place_[op.behind]) ||
                            (op.previous != nothing && place_[i] < place_[op.previous]);
      if (is_seen || is_early) {
        kept = !give_up(static_cast<std::uint32_t>(i)) && kept;
      }
    }
    return kept;
  }

  /// Gives up what moved the operation: its own wait, or that of one before it on its stream.
  bool give_up(std::uint32_t i) {
    while (i != nothing && a_.ops[i].behind == nothing) {
      i = a_.ops[i].previous;
    }
    if (i == nothing) return false;
    DeviceOp& op = a_.ops[i];
    std::erase_if(a_.sources, [&](const Source& source) {
      return source.op == i && source.source_op == op.behind;
    });
    --a_.honesty.edges_by_origin[static_cast<std::size_t>(EdgeOrigin::capacity)];
    a_.honesty.unexplained_device_ns += op.late_ns;
    ++a_.honesty.unexplained_device_count;
    if (op.previous != nothing) {
      op.gap_ns = op.start_ns - a_.ops[op.previous].end_ns;
    } else {
      const HostCall& call = a_.calls[op.call];
      op.latency_ns = op.start_ns - (op.anchored_at_start ? call.start_ns : call.end_ns);
    }
    op.behind = nothing;
    return true;
  }

  void move() {
    std::vector<std::tuple<std::uint32_t, bool, std::uint32_t>> keys;  // place, moved, position
    keys.reserve(a_.items.size());
    for (std::size_t p = 0; p < a_.items.size(); ++p) {
      const auto position = static_cast<std::uint32_t>(p);
      const Item& item = a_.items[p];
      const std::uint32_t place =
          item.kind == Item::Kind::op ? std::max(place_[item.index], position) : position;
      keys.emplace_back(place, place > position, position);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<Item> items;
    std::vector<std::uint32_t> new_position(keys.size());
    std::vector<bool> moved(keys.size());
    for (const auto& [place, is_moved, position] : keys) {
      new_position[position] = static_cast<std::uint32_t>(items.size());
      moved[position] = is_moved;
      items.push_back(a_.items[position]);
    }
    a_.items = std::move(items);
    renumber(new_position, moved);
  }

  void renumber(const std::vector<std::uint32_t>& new_position, const std::vector<bool>& moved) {
    for (std::size_t p = 0; p < a_.items.size(); ++p) {
      const auto position = static_cast<std::uint32_t>(p);
      const Item& item = a_.items[p];
      switch (item.kind) {
        case Item::Kind::call: a_.calls[item.index].position = position; break;
        case Item::Kind::finish: a_.calls[item.index].finish_position = position; break;
        case Item::Kind::op: a_.ops[item.index].position = position; break;
      }
    }
    // A wait looks at what stands before a position: before the next one that did not move.
    std::vector<std::uint32_t> looks(new_position.size() + 1);
    looks.back() = static_cast<std::uint32_t>(new_position.size());
    for (std::size_t p = new_position.size(); p-- > 0;) {
      looks[p] = moved[p] ? looks[p + 1] : new_position[p];
    }
    for (Source& source : a_.sources) {
      source.at = source.at == nothing ? nothing : looks[source.at];
    }
    for (Target& target : a_.targets) {
      target.at = target.at == nothing ? nothing : looks[target.at];
    }
  }

  Assembly& a_;
  TailLooks looks_;
  std::vector<std::uint32_t> by_start_;
  std::vector<std::uint32_t> place_;  // per operation
};

void order_device(Assembly& assembly) {
  const bool any = std::any_of(assembly.ops.begin(), assembly.ops.end(),
                               [](const DeviceOp& op) { return op.behind != nothing; });
  if (any) {
    DeviceOrder(assembly).run();
  }
}

}  // namespace

extern constexpr Rule info = {.name = "device_order",
                              .doc = "operations that waited for a later launch move behind it",
                              .required = true,
                              .apply = order_device};

}  // namespace foretrace::trace::rules::device_order_parts
