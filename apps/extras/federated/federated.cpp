#include "apps/extras/federated/federated.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/config.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr std::array<std::string_view, 2> policy_words = {"synchronous", "buffered"};
constexpr double most_devices_of_all = 1e5;
constexpr double most_rounds = 1e4;
constexpr double most_update_bytes = 1e15;
constexpr double longest_device_s = 1e5;

class FederatedReader {
 public:
  FederatedReader(const ConfigValue& root, const std::string& where)
      : fields_(root, where), where_(where) {}

  Result<FederatedRun> read() {
    run_.path = where_;
    federated::Federation& federation = run_.federation;
    read_task();
    read_classes();
    federation.rounds = optional_count(fields_, "rounds", most_rounds, 100);
    federation.retry_ns = to_whole(
        fields_.has("retry") ? read_positive(fields_, "retry", ParamType::time, 1e14) : 6e10);
    static_cast<void>(fields_.optional_value("retry"));
    federation.seed = static_cast<std::uint64_t>(
        optional_within(fields_, "seed", ParamType::integer, largest_seed, 0));
    read_policies();
    FORETRACE_TRY(fields_.finish());
    return std::move(run_);
  }

 private:
  // What a device sends back: bytes, or histograms of gradients of boosted trees.
  void read_upload(ConfigFields& task) {
    double& bytes = run_.federation.task.upload_bytes;
    if (!task.has("histograms")) {
      bytes = read_within(task, "upload", ParamType::bytes, most_update_bytes);
      return;
    }
    if (task.has("upload")) task.mistake("upload", "expected either upload or histograms");
    static_cast<void>(task.optional_value("upload"));
    const ConfigValue* object = task.object("histograms");
    if (object == nullptr) return;
    ConfigFields inner(*object, where_, "/task/histograms");
    const double nodes = read_count(inner, "nodes", 1e9);
    const double features = read_count(inner, "features", 1e9);
    const double bins = read_count(inner, "bins", 1e9);
    const double number = optional_within(inner, "number_bytes", ParamType::number, 1e4, 8);
    const double expansion = optional_within(inner, "expansion", ParamType::number, 1e4, 1);
    bytes = federated::histogram_bytes(nodes, features, bins, number) * expansion;
    if (bytes > most_update_bytes) inner.mistake("nodes", "expected at most 1 PB of histograms");
    task.take(inner.finish());
  }

  void read_task() {
    const ConfigValue* object = fields_.object("task");
    if (object == nullptr) return;
    ConfigFields inner(*object, where_, "/task");
    federated::Task& task = run_.federation.task;
    task.download_bytes = read_within(inner, "download", ParamType::bytes, most_update_bytes);
    read_upload(inner);
    task.flops_per_example = read_within(inner, "flops_per_example", ParamType::number, 1e18);
    task.passes = optional_within(inner, "passes", ParamType::number, 1e6, 1);
    task.failure = optional_within(inner, "failure", ParamType::number, 1, 0);
    task.server_ns = to_whole(optional_within(inner, "server_time", ParamType::time, 1e14, 0));
    fields_.take(inner.finish());
  }

  void read_window(ConfigFields& one, const std::string& pointer, federated::DeviceClass& kind) {
    const ConfigValue* object = one.optional_object("available");
    if (object == nullptr) return;
    ConfigFields inner(*object, where_, pointer + "/available");
    const auto time = [&](std::string_view key) {
      return to_whole(optional_within(inner, key, ParamType::time, longest_time_ns, 0));
    };
    kind.every_ns = to_whole(read_positive(inner, "every", ParamType::time, longest_time_ns));
    kind.open_ns = to_whole(read_positive(inner, "for", ParamType::time, longest_time_ns));
    kind.from_ns = time("from");
    kind.until_ns = inner.has("until") ? time("until") : kind.from_ns;
    static_cast<void>(inner.optional_value("until"));
    if (kind.open_ns > kind.every_ns) inner.mistake("for", "expected at most 'every'");
    if (kind.until_ns < kind.from_ns) inner.mistake("until", "expected a time from 'from' on");
    one.take(inner.finish());
  }

