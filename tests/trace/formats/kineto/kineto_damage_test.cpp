// What a damaged trace gives: everything readable, and a count with a reason, a place, an example.
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <zlib.h>

#include "tests/trace/formats/read_helpers.h"

namespace foretrace::trace {
namespace {

constexpr std::string_view good =
    R"({"ph":"X","cat":"cpu_op","name":"good","pid":1,"tid":1,"ts":5,"dur":1})";

// The damage that one bad event between two good ones does.
Damage damage_of(const std::string& bad) {
  const std::string head = "{\"traceEvents\": [\n" + std::string(good) + ",\n";
  const LoadedTrace trace = read_text(head + bad + ",\n" + std::string(good) + "\n]}");
  CHECK_MESSAGE(trace.events.size() >= 2, bad);
  REQUIRE_MESSAGE(trace.report.damage.size() == 1, bad);
  const Damage& damage = trace.report.damage[0];
  CHECK(damage.count == 1);
  CHECK(damage.first_offset == head.size());
  return damage;
}

std::string event_with(std::string_view times) {
  return R"({"ph":"X","cat":"cpu_op","name":"bad","pid":1,"tid":1,)" + std::string(times) + "}";
}

}  // namespace

TEST_CASE("damage: times that cannot be are dropped with the reason") {
  CHECK(damage_of(event_with(R"("dur":1)")).reason == "no timestamp");
  CHECK(damage_of(event_with(R"("ts":1)")).reason == "no duration");
  CHECK(damage_of(event_with(R"("ts":"soon","dur":1)")).reason == "timestamp is not a number");
  CHECK(damage_of(event_with(R"("ts":null,"dur":1)")).reason == "timestamp is not a number");
  CHECK(damage_of(event_with(R"("ts":NaN,"dur":1)")).reason == "timestamp is not a number");
  CHECK(damage_of(event_with(R"("ts":1e300,"dur":1)")).reason == "timestamp out of range");
  CHECK(damage_of(event_with(R"("ts":99999999999999999999999,"dur":1)")).reason ==
        "timestamp out of range");
  CHECK(damage_of(event_with(R"("ts":1,"dur":-0.001)")).reason == "negative duration");
  CHECK(damage_of(event_with(R"("ts":1,"dur":inf)")).reason == "duration is not a number");
  CHECK(damage_of(event_with(R"("ts":1,"dur":2305843009213694)")).reason ==
        "duration out of range");  // 2^61 ns = 2305843009213693.952 us
  CHECK(damage_of(event_with(R"("ts":[1],"dur":1)")).reason == "timestamp is not a number");
}

TEST_CASE("damage: events without sense are dropped with the reason") {
  CHECK(damage_of(R"({"name":"a"})").reason == "no phase");
  CHECK(damage_of(R"({"ph":"Q","ts":1})").reason == "unknown phase");
  CHECK(damage_of(R"({"ph":"XX","ts":1})").reason == "unknown phase");
  CHECK(damage_of(R"({"ph":7,"ts":1})").reason == "unknown phase");
  CHECK(damage_of("null").reason == "element is not an object");
  CHECK(damage_of("\"text\"").reason == "element is not an object");
  CHECK(damage_of("[1, [2]]").reason == "element is not an object");
  CHECK(damage_of(R"({"ph":"i","name":"[memory]","ts":1,"pid":1,"tid":1})").reason ==
        "memory event without bytes");
  CHECK(damage_of(R"({"ph":"s","cat":"fwdbwd","name":"fwdbwd","ts":1,"pid":1,"tid":1})").reason ==
        "flow without an id");
  CHECK(damage_of(R"({"ph":"E","ts":1,"pid":1,"tid":1})").reason ==
        "end of a range that never began");
}

TEST_CASE("damage: broken JSON costs the event it is in, not the ones behind it") {
  CHECK(damage_of(R"({"ph":"X","ts":1,"dur":1,})").reason.starts_with("invalid JSON"));
  CHECK(damage_of(R"({"ph":"X" "ts":1,"dur":1})").reason.starts_with("invalid JSON"));
  CHECK(damage_of(R"({"ph":"X","ts"})").reason.starts_with("invalid JSON"));
  // A quote is missing: the string runs to the end of the line, which no JSON string can.
  CHECK(damage_of("{\"ph\":\"X,\"ts\":1,\"dur\":1,\"name\":\"a\"}").reason ==
        "line ends inside a string");
}

TEST_CASE("damage: brackets that do not match cost one event") {
  const std::string bad = R"({"ph":"X","ts":1,"dur":1,"args":{"a":[[1,2],"b":3}})";
  CHECK(damage_of(bad).reason == "brackets do not match");
  // At the end of the list the list still ends, and what follows it is read.
  const LoadedTrace last =
      read_text("{\"traceEvents\": [" + std::string(good) + "," +
                R"({"ph":"X","ts":1,"args":{], "distributedInfo": {"rank": 3}})");
  CHECK(last.events.size() == 1);
  CHECK(damage_count(last.report, "brackets do not match") == 1);
  CHECK(last.events.info.rank == 3);
}

TEST_CASE("damage: nested brackets that never close cost the event they are in") {
  for (const std::string_view open :
       {R"("args":{"a":{"b":[)", R"("args":{"a":[[)", R"("args":{)"}) {
    const std::string bad = R"({"ph":"X","ts":1,"dur":1,)" + std::string(open);
    const std::string text = "{\"traceEvents\": [" + std::string(good) + ",\n" + bad + ",\n" +
                             std::string(good) + ",\n" + std::string(good) + "\n]}";
    const LoadedTrace trace = read_text(text);
    CHECK_MESSAGE(trace.events.size() == 3, open);
    CHECK_MESSAGE(trace.report.dropped() == 1, open);
  }
}

TEST_CASE("damage: what can be repaired is kept and counted as repaired") {
  const LoadedTrace trace = read_events(
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\xFF\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},"
      R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":2,"dur":1},
         )" +
      std::string(good));
  CHECK(trace.report.dropped() == 0);
  CHECK(trace.report.repaired() == 2);
  CHECK(trace.report.kept == 3);
  REQUIRE(trace.events.size() == 3);
  CHECK(trace.events.name_of(EventId{0}) == "a\xEF\xBF\xBD");
  CHECK(trace.events.name_of(EventId{1}).empty());
  CHECK(damage_count(trace.report, "invalid UTF-8 in a name") == 1);
  CHECK(damage_count(trace.report, "no name") == 1);
}

