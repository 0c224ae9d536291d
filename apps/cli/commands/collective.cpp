// foretrace collective: how long collectives take on a cluster that nothing else uses.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "apps/report/section.h"
#include "apps/report/text.h"
#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace::commands::collective_parts {
namespace {

using report::Value;

struct Options {
  app::CommonOptions common;
  std::string kind;
  std::string cluster;
  std::string bytes;
  std::size_t ranks = 0;
};

/// What is asked, understood.
struct Question {
  Cluster cluster;
  Placement group;
  std::vector<CollectiveKind> kinds;
  std::vector<double> sizes;
};

/// Kinds that carry bytes; a receive is the send of its partner.
std::vector<CollectiveKind> kinds_with_bytes() {
  std::vector<CollectiveKind> kinds;
  for (std::size_t i = 1; i < collective_kind_count; ++i) {
    const auto kind = static_cast<CollectiveKind>(i);
    if (kind != CollectiveKind::barrier && kind != CollectiveKind::receive) kinds.push_back(kind);
  }
  return kinds;
}

Result<std::vector<CollectiveKind>> kinds_named(const std::string& name) {
  std::vector<CollectiveKind> kinds = kinds_with_bytes();
  if (name.empty() || name == "all") return kinds;
  std::vector<std::string_view> names{"all"};
  for (const CollectiveKind kind : kinds) {
    if (to_string(kind) == name) return std::vector{kind};
    names.push_back(to_string(kind));
  }
  return Error{ErrorCode::bad_usage,
               fmt::format("KIND: no collective is called {}{}, expected one of {}",
                           in_quotes(name), did_you_mean(name, names), fmt::join(names, ", "))};
}

/// "1G" is 1 GiB, as nccl-tests reads it.
Result<std::vector<double>> sizes_of(std::string text) {
  constexpr int doublings = 23;  // 1 KiB to 8 GiB
  constexpr double most_bytes = 1e15;
  std::vector<double> sizes;
  if (text.empty()) {
    for (int i = 0; i <= doublings; ++i) sizes.push_back(std::ldexp(1024.0, i));
    return sizes;
  }
  const std::string given = text;
  if (std::string_view("KMGT").find(text.back()) != std::string_view::npos) text += "iB";
  if (text.back() >= '0' && text.back() <= '9') text += " B";
  const Result<double> bytes = parse_quantity(text, ParamType::bytes);
  if (!bytes.ok() || !(*bytes >= 1 && *bytes <= most_bytes)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("--bytes: got {}, expected a size from 1 B to 1e15 B such as 1G, "
                             "'64 KiB' or 4096",
                             in_quotes(given))};
  }
  sizes.push_back(*bytes);
  return sizes;
}

/// Node by node, alone on the machine.
Result<Placement> group_of(const Cluster& cluster, std::size_t ranks) {
  const std::uint32_t known = cluster.accelerators();
  const std::size_t asked = ranks == 0 ? known : ranks;
  if (asked < 2 || asked > known) {
    return Error{ErrorCode::bad_usage, fmt::format("--ranks: got {}, expected 2 to {}", asked,
                                                   accelerators_of(cluster, asked))};
  }
  const auto size = static_cast<std::uint32_t>(asked);
  const std::uint32_t node = cluster.node_accelerators;
  if (size <= node) return place_alone(cluster, 1, size);
  if (size % node == 0) return place_alone(cluster, size / node, node);
  return place(cluster, {size, 1, size});
}

Result<Question> question_of(const Options& options) {
  Question question;
  FORETRACE_TRY(question.kinds, kinds_named(options.kind));
  FORETRACE_TRY(question.sizes, sizes_of(options.bytes));
  FORETRACE_TRY(const auto known, app::catalogue());
  FORETRACE_TRY(question.cluster, find_cluster(*known, options.cluster));
  FORETRACE_TRY(question.group, group_of(question.cluster, options.ranks));
  return question;
}

