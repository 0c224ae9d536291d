#include "models/jobs/figures/device_memory.h"

#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/networks/cluster.h"
#include "tests/configs.h"

using foretrace::device_memories;
using foretrace::fits_device;
using foretrace::Job;
using foretrace::lone_accelerator;
using foretrace::StageMemory;

namespace {

constexpr double kib = 1024;

StageMemory held(double weights, double working) {
  StageMemory stage;
  stage.weights = weights;
  stage.working = working;
  return stage;
}

}  // namespace

TEST_CASE("device_memory: a GPU has one memory for everything") {
  const auto cluster = lone_accelerator(*foretrace::test::shipped(), "t4");
  REQUIRE(cluster.ok());
  Job job;
  job.cluster = cluster->get();
  const auto memories = device_memories(job, held(3e9, 1e9));
  REQUIRE(memories.size() == 1);
  CHECK(memories[0].name == "memory");
  CHECK(memories[0].need == 4e9);
  CHECK(memories[0].fits());
}

TEST_CASE("device_memory: a microcontroller has weights and program in flash, the rest in SRAM") {
  // STM32F446RE: 128 KiB and 512 KiB, of which the interpreter takes 89.
  const auto cluster = lone_accelerator(*foretrace::test::shipped(), "stm32f446re");
  REQUIRE(cluster.ok());
  Job job;
  job.cluster = cluster->get();
  const auto memories = device_memories(job, held(400 * kib, 100 * kib));
  REQUIRE(memories.size() == 2);
  CHECK(memories[0].need == 100 * kib);
  CHECK(memories[0].has == 128 * kib);
  CHECK(memories[1].need == 489 * kib);
  CHECK(memories[1].has == 512 * kib);
  CHECK(fits_device(job, std::vector{held(400 * kib, 100 * kib)}));
  // At the limit and one byte beyond it, of each.
  CHECK(fits_device(job, std::vector{held(423 * kib, 128 * kib)}));
  CHECK_FALSE(fits_device(job, std::vector{held(423 * kib + 1, 128 * kib)}));
  CHECK_FALSE(fits_device(job, std::vector{held(423 * kib, 128 * kib + 1)}));
  // One stage of several that does not fit is enough.
  CHECK_FALSE(fits_device(job, std::vector{held(0, 0), held(500 * kib, 0)}));
}
