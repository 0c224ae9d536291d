// Pipelines of stages that send to each other: what was put into a recording is found again.
#include "trace/ranks/matching/point_to_point.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "sim/graph/validate.h"
#include "tests/trace/ranks/pipeline_sketch.h"
#include "trace/ranks/job.h"
#include "trace/ranks/matching/buffered_sends.h"
#include "trace/ranks/matching/messages.h"

namespace foretrace::trace {
namespace {

BuiltJob build(std::vector<RankTrace> traces) {
  auto job = build_job(traces);
  REQUIRE_MESSAGE(job.ok(), (job.ok() ? std::string() : job.error().message));
  REQUIRE(validate(job->built.graph).ok());
  return std::move(job).value();
}

struct Matched {
  std::size_t right = 0;  ///< messages
  std::size_t wrong = 0;  ///< kernels that have no message in common
};
Matched matched_of(const BuiltJob& job, const Pipeline& pipeline) {
  Matched matched;
  for (const MatchedCollective& collective : job.matching.collectives) {
    REQUIRE(collective.members.size() == 2);
    std::vector<Pipeline::MessageKey> sides[2];
    for (std::size_t m = 0; m < 2; ++m) {
      const CollectiveMember& member = collective.members[m];
      sides[m] = pipeline.messages_of(static_cast<int>(member.rank),
                                      job.collectives[member.rank].list[member.collective].event);
    }
    std::size_t common = 0;
    for (const Pipeline::MessageKey& key : sides[0]) {
      common += std::count(sides[1].begin(), sides[1].end(), key) > 0 ? 1 : 0;
    }
    (common > 0 && collective.complete ? matched.right : matched.wrong) +=
        std::max<std::size_t>(1, common);
  }
  return matched;
}

/// The run with kernels that communicate, or that compute, this many times as long.
double span_us(const BuiltJob& job, double communication, double compute) {
  const TaskGraph& graph = job.built.graph;
  Change change;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const bool communicates = graph.kind(task) == TaskKind::collective;
    if (communicates || graph.kind(task) == TaskKind::kernel) {
      const double factor = communicates ? communication : compute;
      change.durations.push_back(
          {task, std::llround(static_cast<double>(graph.duration_ns(task)) * factor)});
    }
  }
  auto changed = commit(graph, change);
  REQUIRE(changed.ok());
  return static_cast<double>(simulate(changed->graph).span_ns) / 1000;
}

/// Transfers of all messages: waiting for the other rank is none.
double transfer_us(const BuiltJob& job) {
  double sum = 0;
  for (const MatchedCollective& collective : job.matching.collectives) {
    for (const WaitSplit& split : split_waiting(collective, job.collectives, job.matching.clocks)) {
      sum += static_cast<double>(split.transfer_ns) / 1000;
    }
  }
  return sum;
}

PipelineOptions random_pipeline(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t most) { return static_cast<int>(random() % most); };
  PipelineOptions options;
  options.seed = seed;
  options.schedule = static_cast<Schedule>(below(3));
  options.told = static_cast<Told>(below(3));
  options.stages = 2 + below(5);
  options.microbatches = options.stages * (2 + below(3));
  options.chunks = 2 + below(2);
  options.forward_us = 300 + 100 * below(20);
  options.backward_us = options.forward_us * (1 + 0.5 * below(4));
  options.jitter = 0.1 * below(4);
  options.transfer_us = 15 + 10 * below(10);
  options.latency_us = 2 + below(8);
  options.batched = below(3) == 0;
  options.numbered = below(2) == 0;
  return options;
}

/// Clocks of which neighbours are apart by more than a message takes.
std::vector<double> clocks_apart(const PipelineOptions& options) {
  std::vector<double> clocks;
  for (int stage = 0; stage < options.stages; ++stage) {
    clocks.push_back((stage % 2 == 0 ? 1 : -1) * (2'000.0 + 700.0 * stage));
  }
  return clocks;
}

}  // namespace

TEST_CASE("point to point: random pipelines are matched, replayed and react as they really do") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const PipelineOptions options = random_pipeline(seed);
    CAPTURE(seed);
    CAPTURE(static_cast<int>(options.schedule));
    CAPTURE(static_cast<int>(options.told));
    CAPTURE(options.stages);
    CAPTURE(options.batched);
    Pipeline pipeline(options);
    const BuiltJob job = build(pipeline.traces());
    const Matched matched = matched_of(job, pipeline);
    CHECK(matched.right == pipeline.messages());
    CHECK(matched.wrong == 0);
    for (const RankClock& clock : job.matching.clocks) {
      CHECK(clock.offset_ns == 0);  // none was put in, none is invented
    }
    CHECK(span_us(job, 1, 1) == doctest::Approx(pipeline.span_us() + 60).epsilon(0.005));
    // A message takes the send and, on the other side, its transfer and latency.
    const double longest = 2 * options.transfer_us + options.latency_us + 1;
    CHECK(transfer_us(job) <=
          static_cast<double>(pipeline.messages()) * longest * (options.batched ? 2 : 1));

    PipelineOptions without = options;
    without.transfer_us = without.latency_us = 0;
    CHECK(span_us(job, 0, 1) == doctest::Approx(Pipeline(without).span_us() + 60).epsilon(0.01));
    PipelineOptions faster = options;
    faster.forward_us /= 2;
    faster.backward_us /= 2;
    CHECK(span_us(job, 1, 0.5) == doctest::Approx(Pipeline(faster).span_us() + 60).epsilon(0.02));
  }
}

