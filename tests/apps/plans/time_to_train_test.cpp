#include "apps/plans/time_to_train.h"

#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "tests/apps/support/program.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

constexpr const char* scenario = "configs/scenarios/bert_large_data_parallel.json";

Result<TrainingRun> parsed(const std::string& rest, const std::string& first = "") {
  return parse_training(
      foretrace::test::shipped(),
      R"({"schema": "foretrace.training/1", )" +
          (first.empty()
               ? R"("scenario": ")" + std::string(FORETRACE_SOURCE_DIR) + "/" + scenario + "\""
               : first) +
          ", " + rest + "}",
      "run.json");
}

std::string mistake(const std::string& rest, const std::string& first = "") {
  const auto run = parsed(rest, first);
  REQUIRE_FALSE(run.ok());
  return run.error().message;
}

}  // namespace

TEST_CASE("time to train: start, steps and evaluations add up") {
  TrainingRun run;
  run.samples_per_epoch = 1000;
  run.evaluation_every_samples = 2000;
  run.start_ns = 5e9;
  run.target = {{100, {10000, 9000, 12050}}};
  // 100 steps of 1 s, an evaluation of 3 s after every 2 of 10 epochs: 5 + 100 + 5 x 3 = 120 s.
  // Low: 90 steps of 0.5 s, ceil(4.5) of 2 s: 5 + 45 + 10 = 60 s.
  // High: ceil(120.5) = 121 steps of 2 s, ceil(6.025) = 7 of 4 s: 5 + 242 + 28 = 275 s.
  const auto time = composed(run, run.target.front(), {1e9, 0.5e9, 2e9}, {3e9, 2e9, 4e9});
  CHECK(time.steps.typical == 100);
  CHECK(time.evaluations.typical == 5);
  CHECK(time.total_ns.typical == doctest::Approx(120e9));
  CHECK(time.total_ns.low == doctest::Approx(60e9));
  CHECK(time.total_ns.high == doctest::Approx(275e9));
  CHECK_FALSE(time.is_between);
}

TEST_CASE("time to train: between two batches samples follow the logarithm of the batch") {
  TrainingRun run;
  run.path = "run.json";
  run.target = {{256, {1000, 900, 1100}}, {1024, {3000, 2900, 3300}}};
  // 512 is half-way.
  const auto at = target_at(run, 512);
  REQUIRE(at.ok());
  CHECK(at->samples.typical == doctest::Approx(2000));
  CHECK(at->samples.high == doctest::Approx(2200));
  CHECK(composed(run, *at, {1, 1, 1}, {}).is_between);
  for (const double beyond : {255.0, 1025.0}) {
    const auto refused = target_at(run, beyond);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("expected 256 to 1024") != std::string::npos);
  }
}

TEST_CASE("time to train: a scenario's step, its batches, and evaluations by their samples") {
  const auto run = parsed(
      R"("batches": [4096, 8192], "target": {"samples_per_epoch": 100000,
         "at": [{"batch": 4096, "epochs": 30}, {"batch": 65536, "epochs": 40, "high": 44}]},
         "evaluation": {"every_epochs": 5, "samples": 10000}, "start": "2 min")");
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  const auto times = training_times(*run);
  REQUIRE_MESSAGE(times.ok(), times.error().message);
  REQUIRE(times->size() == 2);
  const TrainingTime& small = times->front();
  CHECK(small.steps.typical == 733);  // 3,000,000 / 4096 = 732.4
  CHECK(small.evaluations.typical == 6);
  CHECK(small.total_ns.typical ==
        doctest::Approx(120e9 + 733 * small.step_ns.typical + 6 * small.evaluation_ns.typical));
  // Forward passes of 10,000 samples are less than a third of the work of 3 batches of training.
  CHECK(small.evaluation_ns.typical > 0);
  CHECK(small.evaluation_ns.typical < 1.2 * small.step_ns.typical);
  CHECK(times->back().is_between);
  // 32.5 epochs: a quarter of the way from 4096 to 65536.
  CHECK(times->back().samples.typical == doctest::Approx(3.25e6));
}

