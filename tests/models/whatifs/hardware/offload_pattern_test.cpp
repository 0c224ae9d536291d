#include <algorithm>
#include <ctime>

#include "models/hardware/execution/exec_model.h"
#include "tests/models/text_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& offload_pattern;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::Given;
using foretrace::test::text_run;
using foretrace::test::ToyRun;
using foretrace::what_ifs::offload_pattern;

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
    const std::string shown(kernels);  // clang 14 captures no binding
    CAPTURE(shown);
    const auto there = after(chain(kernels), offload_pattern, given());
    CHECK(count_of(there, "copy in for offload") == in);
    CHECK(count_of(there, "copy out after offload") == in);
    CHECK(count_of(there, "offloaded product") == products_there);
    CHECK(count_of(there, "offloaded product and ReLU") == pairs);
  }
}

namespace {

const std::string everything =
    R"({"schema": "foretrace.offload_patterns/1", "source": "a test",
        "patterns": [{"name": "all", "chain": ["."]}]})";
const std::string three =
    R"({"schema": "foretrace.offload_patterns/1", "source": "a test",
        "patterns": [{"name": "three", "chain": ["mm", "relu", "mm"]},
                     {"name": "product", "chain": ["mm"]}]})";

/// ReLUs of a million numbers of 4 bytes.
void relu(ToyRun& run, std::int32_t step, foretrace::Phase phase = foretrace::Phase::forward) {
  run.kernel({.duration_ns = 30'000,
              .operator_name = "aten::relu",
              .shapes = "[[1000000]]",
              .phase = phase,
              .launch_ns = 5'000,
              .step = step});
}

std::size_t copied_mb(const foretrace::TaskGraph& graph) {
  std::int64_t ns = 0;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = foretrace::make_id<foretrace::TaskId>(t);
    if (graph.kind(task) == foretrace::TaskKind::copy) ns += graph.duration_ns(task) - 10'000;
  }
  return static_cast<std::size_t>(ns * 16 / 1'000'000);
}

}  // namespace

TEST_CASE("offload_pattern: a region ends where a step or its phase does") {
  ToyRun steps;
  for (const std::int32_t step : {0, 1}) {
    const foretrace::TaskId begin = steps.mark();
    relu(steps, step);
    relu(steps, step);
    steps.builder().add_step({.rank = 0, .number = step, .begin = begin, .end = steps.mark()});
  }
  const auto there = after(steps.build(), offload_pattern, given(everything));
  CHECK(count_of(there, "copy in for offload") == 2);
  std::vector<std::int32_t> of_step;
  for (std::size_t t = 0; t < there.size(); ++t) {
    const auto task = foretrace::make_id<foretrace::TaskId>(t);
    if (there.name(task) == "offloaded all") of_step.push_back(there.step(task));
  }
  CHECK(of_step == std::vector<std::int32_t>{0, 0, 1, 1});
  ToyRun phases;
  relu(phases, -1);
  relu(phases, -1, foretrace::Phase::backward);
  CHECK(count_of(after(phases.build(), offload_pattern, given(everything)),
                 "copy in for offload") == 2);
}

