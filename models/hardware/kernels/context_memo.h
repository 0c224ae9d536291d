// What follows from the context of a graph alone: the names and works of a recording are looked at
// once, however many what-ifs ask about it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace {

/// Values by context, shared by all threads. A context never changes; a value lives as long as its
/// context does and as it is among the `most` that were asked for last.
template <typename Value>
class ContextMemo {
 public:
  explicit ContextMemo(std::size_t most = 8) : most_(most) {}

  /// What `make()` gives, or gave for this very context before.
  template <typename Make>
  [[nodiscard]] std::shared_ptr<const Value> get(const std::shared_ptr<const GraphContext>& context,
                                                 const Make& make) {
    if (auto known = find(context)) return known;
    // Without the lock: two threads may make the same.
    auto made = std::make_shared<const Value>(make());
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const Entry& each) { return each.context.expired(); });
    if (entries_.size() >= most_) entries_.erase(entries_.begin());
    entries_.push_back({context, made});
    return made;
  }

  /// Values that are kept, those of contexts that are gone included until the next one is made.
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  /// The weak pointer holds on to what tells contexts apart: one that comes later at the same
  /// address is another one.
  struct Entry {
    std::weak_ptr<const GraphContext> context;
    std::shared_ptr<const Value> value;
  };

  [[nodiscard]] std::shared_ptr<const Value> find(
      const std::shared_ptr<const GraphContext>& context) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) {
      return !each.context.owner_before(context) && !context.owner_before(each.context);
    });
    if (found == entries_.end()) return nullptr;
    std::rotate(found, found + 1, entries_.end());
    return entries_.back().value;
  }

  std::size_t most_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // asked for last at the end
};

}  // namespace foretrace
