#include "models/hardware/memories/allocator_settings.h"

#include <string>

#include <doctest/doctest.h>

namespace foretrace {
namespace {

TEST_CASE("allocator settings: every key of the environment variable is understood") {
  const auto read = parse_allocator_settings(
      "expandable_segments:True, max_split_size_mb:128,garbage_collection_threshold:0.8,"
      "max_non_split_rounding_mb:40,large_segment_size_mb:64,backend:native,"
      "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->expandable_segments);
  CHECK(read->max_split_bytes == 128LL << 20);
  CHECK(read->garbage_collection_threshold == 0.8);
  CHECK(read->max_non_split_rounding_bytes == 40LL << 20);
  CHECK(read->large_segment_bytes == 64LL << 20);
  // 256 MiB = 2^8 MiB is interval 8, 512 MiB interval 9, 1 GiB interval 10, the rest up to 15.
  CHECK(read->roundup_power2_divisions[0] == 1);
  CHECK(read->roundup_power2_divisions[8] == 1);
  CHECK(read->roundup_power2_divisions[9] == 2);
  CHECK(read->roundup_power2_divisions[10] == 4);
  CHECK(read->roundup_power2_divisions[15] == 8);
  CHECK(parse_allocator_settings("").ok());
}

TEST_CASE("allocator settings: what is wrong is named with what is expected") {
  const auto message = [](const char* text) {
    const auto read = parse_allocator_settings(text);
    return read.ok() ? std::string() : read.error().message;
  };
  CHECK(message("max_split_size:128") ==
        "allocator settings: unknown setting 'max_split_size' (did you mean 'max_split_size_mb'?)");
  CHECK(message("expandable_segments:yes") ==
        "allocator settings: 'expandable_segments': got 'yes', expected True or False");
  CHECK(message("max_split_size_mb:-1") ==
        "allocator settings: 'max_split_size_mb': got '-1', expected a number of MiB from 1");
  CHECK(message("garbage_collection_threshold:2") ==
        "allocator settings: 'garbage_collection_threshold': got '2', expected a number between 0 "
        "and 1");
  CHECK(!message("roundup_power2_divisions:3").empty());
  CHECK(!message("roundup_power2_divisions:[4").empty());
  CHECK(!message("roundup_power2_divisions:[:]").empty());
  CHECK(!message("max_split_size_mb:1e300").empty());
  CHECK(!message("word").empty());
}

}  // namespace
}  // namespace foretrace
