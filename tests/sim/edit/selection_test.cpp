#include "sim/edit/selection.h"

#include <string>

#include <doctest/doctest.h>

#include "sim/graph/graph_builder.h"

using namespace foretrace;

namespace {

struct Row {
  const char* name;
  const char* operator_name;
  TaskKind kind;
  Phase phase;
  std::int32_t step;
};

/// 0 a launch; 1 and 2 kernels on stream 7, forward then backward; 3 a copy on stream 20 of device
/// 1; 4 a transfer; 5 a collective on stream 20.
TaskGraph sample() {
  GraphBuilder builder;
  const LaneId h = builder.add_lane({LaneKind::host_thread, 0, no_device, 4711, 0, "python"});
  const LaneId s7 = builder.add_lane({LaneKind::stream, 0, 0, 7, 0, "stream 7"});
  const LaneId s20 = builder.add_lane({LaneKind::stream, 1, 1, 20, 0, "stream 20"});
  const LaneId n = builder.add_lane({LaneKind::channel, 1, no_device, 0, 0, "ring"});
  const LayerId conv = builder.add_layer("ResNet/layer1/conv1");
  builder.add_layer("ResNet/fc");
  const Row rows[] = {
      {"cudaLaunchKernel", "", TaskKind::launch, Phase::forward, 0},
      {"ampere_sgemm_128x64", "aten::mm", TaskKind::kernel, Phase::forward, 0},
      {"void add<float>(it's & more)", "aten::add", TaskKind::kernel, Phase::backward, 1},
      {"Memcpy HtoD", "aten::copy_", TaskKind::copy, Phase::unknown, -1},
      {"send", "", TaskKind::transfer, Phase::communication, -1},
      {"ncclDevKernel_AllReduce", "", TaskKind::collective, Phase::communication, 1},
  };
  const LaneId lanes[] = {h, s7, s7, s20, n, s20};
  std::size_t at = 0;
  for (const Row& row : rows) {
    Work work;
    work.name = builder.add_name(row.name);
    work.operator_name = builder.add_name(row.operator_name);
    work.kind = row.kind;
    TaskSpec task{lanes[at], builder.add_work(work), row.kind, 1, 0, row.phase};
    task.step = row.step;
    if (at == 1) task.layer = conv;
    builder.add_task(task);
    ++at;
  }
  builder.add_step({0, 100, TaskId{0}, TaskId{1}});
  builder.add_step({0, 101, TaskId{2}, TaskId{2}});
  return *std::move(builder).build();
}

std::vector<std::uint32_t> ids(std::string_view selection) {
  auto tasks = select(sample(), selection);
  REQUIRE_MESSAGE(tasks.ok(), tasks.error().message);
  std::vector<std::uint32_t> result;
  for (const TaskId task : *tasks) result.push_back(static_cast<std::uint32_t>(task));
  return result;
}

std::string error(std::string_view selection) {
  auto tasks = select(sample(), selection);
  REQUIRE_FALSE(tasks.ok());
  CHECK(tasks.error().code == ErrorCode::bad_usage);
  return tasks.error().message;
}

using Ids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("selection: every key selects by its value") {
  CHECK(ids("kind=kernel") == Ids{1, 2});
  CHECK(ids("name='Memcpy HtoD'") == Ids{3});
  CHECK(ids("name=Memcpy HtoD") == Ids{3});
  CHECK(ids("operator=aten::mm") == Ids{1});
  CHECK(ids("layer=ResNet/layer1/conv1") == Ids{1});
  CHECK(ids("phase=communication") == Ids{4, 5});
  CHECK(ids("resource=device") == Ids{1, 2, 3, 5});  // a transfer is neither
  CHECK(ids("resource=host") == Ids{0});
  CHECK(ids("rank=1") == Ids{3, 4, 5});
  CHECK(ids("device=1") == Ids{3, 5});
  CHECK(ids("stream=7") == Ids{1, 2});
  CHECK(ids("step=101") == Ids{2, 5});
}

TEST_CASE("selection: expressions match anywhere, by word or by regular expression") {
  CHECK(ids("name~gemm") == Ids{1});
  CHECK(ids("name~gemm|nccl") == Ids{1, 5});
  CHECK(ids("name~'^ampere_.*_128x'") == Ids{1});
  CHECK(ids("kind~'^(kernel|copy)$'") == Ids{1, 2, 3});
  CHECK(ids("layer~layer[12]/") == Ids{1});
  CHECK(ids("stream~'^2'") == Ids{3, 5});
  CHECK(ids("name~") == Ids{0, 1, 2, 3, 4, 5});
}

TEST_CASE("selection: predicates narrow, ! negates on either side") {
  CHECK(ids("kind=kernel&phase=backward") == Ids{2});
  CHECK(ids(" kind = kernel & name ~ gemm ") == Ids{1});
  CHECK(ids("!kind=kernel&resource=device") == Ids{3, 5});
  CHECK(ids("kind!=kernel&resource=device") == Ids{3, 5});
  CHECK(ids("resource=device&name!~gemm|add") == Ids{3, 5});
  CHECK(ids("!kind!=kernel") == Ids{1, 2});
}

TEST_CASE("selection: what a task does not have equals nothing") {
  CHECK(ids("stream=0") == Ids{});
  CHECK(ids("!stream=7") == Ids{0, 3, 4, 5});
  CHECK(ids("step!=101") == Ids{0, 1, 3, 4});
  CHECK(ids("operator~.*") == Ids{1, 2, 3});
  CHECK(ids("!layer~.") == Ids{0, 2, 3, 4, 5});
}

TEST_CASE("selection: quotes hold the signs of the grammar, two of them are one") {
  CHECK(ids("name='void add<float>(it''s & more)'&kind=kernel") == Ids{2});
  CHECK(error("name='open") == "selection 'name='open', character 6: the quote is not closed");
}

TEST_CASE("selection: errors name the position and the nearest valid word") {
  CHECK(error("kid=kernel") ==
        "selection 'kid=kernel', character 1: unknown key 'kid' (did you mean 'kind'?), expected "
        "one of kind, name, operator, layer, phase, resource, rank, device, stream, step");
  CHECK(error("stream=7&kind=kernal") ==
        "selection 'stream=7&kind=kernal', character 15: unknown 'kernal' (did you mean "
        "'kernel'?), expected one of host, launch, kernel, collective, copy, set, synchronization, "
        "wait, mark, transfer");
  CHECK(error("stream=seven") ==
        "selection 'stream=seven', character 8: got 'seven', expected a whole number");
  CHECK(error("kind") ==
        "selection 'kind', character 5: got the end, expected '=', '~', '!=' or "
        "'!~'");
  CHECK(error("") == "selection '', character 1: got the end, expected a key such as kind or name");
  CHECK(error("kind=kernel&") ==
        "selection 'kind=kernel&', character 13: got the end, expected a key such as kind or name");
  CHECK(error("name='a'b").find("character 9: got 'b', expected '&' or the end") !=
        std::string::npos);
  CHECK(error("name~'('").find("is not a regular expression") != std::string::npos);
  CHECK(error("name~'(a{255}){255}'").find("repeats too often") != std::string::npos);
  CHECK(error("name~'a.{99999999999999999999}'").find("repeats too often") != std::string::npos);
  CHECK(error(R"(name~\66666666666666666666)").find("has the back reference '\\6'") !=
        std::string::npos);
  CHECK(ids("name~'_[0-9]{3}x'") == Ids{1});
  CHECK(error("step=99999999999999999999").find("expected a whole number") != std::string::npos);
  CHECK(error("name~" + std::string(2000, '(')).find("expected at most 1000") != std::string::npos);
}

TEST_CASE("selection: an expression of exponential kind ends, on a name of any length") {
  GraphBuilder builder;
  const LaneId s = builder.add_lane({LaneKind::stream, 0, 0, 7, 0, "s"});
  Work work;
  work.name = builder.add_name(std::string(100'000, 'a'));
  builder.add_task({s, builder.add_work(work), TaskKind::kernel, 1});
  const TaskGraph graph = *std::move(builder).build();
  CHECK(select(graph, "name~'^(a*)*b'")->empty());
}
