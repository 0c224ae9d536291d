#include "models/execution/exec_model.h"
#include "tests/models/text_run.h"

namespace foretrace::optimizations {
extern const OptimizationInfo offload_pattern;
}

using foretrace::ErrorCode;
using foretrace::optimizations::offload_pattern;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::Given;
using foretrace::test::text_run;
using foretrace::test::ToyRun;

namespace {

const std::string products =
    R"({"schema": "foretrace.offload_patterns/1", "source": "a test",
        "patterns": [{"name": "product", "chain": ["^aten::mm$"]},
                     {"name": "product and ReLU", "chain": ["^aten::mm$", "^aten::relu$"]}]})";

Given given(const std::string& patterns = products, const std::string& device = "ipu_mk2") {
  return {
      {"patterns", patterns}, {"device", device}, {"bandwidth", "16 GB/s"}, {"precision", "fp16"}};
}

// Products of 8 x 1024 with 1024 x 1024, ReLU and layer norm of a million numbers.
foretrace::TaskGraph chain(const std::string& kernels) {
  std::string text;
  std::size_t at = 0;
  for (const char kernel : kernels) {
    const std::string call = "l" + std::to_string(++at);
    const std::string name = kernel == 'g' ? "gemm" : kernel == 'r' ? "relu" : "norm";
    text += "h:" + call + "(5000) s:" + name + std::to_string(at) + "(30000)<" + call + " ";
  }
  return text_run(text).graph;
}

std::string note_of(const std::string& kernels) {
  const auto change = apply_to(chain(kernels), offload_pattern, given());
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  return change->notes[0];
}

}  // namespace

TEST_CASE(
    "offload_pattern: a match takes what the device's execution model says, copies the link") {
  const auto there = after(chain("ngn"), offload_pattern, given());
  const auto ipu = foretrace::test::toy_accelerator("ipu_mk2");
  foretrace::OperatorWork work;
  work.kind = foretrace::WorkKind::product;
  work.m = 8, work.n = 1024, work.k = 1024;
  work.input_bytes = 8 * 1024 * 2, work.output_bytes = 8 * 1024 * 2;
  work.weight_bytes = 1024 * 1024 * 2;
  const foretrace::ExecDevice device{ipu.memory_bandwidth * 1e-9, ipu.vector_fp32_flops * 1e-9,
                                     ipu.flops(foretrace::Precision::fp16) / 2 * 1e-9,
                                     static_cast<double>(ipu.memory_bytes)};
  CHECK(static_cast<double>(duration_of(there, "offloaded product")) ==
        doctest::Approx(ipu.exec_model->time(device, {}, work).total()).epsilon(0.01));
  // 10 us, and 8 x 1024 numbers of 4 bytes at 16 bytes per ns, in and out.
  CHECK(duration_of(there, "copy in for offload") == 10'000 + 8 * 1024 * 4 / 16);
  CHECK(duration_of(there, "copy out after offload") == 10'000 + 8 * 1024 * 4 / 16);
}

TEST_CASE("offload_pattern: neighbours share their copies, the longest pattern takes them") {
  for (const auto& [kernels, in, products_there, pairs] : {std::tuple{"gg", 1U, 2U, 0U},
                                                           {"gng", 2U, 2U, 0U},
                                                           {"gr", 1U, 0U, 1U},
                                                           {"grg", 1U, 1U, 1U},
                                                           {"rg", 1U, 1U, 0U}}) {
    CAPTURE(std::string(kernels));
    const auto there = after(chain(kernels), offload_pattern, given());
    CHECK(count_of(there, "copy in for offload") == in);
    CHECK(count_of(there, "copy out after offload") == in);
    CHECK(count_of(there, "offloaded product") == products_there);
    CHECK(count_of(there, "offloaded product and ReLU") == pairs);
  }
}

TEST_CASE("offload_pattern: coverage is told by time and by FLOPs") {
  // One of two kernels of the same time, and all products.
  CHECK(note_of("ng").find("coverage 50.0 % of kernel time, ") != std::string::npos);
  CHECK(note_of("gg").find("coverage 100.0 % of kernel time, 100.0 % of the FLOPs") !=
        std::string::npos);
}

TEST_CASE("offload_pattern: a GPU takes them by its roofline") {
  const auto there = after(chain("ngn"), offload_pattern, given(products, "h100_sxm"));
  CHECK(duration_of(there, "offloaded product") > 0);
  CHECK(duration_of(there, "offloaded product") < 30'000);
}

TEST_CASE("offload_pattern: without shapes, units or a match it says what is missing") {
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 100, .operator_name = "aten::mm"});
  const auto unknown = apply_to(run.build(), offload_pattern, given());
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::missing_cost);
  CHECK(unknown.error().message.find("aten::mm") != std::string::npos);
  Given recorded = given();
  recorded.back().second = "recorded";
  const auto units = apply_to(chain("g"), offload_pattern, recorded);
  REQUIRE_FALSE(units.ok());
  CHECK(units.error().code == ErrorCode::unsupported);
  CHECK(units.error().message ==
        "ipu_mk2 has no units for products in fp32, expected another precision");
  const auto none = apply_to(chain("nn"), offload_pattern, given());
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::no_match);
}

TEST_CASE("offload_pattern: mistakes of a list of patterns have their place") {
  const auto error_with = [](const std::string& from, const std::string& to) {
    std::string text = products;
    text.replace(text.find(from), from.size(), to);
    const auto failed = apply_to(chain("g"), offload_pattern, given(text));
    REQUIRE_FALSE(failed.ok());
    return failed.error().message;
  };
  CHECK(error_with(R"(["^aten::mm$"])", "[]")
            .find("/patterns/0/chain: got 0 expressions, expected 1 to 32") != std::string::npos);
  CHECK(error_with(R"("chain")", R"("chian")").find("did you mean 'chain'?") != std::string::npos);
  CHECK(error_with(R"(^aten::mm$)", "(").find("/patterns/0/chain: ") != std::string::npos);
  const auto named = apply_to(chain("g"), offload_pattern, given("exmaple"));
  REQUIRE_FALSE(named.ok());
  CHECK(named.error().message.find("did you mean 'example'?") != std::string::npos);
}
