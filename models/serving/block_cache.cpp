#include "models/serving/block_cache.h"

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
  auto oldest = prefixes_.end();
  for (auto at = prefixes_.begin(); at != prefixes_.end(); ++at) {
    if (at->second.holders > 0 || at->second.blocks == 0) continue;
    // Times of use differ, so that the order of the map does not matter.
    if (oldest == prefixes_.end() || at->second.used < oldest->second.used) oldest = at;
  }
  if (oldest == prefixes_.end()) return;
  free_ += oldest->second.blocks;
  idle_ -= oldest->second.blocks;
  prefixes_.erase(oldest);
}

std::int64_t BlockCache::cached(std::int64_t group) const {
  const auto found = prefixes_.find(group);
  return found == prefixes_.end() ? 0 : found->second.blocks * block_tokens_;
}

void BlockCache::hold(std::int64_t group) {
  Prefix& prefix = prefixes_[group];
  if (prefix.holders++ == 0) idle_ -= prefix.blocks;
  most_used_ = std::max(most_used_, blocks_ - available());
}

void BlockCache::release(std::int64_t group) {
  Prefix& prefix = prefixes_[group];
  prefix.used = ++clock_;
  if (--prefix.holders == 0) idle_ += prefix.blocks;
}

std::int64_t BlockCache::share(std::int64_t group, std::int64_t tokens) {
  Prefix& prefix = prefixes_[group];
  const std::int64_t given = std::max<std::int64_t>(0, tokens / block_tokens_ - prefix.blocks);
  prefix.blocks += given;
  return given;
}

}  // namespace foretrace
