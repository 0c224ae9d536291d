// paper     G. Zhou, M. Maas, Learning on Distributed Traces for Data Center Storage Systems, MLSys
//           2021 (decisions of a cache that are learned; the predictor is outside)
#include "apps/extras/storage/cache.h"

#include <utility>

#include "sim/core/random.h"

namespace foretrace::storage {

void find_next_uses(std::span<Access> accesses) {
  constexpr auto never = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> next;
  for (std::size_t i = accesses.size(); i-- > 0;) {
    const std::uint32_t item = accesses[i].item;
    if (item >= next.size()) next.resize(std::size_t{item} + 1, never);
    accesses[i].next_use = std::exchange(next[item], i);
  }
}

bool Cache::admits(const Access& access) {
  if (access.bytes > options_.bytes || !(options_.bytes > 0)) return false;
  switch (options_.admission) {
    case Admission::always: return true;
    case Admission::chance: return unit_interval(random_()) < options_.probability;
    case Admission::oracle: break;
  }
  double free = options_.bytes - used_bytes_;
  bool is_worth_it = true;
  for (std::uint32_t victim = oldest_; is_worth_it && free < access.bytes && victim != nobody;
       victim = items_[victim].newer) {
    is_worth_it = access.next_use < items_[victim].next_use;
    free += items_[victim].bytes;
  }
  const bool is_right = unit_interval(random_()) < options_.probability;
  return is_right == is_worth_it;
}

void Cache::take_out(std::uint32_t item) {
  const Item& one = items_[item];
  (one.older == nobody ? oldest_ : items_[one.older].newer) = one.newer;
  (one.newer == nobody ? newest_ : items_[one.newer].older) = one.older;
}

void Cache::put_newest(std::uint32_t item) {
  items_[item].older = std::exchange(newest_, item);
  items_[item].newer = nobody;
  (items_[item].older == nobody ? oldest_ : items_[items_[item].older].newer) = item;
}

bool Cache::read(const Access& access) {
  if (access.item >= items_.size()) items_.resize(std::size_t{access.item} + 1);
  Item& item = items_[access.item];
  if (item.is_kept) {
    item.next_use = access.next_use;
    take_out(access.item);
    put_newest(access.item);
    return true;
  }
  if (!admits(access)) return false;
  while (used_bytes_ + access.bytes > options_.bytes && oldest_ != nobody) {
    used_bytes_ -= items_[oldest_].bytes;
    items_[oldest_].is_kept = false;
    take_out(oldest_);
  }
  if (oldest_ == nobody) used_bytes_ = 0;  // no rest of rounding
  item = {.bytes = access.bytes, .next_use = access.next_use, .is_kept = true};
  put_newest(access.item);
  used_bytes_ += access.bytes;
  return false;
}

}  // namespace foretrace::storage
