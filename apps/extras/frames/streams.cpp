#include "apps/extras/frames/streams.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "apps/extras/frames/stream_parts.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/config.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr std::array<std::string_view, 4> dispatches = {"latency", "energy", "product", "balanced"};
constexpr std::array<std::string_view, 4> load_kinds = {"single_stream", "multi_stream", "server",
                                                        "offline"};
constexpr double most_queries = 1e7;
constexpr std::int64_t longest_batch_ns = 100'000'000'000;  // so many queries end before time does

class StreamsReader {
 public:
  StreamsReader(const Catalogue& catalogue, const ConfigValue& root, const std::string& where)
      : catalogue_(catalogue), fields_(root, where), where_(where) {}
  Result<Streams> read();

 private:
  void read_scenarios();
  void read_engines();
  void read_frames();
  void read_batches();
  void read_load(const ConfigValue& value, std::size_t i);
  static std::int64_t time(ConfigFields& fields, std::string_view key) {
    return to_whole(read_positive(fields, key, ParamType::time, longest_time_ns));
  }

  const Catalogue& catalogue_;
  ConfigFields fields_;
  std::string where_;
  Streams streams_;
};

void StreamsReader::read_scenarios() {
  std::string name;
  fields_.optional_text("scenarios", name);
  std::vector<std::string> only;
  fields_.optional_texts("only", only);
  if (name.empty()) return;
  auto all = streams::find_frame_scenarios(catalogue_, name);
  if (!all.ok()) return fields_.mistake("scenarios", all.error().message);
  std::vector<std::string_view> known;
  for (const auto& scenario : *all) known.push_back(scenario.name);
  for (const std::string& one : only) {
    if (std::find(known.begin(), known.end(), one) != known.end()) continue;
    fields_.mistake("only", fmt::format("got {}{}, expected one of {}", in_quotes(one),
                                        did_you_mean(one, known), fmt::join(known, ", ")));
  }
  for (auto& scenario : *all) {
    const bool wanted =
        only.empty() || std::find(only.begin(), only.end(), scenario.name) != only.end();
    if (wanted) streams_.scenarios.push_back(std::move(scenario));
  }
  read_engines();
  read_frames();
}

void StreamsReader::read_engines() {
  const ConfigValue* list = fields_.objects("engines");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    const std::string pointer = fmt::format("/engines/{}", i);
    ConfigFields one(list->items[i], where_, pointer);
    streams::FrameEngine engine;
    one.text("name", engine.name);
    const ConfigValue* models = one.object("models");
    for (std::size_t m = 0; models != nullptr && m < models->keys.size(); ++m) {
      ConfigFields cost(models->items[m], where_,
                        fmt::format("{}/models/{}", pointer, models->keys[m]));
      streams::FrameCost read{.model = models->keys[m]};
      read.latency_ms = static_cast<double>(time(cost, "latency")) * 1e-6;
      read.energy_mj = optional_within(cost, "energy_mj", ParamType::number, 1e12, 0);
      one.take(cost.finish());
      engine.costs.push_back(std::move(read));
    }
    fields_.take(one.finish());
    streams_.engines.push_back(std::move(engine));
  }
}

void StreamsReader::read_frames() {
  streams::FrameOptions& frames = streams_.frames;
  frames.dispatch =
      static_cast<streams::Dispatch>(optional_word(fields_, "dispatch", dispatches, 0));
  frames.seconds = optional_within(fields_, "seconds", ParamType::number, 3600, 1);
  if (!(frames.seconds > 0)) fields_.mistake("seconds", "got 0, expected more, up to 3600");
  frames.jitter_ms = optional_within(fields_, "jitter", ParamType::time, 1e12, 0) * 1e-6;
  fields_.optional_boolean("whole_milliseconds", frames.whole_milliseconds);
  frames.seed = static_cast<std::uint64_t>(
      optional_within(fields_, "seed", ParamType::integer, largest_seed, 0));
}

void StreamsReader::read_batches() {
  const ConfigValue* object = fields_.optional_object("batch_times");
  if (object == nullptr) return;
  ConfigFields inner(*object, where_, "/batch_times");
  for (const std::string& key : object->keys) {
    std::int64_t samples = 0;
    const auto [end, failed] = std::from_chars(key.data(), key.data() + key.size(), samples);
    if (failed != std::errc{} || end != key.data() + key.size() || samples < 1) {
      inner.mistake(key, "expected a number of samples as the key");
    }
    streams_.batches.points.emplace_back(samples, time(inner, key));
  }
  fields_.take(inner.finish());
  auto& points = streams_.batches.points;
  std::sort(points.begin(), points.end());
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].first > points[i - 1].first && points[i].second >= points[i - 1].second) continue;
    return fields_.mistake("batch_times",
                           fmt::format("expected each size once, and larger batches to take as "
                                       "long as smaller ones at least: {} samples do not",
                                       points[i].first));
  }
}

