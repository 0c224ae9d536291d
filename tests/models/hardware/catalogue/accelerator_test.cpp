#include "models/hardware/catalogue/accelerator.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/core/config.h"
#include "tests/configs.h"

using foretrace::Precision;
using foretrace::read_accelerator;
using foretrace::test::find_accelerator;

namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The error for the A100 file with one text replaced by another, without the path in front.
std::string error_with(const std::string& from, const std::string& to) {
  std::string text = file_text(FORETRACE_SOURCE_DIR "/configs/accelerators/a100_sxm_80gb.json");
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const std::string path =
      (std::filesystem::temp_directory_path() / "foretrace_accelerator_test.json").string();
  std::ofstream(path, std::ios::binary) << text;
  const auto accelerator = read_accelerator(path);
  std::filesystem::remove(path);
  REQUIRE_FALSE(accelerator.ok());
  std::string message = accelerator.error().message;
  REQUIRE(message.starts_with(path + ": "));
  return message.substr(path.size() + 2);
}

}  // namespace

TEST_CASE("accelerator: every file reads, names itself and gives a source for every figure") {
  const auto names = foretrace::test::shipped()->accelerator_names();
  CHECK(names.size() >= 38);
  for (const auto& name : names) {
    CAPTURE(name);
    const auto accelerator = find_accelerator(name);
    REQUIRE_MESSAGE(accelerator.ok(), accelerator.error().message);
    CHECK(accelerator->name == name);
    // TPUs have neither published fp32 rates nor a compute capability.
    const bool is_tpu = name.starts_with("tpu_");
    // Devices that are no GPUs may be small, and nothing recorded names them.
    const bool is_gpu = accelerator->exec_model == nullptr;
    CHECK((is_tpu || !is_gpu || accelerator->flops(Precision::fp32) > 0));
    // The P4 has no fp16 rate worth the name.
    const double half = accelerator->flops(Precision::fp16);
    CHECK((half == 0 || half > accelerator->flops(Precision::fp32)));
    CHECK((!is_gpu || accelerator->memory_bandwidth > 1e11));
    CHECK((!is_gpu || !accelerator->trace_names.empty()));
    CHECK((is_tpu || !is_gpu || accelerator->compute_major > 0));
    CHECK(accelerator->multiprocessors > 0);
    for (const auto& figure : accelerator->sources) {
      CAPTURE(figure.first);
      CHECK(figure.second.size() > 10);
    }
    // What is sustained in long runs is below the peak of the same precision.
    for (std::size_t p = 0; p < foretrace::precision_count; ++p) {
      CHECK(accelerator->sustained_flops[p] * accelerator->sustained_clock.high <=
            accelerator->peak_flops[p]);
    }
  }
}

TEST_CASE("accelerator: no two files claim one device name and memory") {
  std::map<std::string, std::vector<std::int64_t>> memory;
  for (const auto& name : foretrace::test::shipped()->accelerator_names()) {
    const auto accelerator = find_accelerator(name);
    REQUIRE(accelerator.ok());
    for (const auto& trace_name : accelerator->trace_names) {
      memory[trace_name].push_back(accelerator->memory_bytes);
    }
  }
  for (auto& [key, sizes] : memory) {
    const std::string& trace_name = key;
    CAPTURE(trace_name);
    std::sort(sizes.begin(), sizes.end());
    CHECK(std::adjacent_find(sizes.begin(), sizes.end()) == sizes.end());
  }
}

TEST_CASE("accelerator: rates and memory agree with the published table where both have them") {
  const std::string path = FORETRACE_SHARED_DIR "/validation/accelerator_datasheets.json";
  std::ifstream file(path);
  if (!file) {
    MESSAGE("skipped: no ", path);
    return;
  }
  const std::map<std::string, std::string> ours = {{"H100 SXM", "h100_sxm"},
                                                   {"H100 PCIe", "h100_pcie"},
                                                   {"A100 SXM 80GB", "a100_sxm_80gb"},
                                                   {"L40S", "l40s"},
                                                   {"MI325X", "mi325x"},
                                                   {"A100 PCIe 80GB", "a100_pcie_80gb"},
                                                   {"MI300X", "mi300x"},
                                                   {"MI355X", "mi355x"},
                                                   {"B300 SXM", "b300_sxm"},
                                                   {"GB200 (per GPU)", "gb200"}};
  std::size_t compared = 0;
  const nlohmann::json table = nlohmann::json::parse(file);
  for (const auto& row : table["rows"]) {
    const auto name = ours.find(row[0].get<std::string>());
    if (name == ours.end()) continue;
    CAPTURE(name->first);
    const auto accelerator = find_accelerator(name->second);
    REQUIRE(accelerator.ok());
    ++compared;
    CHECK(accelerator->flops(Precision::bf16) ==
          doctest::Approx(row[4].get<double>() * 1e12).epsilon(0.01));
    CHECK(static_cast<double>(accelerator->memory_bytes) ==
          doctest::Approx(row[7].get<double>() * 1073741824.0).epsilon(0.01));
    CHECK(accelerator->memory_bandwidth ==
          doctest::Approx(row[9].get<double>() * 1e12).epsilon(0.01));
  }
  CHECK(compared == ours.size());
}

