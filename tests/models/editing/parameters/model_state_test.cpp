#include "models/editing/parameters/model_state.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/editing/parameters/gradients.h"
#include "tests/models/training_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& async_checkpoint;
extern const WhatIfInfo& mixed_precision;
extern const WhatIfInfo& optimizer_offload;
extern const WhatIfInfo& parallel;
}  // namespace foretrace::what_ifs

using foretrace::CollectiveKind;
using foretrace::Phase;
using foretrace::TaskGraph;
using foretrace::WhatIfInfo;
using foretrace::editing::find_passes;
using foretrace::editing::GradientFinder;
using foretrace::editing::KernelEditor;
using foretrace::editing::optimizer_states;
using foretrace::editing::parameter_bytes;
using foretrace::editing::parameter_count;
using foretrace::editing::parameter_counts;
using foretrace::test::apply_to;
using foretrace::test::Given;
using foretrace::test::shipped;
using foretrace::test::ToyRun;
using foretrace::test::training_job;

namespace {

constexpr double layer = 1024 * 1024 + 1024;  // numbers of a product with its bias
constexpr double recurrent = 4096 * 1024;     // of a layer whose operator tells no shapes

// A product and a recurrent layer per step, forward and backward, beside a stream that waits; the
// update goes over the three tensors in two runs.
TaskGraph recurrent_model() {
  ToyRun run;
  const auto side = run.add_stream(9);
  const char* product = "[[1024], [64, 1024], [1024, 1024], [], []]";
  for (int step = 0; step < 2; ++step) {
    run.bystander(side, run.kernel({.name = "LSTM_elementWise_fp", .duration_ns = 300'000}), 9'000);
    run.kernel({"ampere_sgemm_128x64_tn", 100'000, "aten::addmm", product});
    run.kernel({"ampere_sgemm_128x64_nt", 200'000, "aten::mm", "[[1024, 64], [64, 1024]]",
                Phase::backward});
    run.bystander(side,
                  run.kernel({.name = "LSTM_bp", .duration_ns = 600'000, .phase = Phase::backward}),
                  9'000);
    for (const char* half : {"[[1024, 1024], []]", "[[1024], []]", "[[4096, 1024], []]"}) {
      for (const char* op : {"aten::mul_", "aten::addcdiv_"}) {
        run.kernel(
            {.duration_ns = 20'000, .operator_name = op, .shapes = half, .phase = Phase::update});
      }
      if (std::string_view(half) == "[[1024], []]") run.synchronize();
    }
  }
  return run.build();
}

std::string notes_of(const TaskGraph& graph, const WhatIfInfo& info, const Given& given) {
  const auto h100 = foretrace::test::toy_accelerator("h100_sxm");
  const auto change = apply_to(graph, info, given, &h100);
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  std::string text;
  for (const std::string& note : change->notes) text += note + "\n";
  return text;
}

}  // namespace

TEST_CASE("model_state: every what-if states the same number, whatever the forward pass shows") {
  const TaskGraph graph = recurrent_model();
  const KernelEditor editor({graph, nullptr, *shipped()});
  CHECK(parameter_count(editor).numbers == layer + recurrent);
  CHECK(parameter_count(editor).evidence == "by the shapes of what one update touches");
  CHECK(parameter_count(editor).tensors == 3);
  const std::string number = fmt::format("{:.1f} M ", (layer + recurrent) * 1e-6);
  using namespace foretrace::what_ifs;
  const auto states = [&](const WhatIfInfo& info, const Given& given) {
    const std::string notes = notes_of(graph, info, given);
    CAPTURE(notes);
    CHECK(notes.find(number) != std::string::npos);
  };
  states(async_checkpoint, {{"storage", "1 GB/s"}});
  states(optimizer_offload, {});
  states(parallel, {{"data", "8"}, {"cluster", "dgx_h100"}});
  states(parallel, {{"data", "8"}, {"cluster", "dgx_h100"}, {"zero", "3"}, {"layers", "2"}});
  states(mixed_precision, {{"dtype", "fp16"}, {"loss_scaling", "dynamic"}});
}

TEST_CASE("model_state: parameters have the type that the update works on") {
  // A product of 1024 x 1024 and plain SGD by one pass over many tensors.
  const auto model = [](const char* product, const char* update) {
    ToyRun run;
    const auto side = run.add_stream(9);
    run.kernel({product, 100'000, "aten::mm", "[[64, 1024], [1024, 1024]]"});
    run.kernel({product, 100'000, "aten::mm", "[[1024, 64], [64, 1024]]", Phase::backward});
    run.bystander(side,
                  run.kernel({.name = update,
                              .duration_ns = 20'000,
                              .operator_name = "aten::_foreach_add_",
                              .phase = Phase::update}),
                  9'000);
    return run.build();
  };
  constexpr const char* in_bf16 =
      "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<c10::BFloat16, 2, "
      "2, 0>, std::plus<float>, float>";
  constexpr const char* in_fp32 =
      "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float, 2, 2, 0>, "
      "std::plus<float>, float>";
  using namespace foretrace::what_ifs;
  const TaskGraph cast = model("ampere_bf16_s16816gemm_bf16_128x128_tn", in_bf16);
  const TaskGraph autocast = model("ampere_bf16_s16816gemm_bf16_128x128_tn", in_fp32);
  CHECK(parameter_bytes(KernelEditor({cast, nullptr, *shipped()})) == 2);
  CHECK(parameter_bytes(KernelEditor({autocast, nullptr, *shipped()})) == 4);
  const auto saved = [](const TaskGraph& graph) {
    return notes_of(graph, async_checkpoint, {{"storage", "1 GB/s"}});
  };
  CHECK(saved(cast).find("saves of 2.1 MB") != std::string::npos);
  CHECK(saved(autocast).find("saves of 4.2 MB") != std::string::npos);
  const auto reduced = [](const TaskGraph& graph) {
    const auto h100 = foretrace::test::toy_accelerator("h100_sxm");
    const auto change = apply_to(graph, parallel, {{"data", "8"}, {"cluster", "dgx_h100"}}, &h100);
    REQUIRE_MESSAGE(change.ok(), change.error().message);
    std::int64_t bytes = 0;
    for (const foretrace::Work& work : change->new_works) {
      if (work.collective == CollectiveKind::all_reduce) bytes += work.bytes;
    }
    return bytes;
  };
  CHECK(reduced(cast) == 2 * 1024 * 1024);
  CHECK(reduced(autocast) == 4 * 1024 * 1024);
}

TEST_CASE("model_state: gradients that no shape tells are spread over the backward pass") {
  const TaskGraph graph = recurrent_model();
  const KernelEditor editor({graph, nullptr, *shipped()});
  const GradientFinder finder(editor);
  for (const auto& pass : find_passes(editor)) {
    const auto gradients = finder.of(pass);
    CHECK(gradients.numbers() == doctest::Approx(layer + recurrent));
    REQUIRE(gradients.list.size() == 3);
    CHECK(gradients.places == foretrace::editing::GradientPlaces::partly);
    for (std::size_t i = 1; i < 3; ++i) {
      CHECK(gradients.list[i - 1].ready <= gradients.list[i].ready);
    }
    // The product is the last quarter of the forward pass: its gradient is there first.
    CHECK(gradients.list[0].ready == pass.backward.front());
    CHECK(gradients.list[2].ready == pass.backward.back());
    CHECK(gradients.list[2].numbers == recurrent);
    CHECK(finder.of(pass, 1e6).numbers() == doctest::Approx(1e6));
  }
}

TEST_CASE("model_state: each device has its own count, and weights are their rank's") {
  // Two nodes: number 0 is the device of both ranks.
  const TaskGraph graph =
      training_job({.nodes_of_one = true, .weight_bytes = {4'000'000, 6'000'000}});
  const KernelEditor editor({graph, nullptr, *shipped()});
  const auto counts = parameter_counts(editor);
  REQUIRE(counts.size() == 2);
  CHECK(counts.at({0, 0}).numbers == 1e6);
  CHECK(counts.at({1, 0}).numbers == 1.5e6);
  CHECK(parameter_count(editor).numbers == 1.5e6);
  CHECK(parameter_count(editor).evidence == "by recorded weights");
}

TEST_CASE("model_state: where ranks reduce-scatter, each keeps a share of what all train") {
  const TaskGraph graph =
      training_job({.ranks = 4,
                    .steps = 2,
                    .reduces = {{4'000'000, 1'000'000, 3, CollectiveKind::reduce_scatter},
                                {8'000'000, 1'000'000, 6, CollectiveKind::reduce_scatter}},
                    .update_name = "multi_tensor_apply_kernel"});
  const KernelEditor editor({graph, nullptr, *shipped()});
  CHECK(parameter_count(editor).numbers == 3e6);
  CHECK(parameter_count(editor).held == 0.75e6);
  using namespace foretrace::what_ifs;
  const auto first = notes_of(graph, async_checkpoint, {{"storage", "1 GB/s"}, {"bytes", "12"}});
  CHECK(first.find("saves of 36.0 MB, 3.0 M parameters") != std::string::npos);
  const auto all =
      notes_of(graph, async_checkpoint, {{"storage", "1 GB/s"}, {"bytes", "12"}, {"ranks", "all"}});
  CHECK(all.find("saves of 9.0 MB, 0.8 M on each rank of 3.0 M parameters") != std::string::npos);
  CHECK(notes_of(graph, optimizer_offload, {}).find("8 updates of 0.8 M on each rank of 3.0 M ") ==
        0);
}

TEST_CASE("model_state: exchanges of untold type are of 2 bytes if that is what a pass reads") {
  const auto model = [](std::int64_t bytes, const char* name) {
    ToyRun run;
    const auto own = run.stream();
    const auto network = run.add_stream(9);
    run.kernel({"ampere_sgemm_128x64_tn", 100'000, "aten::mm", "[[64, 1024], [1024, 1024]]"});
    const auto made = run.kernel({.name = "bwd", .duration_ns = 200'000, .phase = Phase::backward});
    run.use_stream(network);
    const auto reduced = run.kernel({.name = name,
                                     .duration_ns = 50'000,
                                     .phase = Phase::communication,
                                     .kind = foretrace::TaskKind::collective,
                                     .collective = CollectiveKind::all_reduce,
                                     .communicator = 0,
                                     .bytes = bytes});
    run.wait_for(reduced, made);
    run.use_stream(own);
    run.wait_for(run.kernel({.name = "update", .duration_ns = 20'000, .phase = Phase::update}),
                 reduced);
    run.builder().add_communicator({"world", 8, {0}});
    const TaskGraph graph = run.build();
    return parameter_count(KernelEditor({graph, nullptr, *shipped()})).numbers;
  };
  constexpr std::int64_t numbers = 1024 * 1024;
  CHECK(model(2 * numbers, "ncclDevKernel_Generic") == numbers);
  CHECK(model(4 * numbers, "ncclDevKernel_Generic") == numbers);
  // One that tells its type is believed: another weight, of which no shape is known.
  CHECK(model(12 * numbers, "ncclDevKernel_AllReduce_Sum_f32_RING_LL") == 3 * numbers);
  CHECK(model(2 * numbers, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL") == numbers);
}

TEST_CASE("model_state: square roots are Adam's unless the optimizer's name tells of one state") {
  const auto states = [](std::initializer_list<const char*> names) {
    ToyRun run;
    const auto side = run.add_stream(9);
    const auto update = run.kernel({.name = "elementwise",
                                    .duration_ns = 1000,
                                    .operator_name = "aten::_foreach_addcdiv_",
                                    .phase = Phase::update});
    run.bystander(side, update, 500);
    for (const char* name : names) run.label(run.mark(), name, 10);
    const TaskGraph graph = run.build();
    return optimizer_states(KernelEditor({graph, nullptr, *shipped()})).bytes;
  };
  CHECK(states({}) == 8);
  CHECK(states({"Optimizer.step#AdamW.step"}) == 8);
  CHECK(states({"Optimizer.step#Adagrad.step"}) == 4);
  CHECK(states({"Optimizer.step#RMSprop.step"}) == 4);
  CHECK(states({"Optimizer.step#Adagrad.step", "Optimizer.step#AdamW.step"}) == 8);
}