  void read_classes() {
    const ConfigValue* list = fields_.objects("classes");
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const std::string pointer = fmt::format("/classes/{}", i);
      ConfigFields one(list->items[i], where_, pointer);
      federated::DeviceClass kind;
      one.text("name", kind.name);
      kind.devices = read_count(one, "devices", most_devices_of_all);
      kind.flops_per_s = read_positive(one, "compute", ParamType::flops, 1e21);
      kind.download_bytes_per_s = read_positive(one, "download", ParamType::bandwidth, 1e16);
      kind.upload_bytes_per_s = read_positive(one, "upload", ParamType::bandwidth, 1e16);
      kind.examples = read_positive(one, "examples", ParamType::number, 1e12);
      kind.spread = optional_within(one, "spread", ParamType::number, 100, 0);
      read_window(one, pointer, kind);
      const double seconds = federated::device_seconds(kind, run_.federation.task);
      if (!(seconds * (1 + kind.spread) <= longest_device_s)) {
        one.mistake("", fmt::format("got {:.3g} s for an update, expected at most {:g} s",
                                    seconds * (1 + kind.spread), longest_device_s));
      }
      fields_.take(one.finish());
      devices_ += static_cast<double>(kind.devices);
      run_.federation.classes.push_back(std::move(kind));
    }
    if (devices_ < 1 || devices_ > most_devices_of_all) {
      fields_.mistake("classes", fmt::format("got {:g} devices, expected 1 to {:g}", devices_,
                                             most_devices_of_all));
    }
  }

  void read_policies() {
    const ConfigValue* list = fields_.objects("policies");
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      ConfigFields one(list->items[i], where_, fmt::format("/policies/{}", i));
      PolicyChoice choice;
      federated::RoundPolicy& policy = choice.policy;
      const std::size_t kind = read_word(one, "kind", policy_words);
      policy.kind = static_cast<federated::PolicyKind>(kind);
      choice.name = policy_words[kind];
      one.optional_text("name", choice.name);
      const double most = std::max(1.0, devices_);
      policy.updates = read_count(one, "updates", most);
      if (policy.kind == federated::PolicyKind::synchronous) {
        policy.over_selection = optional_within(one, "over_selection", ParamType::number, most, 1);
        const double asked = static_cast<double>(policy.updates) * policy.over_selection;
        if (policy.over_selection < 1 || std::ceil(asked - 1e-9) > most) {
          one.mistake(
              "over_selection",
              fmt::format("got {:g}, expected 1 to {:g}: {:g} devices exist", policy.over_selection,
                          most / static_cast<double>(policy.updates), most));
        }
        policy.deadline_ns = to_whole(optional_within(one, "deadline", ParamType::time, 1e14, 0));
        policy.least = optional_count(one, "least", static_cast<double>(policy.updates), 1);
      } else {
        policy.at_work = read_count(one, "at_work", most);
        policy.oldest =
            one.has("oldest")
                ? static_cast<std::int64_t>(read_within(one, "oldest", ParamType::integer, 1e9))
                : -1;
        static_cast<void>(one.optional_value("oldest"));
      }
      fields_.take(one.finish());
      run_.policies.push_back(std::move(choice));
    }
    constexpr std::size_t most_policies = 100;
    if (run_.policies.empty() || run_.policies.size() > most_policies) {
      fields_.mistake("policies",
                      fmt::format("got {}, expected 1 to {}", run_.policies.size(), most_policies));
    }
  }

  ConfigFields fields_;
  std::string where_;
  FederatedRun run_;
  double devices_ = 0;
};

}  // namespace

Result<FederatedRun> parse_federated(std::string_view text, const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, federated_schema));
  return FederatedReader(root, where).read();
}

Result<FederatedRun> read_federated(const std::string& path) {
  FORETRACE_TRY(auto root, read_config(path, federated_schema));
  return FederatedReader(root, path).read();
}

Result<std::vector<federated::RoundFigures>> run_federated(const FederatedRun& run) {
  std::vector<federated::RoundFigures> answers;
  for (const PolicyChoice& choice : run.policies) {
    auto figures = federated::run_rounds(run.federation, choice.policy);
    if (!figures.ok()) {
      return std::move(figures).error().with_context(fmt::format("{}: {}", run.path, choice.name));
    }
    answers.push_back(*std::move(figures));
  }
  return answers;
}

}  // namespace foretrace
