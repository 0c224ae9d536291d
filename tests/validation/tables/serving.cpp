// Served language models: single requests of real runs, and figures of many engines under a
// constant number of requests.
#include "apps/serving/serving.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include <fmt/format.h>

#include "sim/core/whole.h"
#include "tests/validation/studies/score.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::table_readers::serving_parts {
namespace {

constexpr std::string_view requests_prefix = "serving_requests_";
/// A row of a constant number of requests is run for so many rounds of them.
constexpr std::uint32_t rounds = 2;
constexpr double most_seconds = 1e7;
/// Each of them is written in a step.
constexpr double most_request_tokens = 1e6;

std::string plain_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

/// "rtxpro6000" is rtx_pro_6000.
Result<std::string> accelerator_called(const Catalogue& catalogue, std::string_view name) {
  for (const std::string& known : catalogue.accelerator_names()) {
    if (plain_name(known) == plain_name(name)) return known;
  }
  return Error{ErrorCode::not_found, fmt::format("no accelerator file for {}", name)};
}

/// The number behind a word: 2048 of "max_num_batched_tokens 2048"; 0: none.
std::uint32_t number_behind(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return 0;
  const auto rest = text.substr(at + word.size());
  const auto digit = rest.find_first_of("0123456789");
  if (digit > 2) return 0;
  return static_cast<std::uint32_t>(scheduling::first_number(rest).value_or(0));
}

Status use_engine(TableInputs& inputs, const std::string& name, Serving& serving) {
  FORETRACE_TRY(auto engine, find_serving_engine(inputs.catalogue(), name));
  FORETRACE_TRY(auto framework, inputs.framework(engine.framework));
  adopt_engine(serving, std::move(engine), std::move(framework));
  return ok_status();
}

/// What a table of requests holds fixed, in its own words.
void read_fixed(const TruthTable& table, Serving& serving) {
  const ConfigValue* engine = table.fixed("engine");
  if (engine == nullptr) return;
  const std::string& text = engine->text;
  const auto set = [&text](std::string_view word, std::uint32_t& value) {
    if (const std::uint32_t found = number_behind(text, word); found > 0) value = found;
  };
  StepRules& rules = serving.options.rules;
  set("max_num_batched_tokens", rules.batched_tokens);
  set("max_num_seqs", rules.sequences);
  set("block", rules.block_tokens);
  serving.options.cache_blocks = number_behind(text, "KV");
}

Result<Serving> serving_of_requests(const TruthTable& table, TableInputs& inputs) {
  // serving_requests_<accelerator>_<model>
  const std::string rest = table.id.substr(requests_prefix.size());
  const auto cut = rest.find('_');
  if (cut == std::string::npos) {
    return Error{ErrorCode::bad_format, "its id names no accelerator and model"};
  }
  Serving serving;
  FORETRACE_TRY(const auto accelerator,
                accelerator_called(inputs.catalogue(), rest.substr(0, cut)));
  FORETRACE_TRY(serving.cluster, lone_accelerator(inputs.catalogue(), accelerator));
  FORETRACE_TRY(serving.model, inputs.model(rest.substr(cut + 1)));
  FORETRACE_TRY(use_engine(inputs, "vllm", serving));
  read_fixed(table, serving);
  for (std::size_t i = 0; i < table.size(); ++i) {
    // Requests wait for each other: without one of them the run is another one.
    RowNumbers numbers(table.row(i));
    ServingRequest request;
    request.arrival_ns = to_whole(numbers.number("queued_s", 0, most_seconds) * 1e9);
    request.input_tokens = to_whole(numbers.count("input_tokens", most_request_tokens));
    request.output_tokens = to_whole(numbers.count("output_tokens", most_request_tokens));
    if (!numbers.status().ok()) {
      return Error(numbers.status().error()).with_context(fmt::format("/rows/{}", i));
    }
    serving.requests.push_back(request);
  }
  return complete_serving(std::move(serving));
}

struct ThreeResults {
  TableResult first;
  TableResult token;
  TableResult latency;
};

void add_request(const TruthTable& table, const Serving& serving, const ServingAnswer& answer,
                 std::size_t i, ThreeResults& results) {
  RowNumbers numbers(table.row(i));
  const ServedRequest& served = answer.service.requests[i];
  const double queued = numbers.number("queued_s", 0, most_seconds);
  const double first = numbers.number("first_token_s", queued, most_seconds);
  const double last = numbers.number("last_token_s", first, most_seconds);
  const std::int64_t output = serving.requests[i].output_tokens;
  const auto refuse = [&](std::string reason) {
    results.token.skipped.push_back({i, std::move(reason)});
  };
  if (!numbers.status().ok()) return refuse(numbers.status().error().message);
  if (served.end_ns < 0 || output < 2) return refuse("one token, or larger than the cache");
  const auto add = [i](TableResult& result, std::string column, double predicted, double low,
                       double high, double measured) {
    result.points.push_back(
        {i, std::move(column), predicted, predicted * low, predicted * high, measured, ""});
  };
  const ServingFigures& f = answer.figures;
  const auto ratio = [](double a, double b) { return b > 0 ? a / b : 1; };
  add(results.token, "tpot_s", served.token_ns(output) * 1e-9,
      ratio(answer.low.token_s.mean, f.token_s.mean),
      ratio(answer.high.token_s.mean, f.token_s.mean),
      (last - first) / static_cast<double>(output - 1));
  add(results.first, "ttft_s", static_cast<double>(served.first_token_after_ns()) * 1e-9,
      ratio(answer.low.first_token_s.mean, f.first_token_s.mean),
      ratio(answer.high.first_token_s.mean, f.first_token_s.mean), first - queued);
  add(results.latency, "latency_s", static_cast<double>(served.latency_ns()) * 1e-9,
      ratio(answer.low.latency_s.mean, f.latency_s.mean),
      ratio(answer.high.latency_s.mean, f.latency_s.mean), last - queued);
}

std::string mean_note(std::string_view what, const TableResult& result) {
  double predicted = 0;
  double measured = 0;
  for (const TablePoint& point : result.points) {
    predicted += point.predicted;
    measured += point.measured;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, result.points.size()));
  return fmt::format("mean {}: {:.4g} s predicted, {:.4g} s measured", what, predicted / count,
                     measured / count);
}

