#include "tests/validation/maps/exchange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "models/hardware/collectives/expert_exchange.h"
#include "sim/core/params.h"
#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {
namespace {

constexpr double node_size = 8;
constexpr double most_experts = 1e5;
constexpr double most_token_bytes = 1e7;

Result<ExchangeStyle> style_called(const std::string& name) {
  if (name == "padded") return ExchangeStyle::padded;
  if (name == "direct") return ExchangeStyle::direct;
  if (name == "forwarded") return ExchangeStyle::forwarded;
  return Error{ErrorCode::not_found, fmt::format("no exchange is called {}", in_quotes(name))};
}

Result<ExpertExchange> exchange_of(const ConfigValue& object, const Cluster& cluster) {
  const TruthRow row({}, object);
  FORETRACE_TRY(const auto style, style_called(row.text("style")));
  RowNumbers numbers(row);
  ExpertExchange exchange;
  exchange.style = style;
  exchange.tokens = numbers.count("tokens", most_tokens);
  exchange.experts = numbers.count("experts", most_experts);
  exchange.top_k = numbers.count("top_k", exchange.experts);
  exchange.token_bytes = numbers.number("token_bytes", 1, most_token_bytes);
  exchange.node_limit = numbers.count_or("node_limit", 0, most_ranks, 0);
  const double ranks = numbers.count("ranks", most_ranks, 2);
  FORETRACE_TRY(numbers.status());
  const double nodes = std::ceil(ranks / node_size);
  if (std::fmod(ranks, nodes) != 0 || nodes > cluster.nodes) {
    return Error{ErrorCode::bad_format, fmt::format("got {} ranks, expected whole nodes", ranks)};
  }
  exchange.group = place_alone(cluster, static_cast<std::uint32_t>(nodes),
                               static_cast<std::uint32_t>(ranks / nodes));
  return exchange;
}

}  // namespace

Result<Figure> predict_exchange(const ConfigValue& run, bool is_rate, TableInputs& inputs) {
  const ConfigValue* const name = run.find("cluster");
  const ConfigValue* const object = run.find("exchange");
  if (name == nullptr || object == nullptr) {
    return Error{ErrorCode::not_found, "no description of this machine"};
  }
  FORETRACE_TRY(const auto cluster, inputs.cluster(name->text));
  FORETRACE_TRY(const auto exchange, exchange_of(*object, *cluster));
  const auto figure = [&](Bound bound, double factor) {
    const double ns = exchange_time(*cluster, exchange, bound).ns * factor;
    return is_rate ? counted_bytes(exchange) / ns : ns * 1e-3;
  };
  // As far off as other collectives in which everybody sends to everybody.
  const CollectiveRange like = collective_range(
      *cluster, {CollectiveKind::all_to_all, counted_bytes(exchange), exchange.group});
  std::array<double, 4> ends = {figure(Bound::optimistic, 1), figure(Bound::pessimistic, 1),
                                figure(Bound::point, like.shortest_ns / like.time.ns),
                                figure(Bound::point, like.longest_ns / like.time.ns)};
  std::sort(ends.begin(), ends.end());
  return Figure{figure(Bound::point, 1), ends.front(), ends.back()};
}

}  // namespace foretrace::validation
