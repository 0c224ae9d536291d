#include <string>

#include <doctest/doctest.h>

#include "models/jobs/workloads/layered.h"
#include "models/jobs/workloads/model_import.h"

using foretrace::ModelSpec;
using foretrace::parse_model;
using foretrace::Result;

namespace {

// Two linear layers with an activation; 7 is the data, 1, 2 and 3 are parameters. The backward
// operator of the first linear layer names no parameter, that of the second one reads its own.
const std::string small =
    "OperatorID,OperatorName,Operator_input,Operator_output,Operator_cudatime,"
    "Operator_cudatimenooverlap,InputSize,OutputSize,gpuid,stage,tpflag\n"
    "1,aten::linear,[7; 1; 2],[8],12,10,[40; 72; 9],[90],0,forward,1\n"
    "2,aten::relu_,[8],[8],2,2,[90],[90],0,forward,0\n"
    "3,aten::linear,[8; 3],[9],20,20,[90; 27],[30],0,forward,1\n"
    "4,\"aten::loss, mean\",[9],[10],1,1,[30],[1],0,forward,0\n"
    "5,autograd::LossBackward0,[10],[11],3,3,[1],[30],0,backward,0\n"
    "6,autograd::MmBackward0,[11; 3],[12; 13],41,40,[30; 27],[90; 27],0,backward,1\n"
    "8,autograd::ReluBackward0,[12],[14],4,4,[90],[90],0,backward,0\n"
    "9,autograd::AddmmBackward0,['14'],[15; 16; 17],19,18,[90],[40; 72; 9],0,backward,1\n"
    "10,autograd::AccumulateGrad,[16],[],5,5,[72],[],0,backward,0\n"
    "11,aten::_foreach_add_,[1; 2; 3; 16; 17; 13],[],50,50,[72; 9; 27; 72; 9; "
    "27],[],0,optimizer,0\n";

Result<ModelSpec> read(const std::string& text) { return parse_model(text, "trace.csv"); }

std::string error_with(const std::string& from, const std::string& to) {
  std::string text = small;
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
  const auto model = read(text);
  REQUIRE_FALSE(model.ok());
  return model.error().message;
}

}  // namespace

TEST_CASE("triosim operators: layers begin at parameters, and backward finds its own") {
  const auto model = read(small);
  REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().message));
  CHECK(model->transformer.is_recorded());
  const auto& spec = *model->transformer.layered;
  REQUIRE(spec.order.size() == 2);
  const auto& first = spec.groups[spec.order[0].block].operators[0];
  const auto& second = spec.groups[spec.order[1].block].operators[0];
  CHECK(first.recorded.forward_ns == doctest::Approx(12e3));         // kernels alone: 10 + 2 us
  CHECK(first.recorded.input_gradient_ns == doctest::Approx(27e3));  // 4 + 18 + 5
  CHECK(first.weights == 81);
  CHECK(first.kept_numbers == 90);  // the activation works in place
  CHECK(second.recorded.forward_ns == doctest::Approx(21e3));
  CHECK(second.recorded.input_gradient_ns == doctest::Approx(43e3));  // 3 + 40
  CHECK(second.weights == 27);
  CHECK(second.kept_numbers == 31);
  CHECK(model->transformer.hidden == 90);
  CHECK(spec.recorded->update_ns == doctest::Approx(50e3 / 108));
  CHECK(spec.recorded->tensor == 1);  // another tensor group is refused: times are of one GPU
  CHECK(model->notes.size() == 2);
}

TEST_CASE("triosim operators: a forward pass alone has layers where operators are marked") {
  const auto model = read(small.substr(0, small.find("5,autograd")));
  REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().message));
  CHECK(model->transformer.layered->order.size() == 2);
  CHECK(model->transformer.layered->recorded->update_ns == 0);
  CHECK(model->notes.size() == 2);
}

TEST_CASE("triosim operators: an optimizer of unknown parameters is left out, and told") {
  std::string text = small;
  const std::string reads = "[1; 2; 3; 16; 17; 13]";
  text.replace(text.find(reads), reads.size(), "[91; 92; 93; 16; 17; 13]");
  const auto model = read(text);
  REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().message));
  CHECK(model->transformer.layered->recorded->update_ns == 0);
  REQUIRE(model->notes.size() == 2);
  CHECK(model->notes[1].find("0.05 ms of the optimizer are left out") == 0);
}

TEST_CASE("triosim operators: a mistake is one line with file and line") {
  CHECK(error_with("20,20,", "20,x,") ==
        "trace.csv:4: Operator_cudatimenooverlap: got 'x', expected a number from 0 to 1e+12");
  CHECK(error_with("20,20,", "20,999999999999,") ==
        "trace.csv:4: got 1e+12 us in all until here, expected at most 1e+12");
  CHECK(error_with("[8; 3]", "[8; -3]") ==
        "trace.csv:4: Operator_input: got '-3', expected a number from 0 to 1e+15");
  CHECK(error_with("[8; 3]", "8 3") ==
        "trace.csv:4: Operator_input: got '8 3', expected a list such as [4; 6]");
  CHECK(error_with("[8; 3]", "[8]") ==
        "trace.csv:4: got unequal counts of tensors and sizes, expected a size for every tensor");
  CHECK(error_with("0,backward,0\n6", "0,backwards,0\n6")
            .find("trace.csv:6: stage: got 'backwards' (did you mean 'backward'?), expected") == 0);
  CHECK(error_with("0,backward,0\n6", "0,backward\n6") ==
        "trace.csv:6: got 10 fields, expected 11");
  CHECK(error_with("0,backward,0\n6", "1,backward,0\n6") ==
        "trace.csv:6: gpuid: got 1 behind 0, expected the rows of one GPU");
  CHECK(error_with(",stage,", ",phase,") == "trace.csv:1: missing column stage");
  const auto none = read(small.substr(0, small.find('\n') + 1));
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message == "trace.csv: got no forward operator, expected at least one");
}
