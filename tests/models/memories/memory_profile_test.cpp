#include "models/memories/memory_profile.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "models/catalogue/accelerator.h"

namespace foretrace {
namespace {

TEST_CASE("memory profiles: every file is right, and every accelerator has exactly one") {
  set_config_directory(FORETRACE_SOURCE_DIR "/configs");
  std::multiset<std::string> listed;
  for (const std::string& file : memory_profile_files()) {
    const auto profile = read_memory_profile(file);
    REQUIRE_MESSAGE(profile.ok(), profile.error().message);
    CHECK(profile->context_high_bytes > 0);
    CHECK(!profile->sources.empty());
    for (const std::string& name : profile->accelerators) {
      CHECK_MESSAGE(find_accelerator(name).ok(), name);
      listed.insert(name);
    }
  }
  for (const std::string& name : accelerator_names()) {
    CHECK_MESSAGE(listed.count(name) == 1, name);
  }
}

TEST_CASE("memory profiles: sizes are those of the sources") {
  set_config_directory(FORETRACE_SOURCE_DIR "/configs");
  const auto hopper = memory_profile_of("h100_sxm");
  const auto mi300x = memory_profile_of("mi300x");
  REQUIRE(hopper);
  REQUIRE(mi300x);
  CHECK(hopper->per_call_bytes("aten::addmm") == 1 << 20);
  CHECK(hopper->per_call_bytes("aten::mm") == 0);
  CHECK(hopper->persistent.front().bytes == 33'554'432);
  CHECK(mi300x->per_call_bytes("aten::mm") == 79'691'776);
  CHECK(!memory_profile_of("abacus"));
}

TEST_CASE("memory profiles: a mistake is named with its place") {
  const auto message = [](const std::string& text) {
    const auto profile = parse_memory_profile(text, "x.json");
    return profile.ok() ? std::string() : profile.error().message;
  };
  const std::string head = R"({"schema": "foretrace.memory/1", "accelerators": [], )";
  CHECK(message(head + R"("context": {"low": "2 GiB", "high": "1 GiB"}, "persistent": {},
                          "per_call": {}, "sources": {"context": "x"}})") ==
        "x.json: /context/low: got more than high, expected at most as much");
  CHECK(!message(head + R"("context": {"low": "1 GiB", "high": "1 GiB"}, "persistent": {},
                           "per_call": {}, "sources": {}})")
             .empty());
  CHECK(!message("{}").empty());
}

}  // namespace
}  // namespace foretrace
