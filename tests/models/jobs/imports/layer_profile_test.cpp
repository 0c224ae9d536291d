#include <string>

#include <doctest/doctest.h>

#include "models/jobs/workloads/layered.h"
#include "models/jobs/workloads/model_import.h"

using foretrace::ModelSpec;
using foretrace::parse_model;
using foretrace::Result;

namespace {

// Not in the order in which it runs: the edges say that.
const std::string small =
    "node3 -- ReLU(inplace) -- forward_compute_time=0.500, backward_compute_time=0.250, "
    "activation_size=[400.0; 400.0], parameter_size=0.000\n"
    "node1 -- Input -- forward_compute_time=9.000, backward_compute_time=0.000, "
    "activation_size=40.000, parameter_size=0.000\n"
    "node2 -- Linear(in_features=8, out_features=8) -- forward_compute_time=1.500, "
    "backward_compute_time=3.000, activation_size=400.000, parameter_size=288.000\n"
    "\tnode1 -- node2\n"
    "\tnode2 -- node3\n";

Result<ModelSpec> read(const std::string& text) { return parse_model(text, "graph.txt"); }

std::string error_with(const std::string& from, const std::string& to) {
  std::string text = small;
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
  const auto model = read(text);
  REQUIRE_FALSE(model.ok());
  return model.error().message;
}

}  // namespace

TEST_CASE("layer profile: modules become recorded layers in the order of the edges") {
  const auto model = read(small);
  REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().message));
  CHECK(model->transformer.is_recorded());
  const auto& spec = *model->transformer.layered;
  REQUIRE(spec.order.size() == 2);
  const auto& linear = spec.groups[spec.order[0].block].operators[0];
  const auto& relu = spec.groups[spec.order[1].block].operators[0];
  CHECK(linear.name == "Linear(in_features=8, out_features=8)");
  CHECK(linear.recorded.forward_ns == doctest::Approx(1.5e6));
  CHECK(linear.recorded.input_gradient_ns == doctest::Approx(3e6));
  CHECK(linear.weights == 72);
  CHECK(relu.recorded.forward_ns == doctest::Approx(0.5e6));
  CHECK(relu.kept_numbers == 200);
  CHECK(model->transformer.hidden == 200);
  REQUIRE(model->notes.size() == 2);
  CHECK(model->notes[1] == "9 ms of loading input are left out");
}

TEST_CASE("layer profile: a mistake is one line with file and line") {
  CHECK(error_with("=1.500", "=x") ==
        "graph.txt:3: forward_compute_time: got 'x', expected a number from 0 to 1e+09");
  CHECK(error_with("=1.500", "=[9e8; 9e8]") ==
        "graph.txt:3: forward_compute_time: got 1.8e+09 in all, expected at most 1e+09");
  CHECK(error_with("\tnode2 -- node3", "\tnode2 -- node33")
            .find("graph.txt:5: got 'node33' (did you mean 'node3'?)") == 0);
  CHECK(error_with("\tnode1 -- node2", "\tnode3 -- node2") ==
        "graph.txt: the edges form a cycle, expected a graph without cycles");
  CHECK(error_with("node2 -- Linear", "node3 -- Linear").find("appears twice") !=
        std::string::npos);
  CHECK(error_with(", parameter_size=288.000", "").find("parameter_size: missing") !=
        std::string::npos);
}
