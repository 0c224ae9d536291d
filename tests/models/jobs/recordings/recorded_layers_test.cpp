#include "models/jobs/recordings/recorded_layers.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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

namespace foretrace::what_ifs {
extern const WhatIfInfo& flash_attention;
extern const WhatIfInfo& kernel_fusion;
extern const WhatIfInfo& gist_encoding;
extern const WhatIfInfo& activation_checkpointing;
}  // namespace foretrace::what_ifs

namespace {

std::vector<std::pair<const WhatIfInfo*, foretrace::test::Given>> edits_between_products() {
  return {{&what_ifs::flash_attention, {}},
          {&what_ifs::kernel_fusion, {}},
          {&what_ifs::gist_encoding, {{"least", "1 KiB"}}},
          {&what_ifs::activation_checkpointing, {{"segments", "2"}}}};
}

/// The first forward kernel of each layer.
std::vector<TaskId> beginnings_of_layers(const TaskGraph& graph, const Accelerator& on) {
  const KernelEditor editor({graph, &on, *foretrace::test::shipped()});
  const auto passes = find_passes(editor);
  REQUIRE(passes.size() == 1);
  const auto layers = find_layers(editor, passes[0], 0);
  REQUIRE_MESSAGE(layers.ok(), layers.error().message);
  std::vector<TaskId> beginnings;
  for (const auto& layer : layers->list) beginnings.push_back(layer.forward.front());
  return beginnings;
}

/// Numbers in the weights that products of each layer read, but for layers without.
std::vector<double> parameters_of_layers(const TaskGraph& graph, const Accelerator& on) {
  const KernelEditor editor({graph, &on, *foretrace::test::shipped()});
  const auto passes = find_passes(editor);
  REQUIRE(passes.size() == 1);
  const auto layers = find_layers(editor, passes[0], 0);
  REQUIRE_MESSAGE(layers.ok(), layers.error().message);
  std::vector<double> numbers;
  for (const auto& layer : layers->list) {
    if (layer.parameters > 0) numbers.push_back(layer.parameters);
  }
  return numbers;
}

}  // namespace

TEST_CASE("layers: modules and repeats of weights cut a transformer alike") {
  const Accelerator a100 = toy_accelerator();
  for (const bool modules : {true, false}) {
    CAPTURE(modules);
    const TaskGraph graph = toy_transformer({.layers = 3, .names_modules = modules});
    const KernelEditor editor({graph, &a100, *foretrace::test::shipped()});
    const auto passes = find_passes(editor);
    REQUIRE(passes.size() == 1);
    const auto layers = find_layers(editor, passes[0], 0);
    REQUIRE_MESSAGE(layers.ok(), layers.error().message);
    CHECK(layers->evidence == (modules ? LayerEvidence::modules : LayerEvidence::repeats));
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

TEST_CASE("layers: what is fused, encoded, cast or computed again between them moves none") {
  const Accelerator a100 = toy_accelerator();
  for (const bool modules : {true, false}) {
    const TaskGraph graph = toy_transformer({.layers = 4, .names_modules = modules, .eager = true});
    const std::vector<double> before = parameters_of_layers(graph, a100);
    REQUIRE(before.size() >= 4);
    for (const auto& edit : edits_between_products()) {
      CAPTURE(std::string(edit.first->name));
      const TaskGraph changed = foretrace::test::after(graph, *edit.first, edit.second, &a100);
      CHECK(parameters_of_layers(changed, a100) == before);
    }
  }
}

TEST_CASE("layers: modules that are hidden are found again by the weights") {
  const Accelerator a100 = toy_accelerator();
  for (const int layers : {3, 5, 12}) {
    for (const bool eager : {true, false}) {
      const auto with = beginnings_of_layers(
          toy_transformer({.layers = layers, .names_modules = true, .eager = eager}), a100);
      const auto without =
          beginnings_of_layers(toy_transformer({.layers = layers, .eager = eager}), a100);
      CHECK(with.size() >= static_cast<std::size_t>(layers));
      CHECK(std::includes(without.begin(), without.end(), with.begin(), with.end()));
      CHECK(without.size() <= with.size() + 1);  // logits have no module
    }
  }
}

TEST_CASE("layers: parts of equal time are given, and nothing is made up without them") {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph = toy_transformer({.layers = 2, .shapes = false});
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
