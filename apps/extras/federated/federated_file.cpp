// foretrace.federated/1: rounds of federated learning under policies.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/extras/federated/federated.h"
#include "apps/extras/federated/rounds.h"
#include "apps/extras/file_kinds.h"
#include "apps/report/text.h"
#include "sim/core/distribution.h"
#include "sim/core/whole.h"

namespace foretrace::report::federated_parts {
namespace {

Value seconds_of(double seconds) {
  const std::string text = seconds >= 3600 ? fmt::format("{:.2f} h", seconds / 3600)
                           : seconds >= 60 ? fmt::format("{:.1f} min", seconds / 60)
                                           : fmt::format("{:.2f} s", seconds);
  return Value::time(to_whole(seconds * 1e9)).as(text);
}

Value rate_value(double bytes_per_s) {
  return Value::plain(bytes_per_s).as(fmt::format("{:.1f} MB/s", bytes_per_s * 1e-6));
}

double wasted_share(const federated::RoundFigures& figures) {
  const double all = figures.useful_s + figures.wasted_s;
  return all > 0 ? figures.wasted_s / all : 0;
}

double mean_rate(const federated::RoundFigures& figures) {
  const double seconds = static_cast<double>(figures.end_ns) * 1e-9;
  return seconds > 0 ? (figures.sent_bytes + figures.received_bytes) / seconds : 0;
}

Section policies_of(const FederatedRun& run,
                    const std::vector<federated::RoundFigures>& by_policy) {
  const federated::Federation& federation = run.federation;
  Section section{.key = "policies"};
  section.datum("path", Value::words(run.path));
  const bool any_given_up = std::any_of(by_policy.begin(), by_policy.end(),
                                        [](const auto& figures) { return figures.given_up > 0; });
  const Show given_up = any_given_up ? Show::always : Show::details;
  Table table{.key = "policies",
              .name = "policies",
              .title = "policy",
              .columns = {{"name"},
                          {"end_ns", "all"},
                          {"mean_round_ns", "a round"},
                          {"p99_round_ns", "99 %"},
                          {"asked", "asked"},
                          {"merged", "merged"},
                          {"left", "left"},
                          {"unused", "unused"},
                          {"wasted_share", "wasted"},
                          {"mean_bytes_per_s", "server"},
                          {.key = "peak_bytes_per_s", .title = "most", .show = Show::details},
                          {.key = "given_up", .title = "abandoned", .show = given_up},
                          {.key = "age", .title = "rounds old", .show = Show::details},
                          {.key = "rounds", .show = Show::never},
                          {.key = "sent_bytes", .show = Show::never},
                          {.key = "received_bytes", .show = Show::never},
                          {.key = "useful_device_ns", .show = Show::never},
                          {.key = "wasted_device_ns", .show = Show::never}}};
  std::size_t best = 0;
  for (std::size_t i = 0; i < by_policy.size(); ++i) {
    const federated::RoundFigures& figures = by_policy[i];
    const federated::RoundFigures& so_far = by_policy[best];
    if (std::pair(figures.given_up, figures.end_ns) < std::pair(so_far.given_up, so_far.end_ns)) {
      best = i;
    }
    const Distribution rounds = distribution_of(figures.round_s);
    table.add({Value::words(run.policies[i].name),
               seconds_of(static_cast<double>(figures.end_ns) * 1e-9), seconds_of(rounds.mean),
               seconds_of(rounds.p99), Value::plain(figures.asked), Value::plain(figures.merged),
               Value::plain(figures.left), Value::plain(figures.unused),
               Value::share(wasted_share(figures)), rate_value(mean_rate(figures)),
               rate_value(figures.peak_bytes_per_s), Value::plain(figures.given_up),
               Value::plain(figures.age).as(fmt::format("{:.2f}", figures.age)),
               Value::count(figures.round_s.size()), Value::bytes(to_whole(figures.sent_bytes)),
               Value::bytes(to_whole(figures.received_bytes)), seconds_of(figures.useful_s),
               seconds_of(figures.wasted_s)});
  }
  std::uint64_t devices = 0;
  for (const federated::DeviceClass& kind : federation.classes) {
    devices += static_cast<std::uint64_t>(kind.devices);
  }
  const federated::RoundFigures& first = by_policy[best];
  section.headline = fmt::format("{} on {}: {} under {}, {} of the work of devices wasted",
                                 plural(static_cast<std::uint64_t>(federation.rounds), "round"),
                                 plural(devices, "device"),
                                 shown_text(seconds_of(static_cast<double>(first.end_ns) * 1e-9)),
                                 run.policies[best].name, percent_text(wasted_share(first)));
  section.tables.push_back(std::move(table));
  section.note(
      "left: devices that failed or timed out; unused: updates that arrived too late or were too "
      "old; wasted: share of the time that devices worked; server: bytes both ways");
  return section;
}

Result<Page> page(const Catalogue& /*catalogue*/, const std::string& path) {
  FORETRACE_TRY(const auto run, read_federated(path));
  FORETRACE_TRY(const auto figures, run_federated(run));
  return Page{.schema = "foretrace.federated_result/1",
              .document_keys = {"path", "policies"},
              .sections = {policies_of(run, figures)},
              .main_table = "policies"};
}

}  // namespace

extern constexpr FileKind info = {.schema = federated_schema,
                                  .holds = "rounds of federated learning",
                                  .command = "simulate",
                                  .page = page};

}  // namespace foretrace::report::federated_parts
