#include "tests/validation/studies/fgd.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/scheduling/components.h"
#include "sim/core/mersenne.h"
#include "sim/core/parallel.h"
#include "sim/core/whole.h"
#include "tests/validation/studies/fill.h"

namespace foretrace::scheduling::fgd {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> aliases = {{
    {"Random", "random"},
    {"DotProd", "dot_product"},
    {"GpuClustering", "gpu_clustering"},
    {"GpuPacking", "gpu_packing"},
    {"BestFit", "best_fit"},
    {"FGD", "fgd"},
}};
// The first seed of the study; the others follow it.
constexpr std::uint64_t first_seed = 42;
// Demand goes on until this share of capacity was asked for.
constexpr double most_demand = 1.3;
constexpr double most_seeds = 100;

// Milli-cores and MiB of a node, or asked for by a pod.
constexpr double most_milli = 1e9;

Result<Cluster> read_cluster(const TruthTable& nodes) {
  Cluster cluster;
  std::map<std::string, KindId> kinds;
  const Status read = read_rows(nodes, [&](std::size_t /*row*/, RowNumbers& numbers) {
    const std::string model = numbers.text("gpu_model");
    if (!kinds.contains(model)) kinds[model] = cluster.kinds.push_back({.name = model});
    const double count = numbers.count("count", most_jobs);
    const Node node{.kind = kinds[model],
                    .gpus = static_cast<std::int32_t>(numbers.count("gpus", most_gpus_per_node)),
                    .cpu_milli = to_whole(numbers.count("cpu_milli", most_milli)),
                    .memory_mib = to_whole(numbers.count("mem_MiB", most_milli))};
    for (double i = 0; i < count; ++i) cluster.nodes.push_back(node);
  });
  FORETRACE_TRY(read);
  return cluster;
}

std::vector<KindId> kinds_in(const Cluster& cluster, const std::string& spec) {
  std::vector<KindId> kinds;
  if (spec.empty()) return kinds;
  for (std::size_t i = 0; i < cluster.kinds.size(); ++i) {
    const std::string_view name = cluster.kinds[make_id<KindId>(i)].name;
    std::size_t at = 0;
    while (at <= spec.size()) {
      const std::size_t end = std::min(spec.size(), spec.find('|', at));
      if (std::string_view(spec).substr(at, end - at) == name) kinds.push_back(make_id<KindId>(i));
      at = end + 1;
    }
  }
  return kinds;
}

Result<std::vector<Request>> read_requests(const TruthTable& pods, const Cluster& cluster) {
  std::vector<Request> requests;
  const Status read = read_rows(pods, [&](std::size_t /*row*/, RowNumbers& numbers) {
    Request request{
        .gpus = static_cast<std::int32_t>(numbers.count("num_gpu", most_gpus_per_node, 0)),
        .milli = static_cast<std::int32_t>(numbers.count("gpu_milli", whole, 0)),
        .cpu_milli = to_whole(numbers.count("cpu_milli", most_milli, 0)),
        .memory_mib = to_whole(numbers.count("mem_MiB", most_milli, 0)),
        .kinds = kinds_in(cluster, numbers.text("gpu_spec"))};
    if (request.gpus != 1 || request.milli <= 0) request.milli = whole;
    const double count = numbers.count("count", most_jobs);
    requests.insert(requests.end(), static_cast<std::size_t>(count), request);
  });
  FORETRACE_TRY(read);
  return requests;
}

std::int64_t asked_milli(const Request& request) {
  return std::int64_t{request.gpus} * request.milli;
}

// Percent of accelerators allocated at each level of demand, under one seed.
Result<std::vector<double>> curve(const Cluster& cluster, const Workload& workload,
                                  std::string_view policy, std::uint64_t seed,
                                  const std::vector<double>& levels) {
  Random random(seed);
  // Which nodes come first among equal ones depends on their names, which the table does not have.
  std::vector<Node> nodes(cluster.nodes.values().begin(), cluster.nodes.values().end());
  random.shuffle(nodes);
  Cluster shuffled{.kinds = cluster.kinds, .nodes = {}};
  for (const Node& node : nodes) shuffled.nodes.push_back(node);
  std::vector<Request> requests;
  for (const Job& job : workload.jobs.values()) requests.push_back(job.request);
  random.shuffle(requests);
  const double capacity = static_cast<double>(cluster.gpus()) * whole;
  double demand = 0;
  for (const Request& request : requests) demand += static_cast<double>(asked_milli(request));
  const std::size_t own = requests.size();
  while (demand < most_demand * capacity && own > 0) {
    requests.push_back(requests[random.below(own)]);
    demand += static_cast<double>(asked_milli(requests.back()));
  }
  FORETRACE_TRY(
      auto placement,
      make_placement(policy, "", {.cluster = &shuffled, .workload = &workload, .seed = seed}));
  const std::vector<FillPoint> points = fill(shuffled, requests, *placement);
  std::vector<double> percent;
  for (const double level : levels) {
    const auto reached = std::find_if(points.begin(), points.end(), [&](const FillPoint& point) {
      return static_cast<double>(point.asked_milli) >= level / 100 * capacity;
    });
    const FillPoint& at = reached == points.end() ? points.back() : *reached;
    percent.push_back(100 * static_cast<double>(at.allocated_milli) / capacity);
  }
  return percent;
}

std::string_view placement_of(const std::string& published) {
  for (const auto& [name, placement] : aliases) {
    if (published.ends_with(name)) return placement;
  }
  return "";
}

struct Level {
  std::string column;
  double percent = 0;
};

// alloc80, alloc90, ...
std::vector<Level> levels_of(const TruthTable& table) {
  constexpr std::string_view prefix = "alloc";
  std::vector<Level> levels;
  for (const std::string& column : table.columns) {
    if (!column.starts_with(prefix)) continue;
    double percent = 0;
    const auto read =
        std::from_chars(column.data() + prefix.size(), column.data() + column.size(), percent);
    if (read.ec == std::errc{} && percent > 0) levels.push_back({column, percent});
  }
  return levels;
}

}  // namespace

