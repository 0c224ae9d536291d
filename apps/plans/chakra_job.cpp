#include "apps/plans/chakra_job.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/hardware/networks/placement.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/program/stages.h"
#include "sim/core/whole.h"
#include "trace/formats/chakra/node_message.h"

namespace foretrace {
namespace {

namespace chakra = trace::formats::chakra;

constexpr std::uint32_t most_ranks = 4096;

chakra::NodeType type_of(const RankNode& node) {
  switch (node.type) {
    case RankNodeType::compute: return chakra::comp;
    case RankNodeType::collective: return chakra::comm_coll;
    case RankNodeType::send: return chakra::comm_send;
    case RankNodeType::receive: return chakra::comm_recv;
  }
  return chakra::comp;
}

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(to_whole(value)); }

std::vector<std::string> differences_of(const Job& job) {
  std::vector<std::string> differences;
  const ParallelPlan& plan = job.plan;
  const auto lies_alike = [&job](const GridAxis& axis) {
    return axis.size == 1 || job.ranks() <= job.cluster->node_accelerators ||
           groups_lie_alike(*job.cluster, axis);
  };
  const std::array axes = {axis_of(plan, Axis::tensor),
                           axis_of(plan, Axis::context),
                           axis_of(plan, Axis::expert),
                           axis_of(plan, Axis::data),
                           shard_axis(plan),
                           replica_axis(plan),
                           expert_copies(plan)};
  if (!std::all_of(axes.begin(), axes.end(), lies_alike)) {
    differences.emplace_back(
        "shorter: groups do not divide nodes evenly, and a scenario uses the time of the group "
        "that spans most nodes for all");
  }
  if (job.framework->forwards_tokens && plan.expert > 1) {
    differences.emplace_back(
        "longer: tokens that are forwarded inside nodes cross the network once per expert in the "
        "export");
  }
  if (!job.trains() && plan.pipeline > 1) {
    differences.emplace_back(
        "shorter: in a scenario, a pipeline of forward passes keeps the order of training and "
        "waits for backward passes of no time");
  }
  return differences;
}

class Export {
 public:
  Export(const Job& job, const WriteExport& write) : job_(job), write_(write) {}

  Result<ChakraExport> run() {
    FORETRACE_TRY(const auto program, build_program(job_));
    const std::uint32_t of_stage = job_.plan.ranks() / job_.plan.pipeline;
    for (std::uint32_t stage = 0; stage < job_.plan.pipeline; ++stage) {
      FORETRACE_TRY(const auto nodes, rank_nodes(job_, program, stage));
      for (std::uint32_t i = 0; i < of_stage; ++i) {
        FORETRACE_TRY(write_rank(nodes, stage * of_stage + i));
      }
    }
    FORETRACE_TRY(write_groups());
    result_.ranks = job_.plan.ranks();
    result_.differences = differences_of(job_);
    result_.groups = static_cast<std::uint32_t>(groups_.size());
    return result_;
  }

 private:
  Status write_rank(const std::vector<RankNode>& nodes, std::uint32_t rank) {
    std::string text = chakra::metadata_message();
    std::int64_t written_ns = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      text += node_text(nodes[i], i, rank, written_ns);
    }
    result_.nodes += nodes.size();
    result_.bytes += text.size();
    return write_(fmt::format("rank.{}.et", rank), text);
  }

  std::string node_text(const RankNode& node, std::size_t i, std::uint32_t rank,
                        std::int64_t& written_ns) {
    chakra::NodeMessage out(i + 1, node.name, type_of(node));
    std::vector<std::uint64_t> data;
    for (const std::uint32_t before : node.after) data.push_back(std::uint64_t{before} + 1);
    out.after(data);
    // Whole microseconds: what rounding took is given to the next node.
    const std::int64_t before = written_ns / 1000;
    written_ns += to_whole(node.ns);
    out.microseconds(chakra::node_duration, static_cast<std::uint64_t>(written_ns / 1000 - before));
    out.boolean("is_cpu_op", false);
    switch (node.type) {
      case RankNodeType::compute: break;
      case RankNodeType::collective:
        out.number("comm_type", chakra::int64_value,
                   static_cast<std::uint64_t>(chakra::comm_type(node.collective)));
        // Ours is the whole result; ASTRA-sim takes what one rank gives (Ring.cc multiplies it by
        // the ranks of the ring for an all-gather).
        out.number("comm_size", chakra::int64_value,
                   whole(node.collective == CollectiveKind::all_gather
                             ? node.bytes / std::max<double>(1, node.group.size)
                             : node.bytes));
        out.text("pg_name", fmt::format("{}", group_of(node, rank)));
        out.number("pg_size", chakra::int64_value, node.group.size);
        break;
      case RankNodeType::send:
      case RankNodeType::receive: {
        const std::uint32_t of_stage = job_.plan.ranks() / job_.plan.pipeline;
        const std::uint32_t other = node.stage * of_stage + rank % of_stage;
        const bool sends = node.type == RankNodeType::send;
        out.number("comm_size", chakra::int64_value, whole(node.bytes));
        out.number("comm_src", chakra::int32_value, sends ? rank : other);
        out.number("comm_dst", chakra::int32_value, sends ? other : rank);
        out.number("comm_tag", chakra::int32_value, node.message);
        break;
      }
    }
    return out.delimited();
  }

  std::uint32_t group_of(const RankNode& node, std::uint32_t rank) {
    const GridAxis& group = node.group;
    const std::tuple key{group.size, group.stride, first_of_group(group, rank), node.travels};
    return groups_.emplace(key, static_cast<std::uint32_t>(groups_.size() + 1)).first->second;
  }

  Status write_groups() {
    std::vector<std::string> lines(groups_.size());
    for (const auto& [key, number] : groups_) {
      const auto& [size, stride, first, travels] = key;
      std::vector<std::uint32_t> members;
      for (std::uint32_t i = 0; i < size; ++i) members.push_back(first + i * stride);
      lines[number - 1] = fmt::format("  \"{}\": [{}]", number, fmt::join(members, ", "));
    }
    const std::string text = fmt::format("{{\n{}\n}}\n", fmt::join(lines, ",\n"));
    result_.bytes += text.size();
    return write_("comm_group.json", text);
  }

  const Job& job_;
  const WriteExport& write_;
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>;
  std::map<Key, std::uint32_t> groups_;
  ChakraExport result_;
};

}  // namespace

Result<ChakraExport> export_chakra(const Scenario& scenario, const WriteExport& write) {
  FORETRACE_TRY(check_stages_alike(scenario.job).with_context(scenario.path));
  if (const std::uint32_t ranks = scenario.job.plan.ranks(); ranks > most_ranks) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: /parallelism: got {} ranks, expected at most {}: every one is a "
                             "file of its own",
                             scenario.path, ranks, most_ranks)};
  }
  if (scenario.job.sparse_gradients) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: /sparse_gradients: got sums of blocks, which these traces have "
                             "no collective for, expected none",
                             scenario.path)};
  }
  auto exported = Export(scenario.job, write).run();
  if (!exported.ok() && exported.error().code == ErrorCode::unsupported) {
    return std::move(exported).error().with_context(scenario.path);
  }
  return exported;
}

}  // namespace foretrace
