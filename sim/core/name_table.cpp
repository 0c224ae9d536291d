#include "sim/core/name_table.h"

#include <algorithm>
#include <cstring>

namespace foretrace {
namespace {
constexpr std::size_t first_block = std::size_t{1} << 14;

// FNV-like over 8-byte words: short texts dominate, and the result must not depend on the platform.
std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0x9E3779B97F4A7C15ULL ^ text.size();
  const char* at = text.data();
  std::size_t left = text.size();
  while (left >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDULL;
    hash ^= hash >> 32;
    at += 8;
    left -= 8;
  }
  std::uint64_t word = 0;
  if (left > 0) {  // an empty view may have no data at all
    std::memcpy(&word, at, left);
  }
  hash = (hash ^ word) * 0xC4CEB9FE1A85EC53ULL;
  return hash ^ (hash >> 29);
}
}  // namespace

NameTable::NameTable() { intern(""); }

NameTable::NameTable(const NameTable& other) {
  for (const std::string_view text : other.texts_) {
    intern(text);
  }
}

NameTable& NameTable::operator=(const NameTable& other) {
  if (this != &other) {
    NameTable copy(other);
    *this = std::move(copy);
  }
  return *this;
}

std::size_t NameTable::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const std::size_t id = slots_[slot] - 1;
    if (hashes_[id] == hash && texts_[id] == text) return slot;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void NameTable::grow() {
  slots_.assign(std::max<std::size_t>(1024, slots_.size() * 2), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t id = 0; id < texts_.size(); ++id) {
    std::size_t slot = hashes_[id] & mask;
    while (slots_[slot] != 0) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = static_cast<std::uint32_t>(id + 1);
  }
}

NameId NameTable::intern(std::string_view text) {
  if (texts_.size() * 2 >= slots_.size()) {
    grow();
  }
  const std::uint64_t hash = hash_text(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != 0) {
    return NameId{slots_[slot] - 1};
  }
  if (blocks_.empty() || block_used_ + text.size() > block_size_) {
    block_size_ = std::max({first_block, std::min(block_size_ * 2, first_block << 6), text.size()});
    blocks_.push_back(std::make_unique<char[]>(block_size_));
    block_used_ = 0;
  }
  char* const place = blocks_.back().get() + block_used_;
  std::copy(text.begin(), text.end(), place);
  block_used_ += text.size();
  texts_.emplace_back(place, text.size());
  hashes_.push_back(hash);
  slots_[slot] = static_cast<std::uint32_t>(texts_.size());
  return make_id<NameId>(texts_.size() - 1);
}

NameId NameTable::find(std::string_view text) const {
  const std::size_t slot = slot_of(text, hash_text(text));
  return slots_[slot] == 0 ? none<NameId> : NameId{slots_[slot] - 1};
}

std::size_t NameTable::memory_bytes() const {
  std::size_t bytes = slots_.size() * sizeof(std::uint32_t) +
                      texts_.capacity() * (sizeof(std::string_view) + sizeof(std::uint64_t));
  for (const std::string_view text : texts_) {
    bytes += text.size();
  }
  return bytes;
}

}  // namespace foretrace
