#include "models/editing/chains/corun_queues.h"

#include <array>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/toy_run.h"

using foretrace::editing::Bottleneck;
using foretrace::editing::CorunModel;
using foretrace::editing::EndedKernel;
using foretrace::editing::fills_device;
using foretrace::editing::FusedPair;
using foretrace::editing::QueuedKernel;
using foretrace::editing::run_beside;

namespace {

void check(const EndedKernel& end, bool second, std::size_t index, std::int64_t ns, bool beside) {
  CHECK(end.second == second);
  CHECK(end.index == index);
  CHECK(end.ns == ns);
  CHECK(end.beside == beside);
}

}  // namespace

TEST_CASE("corun queues: a pair takes the longer and the conflicting part of the shorter") {
  const std::array a = {QueuedKernel{Bottleneck::bytes, 10}};
  const std::array b = {QueuedKernel{Bottleneck::bytes, 20}};
  const auto ended = run_beside(CorunModel(), a, b, 0.5);
  REQUIRE(ended.size() == 2);
  check(ended[0], false, 0, 15, true);  // 10 x 1.5
  check(ended[1], true, 0, 10, true);   // the rest alone: 25 = 20 + 0.5 x 10
}

TEST_CASE("corun queues: a long kernel goes on beside the next one") {
  const std::array a = {QueuedKernel{Bottleneck::bytes, 10}, QueuedKernel{Bottleneck::bytes, 5}};
  const std::array b = {QueuedKernel{Bottleneck::bytes, 20}};
  const auto ended = run_beside(CorunModel(), a, b, 0.2);
  REQUIRE(ended.size() == 3);
  check(ended[0], false, 0, 12, true);
  check(ended[1], false, 1, 6, true);
  check(ended[2], true, 0, 5, true);
}

TEST_CASE("corun queues: each pair has the conflict of its bottlenecks") {
  const std::array pairs = {FusedPair{Bottleneck::arithmetic, Bottleneck::bytes, 10, 10, 15},
                            FusedPair{Bottleneck::bytes, Bottleneck::bytes, 10, 10, 18}};
  const std::array a = {QueuedKernel{Bottleneck::arithmetic, 10},
                        QueuedKernel{Bottleneck::bytes, 10}};
  const std::array b = {QueuedKernel{Bottleneck::bytes, 20}};
  const auto ended = run_beside(CorunModel(pairs), a, b, -1);
  REQUIRE(ended.size() == 3);
  check(ended[0], false, 0, 15, true);
  check(ended[1], false, 1, 18, true);
  check(ended[2], true, 0, 0, true);  // both end at once
}

TEST_CASE("corun queues: a conflict above 1 is taking turns, one queue alone is as it was") {
  const std::array a = {QueuedKernel{Bottleneck::arithmetic, 10}};
  const std::array b = {QueuedKernel{Bottleneck::arithmetic, 30}};
  const auto turns = run_beside(CorunModel(), a, b, 1.73);
  REQUIRE(turns.size() == 2);
  CHECK(turns[0].ns + turns[1].ns == 40);
  const auto alone = run_beside(CorunModel(), {}, b, 0.5);
  REQUIRE(alone.size() == 1);
  check(alone[0], true, 0, 30, false);
  CHECK(run_beside(CorunModel(), {}, {}, 0.5).empty());
}

TEST_CASE(
    "corun queues: kernels that fill the device take turns, small ones run beside each other") {
  const std::array a = {QueuedKernel{Bottleneck::arithmetic, 10, true}};
  const std::array b = {QueuedKernel{Bottleneck::bytes, 20, false}};
  const auto turns = run_beside(CorunModel(), a, b, -1);
  CHECK(turns[0].ns + turns[1].ns == 30);
  const std::array small = {QueuedKernel{Bottleneck::arithmetic, 10, false}};
  const auto beside = run_beside(CorunModel(), small, b, -1);
  CHECK(beside[0].ns + beside[1].ns < 25);
  const auto h100 = foretrace::test::toy_accelerator("h100_sxm");
  foretrace::Work work;
  foretrace::KernelTraits copies;
  foretrace::KernelTraits products;
  products.compute_bound = true;
  CHECK_FALSE(fills_device(work, products, h100));  // no grid recorded
  work.grid = {132, 1, 1};
  work.block = {384, 1, 1};
  CHECK(fills_device(work, products, h100));
  CHECK_FALSE(fills_device(work, copies, h100));  // a fifth of the threads
  work.grid = {705, 1, 1};
  CHECK(fills_device(work, copies, h100));
}

// examples/traces/h100/corun.csv: 13 kernels in all pairs on two streams of an H100. Nothing of the
// model was set on them.
TEST_CASE("corun queues: pairs measured on an H100 take turns, but for small kernels") {
  const std::set<std::string> small = {"gemm_bf16_512", "gemm_bf16_16x4096x4096", "add_256k_fp32",
                                       "embedding_bag"};
  const auto bottleneck = [](const std::string& name) {
    if (name == "embedding_bag") return Bottleneck::latency;
    const bool product =
        name.find("gemm") == 0 || name.find("conv") == 0 || name.find("attention") == 0;
    return product ? Bottleneck::arithmetic : Bottleneck::bytes;
  };
  std::ifstream file(FORETRACE_SOURCE_DIR "/examples/traces/h100/corun.csv");
  REQUIRE(file.is_open());
  std::string line;
  std::getline(file, line);
  std::array<double, 3>
      error{};  // of pairs with a kernel that fills, of small ones, by bottlenecks
  std::array<double, 3> count{};
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::vector<std::string> row;
    for (std::string field; std::getline(in, field, ',');) row.push_back(field);
    REQUIRE(row.size() == 9);
    if (row[0].find("copy_h2d") == 0 || row[0].find("copy_d2h") == 0) continue;
    if (row[1].find("copy_h2d") == 0 || row[1].find("copy_d2h") == 0) continue;
    const double first = std::stod(row[2]) * std::stod(row[6]);
    const double second = std::stod(row[3]) * std::stod(row[7]);
    const double both = std::stod(row[8]);
    const auto predicted = [&](bool with_room) {
      const std::array a = {
          QueuedKernel{bottleneck(row[0]), first, with_room && !small.contains(row[0])}};
      const std::array b = {
          QueuedKernel{bottleneck(row[1]), second, with_room && !small.contains(row[1])}};
      double ns = 0;
      for (const EndedKernel& end : run_beside(CorunModel(), a, b, -1)) {
        ns += static_cast<double>(end.ns);
      }
      return ns;
    };
    const std::size_t kind = small.contains(row[0]) && small.contains(row[1]) ? 1 : 0;
    error[kind] += std::abs(predicted(true) / both - 1);
    ++count[kind];
    error[2] += std::abs(predicted(false) / both - 1);
    ++count[2];
  }
  REQUIRE(count[2] == 91);
  MESSAGE("mean error of pairs with a kernel that fills the device ", 100 * error[0] / count[0],
          " %, of small ones ", 100 * error[1] / count[1], " %; all by bottlenecks ",
          100 * error[2] / count[2], " %");
  CHECK(error[0] / count[0] < 0.065);
  CHECK((error[0] + error[1]) / count[2] < 0.6 * error[2] / count[2]);
}
