// The cache of keys and values of one engine: blocks of tokens, those of common beginnings shared.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

namespace foretrace {

class BlockCache {
 public:
  BlockCache(std::int64_t blocks, std::int64_t block_tokens)
      : free_(blocks), blocks_(blocks), block_tokens_(block_tokens) {}

  [[nodiscard]] std::int64_t blocks_for(std::int64_t tokens) const {
    return (tokens + block_tokens_ - 1) / block_tokens_;
  }
  [[nodiscard]] std::int64_t block_tokens() const { return block_tokens_; }
  [[nodiscard]] std::int64_t blocks() const { return blocks_; }
  /// Blocks that nobody uses now: free ones, and beginnings that are kept in case they come again.
  [[nodiscard]] std::int64_t available() const { return free_ + idle_; }
  [[nodiscard]] std::int64_t most_used() const { return most_used_; }

  /// False, and nothing is taken, if there are not so many. Beginnings go in the order in which
  /// they were used last.
  [[nodiscard]] bool take(std::int64_t blocks);
  void give_back(std::int64_t blocks) { free_ += blocks; }

  /// Tokens at the beginning of a group that are in the cache, in whole blocks.
  [[nodiscard]] std::int64_t cached(std::int64_t group) const;
  /// They stay as long as somebody holds them.
  void hold(std::int64_t group);
  void release(std::int64_t group);
  /// Blocks that a sequence computed become those of its group up to this many tokens. Returns how
  /// many it gave; the caller must hold the group.
  std::int64_t share(std::int64_t group, std::int64_t tokens);

 private:
  struct Prefix {
    std::int64_t blocks = 0;
    std::int64_t holders = 0;
    std::uint64_t let_go = 0;  ///< when, while nobody holds it
  };
  void drop_oldest();

  std::int64_t free_;
  std::int64_t blocks_;
  std::int64_t block_tokens_;
  std::int64_t idle_ = 0;  ///< of beginnings without holders
  std::int64_t most_used_ = 0;
  std::uint64_t clock_ = 0;
  std::unordered_map<std::int64_t, Prefix> prefixes_;  ///< looked up, never walked
  std::map<std::uint64_t, std::int64_t> idle_groups_;  ///< by when they were let go
};

}  // namespace foretrace