Result<TruthScore> score_fgd(const TruthTable& table, const TruthTable& nodes,
                             const TruthTable& pods) {
  for (const Status& fine :
       {needs(table, {"policy"}),
        needs(nodes, {"count", "cpu_milli", "mem_MiB", "gpus", "gpu_model"}),
        needs(pods, {"count", "cpu_milli", "mem_MiB", "num_gpu", "gpu_milli", "gpu_spec"})}) {
    FORETRACE_TRY(fine);
  }
  FORETRACE_TRY(const auto cluster, read_cluster(nodes));
  FORETRACE_TRY(const auto requests, read_requests(pods, cluster));
  Workload workload;
  for (const Request& request : requests) {
    Job job;
    job.request = request;
    workload.jobs.push_back(std::move(job));
  }
  const std::vector<Level> levels = levels_of(table);
  std::vector<double> percents;
  percents.reserve(levels.size());
  for (const Level& level : levels) percents.push_back(level.percent);
  TruthScore score;
  for (std::size_t row = 0; row < table.size(); ++row) {
    RowNumbers numbers(table.row(row));
    const std::string published = numbers.text("policy");
    const std::string_view policy = placement_of(published);
    if (policy.empty() || workload.jobs.empty()) {
      score.skipped.push_back(
          {row, "policy", fmt::format("unknown policy {}", in_quotes(published))});
      continue;
    }
    const auto seeds = static_cast<std::size_t>(numbers.count_or("seeds", 1, most_seeds));
    if (!numbers.status()) {
      score.skipped.push_back({row, "seeds", numbers.status().error().message});
      continue;
    }
    std::vector<Result<std::vector<double>>> curves(seeds, std::vector<double>{});
    for_each_index(seeds, [&](std::size_t i) {
      curves[i] = curve(cluster, workload, policy, first_seed + i, percents);
    });
    for (std::size_t l = 0; l < levels.size(); ++l) {
      double sum = 0;
      for (const auto& one : curves) {
        FORETRACE_TRY(one);
        sum += (*one)[l];
      }
      score.add(table, row, levels[l].column, sum / static_cast<double>(seeds));
    }
  }
  return score;
}

}  // namespace foretrace::scheduling::fgd