void StreamsReader::read_load(const ConfigValue& value, std::size_t i) {
  ConfigFields one(value, where_, fmt::format("/loads/{}", i));
  LoadRequest load;
  load.kind = load_kinds[read_word(one, "kind", load_kinds)];
  load.queries = optional_count(one, "queries", most_queries, 1024);
  const bool is_server = load.kind == "server";
  const bool is_multi = load.kind == "multi_stream";
  const double usual = load.kind == "single_stream" ? 0.90 : 0.99;
  if (load.kind == "offline") {
    load.share = 1;
  } else {
    load.share = optional_within(one, "share", ParamType::number, 1, usual);
    if (!(load.share > 0)) one.mistake("share", "got 0, expected more, up to 1");
  }
  if (is_multi) {
    load.samples = read_count(one, "samples", most_queries);
    load.every_ns = time(one, "every");
  }
  if (is_server) {
    load.bound_ns = time(one, "bound");
    load.seed = static_cast<std::uint64_t>(
        optional_within(one, "seed", ParamType::integer, largest_seed, 0));
  }
  if (is_server || load.kind == "offline") {
    load.largest_batch = optional_count(one, "largest_batch", most_queries, 1);
  }
  const auto largest = std::max<std::int64_t>({1, load.largest_batch, load.samples});
  if (streams_.batches.at(largest) > longest_batch_ns || load.every_ns > longest_batch_ns) {
    one.mistake("", "expected batches and intervals of at most 100 s");
  }
  fields_.take(one.finish());
  streams_.loads.push_back(load);
}

Result<Streams> StreamsReader::read() {
  streams_.path = where_;
  read_scenarios();
  read_batches();
  const ConfigValue* loads = fields_.optional_objects("loads");
  for (std::size_t i = 0; loads != nullptr && i < loads->items.size(); ++i) {
    read_load(loads->items[i], i);
  }
  if (const ConfigValue* value = fields_.optional_object("control"); value != nullptr) {
    fields_.take(read_control(*value, where_, "/control", streams_.control));
  }
  if (const ConfigValue* value = fields_.optional_object("supernet"); value != nullptr) {
    fields_.take(read_supernet(*value, where_, "/supernet", streams_.buffers));
  }
  if (streams_.scenarios.empty() && streams_.loads.empty() && streams_.control.variants.empty() &&
      streams_.buffers.empty()) {
    fields_.mistake("",
                    "expected scenarios (frames on engines), loads with batch_times, control, or "
                    "supernet");
  }
  if (!streams_.loads.empty() && streams_.batches.points.empty()) {
    fields_.mistake("batch_times",
                    "missing key, expected the time of some batches, such as "
                    "{\"1\": \"2 ms\", \"8\": \"6 ms\"}");
  }
  FORETRACE_TRY(fields_.finish());
  return std::move(streams_);
}

LoadAnswer run_load(const LoadRequest& load, const BatchTimes& batches) {
  const streams::BatchTime time = [&batches](std::int64_t samples) { return batches.at(samples); };
  LoadAnswer answer{.request = load, .figures = {}, .rate = std::nullopt, .too_few = false};
  if (load.kind == "single_stream") {
    answer.figures = streams::single_stream(time, load.queries, load.share);
  } else if (load.kind == "multi_stream") {
    answer.figures =
        streams::multi_stream(time, {load.samples, load.every_ns}, load.queries, load.share);
  } else if (load.kind == "offline") {
    answer.figures = streams::offline(time, load.queries, load.largest_batch);
  } else {
    streams::ServerOptions options{.queries = load.queries,
                                   .largest_batch = load.largest_batch,
                                   .share = load.share,
                                   .seed = load.seed};
    answer.rate = streams::highest_rate(time, options, load.bound_ns);
    answer.too_few = streams::burst_keeps(time, options, load.bound_ns);
    const double usual = answer.too_few ? streams::best_batch_rate(time, options) : 1;
    options.queries_per_s = answer.rate.value_or(usual);
    answer.figures = streams::server(time, options);
  }
  return answer;
}

}  // namespace

std::int64_t BatchTimes::at(std::int64_t samples) const {
  if (points.empty()) return 0;
  const auto between = [samples](const auto& a, const auto& b) {
    const double share = static_cast<double>(samples - a.first) /
                         static_cast<double>(std::max<std::int64_t>(1, b.first - a.first));
    const double ns =
        static_cast<double>(a.second) + share * static_cast<double>(b.second - a.second);
    return std::max<std::int64_t>(1, to_whole(std::min(ns, 1e18)));
  };
  if (points.size() == 1) {
    // One time is all that is known: in proportion.
    return between(std::pair<std::int64_t, std::int64_t>{0, 0}, points.front());
  }
  if (samples <= points.front().first) return points.front().second;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (samples <= points[i].first || i + 1 == points.size()) {
      return between(points[i - 1], points[i]);
    }
  }
  return points.back().second;
}

Result<Streams> parse_streams(const Catalogue& catalogue, std::string_view text,
                              const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, streams_schema));
  return StreamsReader(catalogue, root, where).read();
}

Result<Streams> read_streams(const Catalogue& catalogue, const std::string& path) {
  FORETRACE_TRY(auto root, read_config(path, streams_schema));
  return StreamsReader(catalogue, root, path).read();
}

Result<StreamsAnswer> run_streams(const Streams& streams) {
  StreamsAnswer answer;
  for (const streams::FrameScenario& scenario : streams.scenarios) {
    FORETRACE_TRY(
        auto score,
        streams::run_frames(scenario, streams.engines, streams.frames).with_context(streams.path));
    answer.scores.push_back(std::move(score));
  }
  for (const LoadRequest& load : streams.loads) {
    answer.loads.push_back(run_load(load, streams.batches));
  }
  for (const LoopVariant& variant : streams.control.variants) {
    answer.control.push_back(streams::run_loop(variant.loop));
  }
  for (const streams::SuperNet& net : streams.buffers) {
    answer.buffers.push_back(streams::run_supernet(net));
  }
  return answer;
}

}  // namespace foretrace