Result<std::vector<TableResult>> read_requests(const TruthTable& table, TableInputs& inputs) {
  FORETRACE_TRY(const auto serving, serving_of_requests(table, inputs));
  const ServingAnswer answer = run_serving(serving);
  ThreeResults results;
  results.first.name = table.id + ".ttft";
  results.token.name = table.id + ".tpot";
  results.latency.name = table.id + ".latency";
  for (std::size_t i = 0; i < table.size(); ++i) {
    add_request(table, serving, answer, i, results);
  }
  std::vector<TableResult> all = {std::move(results.token), std::move(results.first),
                                  std::move(results.latency)};
  constexpr std::array<std::string_view, 3> names = {"TPOT", "TTFT", "latency"};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].unit = "s";
    all[i].notes.push_back(mean_note(names[i], all[i]));
  }
  return all;
}

/// The way a row computes, from the names of its precision.
Status read_row_precision(const TruthRow& row, Serving& serving) {
  const std::string precision = row.text("precision");
  ServedModel& served = serving.served;
  served.precisions = {Precision::bf16, false};
  served.weight_bytes = served.cache_bytes = 2;
  if (precision == "fp8") {
    served.precisions.layers_in_8_bit = true;
    served.weight_bytes = 1;
    if (serving.engine.cache_follows_weights) served.cache_bytes = 1;
  } else if (precision == "fp4") {
    // Four bits and an 8-bit scale for every 32 weights.
    served.weight_bytes = 4.25 / 8;
  } else if (!precision.empty() && precision != "bf16" && precision != "fp16") {
    return Error{ErrorCode::unsupported,
                 fmt::format("got the precision {}, expected bf16, fp16, fp8 or fp4", precision)};
  }
  return ok_status();
}

Result<std::string> usual_cluster(TableInputs& inputs, const std::string& accelerator) {
  for (const std::string& name : cluster_names(inputs.catalogue())) {
    const auto cluster = inputs.cluster(name);
    if (cluster.ok() && (*cluster)->is_usual && (*cluster)->accelerator.name == accelerator) {
      return name;
    }
  }
  return Error{ErrorCode::not_found, fmt::format("no cluster of {}", accelerator)};
}

