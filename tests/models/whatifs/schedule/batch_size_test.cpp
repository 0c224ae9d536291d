#include "models/editing/batches/batch_resize.h"
#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& batch_size;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::batch_size;

namespace {

// 8 samples of 512 positions; 4096 x 1024 x 1024.
constexpr ToyKernel product = {.name = "ampere_sgemm_128x64_tn",
                               .duration_ns = 700000,
                               .operator_name = "aten::addmm",
                               .shapes = "[[1024], [4096, 1024], [1024, 1024]]"};
constexpr ToyKernel gelu = {.name = "vectorized_elementwise_kernel<4, float>",
                            .duration_ns = 30000,
                            .operator_name = "aten::gelu",
                            .shapes = "[[8, 512, 1024]]"};
constexpr ToyKernel weight_gradient = {.name = "ampere_sgemm_64x128_nt",
                                       .duration_ns = 690000,
                                       .operator_name = "aten::mm",
                                       .shapes = "[[1024, 4096], [4096, 1024]]",
                                       .phase = Phase::backward};
constexpr ToyKernel accumulate = {.name = "vectorized_elementwise_kernel<4, float, AddFunctor>",
                                  .duration_ns = 12000,
                                  .operator_name = "aten::add_",
                                  .shapes = "[[1024, 1024], [1024, 1024]]",
                                  .phase = Phase::backward};
constexpr ToyKernel update = {
    .name = "multi_tensor_apply_kernel", .duration_ns = 5000, .phase = Phase::update};

foretrace::TaskGraph one_step() {
  ToyRun run;
  run.kernel(gelu);
  run.kernel(product);
  run.kernel(weight_gradient);
  run.kernel(accumulate);
  run.kernel(update);
  return run.build();
}

}  // namespace

TEST_CASE("batch_size: activations grow, weights and the update do not") {
  const auto a100 = toy_accelerator();
  const auto graph = one_step();
  const auto twice = after(graph, batch_size, {{"factor", "2"}}, &a100);
  // 256 tiles of 128 x 128 become 512; on 108 multiprocessors 3 waves become 5: at least 1.6, at
  // most twice the time.
  const double product_ratio =
      static_cast<double>(duration_of(twice, "ampere_sgemm_128x64_tn")) / 700000;
  CHECK(product_ratio > 1.6);
  CHECK(product_ratio <= 2.0);
  // The gradient of the weight sums over twice as many rows.
  const double gradient_ratio =
      static_cast<double>(duration_of(twice, "ampere_sgemm_64x128_nt")) / 690000;
  CHECK(gradient_ratio > 1.6);
  CHECK(gradient_ratio <= 2.0);
  // 1.8 us of ramp-up once: model time 1.8 + b becomes 1.8 + 2 b with b = 2 x 4 Mi x 4 B / rate.
  const double bytes = 2.0 * 8 * 512 * 1024 * 4 / (a100.memory_bandwidth * 0.80) * 1e9;
  CHECK(duration_of(twice, "vectorized_elementwise_kernel<4, float>") ==
        doctest::Approx(30000 * (1800 + 2 * bytes) / (1800 + bytes)).epsilon(1e-3));
  CHECK(duration_of(twice, "vectorized_elementwise_kernel<4, float, AddFunctor>") == 12000);
  CHECK(duration_of(twice, "multi_tensor_apply_kernel") == 5000);
}

TEST_CASE("batch_size: less than one sample is refused") {
  const auto a100 = toy_accelerator();
  const auto graph = one_step();
  const auto tiny = apply_to(graph, batch_size, {{"factor", "0.1"}}, &a100);
  REQUIRE_FALSE(tiny.ok());
  CHECK(tiny.error().code == ErrorCode::bad_usage);
  CHECK(tiny.error().message.find("got 0.1, which leaves 0.8 of a batch of 8, expected at least "
                                  "0.125") != std::string::npos);
  CHECK(apply_to(graph, batch_size, {{"factor", "0.125"}}, &a100).ok());
}

