#include "apps/serving/replica.h"

#include <algorithm>
#include <deque>
#include <vector>

#include <doctest/doctest.h>

#include "tests/laws/support/random_draws.h"

using foretrace::Replica;
using foretrace::Sequence;
using foretrace::StepRules;
using foretrace::StepWork;

namespace {

Sequence asked(std::size_t request, std::int64_t input, std::int64_t output) {
  Sequence sequence;
  sequence.request = request;
  sequence.input = input;
  sequence.output = output;
  return sequence;
}

StepRules rules_of(std::uint32_t batched, std::uint32_t sequences) {
  StepRules rules;
  rules.batched_tokens = batched;
  rules.sequences = sequences;
  rules.block_tokens = 16;
  return rules;
}

}  // namespace

TEST_CASE("replica: a prompt longer than a step is computed in parts, beside who writes") {
  Replica replica(rules_of(100, 8), 1000);
  replica.enqueue(asked(0, 60, 3));
  replica.enqueue(asked(1, 150, 2));
  // 60 tokens of the first prompt and 40 of the second.
  StepWork work = replica.form_step();
  REQUIRE(work.prompts.size() == 2);
  CHECK(work.prompts[1].tokens == 40);
  CHECK(work.drawn == 1);
  CHECK(replica.end_step(1).first == std::vector<std::size_t>{0});
  // One token of the first, which attends to 61 positions; 99 of the second behind 40.
  work = replica.form_step();
  CHECK(work.writers == 1);
  CHECK(work.writer_keys == 61);
  REQUIRE(work.prompts.size() == 1);
  CHECK(work.prompts[0].tokens == 99);
  CHECK(work.prompts[0].before == 40);
  CHECK(replica.end_step(1).first.empty());
  // The last 11 tokens give the first token of the second; the first one ends.
  work = replica.form_step();
  CHECK(work.prompts[0].tokens == 11);
  const Replica::Given given = replica.end_step(1);
  CHECK(given.first == std::vector<std::size_t>{1});
  REQUIRE(given.ended.size() == 1);
  CHECK(given.ended[0].request == 0);
}

TEST_CASE("replica: without chunks a prompt waits until a step has room for all of it") {
  StepRules rules = rules_of(100, 8);
  rules.chunks_prompts = false;
  Replica replica(rules, 1000);
  replica.enqueue(asked(0, 60, 2));
  replica.enqueue(asked(1, 50, 2));
  CHECK(replica.form_step().tokens() == 60);
  static_cast<void>(replica.end_step(1));
  const StepWork work = replica.form_step();
  CHECK(work.writers == 1);
  REQUIRE(work.prompts.size() == 1);
  CHECK(work.prompts[0].tokens == 50);
}

TEST_CASE("replica: an engine that does not mix computes prompts before anybody writes on") {
  StepRules rules = rules_of(100, 8);
  rules.mixes = false;
  Replica replica(rules, 1000);
  replica.enqueue(asked(0, 20, 5));
  static_cast<void>(replica.form_step());
  static_cast<void>(replica.end_step(1));
  replica.enqueue(asked(1, 150, 5));
  CHECK(replica.form_step().writers == 0);
  static_cast<void>(replica.end_step(1));
  CHECK(replica.form_step().writers == 0);
  static_cast<void>(replica.end_step(1));
  CHECK(replica.form_step().writers == 2);
}

TEST_CASE("replica: no more sequences at a time than the rules allow") {
  Replica replica(rules_of(100, 2), 1000);
  for (std::size_t i = 0; i < 3; ++i) replica.enqueue(asked(i, 10, 2));
  CHECK(replica.form_step().prompts.size() == 2);
}

TEST_CASE("replica: without blocks the youngest is put back, and goes on where it was") {
  // Two blocks of 16 tokens: both prompts of 16 fit, a seventeenth token of one does not.
  Replica replica(rules_of(100, 8), 2);
  replica.enqueue(asked(0, 16, 3));
  replica.enqueue(asked(1, 16, 3));
  CHECK(replica.form_step().prompts.size() == 2);
  static_cast<void>(replica.end_step(1));
  StepWork work = replica.form_step();
  CHECK(work.writers == 1);
  CHECK(replica.preemptions() == 1);
  static_cast<void>(replica.end_step(1));
  static_cast<void>(replica.form_step());
  const Replica::Given given = replica.end_step(1);
  REQUIRE(given.ended.size() == 1);
  CHECK(given.ended[0].request == 0);
  // The other computes its 16 tokens and the one that it wrote again: 17 tokens, and draws.
  work = replica.form_step();
  REQUIRE(work.prompts.size() == 1);
  CHECK(work.prompts[0].tokens == 17);
  CHECK(work.drawn == 1);
  // It had its first token before.
  CHECK(replica.end_step(1).first.empty());
}

