#include "apps/scheduling/sources/job_table.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling {
namespace {

constexpr double most_steps = 1e18;
constexpr std::int64_t most_gpus = 1'000'000;

/// By its name, or by model and batch.
JobType type_of(CellFields& cell) {
  JobType type;
  type.name = cell.text("type");
  if (!type.name.empty()) return type;
  type.model = cell.text("model");
  if (type.model.empty()) return type;  // a batch of nothing
  const std::string batch = cell.text("batch");
  type.name = batch.empty() ? type.model : fmt::format("{} (batch {})", type.model, batch);
  return type;
}

/// One that a job on so many accelerators may have: another is never asked for.
std::string placement_of(CellFields& cell, std::int32_t gpus) {
  std::string text = cell.text("placement");
  std::vector<std::int32_t> per_node;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = c >= 'a' && c <= 'z';
    per_node.push_back(is_digit ? c - '0' : is_letter ? 10 + c - 'a' : 0);
  }
  const bool is_all = std::accumulate(per_node.begin(), per_node.end(), std::int64_t{0}) == gpus;
  if (!text.empty() && (!is_all || placement_name(per_node) != text)) {
    cell.mistake("placement", fmt::format("got {}, expected how many of the {} accelerators each "
                                          "node has, most first, such as '42' of 6",
                                          in_quotes(text), gpus));
  }
  return text;
}

// "V100|P100".
std::vector<KindId> kinds_in(const std::string& text, const Cluster& cluster, CellFields& cell) {
  std::vector<KindId> kinds;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.size(), text.find('|', at));
    const auto kind = kind_called(cluster, std::string_view(text).substr(at, end - at));
    if (kind) {
      kinds.push_back(*kind);
    } else {
      cell.mistake("kinds", kind.error().message);
    }
    at = end + 1;
  }
  return kinds;
}

void read_request(CellFields& cell, const Cluster& cluster, Job& job) {
  Request& request = job.request;
  request.gpus = static_cast<std::int32_t>(cell.whole_number("gpus", 1, 0, most_gpus));
  const double share = cell.number("gpu_share", 1, 0.001, 1);
  request.milli = static_cast<std::int32_t>(to_whole(share * whole));
  if (request.milli < whole && request.gpus != 1) {
    cell.mistake("gpu_share", "a share applies to one accelerator only");
  }
  request.cpu_milli = to_whole(cell.number("cpus", 0, 0, 1e6) * 1000);
  request.memory_mib = to_whole(cell.number("memory_mib", 0, 0, 1e12));
  request.kinds = kinds_in(cell.text("kinds"), cluster, cell);
  job.least_gpus = static_cast<std::int32_t>(cell.whole_number("least_gpus", 0, 0, most_gpus));
  job.most_gpus = static_cast<std::int32_t>(cell.whole_number("most_gpus", 0, 0, most_gpus));
  if (job.least_gpus > job.most_gpus) cell.mistake("least_gpus", "larger than most_gpus");
}

TenantId tenant_called(Workload& workload, const std::string& name) {
  const auto known = workload.tenants.values();
  const auto at = std::find(known.begin(), known.end(), name);
  if (at != known.end()) return make_id<TenantId>(static_cast<std::size_t>(at - known.begin()));
  return workload.tenants.push_back(name);
}

// Groups wait for those that were named before: nothing waits for itself.
void read_group(CellFields& cell, Workload& workload, Job& job) {
  const std::string after = cell.text("after");
  const auto known = static_cast<std::int32_t>(workload.groups.size());
  if (cell.given("group")) job.group = group_called(workload, cell.text("group"));
  if (after.empty()) return;
  const std::int32_t before = job.group < 0 ? known : job.group;
  const auto found = workload.group_numbers.find(after);
  if (found == workload.group_numbers.end() || found->second >= before) {
    const std::vector<std::string_view> names(workload.groups.begin(),
                                              workload.groups.begin() + before);
    return cell.mistake("after", fmt::format("got {}, expected a group of a row above, before its "
                                             "own{}",
                                             in_quotes(after), did_you_mean(after, names)));
  }
  job.after = found->second;
}

