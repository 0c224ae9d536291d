#include "trace/annotate/tensors/tensor_owners.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/annotate/trace_sketch.h"
#include "trace/annotate/tensors/requested_bytes.h"

namespace foretrace::trace {
namespace {

std::vector<TensorOwner> owners_in(const EventTable& table) {
  return attribute_tensors(table, annotate(table), {table.memory, find_lifetimes(table.memory)});
}

std::vector<std::string> categories(const EventTable& table) {
  std::vector<std::string> list;
  for (const TensorOwner& owner : owners_in(table)) list.emplace_back(to_string(owner.category));
  return list;
}

TEST_CASE("owners: a step of training gives every category from birth and death alone") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId autograd = sketch.thread(2);
  sketch.numbered(main, "aten::conv2d", {100, 200}, 1);
  sketch.op(main, "aten::cudnn_convolution", {110, 190});
  sketch.op(main, "aten::empty", {112, 116});
  sketch.numbered(main, "aten::relu", {200, 240}, 2);
  sketch.node(autograd, "autograd::engine::evaluate_function: ConvolutionBackward0", {300, 400}, 1);
  sketch.node(autograd, "aten::convolution_backward", {310, 390}, 1);
  sketch.annotation(main, "Optimizer.step#Adam.step", {500, 600});
  sketch.op(main, "aten::zeros_like", {510, 520});
  sketch.annotation(main, "Optimizer.zero_grad#Adam.zero_grad", {700, 720});

  sketch.memory(main, 114, 1024, 0x1);  // 0 output of the convolution, freed in backward
  sketch.memory(main, 130, 4096, 0x2);  // 1 taken and given back by the library call itself
  sketch.memory(main, 180, -4096, 0x2);
  sketch.memory(main, 210, 512, 0x3);  // 2 forward to forward
  sketch.memory(main, 250, -512, 0x3);
  sketch.memory(autograd, 320, 2048, 0x4);  // 3 gradient of the weight
  sketch.memory(autograd, 330, 512, 0x5);   // 4 gradient of the input
  sketch.memory(autograd, 380, -1024, 0x1);
  sketch.memory(autograd, 395, -512, 0x5);
  sketch.memory(main, 515, 8192, 0x6);  // 5 state of the optimizer
  sketch.memory(main, 530, 512, 0x7);   // 6 temporary of the update
  sketch.memory(main, 590, -512, 0x7);
  sketch.memory(main, 710, -2048, 0x4);
  CHECK(categories(sketch.table()) ==
        std::vector<std::string>{"activation", "workspace", "temporary", "gradient",
                                 "activation_gradient", "optimizer_state", "temporary"});
}

TEST_CASE("owners: the owner is the innermost operator that is no factory") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  sketch.op(main, "aten::linear", {100, 200});
  const EventId product = sketch.op(main, "aten::addmm", {110, 190});
  sketch.op(main, "aten::empty_strided", {112, 116});
  sketch.memory(main, 114, 1024, 0x1);
  sketch.memory(main, 250, 512, 0x2);  // between operators
  const auto owners = owners_in(sketch.table());
  REQUIRE(owners.size() == 2);
  CHECK(owners[0].operator_event == product);
  CHECK(owners[1].operator_event == none<EventId>);
}

TEST_CASE(
    "owners: a request is known from the arguments of aten::empty, not from a block it cannot "
    "fill") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const EventId empty = sketch.op(main, "aten::empty", {100, 110});
  EventTable table = sketch.table();
  Descriptor descriptor;
  descriptor.concrete = table.names.intern(R"(["[3, 100]", "15", "", "", "", ""])");
  table.descriptors.push_back(descriptor);
  table.descriptor[index(empty)] = make_id<DescriptorId>(1);
  // 3 x 100 bfloat16 are 600 bytes; a block of 1024 holds them, one of 512 does not, and one of
  // 4 MiB would have been split.
  CHECK(requested_bytes(table, empty, 1024) == 600);
  CHECK(requested_bytes(table, empty, 512) == -1);
  CHECK(requested_bytes(table, empty, 4 << 20) == -1);
  CHECK(requested_bytes(table, none<EventId>, 1024) == -1);
}

}  // namespace
}  // namespace foretrace::trace
