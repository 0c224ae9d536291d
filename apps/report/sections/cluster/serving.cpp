// A served model under load: how long requests wait and take, and what bounds them.
#include "apps/report/pages/cluster/serving.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

Value latency_value(double seconds) {
  const std::string text = seconds >= 600   ? fmt::format("{:.1f} min", seconds / 60)
                           : seconds >= 1   ? fmt::format("{:.2f} s", seconds)
                           : seconds >= 0.1 ? fmt::format("{:.0f} ms", seconds * 1e3)
                                            : fmt::format("{:.1f} ms", seconds * 1e3);
  return Value::time(to_whole(seconds * 1e9)).as(text);
}

std::string latency_text(double seconds) { return latency_value(seconds).shown; }

std::string machine_text(const Serving& serving) {
  const std::string copies = serving.options.prompt_replicas > 0
                                 ? fmt::format("{} for prompts, {} for decoding",
                                               plural(serving.options.prompt_replicas, "replica"),
                                               serving.options.replicas)
                                 : plural(serving.options.replicas, "replica");
  return fmt::format("{} x {}, {}", count_text(serving.accelerators()),
                     serving.cluster->accelerator.product, copies);
}

std::string serving_headline(const ServedAnswer& answer) {
  if (answer.answer.done == 0) {
    return fmt::format("{}: no request fits in the cache", answer.serving.model->product);
  }
  const Ranged first = answer.answer.mean(&ServingFigures::first_token_s);
  const Ranged token = answer.answer.mean(&ServingFigures::token_s);
  const Ranged rate = answer.answer.rate(&ServingFigures::output_tokens_per_s);
  return fmt::format(
      "{} on {}: first token after {} ({} to {}), then {} per token ({} to {}), {} tokens/s ({} to "
      "{})",
      answer.serving.model->product, machine_text(answer.serving), latency_text(first.typical),
      latency_text(first.low), latency_text(first.high), latency_text(token.typical),
      latency_text(token.low), latency_text(token.high), rate_text(rate.typical, 0),
      rate_text(rate.low, 0), rate_text(rate.high, 0));
}

void add_latencies(const ServingFigures& figures, Section& section) {
  Table table{.key = "latencies",
              .name = "latencies",
              .title = "of a request",
              .columns = {{"of"},
                          {"mean_ns", "mean"},
                          {"median_ns", "median"},
                          {"p90_ns", "90 %"},
                          {"p99_ns", "99 %"},
                          {"most_ns", "longest"}}};
  const auto row = [&table](std::string_view key, std::string_view title,
                            const Distribution& spread) {
    table.add({Value::words(key).as(std::string(title)), latency_value(spread.mean),
               latency_value(spread.median), latency_value(spread.p90), latency_value(spread.p99),
               latency_value(spread.most)});
  };
  row("waiting", "waits for its first step", figures.waiting_s);
  row("first_token", "first token", figures.first_token_s);
  row("token", "each further token", figures.token_s);
  row("latency", "whole answer", figures.latency_s);
  section.tables.push_back(std::move(table));
}

/// Shares of the device's time.
void add_sources(const StepTime& device, Section& section) {
  Table table{.key = "device_time",
              .name = "device_time",
              .title = "device time",
              .columns = {{"of"}, {"share", "share"}}};
  const double total = std::max(device.total(), 1e-9);
  for (std::size_t i = 0; i < cost_source_count; ++i) {
    const double share = device.by_source[i] / total;
    if (!(share > 0)) continue;
    table.add({Value::words(to_string(static_cast<CostSource>(i))), Value::share(share)});
  }
  section.tables.push_back(std::move(table));
}

/// What the device waits for between two steps.
Value host_value(const ServiceOptions& options) {
  Value step = Value::time(to_whole(options.host_step_ns));
  if (!(options.host_sequence_ns > 0)) return step;
  return Value(step).as(fmt::format("{}, and {} per sequence", step.shown,
                                    time_text(to_whole(options.host_sequence_ns))));
}

