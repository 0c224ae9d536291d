#include "models/whatifs/parallelism/recorded_layers.h"

#include <doctest/doctest.h>

#include "models/editing/what_if_input.h"
#include "tests/configs.h"
#include "tests/models/toy_transformer.h"

using namespace foretrace;
using editing::find_layers;
using editing::find_passes;
using editing::KernelEditor;
using editing::LayerEvidence;
using foretrace::test::toy_accelerator;
using foretrace::test::toy_transformer;

TEST_CASE("layers: modules and repeats around attention cut a transformer alike") {
  const Accelerator a100 = toy_accelerator();
  for (const bool modules : {true, false}) {
    CAPTURE(modules);
    const TaskGraph graph = toy_transformer({.layers = 3, .names_modules = modules});
    const KernelEditor editor({graph, &a100, *foretrace::test::shipped()});
    const auto passes = find_passes(editor);
    REQUIRE(passes.size() == 1);
    const auto layers = find_layers(editor, passes[0], 0);
    REQUIRE_MESSAGE(layers.ok(), layers.error().message);
    CHECK(layers->evidence == (modules ? LayerEvidence::modules : LayerEvidence::attention));
    std::size_t forward = 0;
    std::size_t backward = 0;
    std::size_t with_weights_of_a_layer = 0;
    for (const auto& layer : layers->list) {
      forward += layer.forward.size();
      backward += layer.backward.size();
      if (layer.parameters >= 12.0 * 1024 * 1024) ++with_weights_of_a_layer;
    }
    CHECK(forward == passes[0].forward.size());
    CHECK(backward == passes[0].backward.size());
    CHECK(with_weights_of_a_layer >= 3);
  }
}

TEST_CASE("layers: parts of equal time are given, and nothing is made up without them") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph = toy_transformer({.layers = 1});
  const KernelEditor editor({graph, &a100, *foretrace::test::shipped()});
  const auto passes = find_passes(editor);
  CHECK(find_layers(editor, passes[0], 0).error().code == ErrorCode::no_match);
  const auto parts = find_layers(editor, passes[0], 2);
  REQUIRE(parts.ok());
  CHECK(parts->list.size() == 2);
  CHECK(parts->evidence == LayerEvidence::parts);
  CHECK(find_layers(editor, passes[0], 1000).error().message.find("expected at most the") !=
        std::string::npos);
}
