// A cache of whole items between a job and remote storage: least recently used goes first, and a
// rule decides what comes in.
#pragma once

#include <cstdint>
#include <limits>
#include <list>
#include <random>
#include <span>
#include <unordered_map>
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

/// An item that is read: which, how large, and the place of its next use in the sequence.
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
  [[nodiscard]] bool admits(const Access& access);

  CacheOptions options_;
  std::mt19937_64 random_;
  std::list<Access> order_;  ///< the least recently used first
  std::unordered_map<std::uint32_t, std::list<Access>::iterator> at_;
  double used_bytes_ = 0;
};

}  // namespace foretrace::storage