void read_work(CellFields& cell, Workload& workload, ThroughputTable& throughput, Job& job) {
  if (cell.given("duration_s") == cell.given("steps")) {
    return cell.mistake("duration_s", "expected either duration_s or steps, with type or model");
  }
  if (cell.given("duration_s")) {
    job.type = type_called(workload, {.name = "seconds", .model = "", .batch = 0});
    throughput.set_clock(job.type);
    job.phases = {cell.number("duration_s", 0, 0, most_steps)};
    return;
  }
  const JobType type = type_of(cell);
  if (type.name.empty()) return cell.mistake("steps", "expected type, or model, with it");
  job.type = type_called(workload, type);
  job.phases = {cell.number("steps", 0, 0, most_steps)};
}

}  // namespace

TypeId type_called(Workload& workload, const JobType& type) {
  const auto known = workload.types.values();
  const auto at = std::find_if(known.begin(), known.end(),
                               [&](const JobType& one) { return one.name == type.name; });
  if (at != known.end()) return make_id<TypeId>(static_cast<std::size_t>(at - known.begin()));
  return workload.types.push_back(type);
}

std::int32_t group_called(Workload& workload, const std::string& name) {
  const auto number = static_cast<std::int32_t>(workload.groups.size());
  const auto [found, is_new] = workload.group_numbers.try_emplace(name, number);
  if (is_new) workload.groups.push_back(name);
  return found->second;
}

Result<KindId> kind_called(const Cluster& cluster, std::string_view name) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < cluster.kinds.size(); ++i) {
    const auto kind = make_id<KindId>(i);
    if (cluster.kinds[kind].name == name) return kind;
    names.push_back(cluster.kinds[kind].name);
  }
  return Error{ErrorCode::not_found, fmt::format("the cluster has no kind {}{}", in_quotes(name),
                                                 did_you_mean(name, names))};
}

Status add_rates(const Cells& cells, const Cluster& cluster, Workload& workload,
                 ThroughputTable& throughput) {
  for (const std::string_view column : {"kind", "steps_per_s"}) {
    if (cells.has(column)) continue;
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: no column '{}'", cells.place_of_columns(), column)};
  }
  for (std::size_t row = 0; row < cells.rows.size(); ++row) {
    CellFields cell(cells, row);
    const JobType type = type_of(cell);
    if (type.name.empty()) cell.mistake("type", "expected a type, or a model");
    Where where;
    where.gpus = static_cast<std::int32_t>(cell.whole_number("gpus", 1, 1, most_gpus));
    const double rate = cell.number("steps_per_s", 0, 0, most_steps);
    const std::string other_type = cell.text("other_type");
    const bool is_pair = !other_type.empty();
    if (!is_pair) where.placement = placement_of(cell, where.gpus);
    const double other_rate = is_pair ? cell.number("other_steps_per_s", 0, 0, most_steps) : 0;
    if (!cell.given("kind")) cell.mistake("kind", "missing, expected a kind of accelerator");
    const auto kind = kind_called(cluster, cell.text("kind"));
    FORETRACE_TRY(cell.finish());
    if (!kind) continue;
    where.kind = *kind;
    const TypeId id = type_called(workload, type);
    if (is_pair) {
      const TypeId other = type_called(workload, {.name = other_type, .model = ""});
      throughput.set_together(id, other, where, {rate, other_rate});
    } else {
      throughput.set(id, where, rate);
    }
  }
  return ok_status();
}

Status add_jobs(const Cells& cells, const Cluster& cluster, Workload& workload,
                ThroughputTable& throughput) {
  for (std::size_t row = 0; row < cells.rows.size(); ++row) {
    CellFields cell(cells, row);
    Job job;
    job.name = cell.given("name") ? cell.text("name") : fmt::format("{}", workload.jobs.size());
    job.arrival_ns = cell.time("arrival_s", 0);
    read_request(cell, cluster, job);
    read_work(cell, workload, throughput, job);
    job.weight = cell.number("weight", 1, 1e-6, 1e6);
    job.tenant = tenant_called(workload, cell.text("tenant"));
    job.deadline_ns = cell.time("deadline_s", never_ns);
    job.isolated_ns = cell.time("isolated_s", 0);
    read_group(cell, workload, job);
    FORETRACE_TRY(cell.finish());
    workload.jobs.push_back(std::move(job));
  }
  return ok_status();
}

}  // namespace foretrace::scheduling
