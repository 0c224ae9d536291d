#include "models/hardware/memories/allocator_replay.h"

#include <array>

#include <doctest/doctest.h>

namespace foretrace {
namespace {

constexpr std::int64_t mebi = std::int64_t{1} << 20;

/// 12 MiB come, 30 MiB come, the 12 go, the 30 go; 100 MiB were there before.
AllocatorProgram small_program() {
  AllocatorProgram program;
  program.bytes = {12 * mebi, 30 * mebi};
  program.stream = {0, 0};
  program.persistent_bytes = 100 * mebi;
  program.events = {{0, true}, {1, true}, {0, false}, {1, false}};
  return program;
}

TEST_CASE("allocator replay: the window repeats until nothing grows") {
  const AllocatorReplay replay = replay_allocator(small_program(), {.keep_curve = true});
  CHECK(replay.use.peak_reserved_bytes == 142 * mebi);
  CHECK(replay.passes == 2);
  REQUIRE(replay.reserved.size() == 4);
  CHECK(replay.reserved[0] == 112 * mebi);
  CHECK(replay.reserved[3] == 142 * mebi);
}

TEST_CASE("allocator replay: seeds take their share of what was there before") {
  // 60 + 5 MiB are seeds; 5 MiB need a segment of 20. The rest of 35 is one block of 36.
  const std::array<std::int64_t, 2> seeds = {60 * mebi, 5 * mebi};
  const AllocatorReplay replay = replay_allocator(small_program(), {.seeds = seeds});
  // The window's 12 MiB fit behind the 5, the 30 MiB do not.
  CHECK(replay.use.peak_reserved_bytes == (60 + 20 + 36 + 30) * mebi);
}

TEST_CASE("allocator replay: what the window leaves takes the place of what it found") {
  AllocatorProgram program;  // an old gradient goes, a new one of the same size comes
  program.bytes = {12 * mebi, 12 * mebi};
  program.stream = {0, 0};
  program.older = {0};
  program.events = {{0, false}, {1, true}};
  const AllocatorReplay replay = replay_allocator(program);
  CHECK(replay.use.peak_reserved_bytes == 12 * mebi);
  CHECK(replay.use.allocated_bytes == 12 * mebi);
}

TEST_CASE("allocator replay: out of memory is told with the tensor that asked") {
  ReplayOptions options;
  options.settings.capacity_bytes = 120 * mebi;
  const AllocatorReplay replay = replay_allocator(small_program(), options);
  CHECK(replay.use.out_of_memory > 0);
  CHECK(replay.out_of_memory_at == 1);
}

}  // namespace
}  // namespace foretrace
