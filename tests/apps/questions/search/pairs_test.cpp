// Two what-ifs together: which pairs are legal, in which order, and what they give.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/questions/search/ranking.h"
#include "apps/session/what_if_stack.h"
#include "tests/apps/questions/answers_support.h"

namespace foretrace {
namespace {

using test::Loaded;
using test::stack_of;

struct Answers {
  Ranking ranking;
  PairRanking pairs;
};

Answers answers_of(const Loaded& run, RankBy by, std::size_t top) {
  auto ranking = rank_all(run.session, {.by = by});
  REQUIRE_MESSAGE(ranking.ok(), ranking.error().message);
  auto pairs = rank_pairs(run.session, *ranking, top);
  REQUIRE_MESSAGE(pairs.ok(), pairs.error().message);
  return {*std::move(ranking), *std::move(pairs)};
}

const Ranked& single(const Answers& answers, std::string_view name) {
  const auto& rows = answers.ranking.rows;
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const Ranked& row) { return row.info->name == name; });
  REQUIRE(found != rows.end());
  return *found;
}

TEST_CASE("pairs: every row is what applying both in that order gives, and no conflict is tried") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const Answers answers = answers_of(run, RankBy::time, 6);
  REQUIRE(answers.pairs.singles.size() == 6);
  CHECK(answers.pairs.rows.size() + answers.pairs.illegal.size() == 15);  // 6 x 5 / 2
  const std::int64_t before = run.replay.run.answer.step_ns;
  for (const RankedPair& row : answers.pairs.rows) {
    INFO(row.first->name << ", " << row.second->name);
    CHECK_FALSE(in_conflict(*row.first, *row.second));
    CHECK(comes_before(*row.first, *row.second));
    const auto both = predict(
        run.recording, stack_of({std::string(row.first->name), std::string(row.second->name)}));
    REQUIRE(both.ok());
    CHECK(row.step_ns == both->run.answer.step_ns);
    CHECK(row.low_ns <= row.step_ns);
    CHECK(row.high_ns >= row.step_ns);
    CHECK(before - row.added_ns == 2 * before - single(answers, row.first->name).step_ns -
                                       single(answers, row.second->name).step_ns);
  }
  CHECK(std::is_sorted(answers.pairs.rows.begin(), answers.pairs.rows.end(),
                       [](const auto& a, const auto& b) { return a.step_ns < b.step_ns; }));
  for (const IllegalPair& pair : answers.pairs.illegal) {
    INFO(pair.first << ", " << pair.second);
    const auto& first = *single(answers, pair.first).info;
    const auto& second = *single(answers, pair.second).info;
    WhatIfStack stack(run.recording);
    CHECK(stack.push(*with_defaults(first), Neutral::refuse).ok());
    CHECK(
        (in_conflict(first, second) || !stack.push(*with_defaults(second), Neutral::refuse).ok()));
  }
}

TEST_CASE("pairs: by memory the peaks fall, and both savings are beside what they save together") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const Answers answers = answers_of(run, RankBy::memory, 8);
  const auto& rows = answers.pairs.rows;
  REQUIRE(rows.size() > 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    REQUIRE(rows[i].memory);
    if (i > 0) CHECK(rows[i].memory->live_bytes >= rows[i - 1].memory->live_bytes);
    CHECK(rows[i].added_live_bytes - answers.ranking.memory->live_bytes ==
          single(answers, rows[i].first->name).memory->live_bytes +
              single(answers, rows[i].second->name).memory->live_bytes -
              2 * answers.ranking.memory->live_bytes);
  }
  const auto& singles = answers.ranking.rows;
  for (std::size_t i = 1; i < singles.size(); ++i) {
    CHECK(singles[i].memory->live_bytes >= singles[i - 1].memory->live_bytes);
  }
}

TEST_CASE("pairs: two on the same tensors save less than the sum") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const Answers answers = answers_of(run, RankBy::memory, 8);
  const auto both =
      std::find_if(answers.pairs.rows.begin(), answers.pairs.rows.end(), [](const auto& row) {
        return row.first->name == "gist_encoding" && row.second->name == "vdnn_offload";
      });
  REQUIRE(both != answers.pairs.rows.end());
  CHECK(both->memory->live_bytes > both->added_live_bytes + answers.pairs.tolerance_bytes);
}

TEST_CASE("ranking: by memory needs tensors; without them rows have none") {
  const Loaded run = test::loaded(FORETRACE_SOURCE_DIR "/tests/fixtures/kineto_json/rocm.json");
  const auto refused = rank_all(run.session, {.by = RankBy::memory});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("profile_memory=True") != std::string::npos);
  const auto ranking = rank_all(run.session);
  REQUIRE(ranking.ok());
  CHECK_FALSE(ranking->memory);
  for (const Ranked& row : ranking->rows) CHECK_FALSE(row.memory);
}

TEST_CASE("ranking: threads do not change it") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const Answers once = answers_of(run, RankBy::time, 5);
  const Answers again = answers_of(run, RankBy::time, 5);
  REQUIRE(once.pairs.rows.size() == again.pairs.rows.size());
  for (std::size_t i = 0; i < once.pairs.rows.size(); ++i) {
    CHECK(once.pairs.rows[i].first == again.pairs.rows[i].first);
    CHECK(once.pairs.rows[i].second == again.pairs.rows[i].second);
    CHECK(once.pairs.rows[i].high_ns == again.pairs.rows[i].high_ns);
  }
}

}  // namespace
}  // namespace foretrace
