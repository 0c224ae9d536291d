#include "apps/serving/serving.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::parse_serving;
using foretrace::run_serving;
using foretrace::ServingAnswer;

namespace {

std::string document(const std::string& rest) {
  return R"({"schema": "foretrace.serving/1", "model": "llama3_8b", "engine": "vllm", )" + rest +
         "}";
}

std::string error_of(const std::string& rest) {
  const auto read = parse_serving(*foretrace::test::shipped(), document(rest), "mine.json");
  return read.ok() ? "" : read.error().message;
}

const std::string few =
    R"("requests": {"columns": ["arrival_s", "input_tokens", "output_tokens"], "rows": [[0, 100, 5]]})";

}  // namespace

TEST_CASE("serving: one clear line for every mistake") {
  const std::string h100 = R"("accelerator": "h100_sxm", )";
  CHECK(error_of(h100 + few).empty());
  CHECK(error_of(few).find("either a cluster or one accelerator") != std::string::npos);
  CHECK(error_of(R"("accelerator": "h100_sx", )" + few).find("h100_sxm") != std::string::npos);
  CHECK(error_of(h100 + R"("parallelism": {"tensor": 2}, )" + few).find("/parallelism/tensor") !=
        std::string::npos);
  CHECK(error_of(h100 + R"("weight_bits": 0, )" + few).find("/weight_bits") != std::string::npos);
  CHECK(error_of(h100 + R"("prompt_replicas": 1, )" + few).find("/transfer") != std::string::npos);
  CHECK(
      error_of(h100 + R"("requests": {"in_flight": 1, "columns": ["input_tokens"], "rows": [[5]]})")
          .find("output_tokens") != std::string::npos);
  CHECK(error_of(h100 + R"("requests": {"generate": {"requests": 3, "input_tokens": 5,
                            "output_tokens": 5}})")
            .find("per_second") != std::string::npos);
  CHECK(error_of(h100 + R"("requests": {"generate": {"requests": 3, "input_tokens": 5,
                            "output_tokens": 5, "per_second": 1e-12}})")
            .find("would arrive after") != std::string::npos);
  CHECK(error_of(h100 + R"("parallelism": {"experts": 2}, )" + few).find("/parallelism/experts") !=
        std::string::npos);
  // 16 GB of weights in 16 GiB x 0.9.
  CHECK(error_of(R"("accelerator": "t4", "precision": "fp16", )" + few)
            .find("no memory left for a cache") != std::string::npos);
  CHECK(error_of(h100 + R"("steps": {"chunked_prompts": false, "batched_tokens": 64}, )" + few)
            .find("/steps/batched_tokens") != std::string::npos);
  CHECK(error_of(h100 + R"("limits": {"token": "-1 ms"}, )" + few).find("/limits/token") !=
        std::string::npos);
}

TEST_CASE("serving: rows of requests have the columns that they are meant to have") {
  const auto rows = [](const std::string& requests) {
    return error_of(R"("accelerator": "h100_sxm", "requests": {)" + requests + "}");
  };
  CHECK(rows(R"("columns": ["arival_s", "input_tokens", "output_tokens"], "rows": [[0, 9, 5]])")
            .find("did you mean 'arrival_s'") != std::string::npos);
  CHECK(rows(R"("columns": ["input_tokens", "output_tokens"], "rows": [[9, 5]])")
            .find("requests with in_flight") != std::string::npos);
  CHECK(rows(R"("in_flight": 1, "columns": ["input_tokens", "output_tokens"], "rows": [[9, 5]])")
            .empty());
  const std::string own =
      R"("columns": ["arrival_s", "input_tokens", "output_tokens", "customer"],
                "rows": [[0, 9, 5, "x"]])";
  CHECK(rows(own).find("column 'customer' is unused") != std::string::npos);
  CHECK(rows(own + R"(, "ignored": ["customer"])").empty());
  CHECK(rows(own + R"(, "ignored": ["customer"], "in_flight": 1)").find("arrival_s: got '0'") !=
        std::string::npos);
}

TEST_CASE("serving: a model of layers writes no tokens") {
  const auto read = parse_serving(*foretrace::test::shipped(),
                                  R"({"schema": "foretrace.serving/1", "model": "resnet50",
                                      "engine": "vllm", "accelerator": "h100_sxm", )" +
                                      few + "}",
                                  "mine.json");
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message ==
        "mine.json: /model: a sample has no tokens, got a model of layers, expected a decoder");
}

