#include "sim/core/params.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using foretrace::Bound;
using foretrace::did_you_mean;
using foretrace::in_quotes;
using foretrace::ParamInfo;
using foretrace::ParamType;
using foretrace::ParamValues;
using foretrace::parse_quantity;

namespace {

using Given = std::vector<std::pair<std::string, std::string>>;

constexpr ParamInfo factor = {
    .name = "factor", .unit = "x", .default_text = "1", .doc = "Factor.", .minimum = 0};
constexpr ParamInfo latency = {.name = "latency",
                               .type = ParamType::time,
                               .unit = "us",
                               .default_text = "5 us",
                               .doc = "Latency.",
                               .minimum = 0,
                               .optimistic = "2 us",
                               .pessimistic = "9 us"};
constexpr ParamInfo mode = {.name = "mode",
                            .type = ParamType::text,
                            .default_text = "autocast",
                            .doc = "Mode.",
                            .choices = "autocast|full"};
constexpr ParamInfo workers = {.name = "workers",
                               .type = ParamType::integer,
                               .default_text = "4",
                               .doc = "Workers.",
                               .minimum = 1,
                               .maximum = 1024};
constexpr ParamInfo casts = {
    .name = "casts", .type = ParamType::boolean, .default_text = "true", .doc = "Casts."};
constexpr std::array table = {factor, latency, mode, workers, casts};

ParamValues values_of(const Given& given) {
  auto values = ParamValues::parse("toy", table, given);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  return *values;
}

std::string error_of(const Given& given) {
  auto values = ParamValues::parse("toy", table, given);
  REQUIRE_FALSE(values.ok());
  return values.error().message;
}

std::string quantity_error(std::string_view text, ParamType type) {
  auto value = parse_quantity(text, type);
  REQUIRE_FALSE(value.ok());
  return value.error().message;
}

}  // namespace

TEST_CASE("params: defaults stand where nothing is given") {
  const ParamValues values = values_of({});
  CHECK(values.number(factor) == 1.0);
  CHECK(values.number(latency) == 5000.0);  // 5 us in ns
  CHECK(values.text(mode) == "autocast");
  CHECK(values.integer(workers) == 4);
  CHECK(values.boolean(casts));
  CHECK_FALSE(values.given(factor));
}

TEST_CASE("params: given values replace defaults and keep their text") {
  const ParamValues values = values_of({{"latency", "1.5 ms"}, {"casts", "false"}});
  CHECK(values.number(latency) == 1.5e6);
  CHECK_FALSE(values.boolean(casts));
  CHECK(values.given(latency));
  const auto texts = values.texts();
  REQUIRE(texts.size() == 5);
  CHECK(texts[1] == std::pair<std::string, std::string>{"latency", "1.5 ms"});
  CHECK(texts[3] == std::pair<std::string, std::string>{"workers", "4"});
}

TEST_CASE("params: a row whose default is a dash may be left out, and has no value then") {
  constexpr ParamInfo parts = {.name = "parts", .type = ParamType::integer, .default_text = "-"};
  const std::array<ParamInfo, 2> rows = {parts, factor};
  const auto of = [&](const Given& given) { return ParamValues::parse("toy", rows, given); };
  const auto without = of({});
  REQUIRE(without.ok());
  CHECK_FALSE(without->given(parts));
  CHECK(without->texts() == Given{{"factor", "1"}});
  CHECK_FALSE(without->has_range());
  const auto said = of({{"parts", "-"}});
  REQUIRE(said.ok());
  CHECK_FALSE(said->given(parts));
  const auto with = of({{"parts", "3"}});
  REQUIRE(with.ok());
  CHECK(with->given(parts));
  CHECK(with->integer(parts) == 3);
  CHECK(with->texts().size() == 2);
  CHECK_FALSE(of({{"parts", "many"}}).ok());
}

TEST_CASE("params: an unknown name is answered with the nearest one") {
  CHECK(error_of({{"lateny", "5 us"}}) ==
        "toy: unknown parameter 'lateny' (did you mean 'latency'?), expected one of factor, "
        "latency, mode, workers, casts");
  CHECK(error_of({{"zzzzzz", "5 us"}}) ==
        "toy: unknown parameter 'zzzzzz', expected one of factor, latency, mode, workers, casts");
}

TEST_CASE("params: wrong values say what was got and what is expected") {
  CHECK(error_of({{"latency", "5"}}) ==
        "toy: parameter 'latency': got '5' without a unit, expected a time such as '5 us' "
        "(units ns, us, ms, s, min, h)");
  CHECK(error_of({{"latency", "-1 us"}}) ==
        "toy: parameter 'latency': got '-1 us', expected a value at least 0 ns");
  CHECK(error_of({{"workers", "0"}}) ==
        "toy: parameter 'workers': got '0', expected a value from 1 to 1024");
  CHECK(error_of({{"workers", "2.5"}}) ==
        "toy: parameter 'workers': got '2.5', expected a whole number such as '4'");
  CHECK(error_of({{"mode", "autocats"}}) ==
        "toy: parameter 'mode': got 'autocats', expected one of autocast, full "
        "(did you mean 'autocast'?)");
  CHECK(error_of({{"casts", "yes"}}) ==
        "toy: parameter 'casts': got 'yes', expected 'true' or 'false'");
  CHECK(error_of({{"factor", "1"}, {"factor", "2"}}) ==
        "toy: parameter 'factor': given twice, expected it once");
}

