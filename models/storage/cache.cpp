// paper     G. Zhou, M. Maas, Learning on Distributed Traces for Data Center Storage Systems, MLSys
//           2021 (decisions of a cache that are learned; the predictor is outside)
#include "models/storage/cache.h"

#include <algorithm>

#include "sim/core/random.h"

namespace foretrace::storage {

void find_next_uses(std::span<Access> accesses) {
  std::unordered_map<std::uint32_t, std::uint64_t> next;
  for (std::size_t i = accesses.size(); i-- > 0;) {
    const auto found = next.find(accesses[i].item);
    accesses[i].next_use =
        found == next.end() ? std::numeric_limits<std::uint64_t>::max() : found->second;
    next[accesses[i].item] = i;
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
  for (auto victim = order_.begin(); is_worth_it && free < access.bytes && victim != order_.end();
       ++victim) {
    is_worth_it = access.next_use < victim->next_use;
    free += victim->bytes;
  }
  const bool is_right = unit_interval(random_()) < options_.probability;
  return is_right == is_worth_it;
}

bool Cache::read(const Access& access) {
  const auto found = at_.find(access.item);
  if (found != at_.end()) {
    found->second->next_use = access.next_use;
    order_.splice(order_.end(), order_, found->second);
    return true;
  }
  if (!admits(access)) return false;
  while (used_bytes_ + access.bytes > options_.bytes && !order_.empty()) {
    used_bytes_ -= order_.front().bytes;
    at_.erase(order_.front().item);
    order_.pop_front();
  }
  if (order_.empty()) used_bytes_ = 0;  // no rest of rounding
  order_.push_back(access);
  at_[access.item] = std::prev(order_.end());
  used_bytes_ += access.bytes;
  return false;
}

}  // namespace foretrace::storage
