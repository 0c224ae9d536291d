#include "apps/extras/mapping/mapping.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "models/hardware/catalogue/read_figures.h"
#include "models/hardware/costs/rates.h"
#include "models/hardware/kernels/kernel_class.h"
#include "models/hardware/networks/cluster.h"
#include "sim/core/config.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

constexpr double most_time_ns = 1e15;
constexpr double most_bytes = 1e15;
constexpr std::size_t most_tasks = 100'000;

class MappingReader {
 public:
  MappingReader(const Catalogue& catalogue, const ConfigValue& root, const std::string& where)
      : catalogue_(catalogue), fields_(root, where), where_(where) {}
  Result<Mapping> read();

 private:
  void read_tasks();
  void read_times(ConfigFields& task);
  void read_edges();
  void read_links();
  void read_tables();
  void read_machine();
  std::size_t task_called(ConfigFields& fields, std::string_view key);

  const Catalogue& catalogue_;
  ConfigFields fields_;
  std::string where_;
  Mapping mapping_;
  std::unordered_map<std::string_view, std::size_t> task_of_;  ///< by name
};

// {"fast": "5 us", "slow": "12 us"}: a device that is not named does not run the task.
void MappingReader::read_times(ConfigFields& task) {
  std::vector<double> times(mapping_.devices.size(), -1);
  if (const ConfigValue* object = task.object("times"); object != nullptr) {
    ConfigFields inner(*object, where_, task.pointer_of("times"));
    for (std::size_t d = 0; d < mapping_.devices.size(); ++d) {
      const std::string& device = mapping_.devices[d];
      if (!inner.has(device)) continue;
      times[d] = 0;
      inner.quantity(device, ParamType::time, times[d]);
      if (!(times[d] >= 0 && times[d] <= most_time_ns)) {
        inner.mistake(device, "expected a time from 0 on");
      }
    }
    task.take(inner.finish());
  }
  mapping_.problem.time.push_back(std::move(times));
}

// Links are kept for each pair of devices.
constexpr std::size_t most_devices = 1000;

void check_names(ConfigFields& fields, std::string_view key, const std::vector<std::string>& names,
                 std::size_t most) {
  if (names.empty()) fields.mistake(key, "got none, expected at least one");
  if (names.size() > most) {
    fields.mistake(key, fmt::format("got {}, expected at most {}", names.size(), most));
  }
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) continue;
    return fields.mistake(key, fmt::format("{} appears twice", in_quotes(name)));
  }
}

void MappingReader::read_tasks() {
  fields_.texts("devices", mapping_.devices);
  check_names(fields_, "devices", mapping_.devices, most_devices);
  if (mapping_.devices.size() > most_devices) mapping_.devices.resize(most_devices);
  const ConfigValue* list = fields_.objects("tasks");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields task(list->items[i], where_, fmt::format("/tasks/{}", i));
    task.text("name", mapping_.tasks.emplace_back());
    read_times(task);
    fields_.take(task.finish());
  }
  check_names(fields_, "tasks", mapping_.tasks, most_tasks);
  read_edges();
  read_links();
  if (const ConfigValue* object = fields_.optional_object("search"); object != nullptr) {
    ConfigFields inner(*object, where_, "/search");
    mapping_.search.evaluations = optional_count(inner, "evaluations", 1e7, 1000);
    mapping_.search.seed = static_cast<std::uint64_t>(
        optional_within(inner, "seed", ParamType::integer, largest_seed, 0));
    fields_.take(inner.finish());
  }
}

std::size_t MappingReader::task_called(ConfigFields& fields, std::string_view key) {
  std::string name;
  fields.text(key, name);
  const auto found = task_of_.find(name);
  if (found != task_of_.end()) return found->second;
  const std::vector<std::string_view> known(mapping_.tasks.begin(), mapping_.tasks.end());
  fields.mistake(key, fmt::format("no task {}{}", in_quotes(name), did_you_mean(name, known)));
  return mapping_.tasks.size();
}

void MappingReader::read_edges() {
  for (std::size_t t = 0; t < mapping_.tasks.size(); ++t) task_of_.emplace(mapping_.tasks[t], t);
  const ConfigValue* list = fields_.optional_objects("edges");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields edge(list->items[i], where_, fmt::format("/edges/{}", i));
    mapping::TaskEdge read;
    read.from = task_called(edge, "from");
    read.to = task_called(edge, "to");
    read.bytes = optional_within(edge, "bytes", ParamType::bytes, most_bytes, 0);
    fields_.take(edge.finish());
    mapping_.problem.edges.push_back(read);
  }
}