TEST_CASE("params: a parameter without a default is required") {
  constexpr std::array required = {
      ParamInfo{.name = "to", .type = ParamType::text, .doc = "Accelerator to move to."}};
  auto values = ParamValues::parse("accelerator_swap", required, Given{});
  REQUIRE_FALSE(values.ok());
  CHECK(values.error().message ==
        "accelerator_swap: parameter 'to': missing, expected a text (Accelerator to move to.)");
}

TEST_CASE("params: a declared range moves defaults only") {
  const ParamValues defaults = values_of({});
  CHECK(defaults.has_range());
  CHECK(defaults.at_bound(Bound::optimistic).number(latency) == 2000.0);
  CHECK(defaults.at_bound(Bound::pessimistic).number(latency) == 9000.0);
  CHECK(defaults.at_bound(Bound::point).number(latency) == 5000.0);
  CHECK(defaults.at_bound(Bound::pessimistic).number(factor) == 1.0);
  const ParamValues given = values_of({{"latency", "6 us"}});
  CHECK_FALSE(given.has_range());
  CHECK(given.at_bound(Bound::pessimistic).number(latency) == 6000.0);
}

TEST_CASE("quantity: units scale to the stored unit") {
  CHECK(*parse_quantity("5 us", ParamType::time) == 5000);
  CHECK(*parse_quantity("  1.2ms ", ParamType::time) == 1.2e6);
  CHECK(*parse_quantity("80 GiB", ParamType::bytes) == 80.0 * 1073741824.0);
  CHECK(*parse_quantity("80 GB", ParamType::bytes) == 80e9);
  CHECK(*parse_quantity("3.35 TB/s", ParamType::bandwidth) == 3.35e12);
  CHECK(*parse_quantity("400 Gbit/s", ParamType::bandwidth) == 50e9);
  CHECK(*parse_quantity("312 TFLOP/s", ParamType::flops) == 312e12);
  CHECK(*parse_quantity("0.5", ParamType::number) == 0.5);
  CHECK(*parse_quantity("1e3", ParamType::integer) == 1000);
}

TEST_CASE("quantity: stored values are written with the unit that suits them") {
  CHECK(quantity_text(2e10, ParamType::time) == "20 s");
  CHECK(quantity_text(0, ParamType::time) == "0 ns");
  CHECK(quantity_text(-1500, ParamType::time) == "-1.5 us");
  CHECK(quantity_text(1e12, ParamType::bytes) == "1 TB");
  CHECK(quantity_text(0x1p31, ParamType::bytes) == "2 GiB");
  CHECK(quantity_text(9e11, ParamType::bandwidth) == "900 GB/s");
  CHECK(quantity_text(3.12e14, ParamType::flops) == "312 TFLOP/s");
  CHECK(quantity_text(0.25, ParamType::number) == "0.25");
}

TEST_CASE("quantity: wrong texts are refused with the units that are known") {
  CHECK(quantity_error("80 Gib", ParamType::bytes) ==
        "got '80 Gib' with the unknown unit 'Gib' (did you mean 'GiB'?), expected "
        "a size such as '80 GiB' (units B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)");
  CHECK(quantity_error("nan", ParamType::number) == "got 'nan', expected a number such as '0.5'");
  CHECK(quantity_error("inf us", ParamType::time) ==
        "got 'inf us', expected a time such as '5 us' (units ns, us, ms, s, min, h)");
  CHECK(quantity_error("1e999", ParamType::number) ==
        "got '1e999' (beyond a double), expected a number such as '0.5'");
  CHECK(quantity_error("1e308 s", ParamType::time).starts_with("got '1e308 s' (beyond a double)"));
  CHECK(quantity_error("", ParamType::number) == "got '', expected a number such as '0.5'");
  CHECK(quantity_error("0.5x", ParamType::number) == "got '0.5x', expected a number such as '0.5'");
  CHECK(quantity_error("1e17", ParamType::integer) ==
        "got '1e17', expected a whole number such as '4'");
  CHECK(quantity_error(std::string("5\n\x01us"), ParamType::time).find('\n') == std::string::npos);
}

TEST_CASE("suggest: near names are named, far ones are not") {
  constexpr std::array<std::string_view, 4> names = {"mixed_precision", "cuda_graph", "scale",
                                                     "kernel_fusion"};
  CHECK(did_you_mean("mixed_precison", names) == " (did you mean 'mixed_precision'?)");
  CHECK(did_you_mean("cudagraph", names) == " (did you mean 'cuda_graph'?)");
  CHECK(did_you_mean("sclae", names) == " (did you mean 'scale'?)");  // a swap is one edit
  CHECK(did_you_mean("ker", names) == " (did you mean 'kernel_fusion'?)");
  CHECK(did_you_mean("warp_drive", names).empty());
  CHECK(did_you_mean(std::string(1000000, 'x'), names).empty());
}

TEST_CASE("suggest: quoting shortens and escapes") {
  CHECK(in_quotes("plain") == "'plain'");
  CHECK(in_quotes("a\tb\xff") == "'a\\x09b\\xff'");
  CHECK(in_quotes(std::string(1000, 'y')) == "'" + std::string(80, 'y') + "'... (1000 bytes)");
}
