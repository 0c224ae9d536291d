// Scenarios on devices that are no GPUs, from the file to the answer.
#include <cmath>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/scenario/scenario.h"
#include "tests/configs.h"

using foretrace::answer_scenario;
using foretrace::parse_scenario;
using foretrace::ScenarioAnswer;

namespace {

std::string inference(const std::string& model, const std::string& device,
                      const std::string& more = "") {
  return fmt::format(
      R"({{"schema": "foretrace.scenario/1",
           "workload": {{"model": "{}", "sequence": 1, "pass": "prefill"}},
           "accelerator": "{}", "framework": "int8_inference", "precision": "int8",
           "batch": {{"global": 1, "micro": 1}}{}}})",
      model, device, more);
}

ScenarioAnswer answer(const std::string& text) {
  const auto scenario = parse_scenario(*foretrace::test::shipped(), text, "s.json");
  REQUIRE_MESSAGE(scenario.ok(), (scenario.ok() ? "" : scenario.error().message));
  auto found = answer_scenario(*scenario);
  REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
  return *std::move(found);
}

std::string error_of(const std::string& text) {
  const auto scenario = parse_scenario(*foretrace::test::shipped(), text, "s.json");
  REQUIRE_FALSE(scenario.ok());
  return scenario.error().message;
}

}  // namespace

TEST_CASE("machines: models have the operations of MicroNets' Table 4") {
  struct Row {
    const char* model;
    double millions;
  };
  for (const Row row : {Row{"micronet_kws_s", 16.4},
                        {"micronet_kws_m", 30.6},
                        {"micronet_kws_l", 129},
                        {"micronet_ad_s", 37.5},
                        {"micronet_ad_m", 124.7},
                        {"micronet_ad_l", 129}}) {
    CAPTURE(row.model);
    CHECK(answer(inference(row.model, "stm32f767zi")).model_flops ==
          doctest::Approx(row.millions * 1e6).epsilon(0.025));
  }
}

TEST_CASE("machines: the lines of microcontrollers meet models that they were not drawn through") {
  // Banbury et al., MLSys 2021, Table 4; drawn through KWS-S and KWS-M (F446RE), KWS-L (the
  // others).
  struct Row {
    const char* model;
    const char* device;
    double ms;
  };
  for (const Row row : {Row{"micronet_ad_s", "stm32f446re", 457},
                        {"micronet_kws_m", "stm32f746zg", 187},
                        {"micronet_ad_m", "stm32f746zg", 608},
                        {"micronet_kws_m", "stm32f767zi", 181},
                        {"micronet_ad_s", "stm32f767zi", 194},
                        {"micronet_ad_m", "stm32f767zi", 567},
                        {"micronet_ad_l", "stm32f767zi", 614}}) {
    CAPTURE(row.model);
    CAPTURE(row.device);
    const ScenarioAnswer found = answer(inference(row.model, row.device));
    CHECK(static_cast<double>(found.step_ns) == doctest::Approx(row.ms * 1e6).epsilon(0.13));
    CHECK(static_cast<double>(found.range.low_ns) < row.ms * 1e6);
    CHECK(static_cast<double>(found.range.high_ns) > row.ms * 1e6);
    // Both evaluations are one.
    CHECK(found.analytic.step_ns == found.step_ns);
  }
}

TEST_CASE("machines: a line is off as a whole, and its intercept is bound by nothing") {
  const ScenarioAnswer found = answer(inference("micronet_kws_m", "stm32f746zg"));
  const auto& computed = found.analytic.breakdown.computed;
  const auto of = [&computed](foretrace::CostSource source) {
    return computed[static_cast<std::size_t>(source)];
  };
  // configs/accelerators/stm32f746zg.json: 36.0 ms; the line has no term for bytes.
  CHECK(of(foretrace::CostSource::start) == doctest::Approx(36.0e6));
  CHECK(of(foretrace::CostSource::memory) == 0);
  CHECK(of(foretrace::CostSource::vector) > 0);
  // The rows that the lines were not drawn through are 0.86 to 1.09 of them.
  const auto step = static_cast<double>(found.step_ns);
  CHECK(static_cast<double>(found.range.low_ns) == doctest::Approx(0.86 * step));
  CHECK(static_cast<double>(found.range.high_ns) == doctest::Approx(1.09 * step));
}

TEST_CASE("machines: what does not fit into a microcontroller is what was not measured on it") {
  // "-" in Table 4: too little SRAM or flash. The arena is the largest input and output of one
  // operator.
  struct Row {
    const char* model;
    const char* device;
    bool fits;
  };
  for (const Row row : {Row{"micronet_kws_m", "stm32f446re", true},
                        {"micronet_kws_l", "stm32f446re", false},
                        {"micronet_ad_s", "stm32f446re", true},
                        {"micronet_ad_m", "stm32f446re", false},
                        {"micronet_kws_l", "stm32f746zg", true},
                        {"micronet_ad_m", "stm32f746zg", true},
                        {"micronet_ad_l", "stm32f746zg", false},
                        {"micronet_ad_l", "stm32f767zi", true}}) {
    CAPTURE(row.model);
    CAPTURE(row.device);
    CHECK(answer(inference(row.model, row.device)).fits == row.fits);
  }
  // KWS-S: 490 x 84 numbers enter the first depthwise convolution, 125 x 84 leave it.
  const ScenarioAnswer small = answer(inference("micronet_kws_s", "stm32f446re"));
  REQUIRE(small.memories.size() == 2);
  CHECK(small.memories[0].name == "SRAM");
  CHECK(small.memories[0].need == 41160 + 10500);
  CHECK(small.memories[0].has == 128 * 1024);
  // Weights in one byte, and the program.
  CHECK(small.memories[1].need == small.parameters + 89 * 1024);
}

