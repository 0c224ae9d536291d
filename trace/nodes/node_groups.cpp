#include "trace/nodes/node_groups.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/params.h"
#include "trace/nodes/node_order.h"

namespace foretrace::trace {
namespace {

constexpr std::string_view init_node = "## process_group:init ##";
constexpr std::size_t most_named = 8;

/// The JSON list inside the node's arguments, which are a list of Python's with one text. Formats
/// that are JSON keep it as it is written there.
std::string json_list(std::string_view values) {
  const std::size_t begin = values.find("[{");
  const std::size_t end = values.rfind("}]");
  const bool is_found = begin != std::string_view::npos && end != std::string_view::npos;
  std::string list(is_found && begin < end ? values.substr(begin, end + 2 - begin)
                                           : std::string_view{});
  list.erase(std::remove(list.begin(), list.end(), '\\'), list.end());
  return list;
}

/// None: something else stands there.
std::optional<std::int32_t> rank_in(const ConfigValue& value) {
  std::int32_t rank = -1;
  const char* const end = value.text.data() + value.text.size();
  const auto [at, error] = std::from_chars(value.text.data(), end, rank);
  const bool is_rank =
      value.kind == ConfigValue::Kind::number && error == std::errc{} && at == end && rank >= 0;
  return is_rank ? std::optional(rank) : std::nullopt;
}

Status add_group(const ConfigValue& group, std::span<const std::int32_t> all_ranks,
                 GroupList& list) {
  const ConfigValue* const name = group.find("pg_name");
  const ConfigValue* const ranks = group.find("ranks");
  if (name == nullptr || ranks == nullptr || ranks->kind != ConfigValue::Kind::list) {
    return ok_status();
  }
  auto members = ranks_in(*ranks);
  if (!members) return std::move(members).error().with_context("group " + in_quotes(name->text));
  if (members->empty()) members->assign(all_ranks.begin(), all_ranks.end());
  std::sort(members->begin(), members->end());
  list.emplace(name->text, *std::move(members));
  return ok_status();
}

}  // namespace

Result<std::vector<std::int32_t>> ranks_in(const ConfigValue& list) {
  if (list.kind != ConfigValue::Kind::list) {
    return Error{ErrorCode::bad_format, list.described() + ", expected a list of ranks"};
  }
  std::vector<std::int32_t> ranks;
  for (const ConfigValue& item : list.items) {
    const auto rank = rank_in(item);
    if (!rank) return Error{ErrorCode::bad_format, item.described() + ", expected a rank"};
    ranks.push_back(*rank);
  }
  std::sort(ranks.begin(), ranks.end());
  const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  if (twice == ranks.end()) return ranks;
  return Error{ErrorCode::bad_format,
               fmt::format("got rank {} twice, expected each rank once", *twice)};
}

Result<GroupList> recorded_groups(const RankNodes& rank, std::span<const std::int32_t> all_ranks) {
  GroupList list;
  const NodeGraph& nodes = *rank.nodes;
  const NameTable& names = rank.events->names;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (names[nodes.name[i]] != init_node) continue;
    const std::string text = json_list(names[nodes.signatures[nodes.signature[i]].values]);
    const auto parsed = parse_config(text);
    if (!parsed.ok()) continue;
    for (const ConfigValue& group : parsed->items) {
      if (auto status = add_group(group, all_ranks, list); !status) {
        return std::move(status).error().with_context(fmt::format(
            "{}: {}", rank.events->info.path, node_text(*rank.events, nodes, make_id<NodeId>(i))));
      }
    }
  }
  return list;
}

