// A control loop and its network, whole or pruned.
#include <algorithm>

#include <fmt/format.h>

#include "apps/extras/frames/streams_sections.h"
#include "apps/report/text.h"
#include "sim/core/whole.h"

namespace foretrace::report {
namespace {

Value milliseconds(double ns) {
  return Value::time(to_whole(ns)).as(fmt::format("{:.2f} ms", ns * 1e-6));
}

double loop_share(std::int64_t ns, const streams::LoopFigures& figures) {
  return figures.span_ns > 0 ? static_cast<double>(ns) / static_cast<double>(figures.span_ns) : 0;
}

Value devices_of(const LoopRequest& request, const streams::LoopFigures& figures) {
  Value::List devices;
  for (std::size_t d = 0; d < request.devices.size(); ++d) {
    devices.push_back(
        Value::object({{"device", Value::words(request.devices[d])},
                       {"loop", Value::share(loop_share(figures.busy_ns[d], figures))},
                       {"guests", Value::share(loop_share(figures.guest_ns[d], figures))}}));
  }
  return Value::list(std::move(devices));
}

// The device with most to do is what people look at.
std::string busiest(const LoopRequest& request, const streams::LoopFigures& figures) {
  std::size_t best = 0;
  for (std::size_t d = 1; d < request.devices.size(); ++d) {
    if (figures.busy_ns[d] + figures.guest_ns[d] > figures.busy_ns[best] + figures.guest_ns[best]) {
      best = d;
    }
  }
  return fmt::format(
      "{} {}", request.devices[best],
      percent_text(loop_share(figures.busy_ns[best] + figures.guest_ns[best], figures)));
}

}  // namespace

Sections streamed_control(const StreamedAnswer& answer) {
  if (answer.answer.control.empty()) return {};
  const LoopRequest& request = answer.streams.control;
  Section section{.key = "control"};
  Table table{.key = "control",
              .name = "control",
              .title = "network",
              .columns = {{"variant"},
                          {"network_ns", "takes"},
                          {"mean_ns", "loop, mean"},
                          {"p99_ns", "99 %"},
                          {.key = "longest_ns", .title = "longest", .show = Show::details},
                          {"late", "late"},
                          {"dropped", "dropped"},
                          {"missed", "missed"},
                          {.title = "busiest device"},
                          {.key = "frames", .show = Show::never},
                          {.key = "devices", .show = Show::never}}};
  std::size_t best = 0;
  for (std::size_t i = 0; i < answer.answer.control.size(); ++i) {
    const streams::LoopFigures& figures = answer.answer.control[i];
    const LoopVariant& variant = request.variants[i];
    if (figures.missed() < answer.answer.control[best].missed()) best = i;
    table.add({Value::words(variant.name), milliseconds(static_cast<double>(variant.network_ns)),
               milliseconds(figures.mean_ns), milliseconds(static_cast<double>(figures.p99_ns)),
               milliseconds(static_cast<double>(figures.longest_ns)), Value::plain(figures.late),
               Value::plain(figures.dropped), Value::share(figures.missed()),
               Value::words(busiest(request, figures)), Value::plain(figures.frames),
               devices_of(request, figures)});
  }
  const streams::LoopFigures& figures = answer.answer.control[best];
  section.headline = fmt::format(
      "loop of {} at {}: {} of {} miss the deadline with {}",
      plural(request.variants[best].loop.stages.size(), "stage"),
      shown_text(milliseconds(static_cast<double>(request.variants[best].loop.period_ns))),
      percent_text(figures.missed()), plural(static_cast<std::uint64_t>(figures.frames), "frame"),
      request.variants[best].name);
  section.tables.push_back(std::move(table));
  section.note(
      "loop: from the sensor to the end of the last stage; late: past the deadline; dropped: a "
      "newer frame arrived while it waited; busiest device: with other work");
  return {std::move(section)};
}

Sections streamed_buffers(const StreamedAnswer& answer) {
  if (answer.answer.buffers.empty()) return {};
  Section section{.key = "buffers"};
  Table table{
      .key = "buffers",
      .name = "buffers",
      .title = "buffer",
      .columns = {{"buffer_bytes"},
                  {"service_ns", "a query takes"},
                  {"p99_service_ns", "99 %"},
                  {"latency_ns", "with queue"},
                  {"accuracy", "accuracy"},
                  {"kept", "within bound"},
                  {"weight_bytes", "weights"},
                  {"update_bytes", "updates"},
                  {.key = "activation_bytes", .title = "activations", .show = Show::details},
                  {.key = "updates", .title = "changes", .show = Show::details},
                  {.key = "served", .show = Show::never}}};
  for (std::size_t i = 0; i < answer.answer.buffers.size(); ++i) {
    const streams::SuperNetFigures& figures = answer.answer.buffers[i];
    const streams::SuperNet& net = answer.streams.buffers[i];
    Value::Object served;
    for (std::size_t s = 0; s < net.subnets.size(); ++s) {
      served.push_back({net.subnets[s].name, Value::plain(figures.served[s])});
    }
    const auto bytes = [](double value) { return Value::bytes(to_whole(value)); };
    table.add({bytes(net.buffer_bytes), milliseconds(figures.service_ns),
               milliseconds(static_cast<double>(figures.p99_service_ns)),
               milliseconds(figures.latency_ns),
               Value::plain(figures.accuracy).as(fmt::format("{:.2f} %", 100 * figures.accuracy)),
               Value::share(static_cast<double>(figures.kept_wishes) /
                            static_cast<double>(std::max<std::int64_t>(1, figures.queries))),
               bytes(figures.weight_bytes), bytes(figures.update_bytes),
               bytes(figures.activation_bytes), Value::plain(figures.updates),
               Value::object(std::move(served))});
  }
  const streams::SuperNetFigures& first = answer.answer.buffers.front();
  const streams::SuperNetFigures& last = answer.answer.buffers.back();
  section.headline = fmt::format("{} to {}: {} each with a buffer of {}, {} with {}",
                                 plural(static_cast<std::uint64_t>(first.queries), "query"),
                                 plural(answer.streams.buffers.front().subnets.size(), "SubNet"),
                                 shown_text(milliseconds(first.service_ns)),
                                 bytes_text(to_whole(answer.streams.buffers.front().buffer_bytes)),
                                 shown_text(milliseconds(last.service_ns)),
                                 bytes_text(to_whole(answer.streams.buffers.back().buffer_bytes)));
  section.tables.push_back(std::move(table));
  section.note(
      "within bound: the time on the accelerator, or the accuracy, that the query asks for; "
      "weights: read from memory for queries; updates: read to change the contents of the buffer");
  return {std::move(section)};
}

}  // namespace foretrace::report
