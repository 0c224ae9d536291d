#include "models/editing/chains/corun_model.h"

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using foretrace::editing::Bottleneck;
using foretrace::editing::CorunModel;
using foretrace::editing::FusedPair;

namespace {

// HFuse artifact (A. Li et al., CGO 2022; github.com/aoli-al/HFuse, scripts/data, commit fb8bc7b):
// mean us per launch on a GTX 1080 Ti, alone, and fused in the best variant of each pair.
struct Alone {
  std::string_view name;
  Bottleneck bottleneck;
  double us;
};
constexpr std::array kernels = {Alone{"upsample_bilinear2d", Bottleneck::bytes, 2186.2},
                                Alone{"batch_norm_collect_statistics", Bottleneck::bytes, 2386.9},
                                Alone{"im2col", Bottleneck::bytes, 1911.2},
                                Alone{"MaxPoolForward", Bottleneck::bytes, 2546.1},
                                Alone{"kernelHistogram1D", Bottleneck::shared_memory, 1866.1},
                                Alone{"ethash", Bottleneck::latency, 46134.8},
                                Alone{"blake2b", Bottleneck::arithmetic, 31530.3},
                                Alone{"sia_blake2b", Bottleneck::arithmetic, 30830.9},
                                Alone{"sha256d", Bottleneck::arithmetic, 28743.8}};
struct Fused {
  std::size_t a;
  std::size_t b;
  double us;
};
constexpr std::array fused = {
    Fused{0, 1, 4829.6},  Fused{2, 4, 3677.5},  Fused{3, 4, 2683.2},  Fused{1, 4, 3583.2},
    Fused{0, 4, 2548.3},  Fused{1, 2, 5138.9},  Fused{2, 3, 3817.5},  Fused{1, 3, 4041.8},
    Fused{0, 2, 3852.5},  Fused{0, 3, 3084.9},  Fused{5, 6, 45904.8}, Fused{5, 8, 52439.4},
    Fused{5, 7, 52954.5}, Fused{6, 7, 66769.2}, Fused{6, 8, 89094.1}, Fused{7, 8, 89698.1}};

FusedPair pair_of(const Fused& row) {
  return {kernels[row.a].bottleneck, kernels[row.b].bottleneck, kernels[row.a].us,
          kernels[row.b].us, row.us};
}

double fused_by(const CorunModel& model, const Fused& row) {
  return model.fused_time(kernels[row.a].bottleneck, kernels[row.a].us, kernels[row.b].bottleneck,
                          kernels[row.b].us);
}

}  // namespace

TEST_CASE("corun model: equal saturated bottlenecks gain nothing, the shorter one may be free") {
  const std::array pairs = {FusedPair{Bottleneck::bytes, Bottleneck::bytes, 10, 20, 30},
                            FusedPair{Bottleneck::arithmetic, Bottleneck::bytes, 10, 20, 20}};
  const CorunModel model(pairs);
  CHECK(model.fused_time(Bottleneck::bytes, 5, Bottleneck::bytes, 7) == doctest::Approx(12));
  CHECK(model.fused_time(Bottleneck::bytes, 5, Bottleneck::arithmetic, 7) == doctest::Approx(7));
  // Not among the pairs: as other pairs with one bottleneck, and with two.
  CHECK(model.conflict(Bottleneck::latency, Bottleneck::latency) == doctest::Approx(1));
  CHECK(model.conflict(Bottleneck::latency, Bottleneck::bytes) == doctest::Approx(0));
}

TEST_CASE("corun model: published pairs, each kernel left out, against a constant ratio") {
  double error = 0;
  double baseline_error = 0;
  double count = 0;
  for (std::size_t left_out = 0; left_out < kernels.size(); ++left_out) {
    std::vector<FusedPair> others;
    double ratio = 0;
    for (const Fused& row : fused) {
      if (row.a == left_out || row.b == left_out) continue;
      others.push_back(pair_of(row));
      ratio += row.us / (kernels[row.a].us + kernels[row.b].us);
    }
    ratio /= static_cast<double>(others.size());
    const CorunModel model(others);
    for (const Fused& row : fused) {
      if (row.a != left_out && row.b != left_out) continue;
      error += std::abs(fused_by(model, row) / row.us - 1);
      baseline_error += std::abs(ratio * (kernels[row.a].us + kernels[row.b].us) / row.us - 1);
      ++count;
    }
  }
  MESSAGE("mean error ", 100 * error / count, " %, constant ratio ", 100 * baseline_error / count,
          " %, over ", count, " predictions");
  CHECK(count == 32);
  CHECK(error / count < 0.22);
  CHECK(baseline_error / count > 0.28);
}

TEST_CASE("corun model: the default is the mean of all published pairs") {
  std::vector<FusedPair> all;
  all.reserve(std::size(fused));
  for (const Fused& row : fused) all.push_back(pair_of(row));
  const CorunModel fitted(all);
  const CorunModel shipped;
  for (const Fused& row : fused) {
    const Bottleneck a = kernels[row.a].bottleneck;
    const Bottleneck b = kernels[row.b].bottleneck;
    CHECK(shipped.conflict(a, b) == doctest::Approx(fitted.conflict(a, b)).epsilon(0.02));
  }
  CHECK(shipped.conflict(Bottleneck::latency, Bottleneck::bytes) ==
        doctest::Approx(fitted.conflict(Bottleneck::latency, Bottleneck::bytes)).epsilon(0.02));
}
