#include "apps/serving/calibration/benchmark_log.h"

#include <string>

#include <doctest/doctest.h>

using foretrace::BenchmarkFigure;
using foretrace::BenchmarkLog;
using foretrace::BenchmarkRun;
using foretrace::is_benchmark_log;
using foretrace::parse_benchmark_log;

namespace {

BenchmarkLog read(const std::string& text) {
  CHECK(is_benchmark_log(text));
  auto log = parse_benchmark_log(text, "run.log");
  REQUIRE_MESSAGE(log.ok(), log.error().message);
  return *std::move(log);
}

std::string mistake(const std::string& text) {
  const auto log = parse_benchmark_log(text, "run.log");
  REQUIRE_FALSE(log.ok());
  CHECK(log.error().message.starts_with("run.log"));
  CHECK(log.error().message.find('\n') == std::string::npos);
  return log.error().message;
}

// vllm/benchmarks/serve.py, as it is written with --save-result.
constexpr std::string_view served =
    R"({"date": "20260601-101112", "backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B-Instruct",
  "num_prompts": 4, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 2, "tensor_parallel_size": "4",
  "duration": 2.5, "completed": 4, "failed": 0, "total_input_tokens": 4096, "total_output_tokens": 512,
  "request_throughput": 1.6, "request_goodput": null, "output_throughput": 204.8,
  "input_lens": [1000, 1048, 1024, 1024], "output_lens": [100, 156, 128, 128], "generated_texts": ["a } \" b", "", "NaN", ""],
  "mean_ttft_ms": 41.5, "mean_tpot_ms": 8.25, "median_tpot_ms": 8.2, "mean_itl_ms": 8.25})";

// sglang/bench_one_batch.py; the first figures are of the batch that warms up.
constexpr std::string_view batch =
    "max_total_num_tokens=355636\nWarmup ...\n"
    "Prefill. latency: 4.32211 s, throughput:    947.69 token/s\n"
    "Decode 0. Batch size: 4, latency: 2.03403 s, throughput:      1.97 token/s\n"
    "Decode.  median latency: 0.01973 s, median throughput:    202.71 token/s\n"
    "Total. latency:  6.476 s, throughput:    637.43 token/s\n"
    "Benchmark ...\n"
    "Prefill. latency: 3.58247 s, throughput:   1143.34 token/s\n"
    "Decode 0. Batch size: 4, latency: 0.03126 s, throughput:    127.94 token/s\n"
    "Decode.  median latency: 0.01889 s, median throughput:    211.78 token/s\n"
    "Total. latency: 22.969 s, throughput:    356.65 token/s\n";

}  // namespace

TEST_CASE("benchmark logs: a result of a server") {
  const BenchmarkLog log = read(std::string(served));
  REQUIRE(log.runs.size() == 1);
  const BenchmarkRun& run = log.runs.front();
  CHECK(run.figure == BenchmarkFigure::token);
  CHECK(run.seconds == doctest::Approx(8.25e-3));
  CHECK(run.requests == 4);
  CHECK(run.in_flight == 2);
  CHECK(run.per_second == 0);
  CHECK(run.input == 1024);
  CHECK(run.output == 128);
  CHECK(run.tensor == 4);
  REQUIRE(run.lengths.size() == 4);
  CHECK(run.lengths[1].second == 156);
}

TEST_CASE("benchmark logs: results one after the other, with what JSON does not have") {
  const std::string one =
      R"({"backend": "sglang", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": null,
      "completed": 8, "total_input_tokens": 80, "total_output_tokens": 160, "mean_tpot_ms": 5.5,
      "std_itl_ms": NaN, "accept_length": null})";
  const std::string rate =
      R"({"backend": "sglang", "request_rate": 2.5, "completed": 1, "total_input_tokens": 3,
      "total_output_tokens": 5, "mean_tpot_ms": 6})";
  for (const std::string& text :
       {one + "\n" + rate + "\n", one + rate, "[" + one + ", " + rate + "]"}) {
    const BenchmarkLog log = read(text);
    REQUIRE(log.runs.size() == 2);
    CHECK(log.runs[0].per_second == 0);
    CHECK(log.runs[0].in_flight == 0);
    CHECK(log.runs[0].output == 20);
    CHECK(log.runs[1].per_second == 2.5);
  }
}

