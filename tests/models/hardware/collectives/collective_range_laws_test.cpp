// What is promised of every collective on every machine that ships.
#include <doctest/doctest.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"
#include "tests/configs.h"

using namespace foretrace;

TEST_CASE(
    "collectives: a range holds its time, and more bytes take no less where nothing was measured") {
  std::size_t asked = 0;
  for (const std::string& name : cluster_names(*test::shipped())) {
    CAPTURE(name);
    const auto cluster = find_cluster(*test::shipped(), name);
    REQUIRE_MESSAGE(cluster.ok(), cluster.error().message);
    for (const std::uint32_t nodes : {1U, 2U, 3U}) {
      if (nodes > cluster->nodes) continue;
      const std::uint32_t node = cluster->node_accelerators;
      if (nodes * node < 2) continue;
      const Placement group = place_alone(*cluster, nodes, node);
      for (std::size_t i = 1; i < collective_kind_count; ++i) {
        const auto kind = static_cast<CollectiveKind>(i);
        if (kind == CollectiveKind::barrier || kind == CollectiveKind::receive) continue;
        CAPTURE(to_string(kind));
        double last = 0;
        for (double bytes = 1024; bytes < 1e10; bytes *= 4) {
          CAPTURE(bytes);
          const CollectiveRange range = collective_range(*cluster, {kind, bytes, group});
          CHECK(range.time.ns > 0);
          CHECK(range.shortest_ns <= range.time.ns);
          CHECK(range.longest_ns >= range.time.ns);
          // A measured point is as it was measured.
          const bool is_measured = range.time.provenance == Provenance::measured ||
                                   range.time.provenance == Provenance::table;
          if (!is_measured) CHECK(range.time.ns >= last);
          last = is_measured ? 0 : range.time.ns;
          ++asked;
        }
      }
    }
  }
  CHECK(asked > 1000);
}