TEST_CASE("offload_pattern: what is copied does not depend on how patterns group it") {
  const auto run = [] {
    ToyRun made;
    const auto kernel = [&](const char* op, const char* shapes, const char* name) {
      made.kernel({.name = name, .duration_ns = 30'000, .operator_name = op, .shapes = shapes});
    };
    kernel("aten::relu", "[[1000000]]", "vectorized_elementwise_kernel<4, float>");
    // Two operands, of which the chain makes one.
    kernel("aten::add", "[[1000000], [1000000]]", "vectorized_elementwise_kernel<4, float>");
    kernel("aten::bmm", "[[4, 250, 1000], [4, 1000, 500]]", "ampere_sgemm_128x64_nn");
    kernel("aten::bmm", "[[4, 250, 500], [4, 500, 250]]", "ampere_sgemm_128x64_nn");
    return made.build();
  };
  const auto with = [](const std::string& chains) {
    return given(R"({"schema": "foretrace.offload_patterns/1", "source": "a test", "patterns": [)" +
                 chains + "]}");
  };
  const std::string one = R"({"name": "one", "chain": ["."]})";
  const std::string two = R"({"name": "two", "chain": [".", "."]}, )";
  const std::string four = R"({"name": "four", "chain": [".", ".", ".", "."]}, )";
  // In: 1 M numbers, the residual's 1 M, 2 M and 0.5 M of the second operands; out 0.25 M.
  for (const std::string& chains : {one, two + one, four + one}) {
    CAPTURE(chains);
    const auto there = after(run(), offload_pattern, with(chains));
    CHECK(count_of(there, "copy in for offload") == 1);
    CHECK(copied_mb(there) == 19);
  }
}

TEST_CASE("offload_pattern: where the longest pattern does not go, a shorter one does") {
  // The second product has no shapes.
  ToyRun unknown;
  const auto product = [](ToyRun& run, const char* shapes) {
    run.kernel({.name = "ampere_sgemm_128x64_tn",
                .duration_ns = 30'000,
                .operator_name = "aten::mm",
                .shapes = shapes});
  };
  product(unknown, "[[8, 1024], [1024, 1024]]");
  relu(unknown, -1);
  product(unknown, "");
  const auto there = after(unknown.build(), offload_pattern, given(three));
  CHECK(count_of(there, "offloaded three") == 0);
  CHECK(count_of(there, "offloaded product") == 1);
  // Another stream waits for the ReLU, and the second product for that stream.
  const auto waits = text_run(
      "h:l1(5000) s:gemm1(30000)<l1 h:l2(5000) s:relu1(30000)<l2 h:l3(5000) "
      "s2:norm1(30000)<l3<relu1 h:l4(5000) s:gemm2(30000)<l4<norm1");
  const auto around = after(waits.graph, offload_pattern, given(three));
  CHECK(count_of(around, "offloaded three") == 0);
  CHECK(count_of(around, "offloaded product") == 2);
}

TEST_CASE("offload_pattern: kernels of one operator count as one") {
  ToyRun run;
  for (std::size_t i = 0; i < 2; ++i) {
    run.kernel({.name = "ampere_sgemm_128x64_splitK_tn",
                .duration_ns = 30'000,
                .operator_name = "aten::mm",
                .shapes = "[[8, 1024], [1024, 1024]]"});
    run.kernel({.name = "splitKreduce_kernel<32, 16, int, float>",
                .duration_ns = 3'000,
                .operator_name = "aten::mm",
                .shapes = "[[8, 1024], [1024, 1024]]"});
  }
  relu(run, -1);
  const auto there = after(run.build(), offload_pattern, given());
  CHECK(count_of(there, "offloaded product") == 1);
  CHECK(count_of(there, "offloaded product and ReLU") == 1);
  CHECK(count_of(there, "splitKreduce_kernel<32, 16, int, float>") == 0);
}

TEST_CASE("offload_pattern: shapes that say too little are not called missing") {
  ToyRun run;
  run.kernel({.name = "cudnn::cnn::wgrad_alg0_engine",
              .duration_ns = 100,
              .operator_name = "aten::convolution_backward",
              .shapes = "[[8, 16, 32, 32], [8, 16, 32, 32], [16, 16, 3, 3]]",
              .phase = foretrace::Phase::backward});
  const auto failed = apply_to(run.build(), offload_pattern, given(everything));
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().message ==
        "aten::convolution_backward: no formula for the work of its convolution kernels from the "
        "recorded shapes, expected patterns without it");
}

TEST_CASE("offload_pattern: twice as long a region takes about twice as long") {
  const auto seconds = [](int kernels) {
    ToyRun run;
    for (int i = 0; i < kernels; ++i) relu(run, -1);
    const auto graph = run.build();
    const std::clock_t start = std::clock();
    const auto change = apply_to(graph, offload_pattern, given(everything));
    const std::clock_t end = std::clock();
    REQUIRE_MESSAGE(change.ok(), change.error().message);
    CHECK(change->notes[0].find("1 region of ") == 0);
    return static_cast<double>(end - start) / CLOCKS_PER_SEC;
  };
  const double once = std::min(seconds(2000), seconds(2000));
  // Eight times as many: 64 times as long, if each match looked at all before it.
  CHECK(seconds(16'000) < 24 * once + 0.05);
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