void add_remarks_of(const ServedAnswer& served, Section& section) {
  const ServingAnswer& answer = served.answer;
  const Serving& serving = served.serving;
  const auto blocks = static_cast<double>(serving.options.cache_blocks);
  section.fact(
      "cache_blocks", "cache",
      Value::plain(serving.options.cache_blocks)
          .as(fmt::format(
              "{} tokens per replica, {:.0f} % used at most",
              count_text(static_cast<std::uint64_t>(blocks) * serving.options.rules.block_tokens),
              100 * static_cast<double>(answer.service.most_blocks) / blocks)));
  section.datum("most_blocks", Value::plain(answer.service.most_blocks));
  section.fact("steps", "steps", Value::plain(answer.service.steps));
  section.fact("host_step_ns", "host, per step", host_value(serving.options));
  section.datum("host_sequence_ns", Value::time(to_whole(serving.options.host_sequence_ns)));
  section.fact("host_token_ns", "server, per token",
               Value::time(to_whole(serving.options.host_token_ns)),
               serving.options.host_token_ns > 0 ? Show::always : Show::never);
  section.fact("use", "replicas compute", Value::share(answer.use));
  section.fact("preemptions", "preempted", Value::plain(answer.preemptions),
               answer.preemptions > 0 ? Show::always : Show::never);
  section.fact("refused", "do not fit in the cache", Value::count(answer.refused),
               answer.refused > 0 ? Show::always : Show::never);
  // Others extend their positions; files of theirs state a usual length.
  const TransformerSpec& spec = serving.model->transformer;
  const auto [from, to] = serving.counted_range();
  const auto counted = std::span(serving.requests).subspan(from, to - from);
  const auto beyond = static_cast<std::uint64_t>(
      std::count_if(counted.begin(), counted.end(), [&spec](const ServingRequest& one) {
        return spec.position == PositionKind::learned &&
               static_cast<double>(one.input_tokens + one.output_tokens) > spec.positions;
      }));
  section.fact("beyond_positions", "longer than the model's positions",
               Value::count(beyond).as(
                   fmt::format("{}, it learned {:.0f}", plural(beyond, "request"), spec.positions)),
               beyond > 0 ? Show::always : Show::never);
  const double share = static_cast<double>(answer.cached_tokens) /
                       static_cast<double>(std::max<std::int64_t>(1, answer.prompt_tokens));
  section.fact("cached_share", "of prompt tokens found in the cache", Value::share(share),
               answer.cached_tokens > 0 ? Show::always : Show::never);
  if (serving.limits.first_token_ns > 0 || serving.limits.token_ns > 0) {
    const auto done = static_cast<double>(std::max<std::size_t>(1, answer.done));
    section.fact("within_limits", "within the limits",
                 Value::count(answer.within_limits)
                     .as(fmt::format("{} ({:.1f} %)", answer.within_limits,
                                     100 * static_cast<double>(answer.within_limits) / done)));
  }
}

Value::Object range_members(const Ranged& mean) {
  const auto ns = [](double seconds) { return Value::time(to_whole(seconds * 1e9)); };
  return {{"mean_ns", ns(mean.typical)}, {"low_ns", ns(mean.low)}, {"high_ns", ns(mean.high)}};
}

Value rate_range(const Ranged& rate) {
  return Value::object({{"low", Value::plain(rate.low)}, {"high", Value::plain(rate.high)}});
}

}  // namespace

Sections served_input(const ServedAnswer& answer) {
  const Serving& serving = answer.serving;
  Section input{.key = "input", .path = "input", .show = Show::never};
  input.datum("path", Value::words(serving.path));
  input.datum("model", Value::words(serving.model->name));
  input.datum("engine", Value::words(serving.engine.name));
  input.datum("accelerator", Value::words(serving.cluster->accelerator.name));
  input.datum("accelerators", Value::plain(serving.accelerators()));
  input.datum("tensor", Value::plain(serving.served.tensor));
  input.datum("replicas", Value::plain(serving.options.replicas));
  input.datum("prompt_replicas", Value::plain(serving.options.prompt_replicas));
  input.datum("requests", Value::count(serving.requests.size()));
  input.datum("in_flight", Value::plain(serving.options.in_flight));
  return {std::move(input)};
}

Sections served_figures(const ServedAnswer& answer) {
  const ServingAnswer& found = answer.answer;
  Section section{.key = "figures", .path = "figures", .headline = serving_headline(answer)};
  section.datum("done", Value::count(found.done));
  section.datum("output_tokens_per_s", Value::plain(found.figures.output_tokens_per_s));
  section.datum("requests_per_s", Value::plain(found.figures.requests_per_s));
  section.datum("output_tokens_per_s_range",
                rate_range(found.rate(&ServingFigures::output_tokens_per_s)));
  section.datum("requests_per_s_range", rate_range(found.rate(&ServingFigures::requests_per_s)));
  section.datum("first_token",
                Value::object(range_members(found.mean(&ServingFigures::first_token_s))));
  section.datum("token", Value::object(range_members(found.mean(&ServingFigures::token_s))));
  add_latencies(found.figures, section);
  add_remarks_of(answer, section);
  add_sources(found.service.device, section);
  Value::List requests;
  for (const ServedRequest& served : found.service.requests) {
    requests.push_back(Value::object({{"arrival_ns", Value::time(served.arrival_ns)},
                                      {"scheduled_ns", Value::known_time(served.scheduled_ns)},
                                      {"first_token_ns", Value::known_time(served.first_token_ns)},
                                      {"end_ns", Value::known_time(served.end_ns)},
                                      {"cached_tokens", Value::plain(served.cached_tokens)},
                                      {"preemptions", Value::plain(served.preemptions)}}));
  }
  section.datum("requests", Value::list(std::move(requests)));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