TEST_CASE("replica: a common beginning is computed once") {
  Replica replica(rules_of(1000, 8), 1000);
  for (std::size_t i = 0; i < 2; ++i) {
    Sequence sequence = asked(i, 100, 2);
    sequence.group = 5;
    sequence.prefix = 50;
    replica.enqueue(sequence);
    const StepWork work = replica.form_step();
    REQUIRE(work.prompts.size() == 1);
    // 50 tokens are three whole blocks of 16: 48 of 100 tokens are there.
    CHECK(work.prompts[0].tokens == (i == 0 ? 100 : 52));
    CHECK(work.prompts[0].before == (i == 0 ? 0 : 48));
    static_cast<void>(replica.end_step(1));
    static_cast<void>(replica.form_step());
    const Replica::Given given = replica.end_step(1);
    REQUIRE(given.ended.size() == 1);
    CHECK(given.ended[0].cached == (i == 0 ? 0 : 48));
  }
}

TEST_CASE("replica: a beginning of which little is used does not keep its group waiting forever") {
  StepRules rules = rules_of(2000, 8);
  rules.keeps_prefixes = true;
  Replica replica(rules, 100);
  Sequence first = asked(0, 970, 1);
  first.group = 1;
  first.prefix = 960;
  replica.enqueue(first);
  static_cast<void>(replica.form_step());
  CHECK(replica.end_step(1).ended.size() == 1);
  // 60 of the 100 blocks hold the beginning; 89 are needed, of which it has one.
  Sequence second = asked(1, 1400, 2);
  second.group = 1;
  second.prefix = 16;
  replica.enqueue(second);
  const StepWork work = replica.form_step();
  REQUIRE(work.prompts.size() == 1);
  CHECK(work.prompts[0].tokens == 1400);
  CHECK(work.prompts[0].before == 0);
}

TEST_CASE("replica: steps are alike until a sequence ends or blocks run out") {
  Replica replica(rules_of(100, 8), 4);
  replica.enqueue(asked(0, 16, 10));
  static_cast<void>(replica.form_step());
  CHECK(replica.repeat(64) == 1);  // a prompt
  static_cast<void>(replica.end_step(1));
  static_cast<void>(replica.form_step());
  CHECK(replica.repeat(64) == 9);
  const Replica::Given given = replica.end_step(9);
  REQUIRE(given.ended.size() == 1);
  CHECK(given.ended[0].generated == 10);
  CHECK(replica.cache().available() == 4);
}

TEST_CASE("replica: where room is kept for all that others write, nobody is put back") {
  for (const double share : {0.0, 0.5, 1.0}) {
    CAPTURE(share);
    StepRules rules = rules_of(1000, 8);
    rules.reserved_output = share;
    // Ten blocks of 16: each of three requests writes four of them full in the end.
    Replica replica(rules, 10);
    for (std::size_t i = 0; i < 3; ++i) replica.enqueue(asked(i, 16, 48));
    StepWork work = replica.form_step();
    CHECK(work.prompts.size() == (share == 1 ? 2 : 3));
    std::size_t ended = 0;
    while (work.tokens() > 0) {
      ended += replica.end_step(1).ended.size();
      work = replica.form_step();
    }
    CHECK(ended == 3);
    CHECK((replica.preemptions() == 0) == (share == 1));
  }
}

namespace {

std::int64_t ceil_of(std::int64_t tokens, std::int64_t block) {
  return (tokens + block - 1) / block;
}

/// The rules of mixed steps, one sequence after the other, every step by itself.
struct OneByOne {
  StepRules rules;
  std::int64_t blocks = 0;
  std::deque<Sequence> waiting;
  std::vector<Sequence> running;
  bool put_back = false;

