#include "apps/session/answer_laws.h"

#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "sim/core/params.h"
#include "tests/apps/questions/answers_support.h"

namespace foretrace {
namespace {

const std::string bert =
    FORETRACE_SOURCE_DIR "/examples/traces/h100_host/bert-large.baseline.ftr.gz";

Prediction halved(const Session& session) {
  const auto answer = session.ask(test::stack_of({"mixed_precision"}));
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  return answer->prediction();
}

/// What is said of the prediction; nothing of one that keeps the laws.
std::string said_of(const Recording& recording, const Prediction& prediction) {
  try {
    expect_laws_of_answer(recording, prediction);
  } catch (const BrokenLaw& broken) {  // which ends the program with 3, see main()
    return broken.what();
  }
  return "";
}

/// The same after something was made up in it.
std::string said_of(const Session& session, const std::function<void(Prediction&)>& make_up) {
  Prediction prediction = halved(session);
  make_up(prediction);
  return said_of(session.recording(), prediction);
}

bool names(const std::string& said, const std::string& law) {
  return said.find("this answer breaks a law and is not shown: " + law) == 0 &&
         said.find('\n') == std::string::npos;
}

TEST_CASE("answer laws: an answer that keeps them is an answer") {
  const Session session = test::loaded(bert).session;
  CHECK(said_of(session, [](Prediction&) {}).empty());
}

TEST_CASE("answer laws: what cannot be is no answer, and the line names the law") {
  const Session session = test::loaded(bert).session;
  CHECK(names(said_of(session, [](Prediction& one) { one.low_ns = one.high_ns; }),
              "a range contains its step"));
  CHECK(names(said_of(session, [](Prediction& one) { one.high_ns = one.run.answer.step_ns - 1; }),
              "a range contains its step"));
  CHECK(names(said_of(session, [](Prediction& one) { one.run.answer.step_ns = -1; }),
              "no step has a negative duration"));
  CHECK(names(said_of(session,
                      [](Prediction& one) {
                        one.run.answer.step_ns /= 3;
                        one.low_ns = 0;
                      }),
              "a step is no shorter than the work of its device"));
}

TEST_CASE("answer laws: a time that was changed is not said to be measured") {
  const Session session = test::loaded(bert).session;
  const auto with = [&](Provenance provenance) {
    return said_of(session, [&](Prediction& prediction) {
      prediction.graph = session.graph();
      prediction.origin.clear();
      std::size_t at = 0;
      while (!is_device(session.graph().kind(make_id<TaskId>(at)))) ++at;
      Change change;
      change.durations.push_back({make_id<TaskId>(at), 1, provenance});
      auto committed = commit(prediction.graph, change);
      REQUIRE_MESSAGE(committed.ok(), committed.error().message);
      prediction.graph = std::move(committed->graph);
    });
  };
  CHECK(with(Provenance::assumed).empty());
  CHECK(names(with(Provenance::measured), "a time that was changed is not said to be measured"));
}

TEST_CASE("answer laws: no product that a what-if put in beats the peak of the device") {
  const Session session = test::loaded(bert).session;
  const auto answer = session.ask(test::stack_of({"low_rank:ratio=0.25"}));
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  const auto with_first_factor = [&](Provenance provenance) {
    Prediction prediction = answer->prediction();
    const TaskGraph& graph = prediction.graph;
    std::size_t at = 0;
    while (graph.name(make_id<TaskId>(at)) != "second factor" ||
           !is_device(graph.kind(make_id<TaskId>(at)))) {
      REQUIRE(++at < graph.size());
    }
    Change change;
    change.durations.push_back({make_id<TaskId>(at), 100, provenance});
    auto committed = commit(graph, change);
    REQUIRE_MESSAGE(committed.ok(), committed.error().message);
    prediction.graph = std::move(committed->graph);
    return said_of(session.recording(), prediction);
  };
  CHECK(names(with_first_factor(Provenance::scaled),
              "no product is faster than the peak of its device"));
  // A user may ask what a kernel of no time would do.
  CHECK(with_first_factor(Provenance::assumed).empty());
}

}  // namespace
}  // namespace foretrace