TEST_CASE("batch_size: factor 1 changes nothing") {
  const auto a100 = toy_accelerator();
  const auto graph = one_step();
  const auto same = after(graph, batch_size, {{"factor", "1"}}, &a100);
  CHECK(*same.weights().duration_ns == *graph.weights().duration_ns);
}

TEST_CASE("batch_size: without shapes time is proportional, but for the ramp-up") {
  ToyRun run;
  run.kernel({.name = "vectorized_elementwise_kernel<4, float>", .duration_ns = 11800});
  const auto twice = after(run.build(), batch_size, {{"factor", "2"}});
  CHECK(duration_of(twice, "vectorized_elementwise_kernel<4, float>") == 21800);
}

TEST_CASE("batch_size: a bounded doubt leaves those beside it unbounded") {
  foretrace::Change change;
  change.doubts.push_back({.text = "no update is recorded behind any pass"});
  foretrace::editing::GrowthTimes times;
  times.add(foretrace::editing::Growth::assumed, 100);
  times.say_unknown(change);
  REQUIRE(change.doubts.size() == 2);
  CHECK_FALSE(change.doubts[0].is_bounded);
  CHECK(change.doubts[1].is_bounded);
}

TEST_CASE("batch_size: kernels without shapes may stay, and much of them is a doubt") {
  ToyRun run;
  const foretrace::TaskId first = run.kernel({.name = "nvjet_tst_64x8", .duration_ns = 101800});
  run.bystander(run.add_stream(8), first, 51800);
  const auto graph = run.build();
  for (const char* factor : {"8", "0.5"}) {
    const auto change = apply_to(graph, batch_size, {{"factor", factor}});
    REQUIRE(change.ok());
    REQUIRE(change->durations.size() == 2);
    for (const foretrace::DurationEdit& edit : change->durations) {
      const auto measured = static_cast<double>(graph.duration_ns(edit.task));
      const auto ns = static_cast<double>(edit.duration_ns);
      CHECK(ns * static_cast<double>(edit.low) <= measured * 1.0001);
      CHECK(ns * static_cast<double>(edit.high) >= measured * 0.9999);
    }
    REQUIRE(change->doubts.size() == 1);
    CHECK(change->doubts[0].text.find("shapes are unknown for 100 %") == 0);
    CHECK(change->doubts[0].is_bounded);
  }
  // A fifth of the time without shapes is none: 400 of 500 us have them.
  ToyRun known;
  known.kernel({.name = "ampere_sgemm_128x64_tn",
                .duration_ns = 400000,
                .operator_name = "aten::addmm",
                .shapes = "[[64], [32, 16], [16, 64]]"});
  known.kernel({.name = "fusion_1", .duration_ns = 100000});
  const auto change = apply_to(known.build(), batch_size, {{"factor", "2"}});
  REQUIRE(change.ok());
  CHECK(change->doubts.empty());
}

