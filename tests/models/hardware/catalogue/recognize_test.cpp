#include "models/hardware/catalogue/recognize.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

namespace foretrace {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

DeviceInfo device(std::string name, std::int32_t multiprocessors, std::int32_t major,
                  std::int32_t minor, std::int64_t memory) {
  DeviceInfo info;
  info.name = std::move(name);
  info.multiprocessors = multiprocessors;
  info.compute_major = major;
  info.compute_minor = minor;
  info.memory_bytes = memory;
  return info;
}

std::string name_of(const DeviceInfo& info) {
  const auto found = recognize_accelerator(*test::shipped(), info);
  return found ? found->accelerator.name : std::string();
}

TEST_CASE("recognize: a known name needs no note") {
  const auto found =
      recognize_accelerator(*test::shipped(), device("NVIDIA A100-SXM4-80GB", 108, 8, 0, 79 * gib));
  REQUIRE(found);
  CHECK(found->accelerator.name == "a100_sxm_80gb");
  CHECK(found->note.empty());
}

TEST_CASE("recognize: a board code is matched by capability, multiprocessors and memory") {
  const auto found =
      recognize_accelerator(*test::shipped(), device("NVIDIA PG509-210", 108, 8, 0, 79 * gib));
  REQUIRE(found);
  CHECK(found->accelerator.multiprocessors == 108);
  CHECK(found->accelerator.memory_bytes == 80 * gib);
  CHECK(found->accelerator.flops(Precision::bf16) == 312e12);
  CHECK(found->note.find("'NVIDIA PG509-210'") != std::string::npos);
  CHECK(found->note.find("compute capability 8.0, 108 multiprocessors, 79 GiB") !=
        std::string::npos);
  CHECK(name_of(device("NVIDIA PG509-210", 108, 8, 0, 39 * gib)).find("40gb") != std::string::npos);
}

TEST_CASE("recognize: a device without a name is found by what was recorded of it") {
  CHECK(name_of(device("", 304, 9, 4, 192 * gib)) == "mi300x");
  CHECK(name_of(device("AMD Radeon Graphics", 104, 9, 0, 64 * gib)) == "mi210");
  CHECK(name_of(device("Quadro GP100", 56, 6, 0, 16 * gib)) == "p100_pcie_16gb");
}

TEST_CASE("recognize: vendors with one compute capability are told apart") {
  // 9.0 is Hopper on one side and CDNA 1 and 2 on the other; 114 is near to both.
  CHECK(name_of(device("AMD something", 114, 9, 0, 64 * gib)) == "mi250x");
  CHECK(name_of(device("NVIDIA something", 114, 9, 0, 80 * gib)) == "h100_pcie");
  DeviceInfo nameless = device("", 114, 9, 0, 80 * gib);
  nameless.registers_per_multiprocessor = 65536;  // which AMD's profiler does not record
  CHECK(name_of(nameless) == "h100_pcie");
}

TEST_CASE("recognize: a board for games is like others for games, one for servers like those") {
  // The A10 has 72 multiprocessors, the RTX 3090 82; half the rate of products to each.
  CHECK(name_of(device("NVIDIA GeForce RTX 3080", 68, 8, 6, 10 * gib)) == "rtx_3090");
  CHECK(name_of(device("NVIDIA board", 68, 8, 6, 24 * gib)) == "a10");
}

TEST_CASE("recognize: what is like no file is not taken for one") {
  CHECK(name_of(device("NVIDIA GeForce GTX 1650", 16, 7, 5, 4 * gib)).empty());  // T4: 40
  CHECK(name_of(device("NVIDIA PG509-210", 0, 8, 0, 79 * gib)).empty());         // not recorded
  CHECK(name_of(device("NVIDIA next", 108, 99, 0, 79 * gib)).empty());
  CHECK(name_of(device("", 0, 0, 0, 0)).empty());
}

}  // namespace
}  // namespace foretrace
