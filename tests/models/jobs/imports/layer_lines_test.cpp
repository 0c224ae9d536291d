#include <string>

#include <doctest/doctest.h>

#include "models/jobs/workloads/layered.h"
#include "models/jobs/workloads/model_import.h"

using foretrace::Axis;
using foretrace::CollectiveKind;
using foretrace::ModelSpec;
using foretrace::Overlap;
using foretrace::parse_model;
using foretrace::Result;

namespace {

const std::string transformer =
    "HYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8\n"
    "3\n"
    "in\t-1\t1000\tALLGATHER\t4096\t900\tREDUCESCATTER\t2048\t800\tNONE\t0\t100\n"
    "out\t-1\t2000\tALLTOALL_EP\t512\t1900\tNONE\t0\t1800\tALLREDUCE\t8192\t100\n"
    "in\t-1\t1000\tALLGATHER\t4096\t900\tREDUCESCATTER\t2048\t800\tNONE\t0\t100\n";

Result<ModelSpec> read(const std::string& text) { return parse_model(text, "two.txt"); }

std::string error_with(const std::string& from, const std::string& to) {
  std::string text = transformer;
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
  const auto model = read(text);
  REQUIRE_FALSE(model.ok());
  return model.error().message;
}

}  // namespace

TEST_CASE("layer lines: a line is a layer with its times, its collectives and their groups") {
  const auto model = read(transformer);
  REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().message));
  const auto& spec = *model->transformer.layered;
  REQUIRE(spec.recorded.has_value());
  CHECK(spec.recorded->tensor == 2);
  CHECK(spec.recorded->expert == 2);
  CHECK(spec.recorded->data == 4);
  CHECK(model->transformer.layers == 3);
  REQUIRE(spec.groups.size() == 2);  // the third line is the first one again
  REQUIRE(spec.order.size() == 3);
  CHECK(spec.order[2].block == 0);
  const auto& in = spec.groups[0].operators[0];
  CHECK(in.recorded.forward_ns == 1000);
  CHECK(in.recorded.input_gradient_ns == 900);
  CHECK(in.recorded.weight_gradient_ns == 800);
  CHECK(in.exchanges.forward.kind == CollectiveKind::all_gather);
  CHECK(in.exchanges.forward.bytes == 4096);
  CHECK_FALSE(in.exchanges.forward.is_part);  // AICB counts the whole
  CHECK(in.exchanges.forward.delay_ns == 100);
  CHECK(in.exchanges.input_gradient.overlap == Overlap::none);
  CHECK(in.exchanges.gradients.kind == CollectiveKind::none);
  const auto& out = spec.groups[1].operators[0];
  CHECK(out.exchanges.forward.axis == Axis::expert);
  CHECK(out.exchanges.gradients.axis == Axis::data);
}

TEST_CASE("layer lines: kinds of parallelism send what ASTRA-sim has them send") {
  const std::string lines =
      "\n2\na -1 10 ALLGATHER 64 9 REDUCESCATTER 64 8 ALLREDUCE 32 1\n"
      "b -1 10 ALLGATHER 64 9 REDUCESCATTER 64 8 ALLREDUCE 32 1\n";
  const auto data = read("DATA" + lines);
  REQUIRE(data.ok());
  for (const auto& group : data->transformer.layered->groups) {
    CHECK(group.operators[0].exchanges.forward.kind == CollectiveKind::none);
    CHECK(group.operators[0].exchanges.gradients.kind == CollectiveKind::all_reduce);
  }
  REQUIRE_FALSE(data->notes.empty());
  const auto model = read("MODEL" + lines);
  REQUIRE(model.ok());
  const auto& groups = model->transformer.layered->groups;
  REQUIRE(groups.size() == 2);
  // Nobody waits for the gradient of the first layer's input; that of the second travels while the
  // gradient of the weights is computed.
  CHECK(groups[0].operators[0].exchanges.input_gradient.kind == CollectiveKind::none);
  CHECK(groups[1].operators[0].exchanges.input_gradient.kind == CollectiveKind::reduce_scatter);
  CHECK(groups[1].operators[0].exchanges.input_gradient.overlap == Overlap::weights);
  CHECK(groups[1].operators[0].exchanges.gradients.kind == CollectiveKind::none);
  CHECK(groups[1].operators[0].exchanges.forward.is_part);  // a ring gathers parts
}

TEST_CASE("layer lines: a mistake is one line with file, line and what is expected") {
  CHECK(error_with("out\t-1\t2000", "out\t-1\t-5") ==
        "two.txt:4: forward time: got '-5', expected a number from 0 to 1e+15");
  CHECK(error_with("ALLTOALL_EP", "ALLTOAL_EP") ==
        "two.txt:4: collective: got 'ALLTOAL_EP' (did you mean 'ALLTOALL'?), expected one of "
        "ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, NONE, with _EP or _DP_EP behind it");
  CHECK(error_with("HYBRID_TRANSFORMER", "HYBRID_DLRM")
            .find("two.txt:1: parallelism: got 'HYBRID_DLRM'") == 0);
  CHECK(error_with("\n3\n", "\n4\n") == "two.txt:6: got the end after 3 layers, expected 4");
  CHECK(error_with("pp: 1", "pp: 2").find("two.txt:1: pp: got 2, expected 1") == 0);
  CHECK(error_with("pp: 1", "pp: 1.5").find("two.txt:1: pp:: got '1.5', expected a whole number") ==
        0);
  CHECK(error_with("\n3\n", "\n2.5\n").find("two.txt:2: number of layers: got '2.5'") == 0);
  CHECK(error_with("\t1800\tALLREDUCE\t8192\t100", "") ==
        "two.txt:4: got 8 words, expected the 12 of a layer");
}

TEST_CASE("layer lines: other texts are not recognized") {
  for (const std::string text : {"", "DATAX\n1\n", "hello", "{\"a\": 1}", "\n"}) {
    const auto file = foretrace::imported_text(text, "x.txt");
    REQUIRE(file.ok());
    CHECK(model_import_of(*file) == nullptr);
  }
}

TEST_CASE("layer lines: groups whose product leaves 32 bits are a mistake, as others are") {
  const auto model = read(
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 65536 ep: 1 pp: 65536 vpp: 1 ga: 1 all_gpus: "
      "8\n"
      "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n");
  REQUIRE_FALSE(model.ok());
  CHECK(model.error().message.find("all_gpus: got 8, expected a multiple of the 4294967296") !=
        std::string::npos);
}