TEST_CASE("serving: the ends of the range lie around the prediction, and limits are counted") {
  const auto read =
      parse_serving(*foretrace::test::shipped(),
                    document(R"("accelerator": "h100_sxm", "limits": {"token": "1 ns"},
                  "requests": {"generate": {"requests": 50, "per_second": 20, "input_tokens": 500,
                                            "output_tokens": 50, "spread": 0.5, "seed": 3}})"),
                    "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const ServingAnswer answer = *run_serving(*read);
  CHECK(answer.done == 50);
  CHECK(answer.within_limits == 0);
  CHECK(answer.low.token_s.mean < answer.figures.token_s.mean);
  CHECK(answer.high.token_s.mean > answer.figures.token_s.mean);
}

TEST_CASE("serving: an engine that runs as a library has no server between it and who asks") {
  const auto first_token = [](const char* engine, const std::string& rest) {
    const auto read = parse_serving(
        *foretrace::test::shipped(),
        std::string(R"({"schema": "foretrace.serving/1", "model": "llama3_8b", "engine": ")") +
            engine + R"(", "accelerator": "h100_sxm", )" + rest + few + "}",
        "mine.json");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    const ServingAnswer answer = *run_serving(*read);
    CHECK(answer.low.first_token_s.mean <= answer.figures.first_token_s.mean);
    return answer.figures.first_token_s.mean;
  };
  for (const auto& [engine, token_s] : {std::pair{"vllm", 0.0}, std::pair{"sglang", 50e-6}}) {
    CHECK(first_token(engine, "") - first_token(engine, R"("offline": true, )") ==
          doctest::Approx(10e-3 + token_s).epsilon(1e-6));
    CHECK(first_token(engine, R"("offline": false, )") == first_token(engine, ""));
  }
}

TEST_CASE("serving: shorter steps are the upper end of the throughput") {
  const auto read =
      parse_serving(*foretrace::test::shipped(),
                    document(R"("accelerator": "h100_sxm", "requests": {"generate": {"requests": 64,
                  "in_flight": 16, "input_tokens": 500, "output_tokens": 50}})"),
                    "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const ServingAnswer answer = *run_serving(*read);
  const auto rate = answer.rate(&foretrace::ServingFigures::output_tokens_per_s);
  CHECK(rate.high == answer.low.output_tokens_per_s);
  CHECK(rate.low == answer.high.output_tokens_per_s);
  CHECK(rate.high > 1.02 * rate.typical);
  CHECK(rate.low < 0.98 * rate.typical);
}

TEST_CASE("serving: log-normal lengths have the mean and the percentile that are asked for") {
  const auto read = [](const std::string& lengths) {
    return parse_serving(
        *foretrace::test::shipped(),
        document(R"("accelerator": "h100_sxm", "requests": {"generate": {"requests": 40000,
                  "in_flight": 1, "input_tokens": 220, "output_tokens": 200, "seed": 5, )" +
                 lengths + "}}"),
        "mine.json");
  };
  const auto serving = read(R"("input_p95": 700, "output_sigma": 1)");
  REQUIRE_MESSAGE(serving.ok(), serving.error().message);
  std::vector<double> input;
  std::vector<double> output;
  for (const auto& request : serving->requests) {
    input.push_back(static_cast<double>(request.input_tokens));
    output.push_back(static_cast<double>(request.output_tokens));
  }
  const auto percentile = [](std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size()))];
  };
  CHECK(foretrace::distribution_of(input).mean == doctest::Approx(220).epsilon(0.03));
  CHECK(percentile(input, 0.95) == doctest::Approx(700).epsilon(0.03));
  CHECK(foretrace::distribution_of(output).mean == doctest::Approx(200).epsilon(0.03));
  CHECK(percentile(output, 0.5) == doctest::Approx(200 * std::exp(-0.5)).epsilon(0.03));
  // The same draws again.
  CHECK(read(R"("input_p95": 700, "output_sigma": 1)")->requests[7].input_tokens ==
        serving->requests[7].input_tokens);
  CHECK(read(R"("input_p95": 850)").ok());
  CHECK(
      read(R"("input_p95": 851)").error().message ==
      "mine.json: /requests/generate/input_p95: got 851, expected from the mean of 220 to 850: no "
      "log-normal length goes further");
  CHECK(read(R"("input_p95": 219)").error().message.find("from the mean of 220") !=
        std::string::npos);
  CHECK(read(R"("input_p95": 300, "input_sigma": 1)").error().message.find("input_sigma") !=
        std::string::npos);
  CHECK(
      read(R"("input_sigma": 1, "spread": 0.5)").error().message.find("/spread: expected either") !=
      std::string::npos);
}

TEST_CASE("serving: a steady load begins evenly and counts only what was asked for") {
  const auto read =
      parse_serving(*foretrace::test::shipped(),
                    document(R"("accelerator": "h100_sxm", "requests": {"generate": {"requests": 16,
                  "in_flight": 4, "steady": true, "input_tokens": 100, "output_tokens": 40}})"),
                    "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->requests.size() == 4 + 16 + 4);
  CHECK(read->requests[0].output_tokens == 10);
  CHECK(read->requests[3].output_tokens == 40);
  CHECK(run_serving(*read, false)->done == 16);
}

