#include "apps/session/nodes/node_answer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/placement.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/result/summary.h"
#include "trace/inputs/node_files.h"
#include "trace/nodes/node_cost.h"
#include "trace/nodes/node_job.h"
#include "trace/ranks/job.h"

namespace foretrace {
namespace {

constexpr const char* group_file = "comm_group.json";

/// A barrier adds up one number.
constexpr double barrier_bytes = 4;

CollectiveCall call_of(const Cluster& cluster, const trace::NodeExchange& exchange) {
  CollectiveCall call;
  const bool is_barrier = exchange.kind == CollectiveKind::barrier;
  call.kind = is_barrier ? CollectiveKind::all_reduce : exchange.kind;
  call.bytes = is_barrier ? barrier_bytes : static_cast<double>(exchange.bytes);
  std::vector<std::int32_t> ranks = exchange.ranks;
  std::sort(ranks.begin(), ranks.end());
  call.group = place_ranks(cluster, ranks);
  return call;
}

/// Prices of a cluster, each exchange once, and how often it was asked for.
class Prices {
 public:
  explicit Prices(const Cluster& cluster) : cluster_(cluster) {}

  Result<trace::ExchangeTime> operator()(const trace::NodeExchange& exchange) {
    const auto last = *std::max_element(exchange.ranks.begin(), exchange.ranks.end());
    if (std::cmp_greater_equal(last, cluster_.accelerators())) {
      return Error{ErrorCode::unsupported,
                   fmt::format("takes part with rank {}, and {} has {} accelerators; expected a "
                               "larger cluster",
                               last, cluster_.name, cluster_.accelerators())};
    }
    const CollectiveCall call = call_of(cluster_, exchange);
    const CollectiveTime time = collective_time(cluster_, call);
    if (!std::isfinite(time.ns)) {
      return Error{ErrorCode::missing_cost,
                   fmt::format("{} over {} nodes of {}, which has no network between nodes, "
                               "expected another cluster",
                               to_string(exchange.kind), call.group.nodes, cluster_.name)};
    }
    if (!(time.ns >= 0 && time.ns < trace::longest_nodes_ns)) {
      return Error{
          ErrorCode::unsupported,
          fmt::format("{} of {:.3g} bytes takes {:.3g} ns on {}, expected less than {:.3g}",
                      to_string(exchange.kind), call.bytes, time.ns, cluster_.name,
                      trace::longest_nodes_ns)};
    }
    const std::int64_t ns = to_whole(time.ns);
    ExchangeRow& row =
        rows_[{exchange.kind, call.group.ranks, call.group.nodes, exchange.bytes, ns}];
    row = {exchange.kind,  call.group.ranks, call.group.nodes, exchange.bytes, row.count + 1, ns,
           time.provenance};
    return trace::ExchangeTime{ns, time.provenance};
  }

  [[nodiscard]] std::vector<ExchangeRow> rows() const {
    std::vector<ExchangeRow> rows;
    for (const auto& [key, row] : rows_) rows.push_back(row);
    const auto all = [](const ExchangeRow& row) {
      return static_cast<double>(row.ns) * static_cast<double>(row.count) * row.ranks;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const auto& a, const auto& b) { return all(a) > all(b); });
    return rows;
  }

 private:
  using Key = std::tuple<CollectiveKind, std::uint32_t, std::uint32_t, std::int64_t, std::int64_t>;
  const Cluster& cluster_;
  std::map<Key, ExchangeRow> rows_{};
};

Result<std::vector<trace::RankTrace>> read_ranks(const NodeScenario& scenario) {
  FORETRACE_TRY(const auto files, trace::list_node_files(scenario.traces));
  FORETRACE_TRY(auto ranks, trace::read_job(files, {}));
  for (const trace::RankTrace& rank : ranks) {
    if (rank.trace.nodes() != nullptr) continue;
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: {} contains events, expected a graph of nodes (chakra_et, "
                             "chakra_json); a recording belongs at /workload/trace",
                             rank.path, rank.trace.events.info.format)};
  }
  return ranks;
}