TEST_CASE("damage: arguments that are no JSON are left out of the descriptor") {
  // Older profilers wrote inf and nan as they are.
  const LoadedTrace trace = read_events(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,
          "args":{"stream":7,"device":0,"grid":[2,1,1],"ratio":nan,"note":"fine"}})");
  REQUIRE(trace.events.size() == 1);
  const Descriptor& descriptor = descriptor_of(trace.events, EventId{0});
  CHECK(descriptor.grid[0] == 2);
  CHECK(trace.events.names[descriptor.text] == R"({"note": "fine"})");
  CHECK(trace.report.repaired() == 1);
  CHECK(trace.report.dropped() == 0);
}

TEST_CASE("damage: examples are one short printable line") {
  const Damage damage = damage_of("{\"ph\":\"Q\",\n\t\"name\":\"" + std::string(1000, 'x') + "\"}");
  CHECK(damage.example.size() <= 160);
  CHECK(damage.example.starts_with(R"({"ph":"Q", "name":"xxx)"));
  CHECK(damage.example.ends_with("..."));
}

TEST_CASE("damage: equal reasons are counted together, with the first place") {
  const std::string bad = R"({"ph":"Q"},)";
  const LoadedTrace trace = read_events(bad + bad + bad + std::string(good));
  REQUIRE(trace.report.damage.size() == 1);
  CHECK(trace.report.damage[0].count == 3);
  CHECK(trace.report.damage[0].first_offset == std::string("{\"traceEvents\": [\n").size());
  CHECK(trace.report.events == 4);
  CHECK(trace.report.kept == 1);
}

TEST_CASE("damage: strict refuses what would be dropped, and only that") {
  ReadOptions strict;
  strict.strict = true;
  const auto refused =
      try_text(R"({"traceEvents": [{"ph":"X","name":"a","ts":1,"dur":-1}]})", strict);
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == ErrorCode::bad_format);
  CHECK(refused.error().message ==
        "t.json: 1 of 1 events cannot be read, first at byte 17: negative duration: "
        R"({"ph":"X","name":"a","ts":1,"dur":-1})");
  // Metadata and marks carry nothing for us: that is no damage.
  CHECK(try_text(R"({"traceEvents": [{"ph":"M","name":"process_name"}, {"ph":"i","name":"mark"},
                                     {"ph":"C","name":"counter"}]})",
                 strict)
            .ok());
  CHECK(!try_text(R"({"traceEvents": [{"ph":"X","ts":1,"du)", strict).ok());
}