NodeGroups::NodeGroups(std::span<const RankNodes> ranks, GroupList listed, std::string where)
    : where_(std::move(where)) {
  std::map<std::vector<std::int32_t>, std::uint32_t> lists;
  const auto id_of = [&lists](std::vector<std::int32_t> list) {
    return lists.try_emplace(std::move(list), static_cast<std::uint32_t>(lists.size()))
        .first->second;
  };
  const auto ids_of = [&id_of](GroupList&& groups) {
    Ids ids;
    for (auto& [name, list] : groups) ids.emplace(name, id_of(std::move(list)));
    return ids;
  };
  for (const RankNodes& rank : ranks) ranks_.push_back(rank.rank);
  std::sort(ranks_.begin(), ranks_.end());
  all_ = id_of(ranks_);
  listed_ = ids_of(std::move(listed));
  GroupList named;
  for (const RankNodes& rank : ranks) {
    if (!where_.empty()) break;
    auto recorded = recorded_groups(rank, ranks_);
    recorded_.emplace(rank.rank, recorded.ok() ? Result<Ids>(ids_of(*std::move(recorded)))
                                               : Result<Ids>(recorded.error()));
    for (const NodeCommunication& row : rank.nodes->communications) {
      auto& members = named[std::string(rank.events->names[row.group])];
      const auto at = std::lower_bound(members.begin(), members.end(), rank.rank);
      if (at == members.end() || *at != rank.rank) members.insert(at, rank.rank);
    }
  }
  named_ = ids_of(std::move(named));
  lists_.resize(lists.size());
  while (!lists.empty()) {
    auto node = lists.extract(lists.begin());
    List& list = lists_[node.mapped()];
    list.ranks = std::move(node.key());
    const auto missing =
        std::find_if_not(list.ranks.begin(), list.ranks.end(), [this](std::int32_t member) {
          return std::binary_search(ranks_.begin(), ranks_.end(), member);
        });
    if (missing != list.ranks.end()) list.without_trace = *missing;
  }
}

Error NodeGroups::mistake(const RankNodes& rank, const NodeCommunication& row,
                          const std::string& what) {
  return Error{ErrorCode::bad_format, fmt::format("{}: {}: group '{}' {}", rank.events->info.path,
                                                  node_text(*rank.events, *rank.nodes, row.node),
                                                  rank.events->names[row.group], what)};
}

Result<std::uint32_t> NodeGroups::list_of(const RankNodes& rank,
                                          const NodeCommunication& row) const {
  const std::string_view name = rank.events->names[row.group];
  if (name.empty()) return all_;
  if (where_.empty() && !recorded_.at(rank.rank)) return recorded_.at(rank.rank).error();
  const Ids& known = where_.empty() ? *recorded_.at(rank.rank) : listed_;
  if (const auto at = known.find(name); at != known.end()) return at->second;
  if (!known.empty() || !where_.empty()) {
    std::vector<std::string_view> names;
    for (const auto& [group, unused] : known) {
      if (names.size() < most_named) names.push_back(group);
    }
    return mistake(
        rank, row,
        fmt::format("is not listed{}, expected one of {}{}", where_.empty() ? "" : " in " + where_,
                    fmt::join(names, ", "), known.size() > names.size() ? ", ..." : ""));
  }
  const std::uint32_t list = named_.find(name)->second;
  const std::size_t size = lists_[list].ranks.size();
  if (row.group_size > 0 && std::cmp_not_equal(size, row.group_size)) {
    return mistake(rank, row,
                   fmt::format("has {} ranks and {} traces name it, expected a list of its "
                               "members (comm_group.json beside the traces)",
                               row.group_size, size));
  }
  return list;
}

Result<NodeGroups::Members> NodeGroups::members(const RankNodes& rank,
                                                const NodeCommunication& row) const {
  FORETRACE_TRY(const auto id, list_of(rank, row));
  const List& list = lists_[id];
  if (id == all_) return Members{id, list.ranks};
  if (list.without_trace >= 0) {
    return mistake(rank, row,
                   fmt::format("has rank {}, which has no trace, expected one of every rank of the "
                               "group ({} here: {} to {})",
                               list.without_trace, ranks_.size(), ranks_.front(), ranks_.back()));
  }
  if (!std::binary_search(list.ranks.begin(), list.ranks.end(), rank.rank)) {
    return mistake(rank, row,
                   fmt::format("has ranks {}, expected rank {} among them",
                               fmt::join(list.ranks, ", "), rank.rank));
  }
  return Members{id, list.ranks};
}

}  // namespace foretrace::trace
