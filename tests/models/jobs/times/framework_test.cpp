#include "models/jobs/times/framework.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "models/jobs/times/evidence.h"
#include "tests/configs.h"

using foretrace::computing_in;
using foretrace::evidence_range;
using foretrace::find_framework;
using foretrace::framework_names;
using foretrace::MeasuredKind;
using foretrace::parse_framework;

TEST_CASE("frameworks: every file reads, and says where its figures are from") {
  CHECK(framework_names(*foretrace::test::shipped()).size() >= 10);
  for (const std::string& name : framework_names(*foretrace::test::shipped())) {
    CAPTURE(name);
    const auto framework = find_framework(*foretrace::test::shipped(), name);
    REQUIRE_MESSAGE(framework.ok(), framework.error().message);
    CHECK(framework->name == name);
    CHECK(framework->weight_bytes > 0);
    CHECK(framework->product_slowdown.typical >= 1);
  }
}

TEST_CASE("frameworks: a program that computes in 32 bit holds and sends no 16-bit numbers") {
  for (const std::string& name : framework_names(*foretrace::test::shipped())) {
    CAPTURE(name);
    const auto shipped = std::make_shared<const foretrace::Framework>(
        *find_framework(*foretrace::test::shipped(), name));
    const auto computing = [](const char* word, const auto& framework) {
      return computing_in(*foretrace::precisions_of(word), framework);
    };
    CHECK(computing("bf16", shipped) == shipped);
    const auto in_tf32 = computing("tf32", shipped);
    CHECK(computing("fp32", in_tf32) == in_tf32);
    const foretrace::Framework& own = *shipped;
    const foretrace::Framework& wide = *in_tf32;
    CHECK(wide.weight_bytes == 4);
    CHECK(wide.gather_bytes == 4);
    CHECK(wide.reduce_bytes == 4);
    CHECK((wide.gradient_bytes == 4 || own.gradient_bytes == 0));
    // Two moments, and no copy of the weights beside them.
    CHECK(wide.state_bytes <= 8);
    CHECK((wide.state_bytes == own.state_bytes || own.weight_bytes < 4));
  }
}

TEST_CASE("frameworks: mistakes are told with their place") {
  const auto wrong = parse_framework(
      *foretrace::test::shipped(),
      R"({"schema": "foretrace.framework/1", "product": "x", "kernels": {"attention": "flash9"},
          "bytes_per_parameter": {}, "overlap": {}, "sources": {}})",
      "f.json");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message ==
        "f.json: /kernels/attention: got 'flash9' (did you mean 'flash1', 'flash2' or 'flash3'?), "
        "expected one of unfused, flash1, flash2, flash3");
  const auto range = parse_framework(
      *foretrace::test::shipped(),
      R"({"schema": "foretrace.framework/1", "product": "x", "kernels": {"attention": "flash2"},
          "host_per_kernel": {"typical": "5 us", "low": "9 us", "high": "10 us"},
          "bytes_per_parameter": {"update": 1, "accumulate": 1, "weight": 1, "gradient": 1, "state": 1,
                                  "reduce": 1, "gather": 1},
          "overlap": {}, "sources": {"kernels": "a", "host_per_kernel": "a", "bytes_per_parameter": "a",
                                     "overlap": "a"}})",
      "g.json");
  REQUIRE_FALSE(range.ok());
  CHECK(range.error().message.find("expected 0 <= low <= typical <= high") != std::string::npos);
}

TEST_CASE("frameworks: products have a share of their rate on a generation that the file names") {
  const auto with = [](const std::string& share) {
    return parse_framework(*foretrace::test::shipped(),
                           R"({"schema": "foretrace.framework/1", "product": "x",
        "kernels": {"attention": "flash2"}, "product_share": )" +
                               share + R"(,
        "bytes_per_parameter": {"update": 1, "accumulate": 1, "weight": 1, "gradient": 1, "state": 1,
                                "reduce": 1, "gather": 1},
        "overlap": {}, "sources": {"kernels": "a", "product_share": "a", "bytes_per_parameter": "a",
                                   "overlap": "a"}})",
                           "f.json");
  };
  const auto half = with(R"({"hopper": 0.5})");
  REQUIRE_MESSAGE(half.ok(), (half.ok() ? "" : half.error().message));
  CHECK(half->product_share == std::array<double, 5>{1, 1, 0.5, 1, 1});
  CHECK(with(R"({"hopper": 0})").error().message ==
        "f.json: /product_share/hopper: got 0, expected more than 0");
  CHECK(with(R"({"hopper": 1.5})").error().message.starts_with("f.json: /product_share/hopper: "));
  CHECK(with(R"({"tomorrow": 0.5})").error().message ==
        "f.json: '/product_share/tomorrow': unknown key, expected one of volta, ampere, hopper, "
        "blackwell, other");
}

