#include "models/jobs/workloads/layered.h"

#include <string>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "models/jobs/times/kernel_times.h"
#include "models/jobs/workloads/model_spec.h"
#include "models/jobs/workloads/transformer.h"
#include "tests/configs.h"

using foretrace::BatchShape;
using foretrace::BlockRun;
using foretrace::build_transformer;
using foretrace::find_cluster;
using foretrace::find_framework;
using foretrace::find_model;
using foretrace::KernelSet;
using foretrace::KernelTimes;
using foretrace::ModelSpec;
using foretrace::Operator;
using foretrace::OperatorType;
using foretrace::parse_model;
using foretrace::Workload;

namespace {

ModelSpec model(const std::string& name) {
  auto found = find_model(*foretrace::test::shipped(), name);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return std::move(*found);
}

BatchShape samples(double count) {
  BatchShape batch;
  batch.sequences = count;
  batch.length = batch.keys = 1;
  return batch;
}

double forward_flops(const Workload& workload) {
  double flops = 0;
  for (const BlockRun& run : workload.order) {
    for (const Operator& op : workload.blocks[run.block].operators) {
      if (op.type == OperatorType::product) flops += run.count * op.shape.flops();
    }
  }
  return flops;
}

const std::string small = R"({
  "schema": "foretrace.model/1", "product": "Two layers", "family": "layers", "widest": 4096,
  "blocks": [
    {"name": "first", "operators": [
      {"product": "conv 3x3", "rows": 64, "inputs": 144, "outputs": 32, "reads": 1024},
      {"norm": "batch norm", "numbers": 2048, "weights": 64},
      {"map": "relu", "numbers": 2048, "keeps": true}
    ]},
    {"name": "second", "count": 3, "operators": [{"product": "dense", "inputs": 32, "outputs": 32}]}
  ],
  "source": "made up"
})";

}  // namespace

TEST_CASE("layers: known networks have the parameters and the arithmetic of their papers") {
  struct Known {
    const char* name;
    double millions;
    double gflops;  ///< forward, of one sample
  };
  // torchvision: 25,557,032, 4.09 and 138,357,544, 15.47 billion multiplications and additions
  for (const Known known : {Known{"resnet50", 25.557032, 2 * 4.089},
                            {"vgg16", 138.357544, 30.94},
                            {"resnet18_cifar", 11.173962, 2 * 0.5554}}) {
    CAPTURE(known.name);
    const ModelSpec spec = model(known.name);
    const Workload one = build_transformer(spec.transformer, samples(1), KernelSet{});
    CHECK(weights_of(one) == doctest::Approx(known.millions * 1e6).epsilon(1e-9));
    CHECK(forward_flops(one) == doctest::Approx(known.gflops * 1e9).epsilon(0.002));
    const Workload many = build_transformer(spec.transformer, samples(32), KernelSet{});
    CHECK(forward_flops(many) == doctest::Approx(32 * forward_flops(one)));
    CHECK(weights_of(many) == weights_of(one));
  }
}

TEST_CASE("layers: a convolution moves its input once, not once per position of its window") {
  const auto spec = parse_model(small, "two.json");
  REQUIRE_MESSAGE(spec.ok(), (spec.ok() ? "" : spec.error().message));
  const Workload built = build_transformer(spec->transformer, samples(8), KernelSet{});
  CHECK(spec->transformer.layers == 4);
  const Operator& conv = built.blocks[0].operators[0];
  CHECK(conv.shape.m == 8 * 64);
  CHECK(conv.input_reuse == doctest::Approx(64. * 144 / 1024));
  CHECK(conv.kept_bytes == 8 * 1024 * 2);
  CHECK(built.blocks[0].operators[1].kept_bytes == 8 * 2048 * 2);  // of the norm
  CHECK(built.blocks[0].operators[2].kept_bytes == 8 * 2048 * 2);  // as the file says

  // Where bytes decide, they are nine times fewer of the input.
  auto cluster = find_cluster(*foretrace::test::shipped(), "single");
  auto framework = find_framework(*foretrace::test::shipped(), "eager_fp32");
  REQUIRE((cluster.ok() && framework.ok()));
  const KernelTimes times(*cluster, *framework, {foretrace::Precision::fp16, false});
  Operator wide = conv;
  wide.shape = {1, 1 << 20, 64, 576};
  wide.input_reuse = 9;
  Operator dense = wide;
  dense.input_reuse = 1;
  CHECK(times.forward(wide).ns < 0.9 * times.forward(dense).ns);
}

TEST_CASE("layers: wrong files are one line with the place") {
  const auto error_with = [](const std::string& from, const std::string& to) {
    std::string text = small;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    const auto spec = parse_model(text, "two.json");
    REQUIRE_FALSE(spec.ok());
    return spec.error().message;
  };
  CHECK(error_with("\"outputs\": 32, \"reads\"", "\"reads\"")
            .find("/blocks/0/operators/0/outputs: missing key") != std::string::npos);
  CHECK(error_with("\"map\"", "\"mop\"").find("/blocks/0/operators/2") != std::string::npos);
  CHECK(error_with("\"count\": 3", "\"count\": 0").find("/blocks/1/count: got 0") !=
        std::string::npos);
  CHECK(error_with("\"inputs\": 32, \"outputs\": 32", "\"inputs\": 1e12, \"outputs\": 1e12") ==
        "two.json: /blocks/1/operators/0/product: got 4e+24 bytes per sample in 4-byte numbers, "
        "expected at most 1e+15");
  CHECK(error_with("\"layers\"", "\"layer\"") ==
        "two.json: /family: got 'layer' (did you mean 'layers'?), expected transformer or layers");
}

TEST_CASE("layered: channels first turn what a convolution reads and writes, and nothing else") {
  const auto spec = parse_model(small, "small.json");
  REQUIRE_MESSAGE(spec.ok(), spec.error().message);
  KernelSet kernels;
  const Workload as_they_are = build_transformer(spec->transformer, samples(2), kernels);
  kernels.channels_first = true;
  const Workload turned = build_transformer(spec->transformer, samples(2), kernels);
  REQUIRE(turned.blocks.front().operators.size() ==
          as_they_are.blocks.front().operators.size() + 2);
  const Operator& last = turned.blocks.front().operators[0];
  const Operator& first = turned.blocks.front().operators[2];
  // 1,024 numbers in, 64 positions of 32 channels out; read and written, backward twice.
  CHECK(last.shape.m * last.shape.n == 2 * 1024);
  CHECK(first.shape.m * first.shape.n == 2 * 64 * 32);
  CHECK(last.forward_bytes == 2 * samples(2).number_bytes);
  CHECK(first.backward_bytes == 4 * samples(2).number_bytes);
  CHECK(turned.blocks.front().input_bytes == as_they_are.blocks.front().input_bytes);
  CHECK(turned.blocks.back().operators.size() == as_they_are.blocks.back().operators.size());
}