TEST_CASE("benchmark logs: batches, their latency and their throughput") {
  const BenchmarkLog log = read(
      R"({"run_name": "x", "batch_size": 16, "input_len": 1024, "output_len": 64, "prefill_latency": 0.2,
          "median_decode_latency": 0.0123, "total_latency": 1.0}
         {"avg_latency": 1.24, "std_latency": 0.01, "latencies": [1.24], "percentiles": {"50": 1.24}}
         {"elapsed_time": 12.5, "num_requests": 100, "total_num_tokens": 38400, "input_len": 256})");
  REQUIRE(log.runs.size() == 3);
  CHECK(log.runs[0].figure == BenchmarkFigure::step);
  CHECK(log.runs[0].requests == 16);
  CHECK(log.runs[0].seconds == doctest::Approx(0.0123));
  CHECK(log.runs[1].figure == BenchmarkFigure::total);
  CHECK(log.runs[1].requests == 0);  // said by nobody
  CHECK(log.runs[2].output == 128);
}

TEST_CASE("benchmark logs: what a batch prints, without the batch that warms up") {
  const BenchmarkLog log = read(std::string(batch));
  CHECK(log.cache_tokens == 355636);
  REQUIRE(log.runs.size() == 1);
  CHECK(log.runs[0].seconds == doctest::Approx(0.01889));
  CHECK(log.runs[0].requests == 4);
  CHECK(log.runs[0].input == 1024);
  CHECK(log.runs[0].output == doctest::Approx(1024).epsilon(0.001));
}

TEST_CASE("benchmark logs: what servers and programs print") {
  const BenchmarkLog log = read(
      "(EngineCore) INFO 06-01 GPU KV cache size: 457,664 tokens\n"
      "Namespace(backend='vllm', input_len=32, output_len=128, batch_size=8, "
      "tensor_parallel_size=2)\n"
      "Avg latency: 1.24 seconds\n10% percentile latency: 1.2 seconds\n"
      "Namespace(num_prompts=200, max_num_seqs=256)\n"
      "Throughput: 20.00 requests/s, 7680.00 total tokens/s, 2560.00 output tokens/s\n"
      "Traffic request rate: inf\n"
      "============ Serving Benchmark Result ============\n"
      "Backend:                                 sglang    \n"
      "Max request concurrency:                 not set   \n"
      "Successful requests:                     10        \n"
      "Total input tokens:                      1972      \n"
      "Total generated tokens:                  2784      \n"
      "Total generated tokens (retokenized):    2770      \n"
      "---------------Inter-Token Latency----------------\n"
      "Mean ITL (ms):                           1.52      \n"
      "==================================================\n");
  CHECK(log.cache_tokens == 457664);
  REQUIRE(log.runs.size() == 3);
  CHECK(log.runs[0].seconds == 1.24);
  CHECK(log.runs[0].requests == 8);
  CHECK(log.runs[0].input == 32);
  CHECK(log.runs[0].tensor == 2);
  CHECK(log.runs[1].figure == BenchmarkFigure::total);
  CHECK(log.runs[1].seconds == doctest::Approx(10));
  CHECK(log.runs[1].input == 256);
  CHECK(log.runs[1].output == 128);
  CHECK(log.runs[2].seconds == doctest::Approx(1.52e-3));
  CHECK(log.runs[2].in_flight == 0);
  CHECK(log.runs[2].output == doctest::Approx(278.4));
}

TEST_CASE("benchmark logs: mistakes are told on one line") {
  CHECK(mistake("nothing").find("no run") != std::string::npos);
  CHECK(mistake(R"({"mean_tpot_ms": 0, "completed": 3})").find("/mean_tpot_ms") !=
        std::string::npos);
  CHECK(mistake(R"({"mean_tpot_ms": 9, "accept_length": 2.4})").find("several tokens per step") !=
        std::string::npos);
  CHECK(mistake(R"({"hello": 1})").find("mean_tpot_ms") != std::string::npos);
  CHECK(mistake(R"({"mean_tpot_ms": 9)").find("run.log") != std::string::npos);
  CHECK(mistake("Throughput: 20.00 requests/s, 7680.00 total tokens/s, 2560.00 output tokens/s\n")
            .find("num_prompts") != std::string::npos);
  CHECK_FALSE(is_benchmark_log(R"({"schema": "foretrace-truth/1", "elapsed_time": 1})"));
}

TEST_CASE("benchmark logs: no cut of a log crashes") {
  for (const std::string_view whole : {served, batch}) {
    for (std::size_t size = 0; size < whole.size(); size += 7) {
      const auto log = parse_benchmark_log(whole.substr(0, size), "cut.log");
      if (!log.ok()) CHECK_FALSE(log.error().message.empty());
    }
  }
}