TEST_CASE("frameworks: nothing runs faster beside something else") {
  for (const char* const key : {"communication_slowdown", "product_slowdown", "memory_slowdown"}) {
    const auto faster = parse_framework(*foretrace::test::shipped(),
                                        std::string(
                                            R"({"schema": "foretrace.framework/1", "product": "x",
            "kernels": {"attention": "flash2"},
            "bytes_per_parameter": {"update": 1, "accumulate": 1, "weight": 1, "gradient": 1,
                                    "state": 1, "reduce": 1, "gather": 1},
            "overlap": {")") + key + R"(": {"typical": 1.2, "low": 0.5, "high": 2}},
            "sources": {"kernels": "a", "bytes_per_parameter": "a", "overlap": "a"}})",
                                        "f.json");
    REQUIRE_FALSE(faster.ok());
    CHECK(faster.error().message == "f.json: /overlap/" + std::string(key) +
                                        ": got low 0.5, expected at least 1: nothing runs faster "
                                        "beside something else");
  }
}

TEST_CASE("frameworks: sharded tensors travel alone where a file says how") {
  const std::string head =
      R"({"schema": "foretrace.framework/1", "product": "x", "kernels": {"attention": "flash2"},
          "bytes_per_parameter": {"update": 1, "accumulate": 1, "weight": 1, "gradient": 1, "state": 1,
                                  "reduce": 1, "gather": 1},
          "overlap": {}, )";
  const std::string sources =
      R"("sources": {"kernels": "a", "bytes_per_parameter": "a", "overlap": "a",
                     "sharded_tensors": "a"}})";
  const auto read = parse_framework(
      *foretrace::test::shipped(),
      head + R"("sharded_tensors": {"resident_elements": 1e5, "host_per_copy": "8 us"}, )" +
          sources,
      "f.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->travel.by_tensor);
  CHECK(read->travel.resident_elements == 1e5);
  CHECK(read->travel.prefetch_elements == 0);
  CHECK(read->travel.host_per_copy_ns == 8000);
  const auto wrong =
      parse_framework(*foretrace::test::shipped(),
                      head + R"("sharded_tensors": {"buckets": 1}, )" + sources, "g.json");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message ==
        "g.json: '/sharded_tensors/buckets': unknown key, expected one of resident_elements, "
        "prefetch_elements, reuse_elements, host_per_view, host_per_copy, waits_for_all");
  const auto slow = parse_framework(
      *foretrace::test::shipped(),
      head + R"("sharded_tensors": {"host_per_view": "20 s"}, )" + sources, "g.json");
  REQUIRE_FALSE(slow.ok());
  CHECK(slow.error().message ==
        "g.json: /sharded_tensors/host_per_view: got 20 s, expected a value from 0 to 1 s");
  CHECK_FALSE(find_framework(*foretrace::test::shipped(), "torchtitan")->travel.by_tensor);
}

