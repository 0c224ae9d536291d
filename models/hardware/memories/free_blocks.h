// Free blocks of one pool, sorted by size and address: short sorted runs under a sorted list of
// runs.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrace {

struct FreeBlock {
  std::int64_t bytes = 0;
  std::int64_t address = 0;
  std::uint32_t block = 0;
  friend constexpr bool operator<(const FreeBlock& a, const FreeBlock& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.address < b.address;
  }
};

/// Insertion and removal move at most one run; runs split when full and go when empty.
class FreeBlocks {
 public:
  /// A place in the order; valid until the next insertion or removal.
  struct Place {
    std::size_t run = 0;
    std::size_t at = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] static Place begin() { return {}; }
  [[nodiscard]] Place end() const { return {order_.size(), 0}; }
  [[nodiscard]] const FreeBlock& at(Place place) const {
    return runs_[order_[place.run]].blocks[place.at];
  }
  [[nodiscard]] Place next(Place place) const {
    return place.at + 1 < runs_[order_[place.run]].count ? Place{place.run, place.at + 1}
                                                         : Place{place.run + 1, 0};
  }
  /// The one before; `place` is not the first.
  [[nodiscard]] Place previous(Place place) const {
    if (place.at > 0) return {place.run, place.at - 1};
    return {place.run - 1, runs_[order_[place.run - 1]].count - 1};
  }
  /// The first that is not smaller than `bytes`.
  [[nodiscard]] Place first_of(std::int64_t bytes) const { return lower_bound({bytes, 0, 0}); }

  void insert(const FreeBlock& block);
  /// Removes a block that is there.
  void erase(const FreeBlock& block) { erase(lower_bound(block)); }
  void erase(Place place);

 private:
  static constexpr std::size_t longest_run = 64;
  struct Run {
    std::array<FreeBlock, longest_run> blocks;
    std::size_t count = 0;
  };

  [[nodiscard]] Place lower_bound(const FreeBlock& block) const;
  std::uint32_t new_run();

  std::vector<Run> runs_;
  std::vector<std::uint32_t> order_;  // of runs_
  std::vector<std::uint32_t> spare_;
  std::size_t size_ = 0;
};

}  // namespace foretrace
