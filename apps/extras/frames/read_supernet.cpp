// The part of a streams file that is a weight-shared network under queries.
#include <algorithm>

#include <fmt/format.h>

#include "apps/extras/frames/stream_parts.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr double most_subnet_bytes = 1e15;
constexpr double longest_subnet_ns = 1e12;
constexpr double most_subnet_queries = 1e6;
constexpr double longest_queries_ns = 4e18;  // that times can tell
constexpr double most_layer_runs = 2e9;      // of all queries, networks and buffers: a minute

streams::SubNet read_subnet(ConfigFields& fields, const std::string& where,
                            const std::string& pointer) {
  streams::SubNet subnet;
  fields.text("name", subnet.name);
  subnet.accuracy = read_within(fields, "accuracy", ParamType::number, 1);
  const ConfigValue* list = fields.objects("layers");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields one(list->items[i], where, fmt::format("{}/layers/{}", pointer, i));
    streams::SubNetLayer layer;
    layer.compute_ns = to_whole(read_within(one, "compute", ParamType::time, longest_subnet_ns));
    layer.weight_bytes = read_within(one, "weights", ParamType::bytes, most_subnet_bytes);
    layer.activation_bytes =
        optional_within(one, "activations", ParamType::bytes, most_subnet_bytes, 0);
    fields.take(one.finish());
    subnet.layers.push_back(layer);
  }
  return subnet;
}

void read_subnets(ConfigFields& fields, const std::string& where, const std::string& pointer,
                  streams::SuperNet& net) {
  const ConfigValue* list = fields.objects("subnets");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    const std::string at = fmt::format("{}/subnets/{}", pointer, i);
    ConfigFields one(list->items[i], where, at);
    streams::SubNet subnet = read_subnet(one, where, at);
    const std::size_t layers =
        net.subnets.empty() ? subnet.layers.size() : net.subnets.front().layers.size();
    if (subnet.layers.empty() || subnet.layers.size() != layers) {
      one.mistake("layers", fmt::format("got {}, expected {}: one per layer of every SubNet, 0 B "
                                        "and 0 s where a layer is missing",
                                        subnet.layers.size(), std::max<std::size_t>(1, layers)));
    }
    fields.take(one.finish());
    net.subnets.push_back(std::move(subnet));
  }
  if (net.subnets.empty()) fields.mistake("subnets", "got none, expected at least one");
}

void read_wishes(ConfigFields& fields, const std::string& where, const std::string& pointer,
                 streams::SuperNet& net) {
  const ConfigValue* list = fields.objects("wishes");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields one(list->items[i], where, fmt::format("{}/wishes/{}", pointer, i));
    streams::QueryWish wish;
    wish.share = optional_within(one, "share", ParamType::number, 1, 1);
    if (!(wish.share > 0)) one.mistake("share", "got 0, expected more, up to 1");
    if (one.has("latency") == one.has("accuracy")) {
      one.mistake("latency", "expected either latency or accuracy");
      static_cast<void>(one.optional_value("latency"));
      static_cast<void>(one.optional_value("accuracy"));
    } else if (one.has("latency")) {
      wish.latency_ns = to_whole(read_positive(one, "latency", ParamType::time, longest_subnet_ns));
      wish.latency_ns = std::max<std::int64_t>(1, wish.latency_ns);
    } else {
      wish.accuracy = read_within(one, "accuracy", ParamType::number, 1);
    }
    fields.take(one.finish());
    net.wishes.push_back(wish);
  }
  if (net.wishes.empty()) fields.mistake("wishes", "got none, expected at least one");
}

// How long all queries may take, and how much work they are.
void check_effort(ConfigFields& fields, const streams::SuperNet& net, std::size_t buffers) {
  double longest_ns = 0;  // of a query with nothing kept, and of an update behind it
  double layers = 0;
  for (const streams::SubNet& subnet : net.subnets) {
    double ns = 0;
    for (const streams::SubNetLayer& layer : subnet.layers) {
      const double bytes = 2 * layer.weight_bytes + layer.activation_bytes;
      ns += static_cast<double>(layer.compute_ns) + bytes / net.bytes_per_s * 1e9;
    }
    longest_ns = std::max(longest_ns, ns);
    layers += static_cast<double>(subnet.layers.size());
  }
  // An arrival comes at most 53 x ln 2 mean gaps behind the one before.
  constexpr double longest_gap = 37;
  if (net.per_second > 0) longest_ns += longest_gap * 1e9 / net.per_second;
  const auto queries = static_cast<double>(net.queries);
  if (!(queries * longest_ns <= longest_queries_ns)) {
    return fields.mistake("queries", fmt::format("got {}, which may take {:.3g} s, expected at "
                                                 "most {:g} s",
                                                 net.queries, queries * longest_ns * 1e-9,
                                                 longest_queries_ns * 1e-9));
  }
  const double runs =
      queries * static_cast<double>(buffers) * (layers + static_cast<double>(net.wishes.size()));
  if (runs > most_layer_runs) {
    fields.mistake("queries", fmt::format("got {}, {:.3g} layers and wishes with those of all "
                                          "SubNets and buffers, expected at most {:g}",
                                          net.queries, runs, most_layer_runs));
  }
}

}  // namespace

Status read_supernet(const ConfigValue& value, const std::string& where, const std::string& pointer,
                     std::vector<streams::SuperNet>& buffers) {
  ConfigFields fields(value, where, pointer);
  streams::SuperNet net;
  net.bytes_per_s = read_positive(fields, "bandwidth", ParamType::bandwidth, 1e16);
  net.queries = optional_count(fields, "queries", most_subnet_queries, 1000);
  net.per_second = optional_within(fields, "per_second", ParamType::number, 1e9, 0);
  net.update_every = optional_count(fields, "update_every", most_subnet_queries, 16);
  net.seed = static_cast<std::uint64_t>(
      optional_within(fields, "seed", ParamType::integer, largest_seed, 0));
  read_subnets(fields, where, pointer, net);
  read_wishes(fields, where, pointer, net);
  std::vector<std::string> sizes;
  fields.texts("buffers", sizes);
  if (sizes.empty()) fields.mistake("buffers", "got none, expected sizes such as \"2 MiB\"");
  check_effort(fields, net, sizes.size());
  for (const std::string& size : sizes) {
    const auto bytes = parse_quantity(size, ParamType::bytes);
    if (!bytes.ok() || !(*bytes >= 0 && *bytes <= most_subnet_bytes)) {
      fields.mistake("buffers", fmt::format("got {}, expected {}", in_quotes(size),
                                            expectation(ParamType::bytes)));
      continue;
    }
    buffers.push_back(net);
    buffers.back().buffer_bytes = *bytes;
  }
  return fields.finish();
}

}  // namespace foretrace
