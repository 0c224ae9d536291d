#pragma once

#include <bit>
#include <cstdint>

#include "sim/core/ids.h"
#include "trace/formats/common/hash.h"
#include "trace/table/events.h"

namespace foretrace::trace::formats {

/// Of every field; never 0.
inline std::uint64_t hash_of(const Descriptor& d) {
  std::uint64_t state = 0x9E3779B97F4A7C15ULL;
  const auto add = [&state](std::uint64_t value) {
    state = fold_product(state ^ value, 0xE7037ED1A0B428DBULL) + value;
  };
  add(index(d.dims));
  add(index(d.types));
  add(index(d.concrete));
  add(index(d.text));
  add(static_cast<std::uint64_t>(d.bytes));
  for (std::size_t i = 0; i < 3; ++i) {
    add(static_cast<std::uint64_t>(d.grid[i]));
    add(static_cast<std::uint64_t>(d.block[i]));
  }
  add(static_cast<std::uint64_t>(d.registers_per_thread));
  add(static_cast<std::uint64_t>(d.shared_memory_bytes));
  add(std::bit_cast<std::uint64_t>(d.flops));
  return state == 0 ? 1 : state;
}

}  // namespace foretrace::trace::formats
