#include "models/editing/copies/host_link.h"

#include <array>

#include <doctest/doctest.h>

#include "tests/models/toy_run.h"

using foretrace::ParamValues;
using foretrace::TaskKind;
using foretrace::editing::host_link_bandwidth;
using foretrace::editing::host_link_param;
using foretrace::test::Given;
using foretrace::test::ToyRun;

namespace {

constexpr std::array params = {host_link_param};

double bandwidth(const foretrace::TaskGraph& graph, const Given& given = {},
                 const foretrace::Accelerator* accelerator = nullptr) {
  const auto values = ParamValues::parse("test", params, given);
  REQUIRE(values.ok());
  return host_link_bandwidth(graph, accelerator, *values);
}

foretrace::TaskGraph on(const char* name, std::int32_t compute_major, bool with_copies = false) {
  ToyRun run;
  run.builder().add_device({.name = name, .compute_major = compute_major});
  const auto copy = [&](const char* copied, std::int64_t bytes, std::int64_t ns) {
    run.kernel({.name = copied, .duration_ns = ns, .kind = TaskKind::copy, .bytes = bytes});
  };
  copy("Memcpy HtoD (Pageable -> Device)", 100'000'000, 50'000'000);
  copy("Memcpy HtoD (Pinned -> Device)", 1000, 2000);
  if (with_copies) copy("Memcpy DtoH (Device -> Pinned)", 40'000'000, 2'000'000);
  return run.build();
}

}  // namespace

TEST_CASE("host link: what is given, then recorded pinned copies, then the device's generation") {
  CHECK(bandwidth(on("NVIDIA H100 80GB HBM3", 9, true), {{"bandwidth", "7 GB/s"}}) == 7e9);
  CHECK(bandwidth(on("NVIDIA H100 80GB HBM3", 9, true)) == doctest::Approx(20e9));
  // 80 % of 63, 31.5 and 15.75 GB/s.
  CHECK(bandwidth(on("NVIDIA H100 80GB HBM3", 9)) == doctest::Approx(50.4e9));
  CHECK(bandwidth(on("NVIDIA A100-SXM4-40GB", 8)) == doctest::Approx(25.2e9));
  CHECK(bandwidth(on("Tesla V100-SXM2-32GB", 7)) == doctest::Approx(12.6e9));
  CHECK(bandwidth(on("AMD Instinct MI300X", 9)) == doctest::Approx(50.4e9));
  CHECK(bandwidth(on("AMD Instinct MI250X", 9)) == doctest::Approx(25.2e9));
  CHECK(bandwidth(on("", 0)) == doctest::Approx(12.6e9));
}

TEST_CASE("host link: the accelerator's file knows more than the generation does") {
  // NVLink-C2C: 450 GB/s each way; recorded copies and the user come first.
  const auto gh200 = foretrace::test::toy_accelerator("gh200");
  CHECK(bandwidth(on("NVIDIA GH200 480GB", 9), {}, &gh200) == doctest::Approx(360e9));
  CHECK(bandwidth(on("NVIDIA GH200 480GB", 9, true), {}, &gh200) == doctest::Approx(20e9));
  CHECK(bandwidth(on("NVIDIA GH200 480GB", 9), {{"bandwidth", "7 GB/s"}}, &gh200) == 7e9);
}
