// Event queues in order of (time, sequence): a 4-ary heap, and a calendar ring for many events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrace {

/// What happens and when. Two events never compare equal: every push has its own sequence number.
struct Event {
  std::int64_t time_ns = 0;
  std::uint32_t sequence = 0;
  std::uint32_t payload = 0;
  [[nodiscard]] bool before(const Event& other) const {
    return time_ns != other.time_ns ? time_ns < other.time_ns : sequence < other.sequence;
  }
};

/// 4-ary min-heap: best while few events are pending (as many as there are busy lanes).
class HeapQueue {
 public:
  HeapQueue();
  void push(std::int64_t time_ns, std::uint32_t payload);
  Event pop();
  [[nodiscard]] const Event& top();
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return size_ - (hole_ ? 1U : 0U); }

 private:
  void sift_down(Event event);
  void fill_hole();

  std::vector<Event> events_;  ///< behind the pending ones at least `arity` that come after all
  std::size_t size_ = 0;
  /// The first event has left and nothing has taken its place: most often the next push does, which
  /// saves moving the last event there and back.
  bool hole_ = false;
  std::uint32_t sequence_ = 0;
};

/// Buckets of equal width in a ring, each a heap once it is opened; events beyond the ring wait in
/// a heap. Best for thousands of pending events. Times must not lie before the last popped one.
class CalendarQueue {
 public:
  /// `typical_ns`: how far ahead events usually lie; `pending`: how many wait at a time.
  CalendarQueue(std::int64_t typical_ns, std::size_t pending);
  void push(std::int64_t time_ns, std::uint32_t payload);
  Event pop();
  /// The next event; opens its bucket.
  [[nodiscard]] const Event& top();
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Node {
    Event event;
    std::uint32_t next = 0;
  };
  [[nodiscard]] std::int64_t bucket_of(std::int64_t time_ns) const { return time_ns >> shift_; }
  void insert(Event event);
  void open_next();
  [[nodiscard]] std::size_t next_used(std::size_t from) const;

  std::vector<std::uint32_t> heads_;  ///< per bucket: first node + 1, 0 is empty
  std::vector<std::uint64_t> used_;   ///< bitmap of buckets that hold events
  std::vector<Node> nodes_;
  std::uint32_t free_node_ = 0;  ///< first free node + 1
  std::vector<Event> open_;      ///< binary heap of the events of the open bucket
  std::vector<Event> beyond_;    ///< binary heap of events after the ring's end
  std::int64_t current_ = 0;     ///< number of the open bucket (not wrapped)
  std::size_t in_ring_ = 0;
  std::size_t size_ = 0;
  int shift_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace foretrace