TEST_CASE("framework: a file says how it differs from another one of its folder") {
  const auto& catalogue = *foretrace::test::shipped();
  const std::string where = catalogue.directory() + "/frameworks/mine.json";
  const std::string head = R"({"schema": "foretrace.framework/1", "product": "x", "like": )";
  const auto base = find_framework(catalogue, "torchtitan");
  const auto same = parse_framework(*foretrace::test::shipped(), head + "\"torchtitan\"}", where);
  REQUIRE_MESSAGE(same.ok(), same.error().message);
  CHECK(same->name == "mine");
  CHECK(same->product == "x");
  CHECK(same->update_bytes == base->update_bytes);
  CHECK(same->kernels.loss_kept_bytes == base->kernels.loss_kept_bytes);
  CHECK(same->sources == base->sources);
  const auto other = parse_framework(
      *foretrace::test::shipped(),
      head + R"("torchtitan", "kernels": {"compiled": false}, "cast_bytes": 8})", where);
  REQUIRE_MESSAGE(other.ok(), other.error().message);
  CHECK_FALSE(other->kernels.compiled);
  CHECK(other->kernels.fused_norm == base->kernels.fused_norm);
  CHECK(other->cast_bytes == 8);
  const auto unknown = parse_framework(*foretrace::test::shipped(), head + "\"torchtitn\"}", where);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("mine.json: /like: ") != std::string::npos);
  CHECK(unknown.error().message.find("did you mean 'torchtitan'") != std::string::npos);
  const auto eager = find_framework(catalogue, "torchtitan_eager");
  const auto twice =
      parse_framework(*foretrace::test::shipped(), head + "\"torchtitan_eager\"}", where);
  REQUIRE_MESSAGE(twice.ok(), twice.error().message);
  CHECK(twice->cast_bytes == eager->cast_bytes);
  CHECK(twice->update_bytes == base->update_bytes);
  const auto beside = parse_framework(catalogue, head + "\"torchtitan\"}", "mine.json");
  REQUIRE_MESSAGE(beside.ok(), beside.error().message);
  CHECK(beside->update_bytes == base->update_bytes);
  // A file of one's own may be called as the one that it is like.
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "foretrace_framework_test";
  std::filesystem::create_directories(folder);
  const std::string named = (folder / "torchtitan.json").string();
  std::ofstream(named) << head << "\"torchtitan\"}";
  const auto mine = find_framework(catalogue, named);
  std::filesystem::remove_all(folder);
  REQUIRE_MESSAGE(mine.ok(), mine.error().message);
  CHECK(mine->update_bytes == base->update_bytes);
  const auto path = parse_framework(catalogue, head + "\"../frameworks/torchtitan.json\"}", where);
  REQUIRE_FALSE(path.ok());
  CHECK(path.error().message.find("expected the name of a framework") != std::string::npos);
  const auto number = parse_framework(*foretrace::test::shipped(), head + "1}", where);
  REQUIRE_FALSE(number.ok());
  CHECK(number.error().message ==
        where + ": /like: got the number 1, expected the name of a framework");
}

TEST_CASE("framework: frameworks that are like each other are refused") {
  const auto& catalogue = *foretrace::test::shipped();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "foretrace_framework_circle";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& like) {
    std::ofstream(folder / (name + ".json"))
        << R"({"schema": "foretrace.framework/1", "product": "x", "like": ")" << like << "\"}";
  };
  write("one", "other");
  write("other", "one");
  const auto found = find_framework(catalogue, (folder / "one.json").string());
  std::filesystem::remove_all(folder);
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().message.find("expected at most 8 frameworks that are each like the next") !=
        std::string::npos);
}

TEST_CASE("framework: a field set to what it is keeps the evidence, written in whatever way") {
  const auto& catalogue = *foretrace::test::shipped();
  const auto base = find_framework(catalogue, "megatron_core");
  const auto before = evidence_range(*base, MeasuredKind::training, "h100_sxm", 64);
  REQUIRE(before.has_value());
  REQUIRE_FALSE(before->is_new);
  const auto range_of = [&](const std::string& changes) {
    const auto found = find_framework(catalogue, "megatron_core:" + changes);
    REQUIRE_MESSAGE(found.ok(), found.error().message);
    return evidence_range(*found, MeasuredKind::training, "h100_sxm", 64).value();
  };
  for (const char* const same : {"reduce=2", "reduce=2.0,weight=2", "product=mine"}) {
    CAPTURE(same);
    CHECK(range_of(same).basis == before->basis);
    CHECK(range_of(same).factor.high == before->factor.high);
  }
  for (const char* const other : {"reduce=4", "reduce=2,weight=4"}) {
    CAPTURE(other);
    CHECK(range_of(other).is_new);
  }
}