TEST_CASE("serving: a load of so many at any time begins with all of them, as benchmarks do") {
  const auto figures = [](const char* load) {
    const auto read = parse_serving(
        *foretrace::test::shipped(),
        document(
            std::string(R"("accelerator": "h100_sxm", "requests": {"generate": {"requests": 128,
                 "input_tokens": 2000, "output_tokens": 50, )") +
            load + "}}"),
        "mine.json");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    const auto answer = *run_serving(*read, false);
    CHECK(answer.done == 128);
    return answer.figures;
  };
  const auto at_once = figures(R"("in_flight": 32)");
  const auto steady = figures(R"("in_flight": 32, "steady": true)");
  const auto alone = figures(R"("in_flight": 1)");
  // The last of the first 32 prompts waits for those before it.
  CHECK(at_once.first_token_s.most > 20 * alone.first_token_s.mean);
  CHECK(at_once.first_token_s.most > 1.5 * at_once.first_token_s.mean);
  CHECK(at_once.first_token_s.mean > 2 * steady.first_token_s.mean);
  const auto read = parse_serving(*foretrace::test::shipped(),
                                  document(R"("accelerator": "h100_sxm", "requests": {"generate": {
                 "requests": 4, "per_second": 1, "input_tokens": 9, "output_tokens": 5,
                 "steady": true}})"),
                                  "mine.json");
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message == "mine.json: /requests/generate/steady: needs in_flight beside it");
}

TEST_CASE("serving: the rate of a steady load does not change with the number of rounds") {
  const auto rates = [](const std::string& requests) {
    const auto read = parse_serving(
        *foretrace::test::shipped(),
        document(R"("accelerator": "h100_sxm", "requests": {)" + requests + "}"), "mine.json");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    return run_serving(*read, false)->figures;
  };
  const auto generated = [&rates](const std::string& requests) {
    return rates(
        R"("generate": {"in_flight": 8, "steady": true, "input_tokens": 200, "output_tokens": 100,
                                 "requests": )" +
        requests + "}");
  };
  const auto one_round = generated("8");
  const auto many = generated("160");
  CHECK(one_round.output_tokens_per_s == doctest::Approx(many.output_tokens_per_s).epsilon(0.02));
  CHECK(one_round.requests_per_s == doctest::Approx(many.requests_per_s).epsilon(0.02));
  CHECK(many.output_tokens_per_s == doctest::Approx(100 * many.requests_per_s));
  // The same requests as rows.
  std::string rows;
  for (int i = 0; i < 8; ++i) rows += i == 0 ? "[200, 100]" : ", [200, 100]";
  const auto listed = rates(
      R"("in_flight": 8, "steady": true, "columns": ["input_tokens", "output_tokens"], "rows": [)" +
      rows + "]");
  CHECK(listed.output_tokens_per_s == doctest::Approx(one_round.output_tokens_per_s));
}

TEST_CASE("serving: a prefix and its tokens stand together") {
  const auto read = [](const std::string& columns, const std::string& row) {
    return parse_serving(
        *foretrace::test::shipped(),
        document(R"("accelerator": "h100_sxm", "requests": {"columns": ["arrival_s",
                 "input_tokens", "output_tokens", )" +
                 columns + R"(], "rows": [[0, 100, 10, )" + row + "]]}"),
        "mine.json");
  };
  CHECK(read(R"("prefix", "prefix_tokens")", "3, 50").ok());
  const auto no_tokens = read(R"("prefix")", "3");
  REQUIRE_FALSE(no_tokens.ok());
  CHECK(no_tokens.error().message.find("missing beside a prefix") != std::string::npos);
  const auto no_prefix = read(R"("prefix_tokens")", "50");
  REQUIRE_FALSE(no_prefix.ok());
  CHECK(no_prefix.error().message.find("missing beside prefix_tokens") != std::string::npos);
}

TEST_CASE("serving: common beginnings make first tokens come sooner") {
  const auto first_token = [](const std::string& cache) {
    const auto read =
        parse_serving(*foretrace::test::shipped(),
                      document(R"("accelerator": "h100_sxm", "steps": {"prefix_cache": )" + cache +
                               R"(}, "requests": {"generate": {"requests": 60, "per_second": 5,
                     "input_tokens": 4000, "output_tokens": 20, "prefix_groups": 2,
                     "prefix_tokens": 3500}})"),
                      "mine.json");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    return run_serving(*read, false)->figures.first_token_s.mean;
  };
  CHECK(first_token("true") < 0.5 * first_token("false"));
}

TEST_CASE("serving: requests that are too much work are one line") {
  auto read = parse_serving(*foretrace::test::shipped(),
                            document(R"("accelerator": "h100_sxm", )" + few), "mine.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  read->options.most_visits = 1;
  const auto answer = run_serving(*read);
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().message ==
        "mine.json: /requests: got 1 requests, expected at most about 0 of their length: more are "
        "over the "
        "1 changes of sequences that a run may take");
}
