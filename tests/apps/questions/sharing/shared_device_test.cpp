#include "apps/questions/sharing/shared_device.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "tests/apps/support/program.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

/// A run without steps: a thread that launches every 10 us, and kernels of `kernel_us` that begin
/// every `period_us`; it ends with a wait for the last one.
std::string stepless(const std::string& name, const std::string& device, int kernel_us,
                     int period_us) {
  constexpr int kernels = 50;
  std::string events;
  const auto add = [&events](const std::string& event) {
    events += (events.empty() ? "" : ",\n") + event;
  };
  for (int i = 0; i < kernels; ++i) {
    add(fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{},"dur":5,)"
        R"("args":{{"correlation":{},"cbid":211}}}})",
        1000 + (period_us > kernel_us ? period_us : 10) * i, i + 1));
    add(fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"ampere_sgemm_128x64","pid":0,"tid":7,"ts":{},"dur":{},)"
        R"("args":{{"device":0,"stream":7,"correlation":{},"grid":[4096,1,1],"block":[256,1,1]}}}})",
        1010 + period_us * i, kernel_us, i + 1));
  }
  const int begin = 1000 + 10 * kernels + (period_us > kernel_us ? period_us * kernels : 0);
  const int end = 1010 + period_us * kernels;
  add(fmt::format(
      R"({{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":{},)"
      R"("dur":{},"args":{{"correlation":{},"cbid":165}}}})",
      begin, std::max(5, end - begin), kernels + 1));
  std::string path = test::scratch_file(name);
  std::ofstream(path, std::ios::binary)
      << R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": ")" << device
      << "\"}],\n\"traceEvents\": [\n"
      << events << "\n]}\n";
  return path;
}

SharedDevice shared(const std::string& path, const std::string& accelerator = {}) {
  auto answer = shared_device({path, path}, accelerator, {.catalogue = test::shipped()});
  REQUIRE_MESSAGE(answer.ok(), (answer.ok() ? "" : answer.error().message));
  return std::move(*answer);
}

/// None: this way is left out.
const SharedWay* way_of(const SharedDevice& answer, Sharing sharing) {
  const auto at = std::find_if(answer.ways.begin(), answer.ways.end(),
                               [&](const SharedWay& way) { return way.sharing == sharing; });
  return at == answer.ways.end() ? nullptr : &*at;
}

constexpr const char* a100 = "NVIDIA A100-SXM4-80GB";

}  // namespace

TEST_CASE(
    "shared device: a run without steps that keeps the device busy gets half by time slices") {
  const SharedDevice busy = shared(stepless("busy.json", a100, 1000, 1000));
  for (const Sharing sharing : {Sharing::time_slices, Sharing::mps}) {
    const SharedWay* const way = way_of(busy, sharing);
    REQUIRE(way != nullptr);
    CHECK(way->runs.first_share == doctest::Approx(0.5).epsilon(0.04));
    CHECK(way->runs.second_share == doctest::Approx(0.5).epsilon(0.04));
  }
  // One that leaves its device idle most of the time has it when it wants it.
  const SharedDevice idle = shared(stepless("idle.json", a100, 10, 1000));
  REQUIRE(way_of(idle, Sharing::time_slices) != nullptr);
  CHECK(way_of(idle, Sharing::time_slices)->runs.first_share > 0.95);
}

TEST_CASE("shared device: a recorded run of 88 % without steps does not run twice for free") {
  const std::string path = FORETRACE_SHARED_DIR "/traces/saf_amg/n28_baseline_a100.json.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: no recording at " << path);
    return;
  }
  const SharedDevice both = shared(path);
  const SharedWay* const slices = way_of(both, Sharing::time_slices);
  REQUIRE(slices != nullptr);
  // 89 % busy: both together do at most 1 / 0.89 of what one does.
  CHECK(slices->together() > 1);
  CHECK(slices->together() < 1.15);
}

TEST_CASE("shared device: halves by MIG are what mig_slice makes of each run") {
  const SharedDevice both = shared(test::demo_trace);
  const SharedWay* const halves = way_of(both, Sharing::mig);
  REQUIRE(halves != nullptr);
  const auto recording = load(test::demo_trace, {.catalogue = test::shipped()});
  REQUIRE(recording.ok());
  const auto stack = stack_of({fmt::format("mig_slice:compute={},memory=0.5", 42.0 / 108)});
  REQUIRE(stack.ok());
  const auto slice = predict(*recording, *stack);
  REQUIRE(slice.ok());
  CHECK(halves->runs.first.step_ns == slice->run.answer.step_ns);
  CHECK(halves->runs.second.step_ns == slice->run.answer.step_ns);
  CHECK(halves->runs.first_share < 1);
  CHECK(both.without_mig.empty());
}