  [[nodiscard]] std::int64_t used() const {
    std::int64_t sum = 0;
    for (const Sequence& one : running) sum += one.blocks;
    return sum;
  }
  [[nodiscard]] bool grow(Sequence& one, std::int64_t tokens, std::int64_t taken) const {
    const std::int64_t needed = ceil_of(one.computed + tokens, rules.block_tokens) - one.blocks;
    if (taken + needed > blocks) return false;
    one.blocks += needed;
    return true;
  }
  void put_last_back() {
    Sequence last = running.back();
    running.pop_back();
    last.computed = last.blocks = last.step = 0;
    put_back = true;
    waiting.push_front(last);
  }
  StepWork form() {
    put_back = false;
    std::int64_t budget = rules.batched_tokens;
    for (Sequence& one : running) one.step = 0;
    for (std::size_t i = 0; i < running.size() && budget > 0; ++i) {
      const std::int64_t tokens = std::min(running[i].total() - running[i].computed, budget);
      while (i < running.size() && !grow(running[i], tokens, used())) put_last_back();
      if (i >= running.size()) break;
      running[i].step = tokens;
      budget -= tokens;
    }
    while (!put_back && !waiting.empty() && budget > 0 && running.size() < rules.sequences) {
      Sequence next = waiting.front();
      next.step = std::min(next.total(), budget);
      if (!grow(next, next.step, used())) break;
      budget -= next.step;
      running.push_back(next);
      waiting.pop_front();
    }
    StepWork work;
    for (const Sequence& one : running) {
      if (one.step == 0) continue;
      if (one.computed + one.step == one.total()) work.drawn += 1;
      if (one.step == 1) {
        work.writers += 1;
        work.writer_keys += static_cast<double>(one.computed + 1);
      } else {
        work.prompts.push_back({static_cast<double>(one.step), static_cast<double>(one.computed)});
      }
    }
    return work;
  }
  std::vector<std::size_t> end() {
    std::vector<std::size_t> ended;
    for (Sequence& one : running) {
      one.computed += one.step;
      if (one.step > 0 && one.computed == one.total()) ++one.generated;
      if (one.generated >= one.output) ended.push_back(one.request);
    }
    std::erase_if(running, [](const Sequence& one) { return one.generated >= one.output; });
    return ended;
  }
};

}  // namespace

TEST_CASE("replica: who is not visited in a step fares as if every sequence were") {
  std::int64_t put_back = 0;
  std::int64_t steps = 0;
  for (std::uint64_t number = 0; number < 60; ++number) {
    CAPTURE(number);
    foretrace::test::Draws draws(number);
    StepRules rules =
        rules_of(draws.one_of<std::uint32_t>({8, 64, 500, 4096}), draws.within(4, 90));
    rules.block_tokens = draws.one_of<std::uint32_t>({1, 5, 16});
    const std::int64_t blocks = ceil_of(draws.one_of<int>({400, 2000, 40'000}), rules.block_tokens);
    Replica replica(rules, blocks);
    OneByOne plain{rules, blocks, {}, {}};
    std::size_t left = 120;
    for (std::size_t i = 0; i < left; ++i) {
      const Sequence one = asked(i, draws.within(1, 150), draws.within(1, 80));
      replica.enqueue(one);
      plain.waiting.push_back(one);
    }
    for (int step = 0; left > 0 && step < 20'000; ++step, ++steps) {
      const StepWork work = replica.form_step();
      const StepWork expected = plain.form();
      REQUIRE(work.writers == expected.writers);
      REQUIRE(work.writer_keys == expected.writer_keys);
      REQUIRE(work.drawn == expected.drawn);
      REQUIRE(work.prompts.size() == expected.prompts.size());
      for (std::size_t i = 0; i < work.prompts.size(); ++i) {
        REQUIRE(work.prompts[i].tokens == expected.prompts[i].tokens);
        REQUIRE(work.prompts[i].before == expected.prompts[i].before);
      }
      std::vector<std::size_t> ended;
      for (const Sequence& one : replica.end_step(1).ended) ended.push_back(one.request);
      REQUIRE(ended == plain.end());
      REQUIRE(replica.cache().available() == blocks - plain.used());
      left -= ended.size();
    }
    REQUIRE(left == 0);
    put_back += replica.preemptions();
  }
  CHECK(put_back > 0);
  CHECK(steps > 1000);
}

TEST_CASE("replica: sequences that write together cost a step nothing") {
  Replica replica(rules_of(4096, 256), 100'000);
  for (std::size_t i = 0; i < 200; ++i) replica.enqueue(asked(i, 10, 1000 + static_cast<int>(i)));
  static_cast<void>(replica.form_step());
  static_cast<void>(replica.end_step(1));
  const std::int64_t before = replica.visits();
  for (int step = 0; step < 500; ++step) {
    CHECK(replica.form_step().writers == 200);
    static_cast<void>(replica.end_step(1));
  }
  CHECK(replica.visits() - before == 500);
}