Result<Serving> serving_of_row(const TruthRow& row, TableInputs& inputs) {
  Serving serving;
  FORETRACE_TRY(const auto cluster, usual_cluster(inputs, row.text("system")));
  serving.cluster = *inputs.cluster(cluster);
  FORETRACE_TRY(serving.model, inputs.model(row.text("model")));
  FORETRACE_TRY(use_engine(inputs, row.text("backend"), serving));
  FORETRACE_TRY(read_row_precision(row, serving));
  RowNumbers numbers(row);
  for (const std::string_view column : {"pp", "attention_dp"}) {
    if (numbers.count_or(column, 1, most_ranks) > 1) {
      return Error{ErrorCode::unsupported, fmt::format("{} above 1", column)};
    }
  }
  serving.served.tensor = static_cast<std::uint32_t>(numbers.count_or("tp", 1, most_ranks));
  serving.served.experts = static_cast<std::uint32_t>(numbers.count_or("moe_ep", 1, most_ranks));
  ServingRequest request;
  request.input_tokens = to_whole(numbers.count("isl", most_request_tokens));
  request.output_tokens = to_whole(numbers.count("osl", most_request_tokens));
  serving.options.in_flight =
      static_cast<std::uint32_t>(numbers.count("concurrency", most_requests));
  FORETRACE_TRY(numbers.status());
  serving.requests.assign(std::size_t{rounds} * serving.options.in_flight, request);
  surround_closed_loop(serving);
  StepRules& rules = serving.options.rules;
  // Who serves such prompts without chunks has set the limit so that one fits beside the others.
  if (!rules.chunks_prompts) {
    const auto needed_tokens =
        static_cast<std::uint32_t>(request.input_tokens) + serving.options.in_flight;
    rules.batched_tokens = std::max(rules.batched_tokens, needed_tokens);
  }
  return complete_serving(std::move(serving));
}

Result<std::vector<TableResult>> read_aggregated(const TruthTable& table, TableInputs& inputs) {
  TableResult token;
  token.name = table.id + ".tpot";
  TableResult first;
  first.name = table.id + ".ttft";
  for (std::size_t i = 0; i < table.size(); ++i) {
    const TruthRow row = table.row(i);
    RowNumbers numbers(row);
    const double tpot = numbers.measured("tpot_ms");
    const double ttft = numbers.measured("ttft_ms");
    const auto serving = serving_of_row(row, inputs);
    if (!serving.ok() || !numbers.status().ok()) {
      const Error& why = serving.ok() ? numbers.status().error() : serving.error();
      token.skipped.push_back({i, why.message});
      continue;
    }
    const ServingAnswer answer = run_serving(*serving);
    if (answer.done == 0) {
      token.skipped.push_back({i, "no request fits in the cache"});
      continue;
    }
    const std::string group = fmt::format("{} {} {} {}", row.text("model"), row.text("system"),
                                          row.text("backend"), row.text("precision"));
    token.points.push_back({i, "tpot_ms", answer.figures.token_s.mean * 1e3,
                            answer.low.token_s.mean * 1e3, answer.high.token_s.mean * 1e3, tpot,
                            group});
    first.points.push_back({i, "ttft_ms", answer.figures.first_token_s.mean * 1e3,
                            answer.low.first_token_s.mean * 1e3,
                            answer.high.first_token_s.mean * 1e3, ttft, group});
  }
  token.unit = first.unit = "ms";
  token.notes.push_back(fmt::format(
      "engines as they start without options, but steps hold the longest prompt; {} rounds of the "
      "requests in flight count, all of one length; 16-bit where no precision is stated; fp4: "
      "experts in 4 bit, the rest in 16 bit",
      rounds));
  return std::vector{std::move(token), std::move(first)};
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  return table.id.starts_with(requests_prefix) ? read_requests(table, inputs)
                                               : read_aggregated(table, inputs);
}

constexpr std::array<std::string_view, 2> names = {"serving_requests_*",
                                                   "serving_silicon_aggregated*"};

constexpr TableReaderInfo info = {"serving", "language models served to many requests at a time",
                                  names, read};

}  // namespace
}  // namespace foretrace::table_readers::serving_parts

namespace foretrace::table_readers {
extern const TableReaderInfo serving;
constinit const TableReaderInfo serving = serving_parts::info;
}  // namespace foretrace::table_readers
