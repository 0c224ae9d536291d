#include "models/hardware/catalogue/memory_profile.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/config_files.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

TEST_CASE("memory profiles: every file is right, and every accelerator has exactly one") {
  std::multiset<std::string> listed;
  const std::string configs = FORETRACE_SOURCE_DIR "/configs";
  for (const std::string& file : config_names(configs, "memories")) {
    const auto profile = read_memory_profile(config_file(configs, "memories", file));
    REQUIRE_MESSAGE(profile.ok(), profile.error().message);
    // No driver keeps a context on devices that are no GPUs.
    CHECK((profile->context_high_bytes > 0 || profile->name == "exec_models"));
    CHECK(!profile->sources.empty());
    for (const std::string& name : profile->accelerators) {
      CHECK_MESSAGE(test::find_accelerator(name).ok(), name);
      listed.insert(name);
    }
  }
  for (const std::string& name : test::shipped()->accelerator_names()) {
    CHECK_MESSAGE(listed.count(name) == 1, name);
  }
}

TEST_CASE("memory profiles: sizes are those of the sources") {
  const MemoryProfile hopper = test::find_accelerator("h100_sxm")->memory;
  const MemoryProfile mi300x = test::find_accelerator("mi300x")->memory;
  CHECK(hopper.per_call_bytes("aten::addmm") == 1 << 20);
  CHECK(hopper.per_call_bytes("aten::mm") == 0);
  CHECK(hopper.persistent.front().bytes == 33'554'432);
  CHECK(mi300x.per_call_bytes("aten::mm") == 79'691'776);
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
