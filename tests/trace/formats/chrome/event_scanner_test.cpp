#include "trace/formats/chrome/event_scanner.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "trace/formats/json/scan.h"

namespace foretrace::trace::formats {
namespace {

std::string padded(std::string_view text) { return std::string(text) + std::string(64, '\0'); }

// Everything a scan gives, as text; "more" or "unexpected" if it gives no event.
std::string scanned(EventScanner& scanner, std::string_view event) {
  const std::string text = padded(event);
  const char* at = text.data();
  EventFields fields;
  const ScanOutcome outcome = scanner.scan(at, text.data() + event.size(), fields);
  if (outcome != ScanOutcome::event) {
    return outcome == ScanOutcome::more_needed ? "more" : "unexpected";
  }
  CHECK(at <= text.data() + event.size());
  std::string all = std::string(1, fields.phase) + "|" +
                    std::to_string(static_cast<int>(fields.category)) + "|" +
                    std::string(fields.name.text) + "|" + std::string(fields.arguments) + "|" +
                    std::to_string(fields.arguments_hash);
  for (const Number& number : fields.numbers) {
    all += "|" + std::string(number.token());
    CHECK((!number.plain || number.present()));
  }
  // A walk over the arguments alone finds the same ones.
  std::string walked;
  Members members(fields.arguments);
  while (members.next()) {
    const ArgumentRole role = argument_role(members.key().text);
    if (role >= ArgumentRole::dims) {
      walked += "|" + std::to_string(static_cast<int>(role)) + "\"" +
                std::string(members.key().text) + "\"" + std::string(members.value());
    }
  }
  std::string described;
  for (const Argument& argument : fields.described) {
    described += "|" + std::to_string(static_cast<int>(argument.role)) +
                 std::string(argument.quoted_key()) + std::string(argument.text());
  }
  CHECK(described == walked);
  return all + described;
}

std::string scanned_afresh(std::string_view event) {
  EventScanner scanner;
  return scanned(scanner, event);
}

class Random {
 public:
  std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>(state_ >> 33U) % bound;
  }

 private:
  std::uint64_t state_ = 4;
};

// Events of a few writers with keys left out, values of all types and now and then a defect.
std::string random_event(Random& random) {
  const std::vector<std::string> blanks = {"", " ", "\n    ", "\n                      ", "\t"};
  const std::string& after_comma = blanks[random.below(3)];
  const std::string& after_colon = blanks[random.below(2)];
  const std::vector<std::string> members = {
      "\"ph\":" + std::string(random.below(3) == 0 ? "\"M\"" : "\"X\""),
      "\"cat\":" + std::string(random.below(2) == 0 ? "\"kernel\"" : "\"cpu_op\""),
      "\"name\":\"aten::add_" + std::string(random.below(60), 'x') + "\"",
      "\"pid\":" + std::to_string(random.below(100000)),
      "\"tid\":\"stream 7\"",
      "\"ts\":16230" + std::to_string(random.below(1000000)) + ".125",
      "\"dur\":" + std::string(random.below(9) == 0 ? "nan" : "12"),
      "\"bp\":\"e\"",
      "\"args\":{\"correlation\":77,\"grid\":[1,2,[3]],\"note\":\"a\\\"b\",\"stream\":-1}",
      "\"args\":{}",
      "\"args\":7",
      "\"cat\":5",
      "\"ph\":1"};
  std::string text = "{" + blanks[random.below(blanks.size())];
  std::size_t taken = 0;
  for (const std::string& member : members) {
    if (random.below(3) == 0) {
      continue;
    }
    text += taken++ == 0 ? "" : "," + after_comma;
    const std::size_t colon = member.find(':') + 1;
    text += member.substr(0, colon) + after_colon + member.substr(colon);
  }
  text += blanks[random.below(2)] + "}";
  if (random.below(20) == 0) {
    text[random.below(text.size())] = ",:}\" x"[random.below(6)];
  }
  return text;
}

}  // namespace

TEST_CASE("event scanner: what was learned from other events changes nothing") {
  Random random;
  EventScanner learned;
  std::size_t events = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string event = random_event(random);
    const std::string expected = scanned_afresh(event);
    CHECK_MESSAGE(scanned(learned, event) == expected, event);
    events += expected.size() > 12 ? 1 : 0;
  }
  CHECK(events > 10'000);
}

TEST_CASE("event scanner: an event that is cut off anywhere needs more text") {
  const std::string event =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 12.5, "dur": 3,
          "args": {"device": 0, "stream": 7, "grid": [1, 2, 3], "note": "a"}})";
  EventScanner learned;
  const std::string whole = scanned(learned, event);
  for (std::size_t size = 1; size < event.size(); ++size) {
    CHECK_MESSAGE(scanned(learned, event.substr(0, size)) == "more", size);
    CHECK_MESSAGE(scanned_afresh(event.substr(0, size)) == "more", size);
  }
  CHECK(scanned(learned, event) == whole);
}

TEST_CASE("event scanner: arrows are skipped, but forward -> backward ones are read") {
  EventScanner scanner;
  const std::string launch =
      R"({"ph": "s", "id": 5, "pid": 1, "tid": 1, "ts": 9, "cat": "ac2g", "name": "ac2g"})";
  CHECK(scanned(scanner, launch).find("|5|") == std::string::npos);
  const std::string forward =
      R"({"ph": "s", "id": 5, "pid": 1, "tid": 1, "ts": 9, "cat": "fwdbwd", "name": "fwdbwd"})";
  CHECK(scanned(scanner, forward).find("|5|") != std::string::npos);
}

TEST_CASE("event scanner: hashes see what describes the work and nothing else") {
  const auto hash_of = [](const std::string& arguments) {
    const std::string text =
        padded(R"({"ph":"X","cat":"kernel","name":"k","args":{)" + arguments + "}}");
    EventScanner scanner;
    EventFields fields;
    const char* at = text.data();
    REQUIRE(scanner.scan(at, text.data() + text.size() - 64, fields) == ScanOutcome::event);
    return fields.arguments_hash;
  };
  const std::uint64_t base = hash_of(R"("correlation": 1, "grid": [1, 1, 1], "stream": 7)");
  CHECK(base != 0);
  CHECK(hash_of(R"("correlation": 2, "grid": [1, 1, 1], "stream": 8)") == base);
  CHECK(hash_of(R"("correlation": 1, "grid": [1, 1, 2], "stream": 7)") != base);
  CHECK(hash_of(R"("correlation": 1, "stream": 7)") == 0);
  CHECK(hash_of(R"("grid": [1, 1, 1], "block": [2, 1, 1])") !=
        hash_of(R"("grid": [1, 1, 1], "block": [1, 1, 1])"));
  // Long and short ones, where the hash takes different ways.
  std::vector<std::uint64_t> seen;
  for (std::size_t length = 0; length < 200; ++length) {
    const std::uint64_t hash = hash_of("\"note\": \"" + std::string(length, 'n') + "\"");
    CHECK(std::find(seen.begin(), seen.end(), hash) == seen.end());
    seen.push_back(hash);
  }
}

TEST_CASE("event scanner: the full parser respells what the scanner does not understand") {
  std::string reason;
  const std::string text =
      canonical_event(R"({ "p\u0068": "X", "args": {"gr\u0069d": [1, 2], "x\"y": 1}})", reason);
  CHECK(text == R"({"ph":"X","args":{"grid":[1, 2],"x_y":1}})");
  CHECK(canonical_event(R"({"ph": "X",})", reason).empty());
  CHECK(!reason.empty());
}

}  // namespace foretrace::trace::formats
