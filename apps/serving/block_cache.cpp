#include "apps/serving/block_cache.h"

#include <algorithm>

namespace foretrace {

bool BlockCache::take(std::int64_t blocks) {
  if (blocks > available()) return false;
  while (free_ < blocks) drop_oldest();
  free_ -= blocks;
  most_used_ = std::max(most_used_, blocks_ - available());
  return true;
}

void BlockCache::drop_oldest() {
  const auto oldest = idle_groups_.begin();
  const auto prefix = prefixes_.find(oldest->second);
  free_ += prefix->second.blocks;
  idle_ -= prefix->second.blocks;
  prefixes_.erase(prefix);
  idle_groups_.erase(oldest);
}

std::int64_t BlockCache::cached(std::int64_t group) const {
  const auto found = prefixes_.find(group);
  return found == prefixes_.end() ? 0 : found->second.blocks * block_tokens_;
}

void BlockCache::hold(std::int64_t group) {
  Prefix& prefix = prefixes_[group];
  if (prefix.holders++ == 0 && prefix.blocks > 0) {
    idle_ -= prefix.blocks;
    idle_groups_.erase(prefix.let_go);
  }
  most_used_ = std::max(most_used_, blocks_ - available());
}

void BlockCache::release(std::int64_t group) {
  const auto found = prefixes_.find(group);
  Prefix& prefix = found->second;
  if (--prefix.holders > 0) return;
  if (prefix.blocks == 0) {
    prefixes_.erase(found);
    return;
  }
  prefix.let_go = ++clock_;
  idle_ += prefix.blocks;
  idle_groups_.emplace(prefix.let_go, group);
}

std::int64_t BlockCache::share(std::int64_t group, std::int64_t tokens) {
  Prefix& prefix = prefixes_[group];
  const std::int64_t given = std::max<std::int64_t>(0, tokens / block_tokens_ - prefix.blocks);
  prefix.blocks += given;
  return given;
}

}  // namespace foretrace