TEST_CASE("time to train: a batch says whether its step fits into a device") {
  // BERT-Large: 0.34 billion parameters with their states are 5 GiB and more, the GC200 has 0.9 GB.
  const std::string file = test::scratch_file("time_to_train_ipu.json");
  const auto fits_on = [&file](const std::string& accelerator) {
    std::ofstream(file) << R"({"schema": "foretrace.scenario/1", "workload": {"model": "bert_large",
        "sequence": 128}, "accelerator": ")" +
                               accelerator + R"(", "framework": "bf16_program",
        "precision": "fp16", "batch": {"global": 8, "micro": 1}})";
    const auto run = parsed(R"("target": {"at": [{"batch": 8, "samples": 1000}]})",
                            R"("scenario": ")" + file + "\"");
    REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.error().message));
    const auto times = training_times(*run);
    REQUIRE_MESSAGE(times.ok(), (times.ok() ? "" : times.error().message));
    return times->front().fits;
  };
  CHECK_FALSE(fits_on("ipu_mk2"));
  CHECK(fits_on("h100_sxm"));
}

TEST_CASE("time to train: forward passes of stages with ranks of their own are not known") {
  const std::string file = test::scratch_file("time_to_train_stages.json");
  const std::string stage = R"({"layers": 24, "data": 2, "tensor": 2})";
  std::ofstream(file) << R"({"schema": "foretrace.scenario/1", "workload": {"model": "gpt_22b",
      "sequence": 2048}, "cluster": "selene", "framework": "megatron_core",
      "batch": {"global": 32, "micro": 4}, "parallelism": {"stages": [)" +
                             stage + ", " + stage + "]}}";
  const std::string first = R"("scenario": ")" + file + "\"";
  const std::string target = R"("target": {"at": [{"batch": 32, "samples": 320}]}, "evaluation": )";
  CHECK(mistake(target + R"({"every_samples": 160, "samples": 64})", first)
            .find("/evaluation/samples: got a scenario whose stages have their own ranks") !=
        std::string::npos);
  const auto timed = parsed(target + R"({"every_samples": 160, "time": "3 s"})", first);
  REQUIRE_MESSAGE(timed.ok(), timed.error().message);
  const auto times = training_times(*timed);
  REQUIRE_MESSAGE(times.ok(), times.error().message);
  CHECK(times->front().steps.typical == 10);
  CHECK(times->front().total_ns.typical ==
        doctest::Approx(10 * times->front().step_ns.typical + 2 * 3e9));
}

TEST_CASE("time to train: samples either take a time that can be counted or are a mistake") {
  int counted = 0;
  int refused = 0;
  for (int digits = 4; digits <= 15; ++digits) {
    const std::string samples = "1" + std::string(static_cast<std::size_t>(digits), '0');
    CAPTURE(samples);
    const auto run = parsed(R"("batches": [4096], "target": {"at": [
        {"batch": 256, "samples": 5000}, {"batch": 512, "samples": 6000},
        {"batch": 8192, "samples": )" +
                            samples + "}]}");
    REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.error().message));
    const auto times = training_times(*run);
    if (!times.ok()) {
      ++refused;
      CHECK(times.error().message.find("/target/at/2/samples: got ") != std::string::npos);
      continue;
    }
    ++counted;
    for (const TrainingTime& time : *times) CHECK(time.total_ns.high < 0x1p62);
  }
  CHECK(counted > 3);
  CHECK(refused > 0);
}

TEST_CASE("time to train: mistakes are one line with their place") {
  const std::string target = R"("target": {"at": [{"batch": 256, "samples": 1000}]})";
  CHECK(mistake(R"("target": {"at": [{"batch": 256, "epochs": 3}]})")
            .find("/target/at/0/epochs: expected samples_per_epoch") != std::string::npos);
  CHECK(mistake(R"("target": {"at": []})").find("/target/at: got none") != std::string::npos);
  CHECK(mistake(R"("target": {"at": [{"batch": 2, "samples": 9}, {"batch": 2, "samples": 9}]})")
            .find("/target/at/1/batch: got 2, expected more than the one before") !=
        std::string::npos);
  CHECK(mistake(target + R"(, "evaluation": {"every_samples": 10})")
            .find("expected either time or samples") != std::string::npos);
  CHECK(mistake(target + R"(, "evaluation": {"every_samples": 1e-300, "time": "1 s"})")
            .find("/evaluation: got an evaluation every 1e-300 samples, expected at least 1") !=
        std::string::npos);
  CHECK(mistake(R"("target": {"samples_per_epoch": 1e15, "at": [{"batch": 256, "epochs": 3}]})")
            .find("/target/at/0/epochs: got 3e+15 samples, expected at most 1e+15") !=
        std::string::npos);
  CHECK(mistake(target + R"(, "strat": "1 s")").find("unknown key") != std::string::npos);
  CHECK(mistake(target, R"("tracee": "x")").find("expected either scenario or trace") !=
        std::string::npos);
  const auto beyond = parsed(target);
  REQUIRE(beyond.ok());
  const auto refused = training_times(*beyond);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("has no entry for a batch of") != std::string::npos);
}
