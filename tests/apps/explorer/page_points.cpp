// Writes the page of a recording, and beside it what the C++ engine says of every graph in it under
// twelve factors: page_points OUT TRACE...  The test simulates the page and compares.
// page_points OUT --random COUNT writes as much of random graphs, without a page.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/explorer/document.h"
#include "apps/explorer/facts.h"
#include "apps/explorer/page.h"
#include "apps/questions/search/ranking.h"
#include "apps/session/predict.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
#include "sim/result/steps/step_breakdown.h"
#include "tests/apps/explorer/hand_made.h"
#include "tests/configs.h"
#include "tests/sim/graph/random_change.h"

namespace {

using namespace foretrace;
using nlohmann::json;

struct Factors {
  double device;
  double host;
};
constexpr std::array<Factors, 12> all_factors = {{{1, 1},
                                                  {0, 1},
                                                  {1, 0},
                                                  {0.5, 1},
                                                  {1, 0.5},
                                                  {2, 1},
                                                  {1, 2},
                                                  {0.33, 1.25},
                                                  {0.1, 3},
                                                  {4, 0.25},
                                                  {0.9, 1.1},
                                                  {1.5, 0.6}}};

/// The same sums as checksum() of equal.mjs.
std::string checksum(const std::vector<std::int64_t>& points) {
  constexpr std::int64_t part = 16777216;
  constexpr std::int64_t modulus = 16777213;
  std::int64_t a = 1;
  std::int64_t b = 0;
  for (const std::int64_t point : points) {
    a = (a * 31 + point % part + (point / part) % part * 7) % modulus;
    b = (b + a) % modulus;
  }
  return fmt::format("{}:{}", b, a);
}

json expected_of(const TaskGraph& recorded, const Factors& factors) {
  const TaskGraph slowed = recorded.with_weights(scale_host(recorded, factors.host));
  const TaskGraph graph = slowed.with_weights(scale_device(slowed, factors.device));
  const Timeline timeline = simulate(graph);
  const StepTimes steps = simulated_steps(graph, timeline);
  const StepAnswer answer = *answer_of(steps, {});
  const Breakdown parts = step_breakdown(graph, timeline, steps, answer);
  json memory = json::array();
  for (const MemoryCurve& curve : track_memory(graph, timeline)) {
    memory.push_back({curve.rank, curve.device, curve.peak_bytes, curve.peak_at_ns});
  }
  return {{"device", factors.device},
          {"host", factors.host},
          {"points", checksum(timeline.points)},
          {"step", answer.step_ns},
          {"breakdown",
           {parts.compute_ns, parts.communication_exposed_ns, parts.communication_waiting_ns,
            parts.memory_copy_ns, parts.host_bound_ns, parts.idle_ns}},
          {"memory", memory}};
}

json runs_of(const TaskGraph& graph) {
  json runs = json::array();
  for (const Factors& factors : all_factors) runs.push_back(expected_of(graph, factors));
  return runs;
}

/// The task that each task of a changed graph was.
std::vector<TaskId> origin_of(const Committed& committed, std::size_t size_before) {
  if (committed.new_id.empty()) return {};
  std::vector<TaskId> origin(committed.graph.size(), none<TaskId>);
  for (std::size_t i = 0; i < size_before; ++i) {
    if (committed.new_id[i] != none<TaskId>) {
      origin[index(committed.new_id[i])] = make_id<TaskId>(i);
    }
  }
  return origin;
}

/// A random graph and what changes made of it, as a page holds them.
json random_page(std::uint64_t seed) {
  test::Choices choices(seed);
  const TaskGraph base = test::random_graph(choices);
  explorer::Strings strings;
  const PackedGraph packed = pack_graph(base);
  json facts = {{"base", explorer::base_facts(base, packed, strings)},
                {"variants", json::array()},
                {"step_number", nullptr}};
  json blocks = {{"graph", *explorer::block_of(packed.bytes)}};
  json expected = {{"", runs_of(base)}};
  for (int i = 0; i < 3; ++i) {
    const auto change = test::RandomChange(choices, base, test::RandomEdits::lawful).make();
    if (!change.ok()) continue;
    Result<Committed> committed = commit(base, *change);
    if (!committed.ok()) continue;
    explorer::Variant variant{.name = fmt::format("change {}", i)};
    ChangedRun run;
    run.origin = origin_of(*committed, base.size());
    run.graph = std::move(committed->graph);
    const TaskGraph& changed = run.graph;
    const PackedGraph columns = pack_variant(changed, base, run.origin);
    facts["variants"].push_back(explorer::variant_facts(variant, run, base, columns, strings));
    blocks["variant-" + variant.name] = *explorer::block_of(columns.bytes);
    expected[variant.name] = runs_of(changed);
  }
  facts["strings"] = strings.list();
  return {{"facts", facts}, {"blocks", blocks}, {"expected", expected}};
}

int write_random(const std::string& out, std::uint64_t count) {
  json pages = json::array();
  for (std::uint64_t seed = 0; seed < count; ++seed) pages.push_back(random_page(seed));
  std::ofstream(out + ".json") << pages.dump();
  return 0;
}

int fail(const std::string& message) {
  std::fputs((message + "\n").c_str(), stderr);
  return 1;
}

int write_page(const std::string& out, const std::vector<std::string>& traces) {
  const Result<Session> session = open(traces, {.load = {.catalogue = test::shipped()}});
  if (!session.ok()) return fail(session.error().message);
  const Result<Ranking> ranking = rank_all(*session);
  if (!ranking.ok()) return fail(ranking.error().message);
  explorer::PageInput input{.session = *session,
                            .traces = traces,
                            .ranking = *ranking,
                            .variants = {},
                            .shown = {},
                            .cards = {},
                            .step_number = {},
                            .version = "test",
                            .most_bytes = 1'000'000'000};
  json expected = {{"", runs_of(session->graph())}};
  for (const Ranked& row : ranking->rows) {
    const std::vector<WhatIf> one = {*with_defaults(*row.info)};
    const Result<Answer> answer = session->ask(one);
    if (!answer.ok()) return fail(answer.error().message);
    const std::string name(row.info->name);
    expected[name] = runs_of(answer->graph());
    input.variants.push_back({.name = name, .title = name, .answer = *answer});
  }
  for (const auto& [name, graph] : test::hand_made(session->graph())) {
    Recording made;
    made.built.graph = graph;
    const Result<Session> alone = Session::of(std::move(made));
    if (!alone.ok()) return fail(alone.error().message);
    const Result<Answer> answer = alone->ask({});
    if (!answer.ok()) return fail(answer.error().message);
    expected[name] = runs_of(graph);
    input.variants.push_back({.name = name, .title = name, .answer = *answer});
  }
  const Result<explorer::Page> page = explorer::make_page(input);
  if (!page.ok()) return fail(page.error().message);
  std::ofstream(out + ".html") << page->html;
  std::ofstream(out + ".json") << expected.dump();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() < 2) return fail("usage: page_points OUT TRACE... | OUT --random COUNT");
  if (words.size() == 3 && words[1] == "--random") {
    return write_random(words[0], std::strtoull(words[2].c_str(), nullptr, 10));
  }
  return write_page(words.front(), {words.begin() + 1, words.end()});
}