/// What was lost or mended where a rank's trace was read.
void add_report(const trace::RankTrace& rank, NodeAnswer& answer) {
  const trace::ImportReport& report = rank.trace.report;
  const auto name = std::string(file_name_of(rank.path));
  for (const std::string& warning : report.warnings) {
    answer.warnings.push_back(fmt::format("{}: {}", name, warning));
  }
  for (const trace::Damage& damage : report.damage) {
    answer.warnings.push_back(
        fmt::format("{}: {} {}: {}{}", name, damage.count,
                    damage.kind == trace::DamageKind::dropped ? "dropped" : "repaired",
                    damage.reason, damage.example.empty() ? "" : " (" + damage.example + ")"));
  }
  std::vector<Doubt> doubts = doubts_of(report);
  answer.doubts.insert(answer.doubts.end(), doubts.begin(), doubts.end());
}

/// The list that the scenario names, or the one beside the traces.
std::string groups_beside(const NodeScenario& scenario) {
  if (!scenario.groups.empty()) return scenario.groups;
  std::error_code ignored;
  const std::filesystem::path first = scenario.traces.front();
  const auto beside =
      (std::filesystem::is_directory(first, ignored) ? first : first.parent_path()) / group_file;
  return std::filesystem::is_regular_file(beside, ignored) ? beside.generic_string() : "";
}

std::int32_t rank_that_computes_most(const NodeAnswer& answer) {
  std::map<std::int32_t, std::int64_t> computed;
  for (std::size_t i = 0; i < answer.graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const std::int64_t ns = answer.graph.duration_ns(task);
    if (answer.graph.kind(task) == TaskKind::kernel) computed[answer.graph.lane(task).rank] += ns;
  }
  const auto most = std::max_element(computed.begin(), computed.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  return most == computed.end() ? 0 : most->first;
}

}  // namespace

Result<NodeAnswer> answer_nodes(const NodeScenario& scenario) {
  FORETRACE_TRY(auto ranks, read_ranks(scenario));
  NodeAnswer answer;
  answer.ranks = ranks.size();
  answer.format = ranks.front().trace.events.info.format;
  std::vector<trace::RankNodes> nodes;
  for (const trace::RankTrace& rank : ranks) {
    nodes.push_back({rank.rank, &rank.trace.events, rank.trace.nodes()});
    answer.nodes += rank.trace.nodes()->size();
    add_report(rank, answer);
  }
  trace::GroupList listed;
  answer.groups = groups_beside(scenario);
  if (!answer.groups.empty()) {
    FORETRACE_TRY(listed, read_group_list(answer.groups));
  }
  Prices prices(scenario.cluster);
  FORETRACE_TRY(auto job, trace::build_node_job(
                              nodes, trace::NodeGroups(nodes, std::move(listed), answer.groups),
                              scenario.costs, [&prices](const trace::NodeExchange& exchange) {
                                return prices(exchange);
                              }));
  answer.graph = std::move(job.graph);
  answer.transfer_ns = job.transfer_ns;
  answer.recorded_transfer_ns = job.recorded_transfer_ns;
  answer.warnings.insert(answer.warnings.end(), job.warnings.begin(), job.warnings.end());
  for (const std::string& note : scenario.cluster.notes) {
    answer.warnings.push_back(fmt::format("{}: {}", scenario.cluster.name, note));
  }
  answer.exchanges = prices.rows();
  FORETRACE_TRY(answer.run, simulate_run(answer.graph));
  answer.analysis = analyse(answer.graph, answer.run);
  answer.busiest_rank = rank_that_computes_most(answer);
  if (answer.run.answer.is_span) {
    answer.analysis.breakdown =
        summarize(answer.graph, answer.run.timeline,
                  {0, answer.run.answer.step_ns, answer.busiest_rank, no_device, -1})
            .breakdown;
  }
  return answer;
}

}  // namespace foretrace
