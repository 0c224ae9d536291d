// Data-parallel steps that were measured on nodes of T4 with every number of GPUs and batch
// (Pollux).
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "tests/validation/tables/training_row.h"

namespace foretrace::driver::table_readers::data_parallel_parts {
namespace {

struct Application {
  std::string_view called;
  std::string_view model;
  double length;  ///< tokens of a sample
};
// examples/ of github.com/petuum/adaptdl: run_squad.py with 384 tokens, ResNet-18, NeuMF.
constexpr std::array applications = {Application{"bert", "bert-base-uncased SQuAD", 384},
                                     Application{"cifar10", "cifar10", 1},
                                     Application{"ncf", "ncf", 1}};

/// GPUs are spread evenly; of an uneven placement the widest spread decides.
Result<std::shared_ptr<const Cluster>> nodes_of(double nodes, double gpus, TableInputs& inputs) {
  const auto shipped = inputs.cluster("aws_g4dn");
  if (!shipped.ok()) return shipped.error();
  Cluster cluster = **shipped;
  cluster.nodes = static_cast<std::uint32_t>(nodes);
  cluster.node_accelerators = static_cast<std::uint32_t>(std::ceil(gpus / nodes));
  return std::make_shared<const Cluster>(std::move(cluster));
}

Result<TablePoint> pollux_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  RowNumbers numbers(row);
  const double measured = numbers.measured("step_s");
  const std::string app = row.text("app");
  const auto* const found = std::find_if(applications.begin(), applications.end(),
                                         [&](const Application& one) { return one.called == app; });
  if (found == applications.end()) {
    return Error{ErrorCode::not_found, fmt::format("no model of the application '{}'", app)};
  }
  TrainingRow run;
  run.model = found->model;
  run.cluster = "aws_g4dn";
  run.framework = "adaptdl_2021";
  run.precision = "fp32";
  run.gpus = numbers.count("gpus", most_ranks);
  run.length = found->length;
  run.micro_batch = numbers.count("local_batch", most_sequences);
  run.global_batch = run.micro_batch * run.gpus;
  run.ignores_memory = true;
  const double nodes = numbers.count("nodes", run.gpus);
  if (!numbers.status().ok()) return numbers.status().error();
  const auto cluster = nodes_of(nodes, run.gpus, inputs);
  if (!cluster.ok()) return cluster.error();
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  scenario->cluster = *cluster;
  const auto complete = complete_scenario(*std::move(scenario));
  if (!complete.ok()) return complete.error();
  TablePoint point = time_point(i, "step_s", predict_row(*complete), measured);
  point.group = fmt::format("{}, {}", app,
                            run.gpus <= 1            ? "one device"
                            : (*cluster)->nodes <= 1 ? "one node"
                                                     : "several nodes");
  return point;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult result;
  result.name = table.id;
  result.unit = "s";
  for (std::size_t i = 0; i < table.size(); ++i) {
    result.add(i, pollux_point(table.row(i), i, inputs));
  }
  result.notes.emplace_back("uneven placements are taken as even over their nodes");
  return std::vector{std::move(result)};
}

constexpr std::array<std::string_view, 1> names = {"dp_step_time_*"};

constexpr TableReaderInfo info = {"data_parallel", "data-parallel steps of Pollux on T4", names,
                                  read};

}  // namespace
}  // namespace foretrace::driver::table_readers::data_parallel_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo data_parallel;
constinit const TableReaderInfo data_parallel = data_parallel_parts::info;
}  // namespace foretrace::driver::table_readers