TEST_CASE("batch_size: a run of updates only is declined") {
  ToyRun run;
  run.kernel(update);
  const auto declined = apply_to(run.build(), batch_size, {{"factor", "2"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("batch_size: activations in memory grow, parameters do not") {
  ToyRun run;
  const auto kernel = run.kernel(gelu);
  foretrace::Tensor map;
  map.bytes = 1 << 20;
  map.category = foretrace::TensorCategory::activation;
  map.allocated_in = foretrace::make_id<foretrace::TaskId>(foretrace::index(kernel) - 1);
  run.builder().add_tensor(map);
  map.category = foretrace::TensorCategory::weight;
  run.builder().add_tensor(map);
  const auto change = apply_to(run.build(), batch_size, {{"factor", "3"}});
  REQUIRE(change.ok());
  REQUIRE(change->tensors.size() == 1);
  CHECK(change->tensors[0].bytes == 3 << 20);
}

TEST_CASE("batch_size: loading in the process makes as many samples as the batch has") {
  foretrace::test::ToyRun run;
  const auto side = run.add_stream(9);
  const auto begin = run.mark("step begin", 10'000'000);
  run.label(begin, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 8'000'000);
  const auto product = run.kernel({.name = "ampere_sgemm_128x64_tn",
                                   .duration_ns = 1'000'000,
                                   .operator_name = "aten::mm",
                                   .shapes = "[[32, 1024], [1024, 1024]]"});
  run.bystander(side, product, 100);
  const auto graph = run.build();
  const auto quarter = foretrace::test::after(graph, batch_size, {{"factor", "0.25"}});
  // 8 of 10 ms of host time are loading: 6 of them go.
  CHECK(quarter.segment_ns(begin) == 4'000'000);
  const auto twice = foretrace::test::after(graph, batch_size, {{"factor", "2"}});
  CHECK(twice.segment_ns(begin) == 18'000'000);
}

TEST_CASE("batch_size: transfers of activations grow, those of gradients stay") {
  using foretrace::CollectiveKind;
  foretrace::test::ToyRun run;
  const auto compute = run.stream();
  const auto network = run.add_stream(20);
  const auto parts = run.builder().add_communicator({"parts", 4, {0}});
  const auto replicas = run.builder().add_communicator({"replicas", 2, {0}});
  std::vector<foretrace::TaskId> transfers;
  const auto transfer = [&](CollectiveKind kind, std::uint32_t communicator,
                            foretrace::TaskId made) {
    run.use_stream(network);
    transfers.push_back(run.kernel({.name = "ncclDevKernel",
                                    .duration_ns = 520'000,
                                    .kind = foretrace::TaskKind::collective,
                                    .collective = kind,
                                    .communicator = communicator,
                                    .bytes = 1 << 20}));
    run.wait_for(transfers.back(), made);
    run.use_stream(compute);
  };
  const auto product = [&](foretrace::Phase phase) {
    return run.kernel({.name = "ampere_sgemm_128x64_tn",
                       .duration_ns = 100'000,
                       .operator_name = "aten::mm",
                       .shapes = "[[32, 1024], [1024, 1024]]",
                       .phase = phase});
  };
  for (int i = 0; i < 2; ++i) {
    transfer(CollectiveKind::all_reduce, parts, product(foretrace::Phase::forward));
  }
  transfer(CollectiveKind::all_to_all, replicas, product(foretrace::Phase::forward));
  transfer(CollectiveKind::all_reduce, replicas, product(foretrace::Phase::backward));
  const auto twice = foretrace::test::after(run.build(), batch_size, {{"factor", "2"}});
  // 20 us of latency stay, 500 us become 1000.
  for (std::size_t i = 0; i < 3; ++i) CHECK(twice.duration_ns(transfers[i]) == 1'020'000);
  CHECK(twice.duration_ns(transfers[3]) == 520'000);
}

namespace {

/// A product of heads, which leads with samples x heads, and what follows it.
void attention_of(ToyRun& run, const char* hidden) {
  run.kernel({.name = "ampere_fp16_s16816gemm_fp16_128x64_tn",
              .duration_ns = 90000,
              .operator_name = "aten::bmm",
              .shapes = "[[32, 512, 64], [32, 64, 512]]"});
  run.kernel({.name = "scaled_upper_triang_masked_softmax_warp_forward",
              .duration_ns = 400000,
              .operator_name = "ScaledUpperTriangMaskedSoftmax",
              .shapes = "[[32, 512, 512]]"});
  run.kernel({.name = "vectorized_elementwise_kernel<4, float>",
              .duration_ns = 30000,
              .operator_name = "aten::gelu",
              .shapes = hidden});
}

constexpr ToyKernel lookup = {.name = "indexSelectLargeIndex<float, long>",
                              .duration_ns = 5000,
                              .operator_name = "aten::embedding"};

std::string first_note(const foretrace::TaskGraph& graph) {
  const auto change = apply_to(graph, batch_size, {{"factor", "2"}});
  REQUIRE(change.ok());
  REQUIRE_FALSE(change->notes.empty());
  return change->notes[0];
}

}  // namespace

TEST_CASE("batch_size: the samples are those that an embedding looks up, not samples x heads") {
  ToyRun run;
  ToyKernel tokens = lookup;
  tokens.shapes = "[[50000, 1024], [4, 512]]";
  ToyKernel positions = lookup;
  positions.shapes = "[[512, 1024], [1, 512]]";
  run.kernel(positions);
  run.kernel(tokens);
  attention_of(run, "[[512, 4, 1024]]");  // positions lead
  const std::string note = first_note(run.build());
  CHECK(note.starts_with("batch 4 -> 8: "));
}

TEST_CASE("batch_size: flat rows of a table are told apart by activations and attention's scores") {
  // [positions, samples, ...] and [samples, positions, ...] of 2,048 tokens.
  for (const char* const hidden : {"[[512, 4, 1024]]", "[[4, 512, 1024]]"}) {
    CAPTURE(hidden);
    ToyRun run;
    ToyKernel tokens = lookup;
    tokens.operator_name = "aten::index_select";
    tokens.shapes = "[[50000, 1024], [], [2048]]";
    run.kernel(tokens);
    attention_of(run, hidden);
    CHECK(first_note(run.build()).starts_with("batch 4 -> 8: "));
  }
}

TEST_CASE("batch_size: a flat list of tokens is no batch, but grows as it does") {
  ToyRun run;
  ToyKernel tokens = lookup;
  tokens.shapes = "[[50000, 1024], [888]]";
  run.kernel(tokens);
  run.kernel({.name = "fmha_forward_kernel",
              .duration_ns = 50000,
              .operator_name = "vllm::unified_attention_with_output",
              .shapes = "[[888, 8, 64], [888, 1, 64], [888, 1, 64]]"});
  run.kernel({.name = "vectorized_elementwise_kernel<4, float>",
              .duration_ns = 30000,
              .operator_name = "aten::gelu",
              .shapes = "[[888, 1024]]"});
  const std::string note = first_note(run.build());
  CHECK(note.starts_with("batch size not known from shapes, which have 888 tokens"));
  CHECK(note.find("device time =") == std::string::npos);
}

TEST_CASE("batch_size: a flat list of tokens is told by attention where no lookup is recorded") {
  const auto note_of = [](const char* query, const char* product) {
    ToyRun run;
    run.kernel({.name = "fmhaSm100aKernel_QkvE4m3",
                .duration_ns = 50000,
                .operator_name = "vllm::unified_attention_with_output",
                .shapes = query});
    run.kernel({.name = "nvjet_tst_64x64_64x16",
                .duration_ns = 30000,
                .operator_name = "aten::linear",
                .shapes = product});
    return first_note(run.build());
  };
  CHECK(note_of("[[888, 8, 64], [888, 1, 64], [888, 1, 64]]", "[[888, 512], [2880, 512]]")
            .starts_with("batch size not known from shapes, which have 888 tokens"));
  // Samples x positions x hidden: the first are samples.
  CHECK(note_of("[[8, 512, 1024]]", "[[8, 512, 1024], [2880, 1024]]").starts_with("batch 8 -> 16"));
}

TEST_CASE("batch_size: rows that a table of categories looks up are samples") {
  ToyRun run;
  ToyKernel users = lookup;
  users.shapes = "[[50000, 64], [256]]";
  run.kernel(users);
  run.kernel({.name = "vectorized_elementwise_kernel<4, float>",
              .duration_ns = 30000,
              .operator_name = "aten::relu",
              .shapes = "[[256, 64]]"});
  CHECK(first_note(run.build()).starts_with("batch 256 -> 512: "));
}

TEST_CASE("batch_size: a program of XLA has its batch in what it fuses, its weights in products") {
  ToyRun run;
  const auto side = run.add_stream(9);
  run.mark();
  // 8 samples of 512 positions; scores of 4 heads, [32, 512, 512]; the weight is 1024 x 1024.
  const auto forward = run.kernel({.name = "loop_multiply_fusion",
                                   .duration_ns = 101800,
                                   .operator_name = "fusion:mul",
                                   .shapes = "[[8, 512, 1024], [1024], [8, 512, 1024]]"});
  run.bystander(side, forward, 4000);
  run.kernel({.name = "nvjet_tst_64x8",
              .duration_ns = 700000,
              .operator_name = "dot_general",
              .shapes = "[[4096, 1024], [1024, 1024]]"});
  run.kernel({.name = "nvjet_tst_128x8",
              .duration_ns = 90000,
              .operator_name = "dot_general",
              .shapes = "[[32, 512, 256], [32, 256, 512]]"});
  const auto heads = run.kernel({.name = "input_transpose_fusion",
                                 .duration_ns = 101800,
                                 .operator_name = "fusion:dot_general",
                                 .shapes = "[[4096, 1024], [3, 8, 4, 256, 512]]"});
  const auto beside = run.bystander(side, heads, 4000);
  const auto weight = run.kernel({.name = "wrapped_convert",
                                  .duration_ns = 50000,
                                  .operator_name = "fusion:convert_element_type",
                                  .shapes = "[[1024, 1024], [1024, 1024]]"});
  run.wait_for(weight, beside);
  // The gradient of the weight, its rows in four parts.
  const auto gradient = run.kernel({.name = "nvjet_tst_32x8",
                                    .duration_ns = 700000,
                                    .operator_name = "dot_general",
                                    .shapes = "[[4, 1024, 1024], [4, 1024, 1024]]",
                                    .phase = Phase::backward});
  const auto graph = run.build();
  const auto change = apply_to(graph, batch_size, {{"factor", "2"}});
  REQUIRE(change.ok());
  CHECK(change->notes[0].starts_with("batch 8 -> 16: "));
  CHECK(change->doubts.empty());
  const auto a100 = toy_accelerator();
  const auto twice = after(graph, batch_size, {{"factor", "2"}}, &a100);
  CHECK(twice.duration_ns(weight) == 50000);
  for (const foretrace::TaskId grows : {forward, heads, gradient}) {
    const double ratio = static_cast<double>(twice.duration_ns(grows)) /
                         static_cast<double>(graph.duration_ns(grows));
    CHECK(ratio > 1.6);
    CHECK(ratio <= 2.0);
  }
}

TEST_CASE("batch_size: the weight of a convolution with as many channels as samples stays") {
  ToyRun run;
  const auto side = run.add_stream(9);
  run.mark();
  const auto product = run.kernel({.name = "cudnn_conv",
                                   .duration_ns = 700000,
                                   .operator_name = "conv_general_dilated",
                                   .shapes = "[[8, 8, 56, 56], [64, 8, 3, 3], [8, 64, 56, 56]]"});
  const auto beside = run.bystander(side, product, 4000);
  const auto weight = run.kernel({.name = "wrapped_convert",
                                  .duration_ns = 50000,
                                  .operator_name = "fusion:convert_element_type",
                                  .shapes = "[[64, 8, 3, 3], [64, 8, 3, 3]]"});
  run.wait_for(weight, beside);
  const auto a100 = toy_accelerator();
  const auto twice = after(run.build(), batch_size, {{"factor", "2"}}, &a100);
  CHECK(twice.duration_ns(product) > 1000000);
  CHECK(twice.duration_ns(weight) == 50000);
}

TEST_CASE("batch_size: what comes after it sees the kernels of the new batch") {
  const auto a100 = toy_accelerator();
  const auto twice = after(one_step(), batch_size, {{"factor", "2"}}, &a100);
  const auto shapes_of = [&](std::string_view name) {
    for (std::size_t t = 0; t < twice.size(); ++t) {
      const auto task = foretrace::make_id<foretrace::TaskId>(t);
      if (twice.name(task) == name) return std::string(twice.names()[twice.work(task).shapes]);
    }
    return std::string();
  };
  CHECK(shapes_of(gelu.name) == "[[16, 512, 1024]]");
  CHECK(shapes_of(product.name) == "[[1024], [8192, 1024], [1024, 1024]]");
  CHECK(shapes_of(weight_gradient.name) == "[[1024, 8192], [8192, 1024]]");
  CHECK(shapes_of(accumulate.name) == accumulate.shapes);
  // Half of that batch is the recorded one again.
  const auto back = after(twice, batch_size, {{"factor", "0.5"}}, &a100);
  for (const ToyKernel& kernel : {gelu, product, weight_gradient, accumulate}) {
    CHECK(static_cast<double>(duration_of(back, kernel.name)) ==
          doctest::Approx(static_cast<double>(kernel.duration_ns)).epsilon(1e-4));
  }
}
