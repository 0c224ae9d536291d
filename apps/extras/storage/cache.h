// A cache of whole items between a job and remote storage: least recently used goes first, and a
// rule decides what comes in.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace foretrace::storage {

/// What is kept of items that were not in the cache.
enum class Admission : std::uint8_t {
  always,
  chance,  ///< with a probability
  oracle   ///< what will be used again sooner than what it would push out, as far as it knows
};

struct CacheOptions {
  double bytes = 0;
  Admission admission = Admission::always;
  /// Of `chance`: the probability. Of `oracle`: how often it is right; 1: always, 0.5: a coin.
  double probability = 1;
  std::uint64_t seed = 0;
};

/// An item that is read: which (numbers from 0 on, without large gaps), how large, and the place of
/// its next use in the sequence.
struct Access {
  std::uint32_t item = 0;
  double bytes = 0;
  std::uint64_t next_use = std::numeric_limits<std::uint64_t>::max();
};
/// Sets next_use of every access; the largest number: never again.
void find_next_uses(std::span<Access> accesses);

class Cache {
 public:
  explicit Cache(const CacheOptions& options) : options_(options), random_(options.seed) {}

  /// True: it was there. Otherwise it may be there from now on.
  bool read(const Access& access);
  [[nodiscard]] double used_bytes() const { return used_bytes_; }

 private:
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  /// An item that was read; kept ones form a list by their last use.
  struct Item {
    double bytes = 0;
    std::uint64_t next_use = 0;
    std::uint32_t older = nobody;
    std::uint32_t newer = nobody;
    bool is_kept = false;
  };

  [[nodiscard]] bool admits(const Access& access);
  void take_out(std::uint32_t item);
  void put_newest(std::uint32_t item);

  CacheOptions options_;
  std::mt19937_64 random_;
  std::vector<Item> items_;  ///< by number
  std::uint32_t oldest_ = nobody;
  std::uint32_t newest_ = nobody;
  double used_bytes_ = 0;
};

}  // namespace foretrace::storage
