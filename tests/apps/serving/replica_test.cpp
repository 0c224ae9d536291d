#include "apps/serving/replica.h"

#include <doctest/doctest.h>

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