TEST_CASE("shared device: runs of several devices, or of none, share no device") {
  const std::array<const char*, 3> paths = {"/traces/megatron_tp2_v100",
                                            "/traces/nsys_sqlite/train_2gpu_1s_window.sqlite.gz",
                                            "/traces/hta/cpu_only_rank0.json.gz"};
  for (const char* const path : paths) {
    CAPTURE(path);
    const std::string whole = std::string(FORETRACE_SHARED_DIR) + path;
    if (!std::filesystem::exists(whole)) {
      MESSAGE("skipped: no recording at " << whole);
      continue;
    }
    const auto answer = shared_device({whole, whole}, {}, {.catalogue = test::shipped()});
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().code == ErrorCode::unsupported);
    CHECK(answer.error().message.find("expected a run of one") != std::string::npos);
  }
}

TEST_CASE("shared device: memory that is not known is not said to fit") {
  const std::string path = stepless("no_memory.json", a100, 1000, 1000);
  const SharedDevice both = shared(path);
  for (const SharedWay& way : both.ways) CHECK_FALSE(way.runs.knows_memory);
  const test::Ran told = test::run_program("corun --json " + path + " " + path);
  REQUIRE_MESSAGE(told.code == 0, told.err);
  CHECK(told.out.find("\"fits\": true") == std::string::npos);
  CHECK(told.out.find("\"fits\": null") != std::string::npos);
}

TEST_CASE("shared device: no halves where the device has no MIG, and it says so") {
  for (const char* const product : {"v100_sxm2_16gb", "mi210", "rtx_4090"}) {
    CAPTURE(product);
    const SharedDevice both = shared(test::demo_trace, product);
    CHECK(way_of(both, Sharing::mig) == nullptr);
    CHECK(both.ways.size() == 2);
    CHECK(both.without_mig.find("has none") != std::string::npos);
  }
  const SharedDevice hopper = shared(test::demo_trace, "h100_sxm");
  CHECK(way_of(hopper, Sharing::mig) != nullptr);
}

TEST_CASE(
    "shared device: MPS is NVIDIA's; elsewhere kernels run side by side, documents the same") {
  const std::string idle = stepless("makers.json", a100, 10, 1000);
  for (const char* const move : {"", " --accelerator rtx_4090"}) {
    CAPTURE(move);
    const test::Ran told = test::run_program("corun " + idle + " " + idle + move);
    REQUIRE_MESSAGE(told.code == 0, told.err);
    CHECK(told.out.find("MPS: kernels run") != std::string::npos);
    CHECK(told.out.find("ide by side") == std::string::npos);
  }
  const std::string other = stepless("amd.json", "AMD Instinct MI300X", 10, 1000);
  for (const std::string& paths :
       {idle + " " + idle + " --accelerator mi210", other + " " + other}) {
    CAPTURE(paths);
    const test::Ran told = test::run_program("corun " + paths);
    REQUIRE_MESSAGE(told.code == 0, told.err);
    const std::string page = told.out.substr(0, told.out.find("No range is stated"));
    CHECK(page.find("MPS") == std::string::npos);
    CHECK(page.find("Side by side: kernels") != std::string::npos);
    const test::Ran document = test::run_program("corun --json " + paths);
    CHECK(document.out.find("\"sharing\": \"MPS\"") != std::string::npos);
  }
}

TEST_CASE("shared device: the page says how far it may be off, and what is doubtful") {
  const std::string whole = stepless("whole.json", a100, 1000, 1000);
  const test::Ran fine = test::run_program("corun " + whole + " " + whole);
  REQUIRE_MESSAGE(fine.code == 0, fine.err);
  CHECK(fine.out.find("doubtful") == std::string::npos);
  CHECK(fine.out.find("44 %") != std::string::npos);
  // Cut off in the middle: what came last is lost.
  std::string text;
  {
    std::ifstream file(whole, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  const std::string cut = test::scratch_file("cut.json");
  std::ofstream(cut, std::ios::binary) << text.substr(0, text.size() * 2 / 3);
  const test::Ran doubted = test::run_program("corun " + whole + " " + cut);
  CHECK(doubted.code == 0);
  CHECK(doubted.out.find("low confidence: cut.json: ") != std::string::npos);
  const test::Ran quiet = test::run_program("corun --quiet " + whole + " " + cut);
  CHECK(quiet.out.find("low confidence: the graph of cut.json") != std::string::npos);
}

}  // namespace foretrace