TEST_CASE("damage: a cut file gives every whole event and says what is missing") {
  const std::string whole = "{\"traceEvents\": [\n" + std::string(good) + ",\n" +
                            std::string(good) + "\n], \"traceName\": \"a\"}";
  for (std::size_t size = 20; size < whole.size(); ++size) {
    const LoadedTrace trace = read_text(whole.substr(0, size));
    CHECK(trace.events.size() <= 2);
    CHECK(trace.report.warnings.size() == 1);
    CHECK(trace.report.bytes == size);
  }
  const LoadedTrace inside = read_text(whole.substr(0, 120));
  CHECK(inside.events.size() == 1);
  CHECK(damage_count(inside.report, "event cut off by the end of the file") == 1);
  CHECK(has_warning(inside.report, "the file ends inside an event"));
  CHECK(has_warning(inside.report, "the missing amount is unknown"));
  const LoadedTrace behind = read_text(whole.substr(0, whole.find("], \"traceName")));
  CHECK(behind.events.size() == 2);
  CHECK(behind.report.dropped() == 0);
  CHECK(has_warning(behind.report, "is not closed, the file ends behind a whole event: 2 events"));
}

TEST_CASE("damage: a cut or corrupt gzip gives what was readable and says how much is missing") {
  std::string text = "{\"traceEvents\": [\n";
  for (int i = 0; i < 20'000; ++i) {
    text += R"({"ph":"X","cat":"cpu_op","name":"op)" + std::to_string(i * 7919 % 20'011) +
            R"(","pid":1,"tid":1,"ts":)" + std::to_string(i * 17) + R"(,"dur":1},)" + "\n";
  }
  text += std::string(good) + "]}";
  uLongf room = compressBound(static_cast<uLong>(text.size())) + 64;
  std::string bytes(room, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  CHECK(read_text(bytes).events.size() == 20'001);

  const LoadedTrace half = read_text(bytes.substr(0, bytes.size() / 2));
  CHECK(half.events.size() > 8'000);
  CHECK(half.events.size() < 12'000);
  CHECK(has_warning(half.report, "gzip data ends early"));
  CHECK(has_warning(half.report, "the missing amount is unknown"));

  std::string corrupt = bytes;
  corrupt[bytes.size() / 2] = static_cast<char>(corrupt[bytes.size() / 2] ^ 0x55);
  corrupt[bytes.size() / 2 + 1] = static_cast<char>(corrupt[bytes.size() / 2 + 1] ^ 0x55);
  const LoadedTrace damaged = read_text(corrupt);
  CHECK(damaged.events.size() > 8'000);
  CHECK(has_warning(damaged.report, "gzip data is corrupt"));
}

TEST_CASE("damage: text behind the trace is told") {
  const LoadedTrace two = read_text(R"({"traceEvents": []} {"traceEvents": []})");
  CHECK(has_warning(two.report, "more text follows the trace at byte 20"));
  const LoadedTrace rest = read_text(R"({"traceEvents": [], 5})");
  CHECK(has_warning(rest.report, "invalid JSON after the events, at byte 20"));
}

TEST_CASE("damage: a timestamp far from the others is told") {
  const LoadedTrace trace = read_events(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":0,"dur":1},
         {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":1623143089861000,"dur":1})");
  // 1623143089861000 us are 18786 days.
  CHECK(has_warning(trace.report, "events lie 18786 days apart"));
}

TEST_CASE("damage: kernels that were left at time 0 are dropped, and the others keep their times") {
  const LoadedTrace trace = read_events(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":0},
         {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1623143089861000,"dur":10},
         {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":1623143089861020,"dur":1})");
  CHECK(trace.report.dropped() == 1);
  CHECK(trace.report.warnings.empty());
  CHECK(trace.events.info.first_time_ns == 1623143089861000000);
  std::size_t kernels = 0;
  for (const EventKind kind : trace.events.kind) kernels += kind == EventKind::kernel ? 1 : 0;
  CHECK(kernels == 1);
  // Of a trace that counts from its own begin nothing is dropped.
  const LoadedTrace near = read_events(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":0},
         {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":10})");
  CHECK(near.report.dropped() == 0);
}

}  // namespace foretrace::trace
