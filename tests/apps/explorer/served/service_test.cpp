#include "apps/explorer/served/service.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "tests/configs.h"

namespace foretrace::explorer {
namespace {

Question question(const std::string& client, std::uint64_t id) { return {client, id, {}}; }

TEST_CASE("newest: a question is given up once the same page asked a later one") {
  Newest newest;
  newest.announce(question("a", 5));
  CHECK_FALSE(newest.is_superseded(question("a", 5)));
  CHECK(newest.is_superseded(question("a", 4)));
  CHECK_FALSE(newest.is_superseded(question("b", 4)));
  newest.announce(question("a", 3));  // late on its way
  CHECK(newest.is_superseded(question("a", 4)));
}

TEST_CASE("newest: pages that come make it forget those that asked longest ago, no other") {
  Newest newest;
  newest.announce(question("old", 9));
  newest.announce(question("asks", 1));
  for (std::uint64_t i = 0; i < 200; ++i) {
    newest.announce(question("page " + std::to_string(i), 1));
    newest.announce(question("asks", 2 + i));
    CHECK(newest.is_superseded(question("asks", 1 + i)));
  }
  CHECK_FALSE(newest.is_superseded(question("old", 1)));
}

/// A run that is served, read anew.
struct Opened {
  Session session;
  HowTos how_tos{};
  std::unique_ptr<Service> service{};

  [[nodiscard]] serve::Response point(const std::string& client, const std::string& stack) const {
    return service->answer("point",
                           R"({"client": ")" + client + R"(", "id": 1, "stack": )" + stack + "}");
  }
};

std::unique_ptr<Opened> open(const std::string& trace) {
  const std::vector<std::string> paths = {FORETRACE_SOURCE_DIR "/" + trace};
  auto session = foretrace::open(paths, {.load = {.catalogue = test::shipped()}});
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  auto opened = std::make_unique<Opened>(Opened{*std::move(session)});
  opened->service = std::make_unique<Service>(PageInput{.session = opened->session,
                                                        .traces = paths,
                                                        .ranking = {},
                                                        .variants = {},
                                                        .shown = {},
                                                        .cards = {},
                                                        .step_number = {},
                                                        .version = "test"},
                                              opened->how_tos);
  return opened;
}

TEST_CASE(
    "service: an answer is that of a run just opened, whatever was asked before of which run") {
  const std::vector<std::string> traces = {"examples/traces/demo_generated_cnn.json.gz",
                                           "examples/traces/demo_generated_cnn_memory.json.gz",
                                           "tests/fixtures/kineto_json/training_2024.json"};
  const std::vector<std::string> stacks = {
      R"([{"name": "mixed_precision"}])",
      R"([{"name": "accelerator_swap", "parameters": {"to": "v100_sxm2_16gb"}}])",
      R"([{"name": "accelerator_swap", "parameters": {"to": "h100_sxm"}}])",
      R"([{"name": "accelerator_swap", "parameters": {"to": "h100_sxm"}}, {"name": "mixed_precision"}])",
      R"([{"name": "data_movement", "parameters": {"kept_writes": "0.5"}}])",
      R"([{"name": "data_movement", "parameters": {"kept_writes": "0.6"}}, {"name": "mixed_precision"}])",
      R"([{"name": "batch_size", "parameters": {"factor": "2"}}])",
      R"([])"};
  std::vector<std::unique_ptr<Opened>> used;
  for (const std::string& trace : traces) used.push_back(open(trace));
  std::size_t answered = 0;
  const auto ask = [&](std::size_t run, std::size_t stack) {
    const serve::Response own = used[run]->point("page", stacks[stack]);
    const serve::Response fresh = open(traces[run])->point("page", stacks[stack]);
    CHECK_MESSAGE(own.status == fresh.status, traces[run], " ", stacks[stack]);
    CHECK_MESSAGE(own.body == fresh.body, traces[run], " ", stacks[stack]);
    answered += own.status == 200 ? 1 : 0;
  };
  for (std::size_t stack = 0; stack < stacks.size(); ++stack) {
    for (std::size_t run = 0; run < traces.size(); ++run) ask(run, stack);
  }
  for (std::size_t stack = stacks.size(); stack > 0; --stack) ask(stack % traces.size(), stack - 1);
  CHECK(answered > 2 * stacks.size());
}

TEST_CASE("service: what changes a modelled job is answered as the program answers it") {
  const auto run = open("examples/recipes/one_job/gpt2_h100.json");
  const auto answer = run->session.ask(
      {{"parallel", {{"data", "8"}, {"cluster", "dgx_h100"}}}, {"mixed_precision", {}}});
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  const serve::Response point = run->point(
      "page",
      R"([{"name": "parallel", "parameters": {"data": "8", "cluster": "dgx_h100"}}, {"name": "mixed_precision"}])");
  REQUIRE(point.status == 200);
  CHECK(point.body.find(fmt::format("\"step_ns\":{}", answer->step_ns())) != std::string::npos);
}

TEST_CASE("service: every call refuses a body that is no question, with what it expects") {
  const auto opened = open("examples/traces/demo_generated_cnn.json.gz");
  REQUIRE(opened->service->prepare(std::vector<std::string>{"demo"}).ok());
  CHECK(opened->service->answer("open", "{}").status == 200);
  std::mt19937_64 random(7);
  constexpr std::string_view letters = "{}[]\"':,0a \n\x80";
  for (int i = 0; i < 500; ++i) {
    std::string body;
    for (std::size_t n = random() % 12; n > 0; --n) body += letters[random() % letters.size()];
    const auto asked = nlohmann::json::parse(body, nullptr, false);
    if (asked.is_object() && asked.empty()) continue;
    CAPTURE(body);
    for (const std::string_view call : {"open", "point", "rest"}) {
      const serve::Response response = opened->service->answer(call, body);
      CHECK(response.status == 400);
      CHECK(response.body.find("expected") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace foretrace::explorer
