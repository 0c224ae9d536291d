#include "sim/engine/event/event_queue.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "sim/core/result.h"

namespace foretrace {
namespace {

constexpr std::size_t arity = 4;

static_assert(arity == 4, "sift_down() compares four children");
constexpr Event last_of_all{std::numeric_limits<std::int64_t>::max(),
                            std::numeric_limits<std::uint32_t>::max(), 0};

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

HeapQueue::HeapQueue() : events_(arity, last_of_all) {}

void HeapQueue::push(std::int64_t time_ns, std::uint32_t payload) {
  const Event event{time_ns, next_sequence(sequence_), payload};
  if (hole_) {
    hole_ = false;
    return sift_down(event);
  }
  std::size_t hole = size_++;
  if (events_.size() < size_ + arity) {
    events_.resize(2 * events_.size(), last_of_all);
  }
  Event* const events = events_.data();
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / arity;
    if (!event.before(events[parent])) break;
    events[hole] = events[parent];
    hole = parent;
  }
  events[hole] = event;
}

/// Puts an event where the first one was. It comes by value, in registers: a copy of one just
/// written to memory in parts waits for them (1.6x of the time on a recorded step).
void HeapQueue::sift_down(Event event) {
  Event* const events = events_.data();
  std::size_t hole = 0;
  for (std::size_t first = 1; first < size_; first = arity * hole + 1) {
    // The children, the missing ones included, play a tournament.
    const std::size_t left = first + (events[first + 1].before(events[first]) ? 1U : 0U);
    const std::size_t right = first + (events[first + 3].before(events[first + 2]) ? 3U : 2U);
    const std::size_t least = events[right].before(events[left]) ? right : left;
    if (!events[least].before(event)) break;
    events[hole] = events[least];
    hole = least;
  }
  events[hole] = event;
}

void HeapQueue::fill_hole() {
  hole_ = false;
  const Event moved = events_[--size_];
  events_[size_] = last_of_all;
  if (size_ > 0) {
    sift_down(moved);
  }
}

const Event& HeapQueue::top() {
  if (hole_) {
    fill_hole();
  }
  return events_.front();
}

Event HeapQueue::pop() {
  const Event result = top();
  hole_ = true;
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

void CalendarQueue::insert(Event event) {
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
  // Member by member: a copy of a whole event just put together waits until its parts are written.
  Node& closed = nodes_[node - 1];
  closed.event.time_ns = event.time_ns;
  closed.event.sequence = event.sequence;
  closed.event.payload = event.payload;
  closed.next = heads_[at];
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
    if (open_.size() > 1) {
      std::make_heap(open_.begin(), open_.end(), Later{});
    }
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
  if (open_.size() > 1) {
    std::pop_heap(open_.begin(), open_.end(), Later{});
  }
  open_.pop_back();
  --size_;
  return result;
}

}  // namespace foretrace