TEST_CASE("accelerator: units are read, not guessed") {
  const auto a100 = find_accelerator("a100_sxm_40gb");
  REQUIRE(a100.ok());
  CHECK(a100->flops(Precision::bf16) == 312e12);
  CHECK(a100->flops(Precision::fp8) == 0);
  CHECK(a100->memory_bandwidth == 1.555e12);
  CHECK(a100->memory_bytes == 40LL * 1073741824);
  CHECK(a100->launch_latency_ns == 1500);
  CHECK(a100->kernel_gap_ns == 1200);
  CHECK(a100->queue_depth == 1021);
  CHECK(find_accelerator("mi300x")->queue_depth == 0);
}

TEST_CASE("accelerator: device names of traces find their product") {
  CHECK(foretrace::test::shipped()
            ->accelerator_of_device("NVIDIA A100-PG509-200", 42297524224)
            ->name == "a100_sxm_40gb");
  CHECK(foretrace::test::shipped()->accelerator_of_device("Tesla V100-DGXS-32GB", 0)->name ==
        "v100_sxm2_32gb");
  CHECK(foretrace::test::shipped()->accelerator_of_device("AMD Instinct MI300X VF", 0)->name ==
        "mi300x");
  CHECK(foretrace::test::shipped()
            ->accelerator_of_device("NVIDIA H100 80GB HBM3", 85028634624)
            ->name == "h100_sxm");
  CHECK_FALSE(foretrace::test::shipped()->accelerator_of_device("Quadro GP100", 0));
  CHECK_FALSE(foretrace::test::shipped()->accelerator_of_device("", 206141652992));
}

TEST_CASE("accelerator: unknown names are answered with the nearest ones") {
  const auto missing = find_accelerator("a100_sxm_80");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message.find("(did you mean 'a100_sxm_80gb'?)") != std::string::npos);
  CHECK(missing.error().message.find("one of a10, a100_pcie_40gb, ") != std::string::npos);
  CHECK_FALSE(find_accelerator("../../../etc/passwd").ok());
  CHECK_FALSE(find_accelerator("").ok());
}

TEST_CASE("accelerator: mistakes in a file are named by their pointer") {
  CHECK(
      error_with("\"80 GiB\"", "80") ==
      "/memory_size: got the number 80, expected a size such as '80 GiB' (units B, kB, MB, GB, TB, "
      "KiB, MiB, GiB, TiB)");
  CHECK(error_with("\"multiprocessors\": 108", "\"multiprocessors\": \"108\"") ==
        "/multiprocessors: got '108', expected a whole number such as '4' without quotes");
  CHECK(error_with("\"memory_bandwidth\": \"2.039 TB/s\"", "\"memory_bandwith\": \"2.039 TB/s\"")
            .starts_with("'/memory_bandwith': unknown key (did you mean 'memory_bandwidth'?)"));
  CHECK(error_with("\"fp16\": \"312 TFLOP/s\"", "\"pf16\": \"312 TFLOP/s\"")
            .starts_with("'/peak_flops/pf16': unknown key (did you mean 'fp16' or 'bf16'?)"));
  CHECK(error_with("  \"vector_fp32_flops\": \"19.5 TFLOP/s\",\n", "")
            .starts_with("/vector_fp32_flops: missing key, expected a rate such as"));
  CHECK(error_with("\"memory_bandwidth\": \"NVIDIA", "\"memory_bandwidht\": \"NVIDIA")
            .starts_with("/sources/memory_bandwidht: source of a figure that is not in the file "
                         "(did you mean 'memory_bandwidth'?)"));
  CHECK(error_with("\"1.5 us\"", "\"-1.5 us\"") ==
        "/launch_latency: got -1.5 us, expected a value from 0 to 1000 s");
  CHECK(error_with("\"2.039 TB/s\"", "\"0 TB/s\"")
            .starts_with("/memory_bandwidth: got a value that is not positive"));
  CHECK(error_with("foretrace.accelerator/1", "foretrace.accelerator/0") ==
        "/schema: got 'foretrace.accelerator/0', expected \"foretrace.accelerator/1\" (this "
        "program reads no other version)");
  CHECK(error_with("[\"NVIDIA A100-SXM4-80GB\"", "[5, \"NVIDIA A100-SXM4-80GB\"") ==
        "/trace_names: got the number 5 in the list, expected a text");
}

TEST_CASE("accelerator: the sustained clock is a property with a range") {
  const auto a100 = find_accelerator("a100_sxm_80gb");
  REQUIRE(a100.ok());
  CHECK(a100->sustained_clock.low == 1);
  CHECK(a100->sustained_clock.typical == 1.09);
  CHECK(a100->sustained_clock.high == 1.19);
  // Nothing stated: the clock of the figures, without a range.
  CHECK(find_accelerator("t4")->sustained_clock.high == 1);
  CHECK(error_with("\"low\": 1,", "\"low\": 1.5,") ==
        "/sustained_clock: got low 1.5, typical 1.09, high 1.19, expected 0.1 <= low <= typical <= "
        "high <= 10");
  CHECK(error_with("\"low\": 1,", "").starts_with("/sustained_clock/low: missing key"));
}

TEST_CASE("accelerator: a figure without a source is refused") {
  CHECK(error_with("    \"kernel_gap\": \"measured on recorded traces: median over kernels, "
                   "A100-PG509-200 with ns timestamps\",\n",
                   "") ==
        "/sources/kernel_gap: missing source of this figure, expected its origin and year");
}