/// The time, where one collective of one size was asked for.
std::string one_answer(const Question& question) {
  if (question.kinds.size() != 1 || question.sizes.size() != 1) return {};
  const CollectiveCall call{question.kinds.front(), question.sizes.front(), question.group};
  const CollectiveRange found = collective_range(question.cluster, call);
  if (!(found.time.ns > 0)) return {};
  const auto ns = to_whole(found.time.ns);
  const report::Ends ends =
      report::time_ends(to_whole(found.shortest_ns), to_whole(found.longest_ns), ns);
  return fmt::format("{} of {}: {}, between {} and {}, {:.1f} GB/s on the bus; ",
                     to_string(call.kind), report::bytes_text(to_whole(call.bytes)),
                     report::time_text(ns), ends.low, ends.high, sent_bytes(call) / found.time.ns);
}

report::Page page_of(const Question& question) {
  report::Table table{
      .key = "collectives",
      .columns = {
          {"kind", "collective"},
          {"bytes", "bytes"},
          {"time_ns", "time"},
          {"shortest_ns", "from"},
          {"longest_ns", "to"},
          {"algorithm_bandwidth", "algorithm"},
          {"bus_bandwidth", "bus"},
          {"basis", "based on"},
          {.key = "range_basis", .title = "range based on", .narrow = report::Narrow::left_out}}};
  for (const CollectiveKind kind : question.kinds) {
    for (const double bytes : question.sizes) {
      const CollectiveCall call{kind, bytes, question.group};
      const CollectiveRange found = collective_range(question.cluster, call);
      const double per_second = found.time.ns > 0 ? 1e9 / found.time.ns : 0;
      table.add({Value::words(to_string(kind)), Value::bytes(to_whole(bytes)),
                 Value::time(to_whole(found.time.ns)), Value::time(to_whole(found.shortest_ns)),
                 Value::time(to_whole(found.longest_ns)), Value::bandwidth(bytes * per_second),
                 Value::bandwidth(sent_bytes(call) * per_second), Value::words(found.time.basis),
                 Value::words(found.basis)});
    }
  }
  report::Section section{.key = "collectives"};
  section.headline =
      fmt::format("{}{} ranks on {} of {}", one_answer(question), question.group.ranks,
                  question.group.nodes == 1 ? std::string("one node")
                                            : fmt::format("{} nodes", question.group.nodes),
                  question.cluster.name);
  section.datum("cluster", Value::words(question.cluster.name));
  section.datum("ranks", Value::count(question.group.ranks));
  section.datum("nodes", Value::count(question.group.nodes));
  section.tables.push_back(std::move(table));
  return {.schema = "foretrace.collectives/1",
          .sections = {std::move(section)},
          .main_table = "collectives"};
}

app::Exit run(const Options& options) {
  FORETRACE_TRY(const Question question, question_of(options));
  return app::answer(page_of(question), options.common);
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("KIND", options.kind, "all_reduce, all_gather, ...; all if left out");
  cli.add_option("--cluster", options.cluster, "the machine: see foretrace list clusters")
      .type_name("NAME")
      .required();
  cli.add_option("--ranks", options.ranks,
                 "number of ranks, filled node by node; all accelerators if left out")
      .type_name("N")
      .in_range(1, 100'000'000);
  cli.add_option("--bytes", options.bytes,
                 "size of the buffer, as nccl-tests counts it; 1 KiB to 8 GiB if left out")
      .type_name("SIZE");
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace collective all_reduce --cluster dgx_h100 --ranks 16 --bytes 1G",
        "time and bandwidths with their range"},
       {"foretrace collective --cluster dgx_a100 --ranks 8 --csv", "every kind, every size"}});
}

}  // namespace

extern constexpr CommandInfo info = {
    "collective", app::Group::plan,
    "predict collectives on a cluster: time, bandwidth and range by size",
    app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::collective_parts
