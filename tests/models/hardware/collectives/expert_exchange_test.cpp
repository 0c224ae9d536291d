#include "models/hardware/collectives/expert_exchange.h"

#include <doctest/doctest.h>

#include "tests/configs.h"

using foretrace::Cluster;
using foretrace::counted_bytes;
using foretrace::exchange_time;
using foretrace::ExchangeStyle;
using foretrace::expected_places;
using foretrace::ExpertExchange;
using foretrace::find_cluster;
using foretrace::place_alone;

namespace {

Cluster cluster_called(std::string_view name) {
  auto cluster = find_cluster(*foretrace::test::shipped(), name);
  REQUIRE_MESSAGE(cluster.ok(), cluster.error().message);
  return std::move(*cluster);
}

// 4,096 tokens of 7,168 bytes for 8 of 256 experts.
ExpertExchange exchange(const Cluster& cluster, ExchangeStyle style, std::uint32_t nodes) {
  ExpertExchange made;
  made.style = style;
  made.tokens = 4096;
  made.top_k = 8;
  made.experts = 256;
  made.token_bytes = 7168;
  made.group = place_alone(cluster, nodes, 8);
  return made;
}

}  // namespace

TEST_CASE("expert exchange: places met by picks follow from those that every pick misses") {
  CHECK(expected_places(2, 1) == doctest::Approx(1));
  CHECK(expected_places(2, 2) == doctest::Approx(1.5));
  CHECK(expected_places(1, 8) == doctest::Approx(1));
  CHECK(expected_places(8, 1000) == doctest::Approx(8));
}

TEST_CASE("expert exchange: DeepEP's count in one node is 5.25 copies of each token") {
  // UCCL prints 500 us at 320 GB/s for 4,096 tokens of 7,168 + 224 bytes: 5.28 copies.
  const Cluster cluster = cluster_called("aws_p5en");
  ExpertExchange one = exchange(cluster, ExchangeStyle::forwarded, 1);
  one.token_bytes = 7168 + 224;
  CHECK(counted_bytes(one) / (4096 * one.token_bytes) == doctest::Approx(5.25).epsilon(0.001));
  CHECK(counted_bytes(one) == doctest::Approx(500e-6 * 320e9).epsilon(0.02));
}

TEST_CASE("expert exchange: forwarding sends each token once to a node, whatever its experts") {
  const Cluster cluster = cluster_called("dgx_h100");
  const double direct = exchange_time(cluster, exchange(cluster, ExchangeStyle::direct, 4)).ns;
  const double forwarded =
      exchange_time(cluster, exchange(cluster, ExchangeStyle::forwarded, 4)).ns;
  CHECK(forwarded < 0.6 * direct);
  const double padded = exchange_time(cluster, exchange(cluster, ExchangeStyle::padded, 4)).ns;
  CHECK(padded > 10 * direct);
}

TEST_CASE("expert exchange: copies that cross rails are slow where the fabric does not join them") {
  const Cluster rails = cluster_called("aws_p5en");
  const Cluster tree = cluster_called("dgx_h200");
  const double slow = exchange_time(rails, exchange(rails, ExchangeStyle::direct, 2)).ns;
  const double fast = exchange_time(tree, exchange(tree, ExchangeStyle::direct, 2)).ns;
  CHECK(slow > 2 * fast);
  // Forwarded tokens keep to their rail.
  CHECK(exchange_time(rails, exchange(rails, ExchangeStyle::forwarded, 2)).ns ==
        doctest::Approx(exchange_time(tree, exchange(tree, ExchangeStyle::forwarded, 2)).ns));
}

TEST_CASE("expert exchange: more tokens, more experts per token or more nodes never take less") {
  const Cluster cluster = cluster_called("h800_x8");
  for (const ExchangeStyle style :
       {ExchangeStyle::padded, ExchangeStyle::direct, ExchangeStyle::forwarded}) {
    double last = 0;
    for (double tokens = 1; tokens < 1e6; tokens *= 3) {
      ExpertExchange one = exchange(cluster, style, 2);
      one.tokens = tokens;
      const double now = exchange_time(cluster, one).ns;
      CHECK(now >= last);
      last = now;
      one.top_k = 9;
      CHECK(exchange_time(cluster, one).ns >= now);
    }
  }
  ExpertExchange alone = exchange(cluster, ExchangeStyle::direct, 1);
  alone.group = place_alone(cluster, 1, 1);
  CHECK(exchange_time(cluster, alone).ns == 0);
}

TEST_CASE("expert exchange: a token that is kept to few nodes is sent to no more of them") {
  const Cluster cluster = cluster_called("h800_x8");
  ExpertExchange any = exchange(cluster, ExchangeStyle::forwarded, 16);
  ExpertExchange kept = any;
  kept.node_limit = 4;
  CHECK(counted_bytes(kept) < counted_bytes(any));
  CHECK(exchange_time(cluster, kept).ns < exchange_time(cluster, any).ns);
}

TEST_CASE("expert exchange: through the network alone a node's own ranks cost as much as others") {
  const Cluster cluster = cluster_called("dgx_h100");
  ExpertExchange one = exchange(cluster, ExchangeStyle::direct, 1);
  const double by_links = exchange_time(cluster, one).ns;
  one.by_network = true;
  const double by_network = exchange_time(cluster, one).ns;
  CHECK(by_network > 4 * by_links);
  ExpertExchange two = exchange(cluster, ExchangeStyle::direct, 2);
  two.by_network = true;
  // 15 of 16 copies leave instead of 7 of 8.
  CHECK(exchange_time(cluster, two).ns == doctest::Approx(by_network * 15 / 14).epsilon(0.01));
}