TEST_CASE("point to point: clocks that are apart are found, to what a message takes") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    PipelineOptions options = random_pipeline(seed);
    options.clock_us = clocks_apart(options);
    CAPTURE(seed);
    CAPTURE(static_cast<int>(options.schedule));
    CAPTURE(options.stages);
    Pipeline pipeline(options);
    const BuiltJob job = build(pipeline.traces());
    const Matched matched = matched_of(job, pipeline);
    CHECK(matched.right == pipeline.messages());
    CHECK(matched.wrong == 0);
    const std::uint32_t reference = job.matching.reference;
    for (std::size_t r = 0; r < job.matching.clocks.size(); ++r) {
      const double right = options.clock_us[reference] - options.clock_us[r];
      const double hops = std::abs(static_cast<double>(r) - reference);
      const auto found = static_cast<double>(job.matching.clocks[r].offset_ns) / 1000;
      CHECK(std::abs(found - right) <= hops * (options.transfer_us + options.latency_us + 5) + 1);
    }
  }
}

TEST_CASE("point to point: messages in one direction say nothing that a clock can be moved by") {
  // Two stages that only hand on: the bound is on one side.
  PipelineOptions options;
  options.stages = 2;
  options.clock_us = {0, 30};
  Pipeline pipeline(options);
  std::vector<RankTrace> traces = pipeline.traces();
  for (RankTrace& rank : traces) {
    EventTable& events = rank.trace.events;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto& text = events.names[events.descriptors[index(events.descriptor[i])].text];
      if (text.find(R"("Src Rank": 1)") != std::string_view::npos) {
        events.kind[i] = EventKind::other;
      }
    }
  }
  const BuiltJob job = build(std::move(traces));
  CHECK(job.matching.collectives.size() == 8);
  CHECK(job.matching.clocks[0].offset_ns == 0);
  CHECK(job.matching.clocks[1].offset_ns == 0);
}

TEST_CASE("point to point: a send that is buffered does not wait for its receiver, others do") {
  for (const bool sends_wait : {false, true}) {
    PipelineOptions options;
    options.sends_wait = sends_wait;
    options.forward_us = 1000;
    Pipeline pipeline(options);
    const BuiltJob job = build(pipeline.traces());
    CHECK(matched_of(job, pipeline).right == pipeline.messages());
    std::size_t waiting = 0;
    for (const MatchedCollective& collective : job.matching.collectives) {
      for (const CollectiveMember& member : collective.members) {
        waiting += member.sends && member.waits ? 1 : 0;
      }
    }
    if (!sends_wait) {
      CHECK(waiting == 0);
    }
    CHECK(span_us(job, 1, 1) == doctest::Approx(pipeline.span_us() + 60).epsilon(0.005));
  }
}

TEST_CASE("point to point: windows that begin within a step lose messages at the front only") {
  PipelineOptions options;
  options.microbatches = 12;
  options.jitter = 0.3;
  Pipeline pipeline(options);
  std::vector<RankTrace> traces = pipeline.traces();
  // The second rank's first three receives were not recorded.
  EventTable& events = traces[1].trace.events;
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < events.size() && dropped < 3; ++i) {
    const auto& text = events.names[events.descriptors[index(events.descriptor[i])].text];
    if (text.find(R"("recv", "Src Rank": 0)") != std::string_view::npos) {
      events.kind[i] = EventKind::other;
      ++dropped;
    }
  }
  const BuiltJob job = build(std::move(traces));
  const Matched matched = matched_of(job, pipeline);
  CHECK(matched.right == pipeline.messages() - 3);
  CHECK(matched.wrong == 0);
}

