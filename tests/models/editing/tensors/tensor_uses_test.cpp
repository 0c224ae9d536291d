#include "models/editing/tensors/tensor_uses.h"

#include "tests/models/policies/memory_chain.h"

namespace foretrace::editing {
namespace {

struct Found {
  explicit Found(TaskGraph made) : graph(std::move(made)), uses(graph) {}
  TaskGraph graph;
  TensorUses uses;
};

TEST_CASE("tensor uses: without shapes an operator reads what the one before it made") {
  const Found found(test::chain_graph({.layers = 3}));
  REQUIRE(found.uses.runs().size() == 6);
  // f2 makes map 2 from map 1; b2 is the last to use it, f3 reads it.
  const TensorMaking& second = found.uses.making(TensorId{1});
  CHECK(second.runs == std::vector<std::uint32_t>{1});
  CHECK(second.from == std::vector<TensorId>{TensorId{0}});
  CHECK(second.uses == std::vector<std::uint32_t>{1, 2, 4});
  CHECK(second.device_ns == 100000);
  CHECK(second.can_repeat);
  CHECK(found.uses.making(TensorId{0}).from.empty());
}

/// Operators with shapes: tensor i is made by operator i and stays to the end, unless said so.
struct Shaped {
  test::ToyRun run;
  std::vector<Tensor> tensors;
  TaskId op(std::string_view name, std::string_view shapes, std::int64_t bytes,
            std::int64_t ns = 1000) {
    const TaskId kernel =
        run.kernel({.name = name, .duration_ns = ns, .operator_name = name, .shapes = shapes});
    const auto call = make_id<TaskId>(index(kernel) - 1);
    if (bytes > 0) {
      tensors.push_back({.bytes = block_bytes(bytes),
                         .requested_bytes = bytes,
                         .category = TensorCategory::activation,
                         .allocated_in = call});
    }
    return call;
  }
  Found found() {
    for (const Tensor& tensor : tensors) run.builder().add_tensor(tensor);
    return Found(run.build());
  }
};

TEST_CASE("tensor uses: recorded sizes find the youngest tensor of that size") {
  Shaped made;
  made.op("a", "[[1]]", 8000);
  made.op("b", "[[1]]", 16000);
  made.op("c", "[[1]]", 8000);
  made.op("d", "[[4000], [2000]]", 400);  // fp32: 16000 and 8000 bytes
  const Found found = made.found();
  CHECK(found.uses.making(TensorId{3}).from == std::vector<TensorId>{TensorId{1}, TensorId{2}});
}

TEST_CASE("tensor uses: numbers that a what-if made half as long are read all the same") {
  const auto read = [](std::int64_t bytes, Provenance provenance) {
    Shaped made;
    made.op("a", "[[1]]", 8000);
    made.op("b", "[[1]]", bytes);
    made.op("c", "[[4000], [2000]]", 400);  // fp32, as recorded
    made.tensors[1].provenance = provenance;
    return made.found().uses.making(TensorId{2}).from;
  };
  const std::vector<TensorId> both = {TensorId{1}, TensorId{0}};
  CHECK(read(16000, Provenance::measured) == both);
  CHECK(read(8000, Provenance::assumed) == both);
  CHECK(read(8000, Provenance::measured) == std::vector<TensorId>{TensorId{1}});
}

TEST_CASE("tensor uses: an operator that writes in place is repeated with what made the tensor") {
  Shaped made;
  made.op("norm", "[[1]]", 8000, 700);
  made.op("relu_", "[[2000]]", 0, 300);
  const Found found = made.found();
  CHECK(found.uses.making(TensorId{0}).runs == std::vector<std::uint32_t>{0, 1});
  CHECK(found.uses.making(TensorId{0}).device_ns == 1000);
}

TEST_CASE("tensor uses: what is read from the host, or made from it and lost, is not repeatable") {
  test::ToyRun run;
  run.kernel({.name = "Memcpy HtoD", .duration_ns = 10, .kind = TaskKind::copy});
  run.kernel({.name = "f", .duration_ns = 10, .operator_name = "f"});
  run.kernel({.name = "g", .duration_ns = 10, .operator_name = "g"});
  const TaskId end = run.mark("end");
  const auto add = [&](std::uint32_t in, TaskId freed) {
    run.builder().add_tensor({.bytes = 512,
                              .category = TensorCategory::activation,
                              .allocated_in = TaskId{in},
                              .freed_in = freed});
  };
  add(0, TaskId{4});  // the input, gone after f has read it
  add(2, end);        // f's, needed to the end
  add(4, end);        // g's, made from f's
  const Found found(run.build());
  CHECK_FALSE(found.uses.making(TensorId{0}).can_repeat);
  CHECK_FALSE(found.uses.making(TensorId{1}).can_repeat);
  CHECK(found.uses.making(TensorId{2}).can_repeat);  // f's is there as long as it is
}

/// `maps` maps of the forward pass, then two backward operators with these recorded inputs; the
/// maps are freed together after them.
Found released_together(std::size_t maps, std::string_view shapes) {
  test::ToyRun run;
  std::vector<TaskId> calls;
  const auto add = [&](std::string_view name, Phase phase) {
    const TaskId kernel = run.kernel(
        {.name = name, .duration_ns = 10, .operator_name = name, .shapes = shapes, .phase = phase});
    calls.push_back(make_id<TaskId>(index(kernel) - 1));
  };
  for (std::size_t i = 0; i < maps; ++i) add(i % 2 == 0 ? "f" : "g", Phase::forward);
  add("b", Phase::backward);
  add("c", Phase::backward);
  const TaskId end = run.mark("end");
  for (std::size_t i = 0; i < maps; ++i) {
    run.builder().add_tensor({.bytes = 8192,
                              .category = TensorCategory::activation,
                              .allocated_in = calls[i],
                              .freed_in = end});
  }
  return Found(run.build());
}

TEST_CASE("tensor uses: what is freed with many others is not used there") {
  const Found few = released_together(16, "");
  CHECK(few.uses.making(TensorId{3}).uses.back() == 17);  // the second backward operator
  CHECK(few.uses.making(TensorId{3}).is_use_known);
  CHECK(few.uses.is_backward_bare());
  // One more, and nobody knows what the backward pass reads: 3 is read by the operator after it.
  const Found many = released_together(17, "");
  CHECK(many.uses.making(TensorId{3}).uses == std::vector<std::uint32_t>{3, 4});
  CHECK_FALSE(many.uses.making(TensorId{3}).is_use_known);
}

TEST_CASE("tensor uses: where inputs are recorded, a map that no operator reads is not needed") {
  const Found found = released_together(17, "[[3]]");
  CHECK_FALSE(found.uses.is_backward_bare());
  CHECK(found.uses.making(TensorId{3}).uses == std::vector<std::uint32_t>{3});
  CHECK(found.uses.making(TensorId{3}).is_use_known);
}

}  // namespace
}  // namespace foretrace::editing
