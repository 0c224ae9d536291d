#include "apps/extras/frames/supernet.h"

#include <doctest/doctest.h>

using namespace foretrace::streams;

namespace {

// At 1 GB/s a byte takes 1 ns. Two layers; the large SubNet has twice the weights of the small one.
SuperNet net_of(double buffer_bytes) {
  SuperNet net;
  net.subnets = {{"small", 0.7, {{100, 100, 50}, {100, 300, 50}}},
                 {"large", 0.8, {{200, 200, 50}, {200, 600, 50}}}};
  net.bytes_per_s = 1e9;
  net.buffer_bytes = buffer_bytes;
  net.queries = 8;
  net.update_every = 4;
  return net;
}

}  // namespace

TEST_CASE("supernet: a layer takes the longer of arithmetic and what it reads") {
  const SuperNet net = net_of(0);
  // small: max(100, 150) + max(100, 350); large: max(200, 250) + max(200, 650).
  CHECK(subnet_time_ns(net.subnets[0], {0, 0}, 1e9) == 500);
  CHECK(subnet_time_ns(net.subnets[1], {0, 0}, 1e9) == 900);
  // Of the second layer 300 are kept: 650 - 300; all of it: arithmetic.
  CHECK(subnet_time_ns(net.subnets[1], {0, 300}, 1e9) == 250 + 350);
  CHECK(subnet_time_ns(net.subnets[1], {200, 600}, 1e9) == 400);
  CHECK(subnet_time_ns(net.subnets[0], {200, 600}, 1e9) == 200);
}

TEST_CASE("supernet: what fits is kept, layer after layer") {
  const SuperNet net = net_of(0);
  CHECK(kept_of(net.subnets[1], 0) == KeptWeights{0, 0});
  CHECK(kept_of(net.subnets[1], 300) == KeptWeights{200, 100});
  CHECK(kept_of(net.subnets[1], 1e6) == KeptWeights{200, 600});
}

TEST_CASE("supernet: without a buffer every query reads all weights of its SubNet") {
  SuperNet net = net_of(0);
  net.wishes = {{1, 0, 0.75}};
  const SuperNetFigures figures = run_supernet(net);
  CHECK(figures.served == std::vector<std::int64_t>{0, 8});
  CHECK(figures.weight_bytes == 8 * 800);
  CHECK(figures.update_bytes == 0);
  CHECK(figures.updates == 0);
  CHECK(figures.service_ns == doctest::Approx(900));
  CHECK(figures.accuracy == doctest::Approx(0.8));
}

TEST_CASE("supernet: a buffer for all weights reads them once") {
  SuperNet net = net_of(800);
  net.wishes = {{1, 0, 0.75}};
  // Four queries read 800 each, the update reads 800, the others nothing.
  const SuperNetFigures figures = run_supernet(net);
  CHECK(figures.weight_bytes == 4 * 800);
  CHECK(figures.update_bytes == 800);
  CHECK(figures.updates == 1);
  CHECK(figures.service_ns == doctest::Approx((4 * 900 + 4 * 400) / 8.0));
}

TEST_CASE("supernet: kept weights let a more accurate SubNet keep the bound") {
  SuperNet net = net_of(800);
  net.wishes = {{1, 550, 0}};
  // At first only the small one keeps 550; its weights are kept then (400 bytes), and the large one
  // takes max(200, 150) + 350 = 550 from the fifth query on.
  const SuperNetFigures figures = run_supernet(net);
  CHECK(figures.served == std::vector<std::int64_t>{4, 4});
  CHECK(figures.kept_wishes == 8);
  CHECK(figures.accuracy == doctest::Approx(0.75));
}

TEST_CASE("supernet: a bound that nothing keeps gets the nearest") {
  SuperNet net = net_of(0);
  net.wishes = {{1, 10, 0}};
  CHECK(run_supernet(net).served == std::vector<std::int64_t>{8, 0});
  CHECK(run_supernet(net).kept_wishes == 0);
  net.wishes = {{1, 0, 0.9}};
  CHECK(run_supernet(net).served == std::vector<std::int64_t>{0, 8});
}

TEST_CASE("supernet: a larger buffer never reads more weights for the same queries") {
  // One accuracy is asked for, so the same SubNet serves whatever is kept.
  double last = 1e300;
  for (const double bytes : {0.0, 100.0, 300.0, 800.0, 5000.0}) {
    SuperNet net = net_of(bytes);
    net.wishes = {{1, 0, 0.75}};
    const SuperNetFigures figures = run_supernet(net);
    CHECK(figures.weight_bytes <= last);
    last = figures.weight_bytes;
  }
}
