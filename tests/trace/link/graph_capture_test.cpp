// Capture and execution of a graph, made up: two operators that launch three kernels.
#include "trace/link/graph_capture.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/node_helpers.h"
#include "trace/assemble/build_graph.h"
#include "trace/table/linked_operator.h"

namespace foretrace::trace {
namespace {

LoadedTrace events_of(const std::string& events) {
  auto loaded =
      read_bytes("kineto_json", R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

std::string launch(int correlation, int time, const std::string& kernel) {
  const std::string name = kernel.empty() ? "" : R"(, "kernel": ")" + kernel + "\"";
  return R"({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": )" +
         std::to_string(time) + R"(, "dur": 1, "args": {"correlation": )" +
         std::to_string(correlation) + name + "}},\n";
}
std::string op(const std::string& name, int time, int duration, const std::string& dims) {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "pid": 1, "tid": 1, "ts": )" +
         std::to_string(time) + R"(, "dur": )" + std::to_string(duration) +
         R"(, "args": {"Input Dims": )" + dims + "}},\n";
}
std::string capture(const std::string& last = "relu") {
  return op("aten::mm", 0, 10, "[[2, 3], [3, 4]]") + launch(11, 2, "split") +
         launch(12, 4, "gemm") + op("aten::relu", 20, 10, "[[2, 4]]") + launch(13, 22, last) + "{}";
}
std::string kernel(const std::string& name, int time) {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" +
         std::to_string(time) +
         R"(, "dur": 3, "args": {"correlation": 99, "device": 0, "stream": 7}},)" + "\n";
}
std::string execution() {
  return R"({"ph": "X", "cat": "cuda_runtime", "name": "hipGraphLaunch", "pid": 1, "tid": 1, "ts": 0,
             "dur": 5, "args": {"correlation": 99}},)" +
         kernel("relu", 120) + kernel("split", 100) + kernel("gemm", 110) + "{}";
}

TEST_CASE("graph capture: executed kernels get operator and shapes of the launch they were") {
  const LoadedTrace captured = events_of(capture());
  LoadedTrace executed = events_of(execution());
  CHECK(looks_like_capture(captured.events));
  CHECK_FALSE(looks_like_capture(executed.events));
  CHECK(looks_like_graph_execution(executed.events));
  const auto link = join_capture(captured.events, executed.events);
  REQUIRE_MESSAGE(link.ok(), link.error().message);
  CHECK(link->captured == 3);
  CHECK(link->kernels == 3);
  CHECK(link->graphs == 1);
  CHECK(link->with_operator == 3);
  CHECK(link->with_shapes == 3);
  CHECK(link->by_name);
  const auto built = build_graph(executed);
  REQUIRE(built.ok());
  int found = 0;
  for (std::size_t i = 0; i < built->graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const Work& work = built->graph.work(task);
    if (built->graph.name(task) == "gemm") {
      CHECK(built->graph.names()[work.operator_name] == "aten::mm");
      CHECK(built->graph.names()[work.shapes] == "[[2, 3], [3, 4]]");
      ++found;
    } else if (built->graph.name(task) == "relu") {
      CHECK(built->graph.names()[work.operator_name] == "aten::relu");
      ++found;
    }
  }
  CHECK(found == 2);
}

TEST_CASE("graph capture: another sequence of kernels is refused with the first difference") {
  const LoadedTrace captured = events_of(capture("gelu"));
  LoadedTrace executed = events_of(execution());
  const auto before = executed.events.descriptor;
  const auto link = join_capture(captured.events, executed.events);
  REQUIRE_FALSE(link.ok());
  CHECK(link.error().code == ErrorCode::no_match);
  CHECK(link.error().message.find("kernel 3: captured 'gelu', executed 'relu'") !=
        std::string::npos);
  CHECK(executed.events.descriptor == before);
}

TEST_CASE("graph capture: launches without names are joined only as a whole") {
  const LoadedTrace unnamed = events_of(op("aten::mm", 0, 10, "[[1]]") + launch(11, 2, "") +
                                        launch(12, 4, "") + launch(13, 6, "") + "{}");
  LoadedTrace executed = events_of(execution());
  const auto whole = join_capture(unnamed.events, executed.events);
  REQUIRE(whole.ok());
  CHECK_FALSE(whole->by_name);
  const LoadedTrace fewer = events_of(launch(11, 2, "") + launch(12, 4, "") + "{}");
  LoadedTrace again = events_of(execution());
  const auto refused = join_capture(fewer.events, again.events);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("the numbers differ") != std::string::npos);
}

TEST_CASE("graph capture: the operator in front of other arguments is found again") {
  CHECK(captured_operator(with_captured("", "aten::mm", "")) == "aten::mm");
  const std::string text = with_captured(R"({"a": 1})", "say \"x\"", "Net_0/Linear_1");
  CHECK(text == R"({"captured by": "say \"x\"", "captured in": "Net_0/Linear_1", "a": 1})");
  CHECK(captured_operator(text) == "say \"x\"");
  CHECK(captured_operator(R"({"a": 1})").empty());
}

TEST_CASE("graph capture: a real capture of a decode step names 421 of 421 kernels") {
  const std::string folder = FORETRACE_SHARED_DIR "/traces/tracelens/vllm_decode_full_graph_";
  if (!std::filesystem::exists(folder + "capture.json.gz")) {
    MESSAGE("skipped: no real traces " << folder);
    return;
  }
  const auto captured = read_trace(folder + "capture.json.gz", {});
  auto executed = read_trace(folder + "exec.json.gz", {});
  REQUIRE(captured.ok());
  REQUIRE(executed.ok());
  CHECK(looks_like_capture(captured->events));
  const auto link = join_capture(captured->events, executed->events);
  REQUIRE_MESSAGE(link.ok(), link.error().message);
  CHECK(link->by_name);
  CHECK(link->kernels == 421);
  CHECK(link->with_operator > 350);
  // The other trace of the same server replays other graphs.
  auto other =
      read_trace(FORETRACE_SHARED_DIR "/traces/tracelens/vllm_piecewise_graph_exec.json.gz", {});
  REQUIRE(other.ok());
  CHECK_FALSE(join_capture(captured->events, other->events).ok());
}

}  // namespace
}  // namespace foretrace::trace