namespace {

struct TestMessage {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  std::int64_t bytes = 0;
  std::int64_t send_ns = 0;
  std::int64_t sent_ns = 0;
  std::int64_t receive_ns = 0;
};

/// Ranks of one group whose numbers are told; each message is one kernel on either side.
std::vector<RankCollectives> ranks_with(const std::vector<TestMessage>& messages,
                                        std::size_t count) {
  std::vector<RankCollectives> ranks(count);
  for (std::size_t r = 0; r < count; ++r) {
    ranks[r].rank = static_cast<std::int32_t>(r);
    ranks[r].groups.push_back({GroupEvidence::name, "pp", 0, {}});
  }
  for (const TestMessage& message : messages) {
    for (const bool sends : {true, false}) {
      RankCollective row;
      row.kind = sends ? CollectiveKind::send : CollectiveKind::receive;
      row.start_ns = sends ? message.send_ns : message.receive_ns;
      row.end_ns = sends ? message.sent_ns : std::max(message.sent_ns, message.receive_ns) + 20'000;
      const std::uint32_t own = sends ? message.source : message.target;
      const std::uint32_t peer = sends ? message.target : message.source;
      row.messages.push_back(
          {sends, static_cast<std::int32_t>(own), static_cast<std::int32_t>(peer), message.bytes});
      ranks[own].list.push_back(row);
    }
  }
  return ranks;
}

std::size_t sends_that_wait(const JobMatching& job) {
  std::size_t waiting = 0;
  for (const MatchedCollective& collective : job.collectives) {
    for (const CollectiveMember& member : collective.members) {
      waiting += member.sends && member.waits ? 1 : 0;
    }
  }
  return waiting;
}

}  // namespace

TEST_CASE(
    "point to point: a channel that shows nothing is like others of the job, else it is said") {
  // Rank 0 sends to 1: each receiver comes 900 us later and the send is there until then. Rank 2
  // sends to 3 when the receiver is already there.
  const auto messages = [](std::int64_t shown_bytes, bool shows) {
    std::vector<TestMessage> list;
    for (int i = 0; i < 10; ++i) {
      const std::int64_t at = 2'000'000 * i;
      if (shows) list.push_back({0, 1, shown_bytes, at, at + 920'000, at + 900'000});
      list.push_back({2, 3, 1 << 20, at + 50'000, at + 70'000, at});
    }
    return list;
  };
  const auto like = ranks_with(messages(1 << 20, true), 4);
  const JobMatching told = match_collectives(like);
  REQUIRE(told.collectives.size() == 20);
  CHECK(sends_that_wait(told) == 20);
  CHECK(unseen_sends(like, told) == 0);
  // Larger ones that wait say nothing of smaller ones.
  const auto unlike = ranks_with(messages(1 << 22, true), 4);
  const JobMatching larger = match_collectives(unlike);
  CHECK(sends_that_wait(larger) == 10);
  CHECK(unseen_sends(unlike, larger) == 10);
  const auto silent = ranks_with(messages(0, false), 4);
  const JobMatching alone = match_collectives(silent);
  CHECK(sends_that_wait(alone) == 0);
  CHECK(unseen_sends(silent, alone) == 10);
}

TEST_CASE("point to point: numbers within a group are the job's, known own number or not") {
  for (const bool is_known : {true, false}) {
    std::vector<TestMessage> list;
    for (int i = 0; i < 8; ++i) {
      list.push_back({2, 3, 1024, 1'000'000 * i, 1'000'000 * i + 10'000, 1'000'000 * i});
    }
    std::vector<RankCollectives> ranks = ranks_with(list, 5);
    for (RankCollectives& rank : ranks) {
      if (!is_known) rank.rank = -1;
      rank.groups[0].ranks = {0, 2, 3};
      for (RankCollective& row : rank.list) {
        row.messages[0].own = -1;
        row.messages[0].peer = row.messages[0].sends ? 2 : 1;  // within the group
      }
    }
    const Channels channels = find_channels(ranks);
    REQUIRE(channels.list.size() == 1);
    CHECK(channels.list[0].name == "pp 2->3");
    CHECK(channels.list[0].sends.size() == 8);
    CHECK(channels.list[0].receives.size() == 8);
  }
}

TEST_CASE("near linear: channels are read at the cost of their messages, not of every shift") {
  // Messages there and back; the first few receives were not recorded.
  const auto compared = [](std::size_t count, std::size_t lost) {
    Channel channels[2];
    for (std::size_t way = 0; way < 2; ++way) {
      channels[way].source = static_cast<std::uint32_t>(way);
      channels[way].target = static_cast<std::uint32_t>(1 - way);
      for (std::size_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::int64_t>(500'000 * i + 250'000 * way);
        channels[way].sends.push_back({0, 1024, -1, at, at + 20'000});
        if (way == 1 || i >= lost) {
          channels[way].receives.push_back({0, 1024, -1, at - 100'000, at + 30'000});
        }
      }
    }
    const PeerAlignment found = align_peers({&channels[0], &channels[1]}, 0, false);
    CHECK(found.refused.empty());
    REQUIRE(found.there.size() == count - lost);
    CHECK(found.there.front() == std::pair(static_cast<std::uint32_t>(lost), 0U));
    CHECK(found.back.size() == count);
    CHECK(found.compared <= 20 * count + 5'000);  // 5,000: shifts whose first numbers differ
    return found.compared;
  };
  for (const std::size_t lost : {std::size_t{0}, std::size_t{3}}) {
    CHECK(compared(20'000, lost) < 3 * compared(10'000, lost));
  }
}

}  // namespace foretrace::trace
