#include "sim/engine/event/event_queue.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "sim/core/result.h"

namespace foretrace {
namespace {

constexpr std::size_t arity = 4;

struct Later {
  bool operator()(const Event& a, const Event& b) const { return b.before(a); }
};

/// More pending events than one per bucket cost a longer sort, more buckets cost cache misses.
constexpr std::size_t least_buckets = 4096;
constexpr std::size_t most_buckets = 65536;

[[nodiscard]] std::uint32_t next_sequence(std::uint32_t& sequence) {
  FORETRACE_CHECK(sequence != std::numeric_limits<std::uint32_t>::max());
  return sequence++;
}

}  // namespace

void HeapQueue::push(std::int64_t time_ns, std::uint32_t payload) {
  const Event event{time_ns, next_sequence(sequence_), payload};
  std::size_t hole = events_.size();
  events_.push_back(event);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / arity;
    if (!event.before(events_[parent])) {
      break;
    }
    events_[hole] = events_[parent];
    hole = parent;
  }
  events_[hole] = event;
}

Event HeapQueue::pop() {
  const Event result = events_.front();
  const Event moved = events_.back();
  events_.pop_back();
  const std::size_t size = events_.size();
  if (size == 0) {
    return result;
  }
  std::size_t hole = 0;
  while (true) {
    const std::size_t first = arity * hole + 1;
    if (first >= size) {
      break;
    }
    std::size_t least = first;
    const std::size_t last = std::min(first + arity, size);
    for (std::size_t child = first + 1; child < last; ++child) {
      if (events_[child].before(events_[least])) {
        least = child;
      }
    }
    if (!events_[least].before(moved)) {
      break;
    }
    events_[hole] = events_[least];
    hole = least;
  }
  events_[hole] = moved;
  return result;
}

CalendarQueue::CalendarQueue(std::int64_t typical_ns, std::size_t pending) {
  const std::size_t buckets = std::clamp(std::bit_ceil(4 * pending), least_buckets, most_buckets);
  heads_.assign(buckets, 0);
  used_.assign(buckets / 64, 0);
  // The ring covers about four times the typical distance; what lies beyond waits in the heap.
  const auto width =
      static_cast<std::uint64_t>(std::max<std::int64_t>(typical_ns, 1)) * 4 / buckets;
  shift_ = static_cast<int>(std::bit_width(width));
}

void CalendarQueue::push(std::int64_t time_ns, std::uint32_t payload) {
  insert({time_ns, next_sequence(sequence_), payload});
  ++size_;
}

void CalendarQueue::insert(const Event& event) {
  const std::int64_t bucket = bucket_of(event.time_ns);
  if (bucket <= current_) {
    open_.push_back(event);
    std::push_heap(open_.begin(), open_.end(), Later{});
    return;
  }
  if (bucket - current_ >= static_cast<std::int64_t>(heads_.size())) {
    beyond_.push_back(event);
    std::push_heap(beyond_.begin(), beyond_.end(), Later{});
    return;
  }
  const std::size_t at = static_cast<std::size_t>(bucket) & (heads_.size() - 1);
  std::uint32_t node = free_node_;
  if (node == 0) {
    nodes_.push_back({});
    node = static_cast<std::uint32_t>(nodes_.size());
  } else {
    free_node_ = nodes_[node - 1].next;
  }
  nodes_[node - 1] = {event, heads_[at]};
  heads_[at] = node;
  used_[at / 64] |= std::uint64_t{1} << (at % 64);
  ++in_ring_;
}

std::size_t CalendarQueue::next_used(std::size_t from) const {
  std::size_t word = from / 64;
  std::uint64_t bits = used_[word] & (~std::uint64_t{0} << (from % 64));
  while (bits == 0) {
    word = word + 1 == used_.size() ? 0 : word + 1;
    bits = used_[word];
  }
  return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
}

void CalendarQueue::open_next() {
  if (in_ring_ == 0) {
    current_ = bucket_of(beyond_.front().time_ns);
  } else {
    const std::size_t mask = heads_.size() - 1;
    const auto start = static_cast<std::size_t>(current_ + 1) & mask;
    const std::size_t at = next_used(start);
    current_ += 1 + static_cast<std::int64_t>((at - start) & mask);
    used_[at / 64] &= ~(std::uint64_t{1} << (at % 64));
    std::uint32_t node = heads_[at];
    heads_[at] = 0;
    while (node != 0) {
      Node& closed = nodes_[node - 1];
      open_.push_back(closed.event);
      const std::uint32_t next = closed.next;
      closed.next = free_node_;
      free_node_ = node;
      node = next;
      --in_ring_;
    }
    std::make_heap(open_.begin(), open_.end(), Later{});
  }
  while (!beyond_.empty() &&
         bucket_of(beyond_.front().time_ns) - current_ < static_cast<std::int64_t>(heads_.size())) {
    std::pop_heap(beyond_.begin(), beyond_.end(), Later{});
    const Event event = beyond_.back();
    beyond_.pop_back();
    insert(event);
  }
}

const Event& CalendarQueue::top() {
  while (open_.empty()) {
    open_next();
  }
  return open_.front();
}

Event CalendarQueue::pop() {
  const Event result = top();
  std::pop_heap(open_.begin(), open_.end(), Later{});
  open_.pop_back();
  --size_;
  return result;
}

}  // namespace foretrace