TEST_CASE("machines: a scenario changes parameters of the machine and adds options") {
  const ScenarioAnswer plain = answer(inference("vgg16", "zcu102"));
  // Twice the blocks are not there.
  CHECK(
      error_of(inference("vgg16", "zcu102", R"(, "exec_model": {"dsp_array": {"units": 4096}})")) ==
      "s.json: /exec_model: dsp_array: parameter 'units': got 4096, expected at most the 2520 of "
      "the "
      "part");
  const ScenarioAnswer half =
      answer(inference("vgg16", "zcu102", R"(, "exec_model": {"dsp_array": {"units": 1024}})"));
  CHECK(half.step_ns > plain.step_ns);
  CHECK(half.step_ns < 2 * plain.step_ns + 1);
  const auto with_buffer = [&](const std::string& size) {
    return answer(inference("vgg16", "zcu102",
                            R"(, "exec_model": {"weight_buffer": {"size": ")" + size + "\"}}"))
        .step_ns;
  };
  CHECK(with_buffer("0 B") == plain.step_ns);
  CHECK(with_buffer("64 MiB") < plain.step_ns);
  // Beyond all weights more changes nothing.
  CHECK(with_buffer("140 MB") == with_buffer("10 GB"));
  CHECK(with_buffer("140 MB") < with_buffer("64 MiB"));
}

TEST_CASE(
    "machines: any accelerator can be given a machine, tables of sizes say no more than that") {
  const ScenarioAnswer gpu = answer(inference("vgg16", "t4"));
  const ScenarioAnswer array = answer(
      inference("vgg16", "t4",
                R"(, "exec_model": {"systolic": {"rows": 64, "cols": 64, "clock_mhz": 1000}})"));
  CHECK(gpu.memories.size() == 1);
  CHECK(gpu.memories[0].name == "memory");
  CHECK(array.step_ns != gpu.step_ns);
}

TEST_CASE("machines: wrong scenarios are one line") {
  CHECK(error_of(inference("vgg16", "zcu103")).find("did you mean 'zcu102'?") != std::string::npos);
  CHECK(error_of(inference("vgg16", "zcu102", R"(, "cluster": "single")")) ==
        "s.json: /cluster: got both, expected either a cluster or one accelerator");
  CHECK(
      error_of(inference("vgg16", "t4", R"(, "exec_model": {"weight_buffer": {"size": "1 KiB"}})"))
          .starts_with("s.json: /exec_model: got 0 machines, expected one of"));
  CHECK(error_of(inference("vgg16", "zcu102",
                           R"(, "exec_model": {"bsp": {"tiles": 4, "exchange": "1 B/s"}})"))
            .starts_with("s.json: /exec_model: got 2 machines, expected one of"));
}

TEST_CASE("machines: training times its backward products on the machine, too") {
  const auto text = [](const std::string& more) {
    return R"({"schema": "foretrace.scenario/1",
      "workload": {"model": "resnet18_cifar", "sequence": 1}, "accelerator": "tpu_v3",
      "framework": "bf16_program", "precision": "bf16", "batch": {"global": 64, "micro": 64})" +
           more + "}";
  };
  const ScenarioAnswer dense = answer(text(""));
  // Zeros of activations alone shorten forward and the gradients of weights, of both all three.
  const ScenarioAnswer activations =
      answer(text(R"(, "exec_model": {"sparse_lanes": {"activations": 0.5}})"));
  const ScenarioAnswer both =
      answer(text(R"(, "exec_model": {"sparse_lanes": {"activations": 0.5, "gradients": 0.5}})"));
  CHECK(activations.step_ns < dense.step_ns);
  CHECK(both.step_ns < activations.step_ns);
  CHECK(both.step_ns * 2 > dense.step_ns);
  CHECK(dense.analytic.step_ns == dense.step_ns);
}

TEST_CASE("machines: bulk-synchronous tiles hold everything, what is larger does not fit") {
  const auto text = [](const std::string& model) {
    return fmt::format(
        R"({{"schema": "foretrace.scenario/1",
             "workload": {{"model": "{}", "sequence": 128, "pass": "prefill"}},
             "accelerator": "ipu_mk2", "framework": "bf16_program", "precision": "fp16",
             "batch": {{"global": 1, "micro": 1}}}})",
        model);
  };
  const ScenarioAnswer bert = answer(text("bert_base"));
  CHECK(bert.fits);
  // No faster than its products at the peak of the chip.
  CHECK(static_cast<double>(bert.step_ns) * 250e3 > bert.model_flops);
  CHECK_FALSE(answer(text("gpt2_xl")).fits);
}