TEST_CASE("framework: single fields of a name are changed") {
  const auto& catalogue = *foretrace::test::shipped();
  const auto base = find_framework(catalogue, "torchtitan_eager");
  const auto changed =
      find_framework(catalogue, "torchtitan_eager:reduce=2,prefetch=7,compiled=true,product=mine");
  REQUIRE_MESSAGE(changed.ok(), changed.error().message);
  CHECK(changed->name == "torchtitan_eager:reduce=2,prefetch=7,compiled=true,product=mine");
  CHECK(changed->reduce_bytes == 2);
  CHECK(base->reduce_bytes != 2);
  CHECK(changed->prefetch == 7);
  CHECK(changed->kernels.compiled);
  CHECK(changed->product == "mine");
  CHECK(changed->update_bytes == base->update_bytes);
  // Nobody measured what has other fields.
  const auto before = evidence_range(*base, MeasuredKind::training, "a100_sxm_80gb", 64);
  const auto after = evidence_range(*changed, MeasuredKind::training, "a100_sxm_80gb", 64);
  REQUIRE(before.has_value());
  REQUIRE(after.has_value());
  CHECK(after->is_new);
  CHECK(after->factor.high >= before->factor.high);
  const auto message = [&](const std::string& name) {
    const auto found = find_framework(catalogue, name);
    return found.ok() ? std::string() : found.error().message;
  };
  CHECK(message("torchtitan:redcue=2").find("unknown field 'redcue' (did you mean 'reduce'") !=
        std::string::npos);
  CHECK(message("torchtitan:compiled=yes").find("compiled: got 'yes', expected true or false") !=
        std::string::npos);
  CHECK(message("torchtitan:reduce=much").find("/bytes_per_parameter/reduce") != std::string::npos);
}

TEST_CASE("frameworks: each platform has one that is usual there, whatever is like it") {
  const foretrace::Catalogue& known = *foretrace::test::shipped();
  for (const std::string_view platform : foretrace::platform_words) {
    CAPTURE(platform);
    int usual = 0;
    for (const std::string& name : framework_names(known)) {
      const auto framework = find_framework(known, name);
      REQUIRE_MESSAGE(framework.ok(), framework.error().message);
      usual += static_cast<int>(
          std::count(framework->usual_on.begin(), framework->usual_on.end(), platform));
    }
    CHECK(usual == 1);
  }
  // What is like another runs where that one does, and is not usual for it.
  const auto like = find_framework(known, "torchtitan_eager");
  REQUIRE(like.ok());
  CHECK(like->runs_on == find_framework(known, "torchtitan")->runs_on);
  CHECK(like->usual_on.empty());
}

TEST_CASE("frameworks: a file that names platforms runs on their devices alone") {
  const foretrace::Catalogue& known = *foretrace::test::shipped();
  const auto with = [&known](const std::string& platforms) {
    return parse_framework(
        known,
        R"({"schema": "foretrace.framework/1", "product": "x", "like": "serving",)" + platforms +
            R"("sources": {"runs_on": "a"}})",
        "f.json");
  };
  for (const auto& [name, platform] :
       {std::pair{"h100_sxm", "cuda"}, std::pair{"mi300x", "rocm"}, std::pair{"tpu_v4", "tpu"},
        std::pair{"ipu_mk2", ""}, std::pair{"zcu102", ""}}) {
    const auto device = known.accelerator(name);
    REQUIRE(device.ok());
    CHECK(foretrace::platform_of(**device) == platform);
    for (const std::string_view one : foretrace::platform_words) {
      const auto framework = with("\"runs_on\": [\"" + std::string(one) + "\"],");
      REQUIRE_MESSAGE(framework.ok(), framework.error().message);
      CHECK(foretrace::runs_on(*framework, **device) == (one == platform));
    }
    CHECK(foretrace::runs_on(*find_framework(known, "serving"), **device));
  }
  CHECK(with(R"("runs_on": ["metal"],)").error().message ==
        "f.json: /runs_on: got 'metal', expected cuda, rocm, tpu");
  CHECK(with(R"("runs_on": ["cuda"], "usual_on": ["tpu"],)").error().message ==
        "f.json: /usual_on: got 'tpu', expected cuda");
}