void MappingReader::read_links() {
  const std::size_t devices = mapping_.devices.size();
  mapping_.problem.devices = devices;
  double bandwidth = 0;
  double delay = 0;
  if (const ConfigValue* object = fields_.object("links"); object != nullptr) {
    ConfigFields inner(*object, where_, "/links");
    bandwidth = read_positive(inner, "bandwidth", ParamType::bandwidth, 1e16);
    delay = optional_within(inner, "latency", ParamType::time, most_time_ns, 0);
    fields_.take(inner.finish());
  }
  const double per_byte = bandwidth > 0 ? 1e9 / bandwidth : 0;
  mapping_.problem.delay.assign(devices, std::vector<double>(devices, delay));
  mapping_.problem.per_byte.assign(devices, std::vector<double>(devices, per_byte));
}

void MappingReader::read_machine() {
  mapping::ShardingProblem& sharding = mapping_.sharding;
  std::string name;
  fields_.text("cluster", name);
  if (name.empty()) return;
  const auto cluster = find_cluster(catalogue_, name);
  if (!cluster.ok()) {
    fields_.mistake("cluster", cluster.error().message);
    // What else is said of the machine is no mistake.
    static_cast<void>(optional_count(fields_, "accelerators", 1e6, 1));
    static_cast<void>(optional_within(fields_, "memory_share", ParamType::number, 1, 1));
    return;
  }
  const std::uint32_t most = cluster->node_accelerators;
  sharding.devices = optional_count(fields_, "accelerators", most, most);
  const double share = optional_within(fields_, "memory_share", ParamType::number, 1, 0.8);
  sharding.memory_bytes = share * static_cast<double>(cluster->accelerator.memory_bytes);
  sharding.lookup_bytes_per_s = memory_rate(cluster->accelerator, KernelClass::gather);
  sharding.lookup_s = shortest_kernel_ns(cluster->accelerator, KernelClass::gather) * 1e-9;
  sharding.link_bytes_per_s = cluster->link_bandwidth;
  sharding.exchange_s = cluster->link_latency_ns * 1e-9;
  if (sharding.devices > 1 && !(sharding.link_bytes_per_s > 0)) {
    fields_.mistake("cluster", "has no links between its accelerators");
  }
}

void MappingReader::read_tables() {
  read_machine();
  mapping::ShardingProblem& sharding = mapping_.sharding;
  sharding.batch = read_count(fields_, "batch", 1e9);
  sharding.number_bytes = optional_within(fields_, "number_bytes", ParamType::number, 16, 4);
  const ConfigValue* list = fields_.objects("tables");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields table(list->items[i], where_, fmt::format("/tables/{}", i));
    mapping::EmbeddingTable read;
    table.text("name", mapping_.tables.emplace_back());
    read.rows = read_positive(table, "rows", ParamType::number, 1e13);
    read.dim = read_count(table, "dim", 1e6);
    read.pooling = optional_within(table, "pooling", ParamType::number, 1e6, 1);
    fields_.take(table.finish());
    sharding.tables.push_back(read);
  }
  constexpr std::size_t most_tables = 2000;
  check_names(fields_, "tables", mapping_.tables, most_tables);
}

Result<Mapping> MappingReader::read() {
  mapping_.path = where_;
  if (fields_.has("tasks") == fields_.has("tables")) {
    return Error{ErrorCode::bad_config, fmt::format("{}: expected either tasks or tables", where_)};
  }
  const bool has_tasks = fields_.has("tasks");
  if (has_tasks) {
    read_tasks();
  } else {
    read_tables();
  }
  FORETRACE_TRY(fields_.finish());
  if (!has_tasks) return std::move(mapping_);
  if (const Status fine = mapping::check_problem(mapping_.problem); !fine) {
    return Error{fine.error().code, fmt::format("{}: /{}", where_, fine.error().message)};
  }
  return std::move(mapping_);
}

}  // namespace

Result<Mapping> parse_mapping(const Catalogue& catalogue, std::string_view text,
                              const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, mapping_schema));
  return MappingReader(catalogue, root, where).read();
}

Result<Mapping> read_mapping(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(auto root, read_config(path, mapping_schema));
  return MappingReader(catalogue, root, path).read();
}

Result<MappingAnswer> run_mapping(const Mapping& mapping) {
  MappingAnswer answer;
  if (!mapping.tasks.empty()) {
    answer.heft = mapping::heft(mapping.problem);
    answer.best = mapping::improve(mapping.problem, mapping.search);
    // Gaps that HEFT fills count: what moves find in order of readiness may be behind it.
    if (answer.heft->makespan <= answer.best->makespan) answer.best = answer.heft;
    return answer;
  }
  answer.plan = mapping::shard_tables(mapping.sharding, mapping.shard_search);
  answer.whole = mapping::shard_tables(mapping.sharding, {.steps = 0});
  if (!answer.plan) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /tables: found no placement in {} x {:.1f} GiB", mapping.path,
                             mapping.sharding.devices, mapping.sharding.memory_bytes / (1 << 30))};
  }
  return answer;
}

}  // namespace foretrace
