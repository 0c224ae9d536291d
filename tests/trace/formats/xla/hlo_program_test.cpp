#include "trace/formats/xla/hlo_program.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "trace/formats/xla/hlo_match.h"
#include "trace/formats/xla/hlo_module.h"

namespace foretrace::trace::formats {
namespace {

constexpr const char* forward = "jit(f)/jvp()/op";
constexpr const char* backward = "jit(f)/transpose(jvp())/op";

/// A module with one computation, which holds what is added.
class Made {
 public:
  HloInstruction& add(const char* name, const char* opcode, const char* scope = "",
                      std::vector<std::uint64_t> operands = {}) {
    HloInstruction made;
    made.name = name;
    made.opcode = opcode;
    made.op_name = scope;
    made.id = main_.instructions.size() + 1;
    made.results = {{.type = 11, .dims = {4, 4}}};
    made.operands = std::move(operands);
    main_.by_id.emplace(made.id, main_.instructions.size());
    main_.schedule.push_back(made.id);
    main_.instructions.push_back(made);
    return main_.instructions.back();
  }
  [[nodiscard]] HloProgram program() const {
    HloModule module;
    module.entry = 3;
    module.computations.emplace(3, main_);
    return HloProgram(std::move(module));
  }

 private:
  HloComputation main_;
};

std::vector<HloPhase> phases_of(const HloProgram& program) {
  std::vector<HloPhase> phases;
  for (const HloProgram::Step& step : program.steps()) phases.push_back(step.phase);
  return phases;
}

HloProgram one_fusion(const char* name) {
  Made made;
  made.add(name, "fusion");
  return made.program();
}

std::string field(char number, const std::string& payload) {
  std::string size;
  for (std::size_t left = payload.size(); true; left >>= 7U) {
    size += static_cast<char>((left & 0x7FU) | (left < 0x80U ? 0U : 0x80U));
    if (left < 0x80U) break;
  }
  const auto key = static_cast<unsigned>(number) << 3U | 2U;
  std::string keys(1, static_cast<char>(key & 0x7FU));
  if (key >= 0x80U) keys = {static_cast<char>((key & 0x7FU) | 0x80U), static_cast<char>(key >> 7U)};
  return keys + size + payload;
}

/// What is wrong with a module of one instruction with this field, and with these further ones.
std::vector<std::string> damage_of(const std::string& instruction, const std::string& more = "") {
  const std::string opcode = field(2, "dot");
  const std::string computation = field(2, opcode + instruction) + "\x28\x01";
  std::vector<std::string> said;
  const XDamage damage = [&](std::string_view reason, std::uint64_t) { said.emplace_back(reason); };
  const std::string proto = field(1, field(3, computation) + more);
  const HloModule module = read_hlo(proto, 0, damage);
  REQUIRE(module.find(1) != nullptr);
  CHECK(module.find(1)->schedule.size() == 1);
  return said;
}

}  // namespace

TEST_CASE("hlo: small work that is moved between the passes belongs to the pass that it is in") {
  Made made;
  made.add("dot.1", "dot", forward);
  made.add("zeros", "fusion", backward);  // of a gradient, ahead of the loss
  made.add("dot.2", "dot", forward);
  made.add("loss", "fusion", forward);
  made.add("dot.3", "dot", backward);
  made.add("transpose", "fusion", forward);  // made again where it is needed
  made.add("dot.4", "dot", backward, {5});
  made.add("sub", "fusion", "jit(f)/sub", {7});
  CHECK(phases_of(made.program()) ==
        std::vector{HloPhase::forward, HloPhase::forward, HloPhase::forward, HloPhase::forward,
                    HloPhase::backward, HloPhase::backward, HloPhase::backward, HloPhase::update});
}

TEST_CASE("hlo: where passes alternate, work belongs to the pass that its scope says") {
  Made made;
  for (int part = 0; part < 2; ++part) {
    made.add("dot.f", "dot", forward);
    made.add("tanh", "fusion", forward);
    made.add("dot.b", "dot", backward);
    made.add("mul", "fusion", backward);
  }
  const std::vector one = {HloPhase::forward, HloPhase::forward, HloPhase::backward,
                           HloPhase::backward};
  std::vector<HloPhase> expected = one;
  expected.insert(expected.end(), one.begin(), one.end());
  CHECK(phases_of(made.program()) == expected);
}

TEST_CASE("hlo: calls of calls, and fusions in circles, end") {
  HloModule module;
  module.entry = 0;
  constexpr std::uint64_t depth = 12;
  for (std::uint64_t level = 0; level < depth; ++level) {
    HloComputation computation;
    for (std::uint64_t i = 0; i < 16; ++i) {
      HloInstruction made;
      made.name = "c";
      made.opcode = i == 0 ? "fusion" : "call";
      made.id = i;
      made.called = {(level + 1) % depth};
      computation.by_id.emplace(i, computation.instructions.size());
      computation.schedule.push_back(i);
      computation.instructions.push_back(made);
    }
    module.computations.emplace(level, computation);
  }
  const HloProgram program(std::move(module));
  CHECK(program.find("c") == 0);
  CHECK(program.is_cut());
  CHECK(program.steps().size() < 10 * depth * 16);
}

TEST_CASE("hlo: what runs twice is said once, and is not too much") {
  Made made;
  made.add("fusion.1", "fusion");
  made.add("fusion.2", "fusion");
  HloInstruction& product = made.add("dot.1", "dot");
  product.results = {{.type = 11, .dims = {8}}};
  const HloProgram program = made.program();
  CHECK_FALSE(program.is_cut());
  REQUIRE(program.steps().size() == 3);
  const auto& steps = program.steps();
  CHECK(steps[0].known->dims.data() == steps[1].known->dims.data());
  CHECK(steps[0].known->is_alike(*steps[1].known));
  CHECK_FALSE(steps[0].known->is_alike(*steps[2].known));
}

TEST_CASE("hlo: of more tensors than are said none is said") {
  const auto dims_with = [](std::size_t operands) {
    Made made;
    made.add("p", "parameter");
    made.add("few", "fusion", "", std::vector<std::uint64_t>(operands, 1));
    return std::string(made.program().steps()[0].known->dims);
  };
  CHECK(dims_with(2) == "[[4, 4], [4, 4], [4, 4]]");
  CHECK(dims_with(63).size() > 63 * 8);
  CHECK(dims_with(64).empty());
  CHECK(dims_with(200).empty());

  Made long_ones;
  long_ones.add("p", "parameter").results = {
      {.type = 11, .dims = std::vector<std::int64_t>(16, std::int64_t{1} << 47)}};
  long_ones.add("f", "fusion", "", std::vector<std::uint64_t>(60, 1));
  const HloProgram program = long_ones.program();
  CHECK(program.steps()[0].known->dims.empty());
  CHECK(program.steps()[0].known->types.empty());
}

TEST_CASE("hlo: a number tells the compilation, a name only where there is no number") {
  HloPrograms programs;
  programs.add("jit_step(7)", 7, one_fusion("a"));
  programs.add("jit_loss", -1, one_fusion("b"));
  REQUIRE(programs.find(7, "jit_step") != nullptr);
  CHECK(programs.find(-1, "jit_step") == programs.find(7, "jit_step"));
  CHECK(programs.find(8, "jit_step") == nullptr);  // compiled for other shapes
  REQUIRE(programs.find(-1, "jit_loss") != nullptr);
  CHECK(programs.find(8, "jit_loss") == programs.find(-1, "jit_loss"));
  CHECK(programs.find(-1, "jit_other") == nullptr);
  programs.add("jit_step(9)", 9, one_fusion("a"));
  CHECK(programs.find(-1, "jit_step") == nullptr);
}

TEST_CASE("hlo: a graph begins where its own kernels say, not those of another program") {
  const auto with_call = [](const char* fusion) {
    Made made;
    made.add("custom-call.1", "custom-call");
    made.add(fusion, "fusion");
    return made.program();
  };
  HloPrograms programs;
  programs.add("jit_a(1)", 1, with_call("fusion.1"));
  programs.add("jit_b(2)", 2, with_call("fusion.1"));
  const auto kernel = [](std::int64_t program, const char* name) {
    return HloKernel{.program = program, .module = "", .operation = "", .name = name, .launch = 5};
  };
  const auto steps =
      match_kernels(programs, {kernel(1, "nvjet"), kernel(2, "nvjet"), kernel(2, "fusion_1")});
  REQUIRE(steps.size() == 3);
  CHECK(steps[0] == nullptr);
  CHECK(steps[1] == programs.find(2, "")->steps().data());
  CHECK(steps[2] == steps[1] + 1);
}

TEST_CASE("hlo: lists and texts longer than any are damage") {
  CHECK(damage_of(field(30, field(1, std::string(16, '\1')))).empty());
  CHECK(damage_of(field(30, field(1, std::string(17, '\1')))) ==
        std::vector<std::string>{"HLO: a list of more dimensions than a tensor has"});
  CHECK(damage_of(field(7, field(2, std::string(4096, 'a')))).empty());
  CHECK(damage_of(field(7, field(2, std::string(4097, 'a')))) ==
        std::vector<std::string>{"HLO: the name of a scope is too long"});
  const auto schedule = [](std::size_t size) {
    return field(7, field(1, "\x08\x01" + field(2, field(1, std::string(size, '\0')))));
  };
  CHECK(damage_of("", schedule(1)).empty());
  CHECK(damage_of("", schedule(2)) ==
        std::vector<std::string>{"HLO: a schedule of more instructions than there are"});
}

}  // namespace foretrace::trace::formats
