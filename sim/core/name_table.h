// Interned strings: every distinct text once, named by a NameId.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/core/ids.h"

namespace foretrace {

/// Texts by id. NameId 0 is always the empty string. Views stay valid as long as the table lives.
class NameTable {
 public:
  NameTable();
  NameTable(const NameTable& other);
  NameTable& operator=(const NameTable& other);
  NameTable(NameTable&&) noexcept = default;
  NameTable& operator=(NameTable&&) noexcept = default;
  ~NameTable() = default;

  /// The id of this text; adds it if it is new.
  NameId intern(std::string_view text);
  /// The id of this text, or none<NameId> if it was never interned.
  [[nodiscard]] NameId find(std::string_view text) const;
  [[nodiscard]] std::string_view operator[](NameId id) const { return texts_[index(id)]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  /// Bytes held by texts and the index.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();

  std::vector<std::string_view> texts_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;  // open addressing: id + 1, 0 is free
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
};

}  // namespace foretrace
