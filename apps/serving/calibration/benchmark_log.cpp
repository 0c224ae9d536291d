// Results, as of 2026: vllm/benchmarks/serve.py, latency.py and throughput.py @009e6d4a1cd6, @00cae0753b8d and @020283147c84;
// sglang/bench_serving.py @0033168f0f58 and bench_one_batch.py @009441505062.
#include "apps/serving/calibration/benchmark_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {
namespace {

constexpr double most_figure = 1e12;
constexpr std::size_t most_runs = 10'000;

/// Of a number, or of a text that is one; nothing for "inf", null and what is out of range.
std::optional<double> benchmark_number(const ConfigValue* value) {
  if (value == nullptr) return std::nullopt;
  if (value->kind != ConfigValue::Kind::number && value->kind != ConfigValue::Kind::text) {
    return std::nullopt;
  }
  const std::string& text = value->text;
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_one = error == std::errc() && rest == text.data() + text.size();
  return is_one && std::abs(number) <= most_figure ? std::optional(number) : std::nullopt;
}

class ResultReader {
 public:
  explicit ResultReader(const ConfigValue& document) : document_(document) {}

  Result<BenchmarkRun> read() {
    if (has("median_decode_latency")) {
      batch("sglang bench_one_batch", BenchmarkFigure::step, "median_decode_latency");
    } else if (has("mean_tpot_ms")) {
      serving();
    } else if (has("avg_latency")) {
      batch("vllm bench latency", BenchmarkFigure::total, "avg_latency");
    } else if (has("elapsed_time") && has("num_requests")) {
      throughput();
    } else if (has("batch_size") && has("latency")) {
      batch("sglang bench_one_batch_server", BenchmarkFigure::total, "latency");
    } else {
      return Error{ErrorCode::bad_format,
                   "no result of a benchmark, expected a member such as mean_tpot_ms, "
                   "median_decode_latency, avg_latency or elapsed_time"};
    }
    for (const std::string_view key : {"tensor_parallel_size", "tp_size", "tp"}) {
      constexpr double most_ranks = 1e5;
      const double ranks = number(key);
      if (ranks >= 1 && ranks <= most_ranks) run_.tensor = static_cast<std::uint32_t>(ranks);
    }
    if (!mistake_.empty()) return Error{ErrorCode::bad_format, mistake_};
    return std::move(run_);
  }

 private:
  [[nodiscard]] bool has(std::string_view key) const { return document_.find(key) != nullptr; }
  [[nodiscard]] double number(std::string_view key) const {
    return std::max(0.0, benchmark_number(document_.find(key)).value_or(0));
  }

  /// A time that was measured.
  void take_seconds(std::string_view key, double unit) {
    run_.seconds = number(key) * unit;
    if (run_.seconds > 0) return;
    mistake_ =
        fmt::format("/{}: {}, expected a time above 0", key, document_.find(key)->described());
  }

  void batch(std::string_view program, BenchmarkFigure figure, std::string_view key) {
    run_.program = program;
    run_.figure = figure;
    take_seconds(key, 1);
    run_.requests = number("batch_size");
    run_.input = number("input_len");
    run_.output = number("output_len");
  }

  void throughput() {
    run_.program = "vllm bench throughput";
    run_.figure = BenchmarkFigure::total;
    take_seconds("elapsed_time", 1);
    run_.requests = number("num_requests");
    const double tokens = number("total_num_tokens");
    run_.input = number("input_len");
    run_.output = number("output_len");
    if (run_.requests > 0 && run_.input > 0 && !(run_.output > 0)) {
      run_.output = tokens / run_.requests - run_.input;
    }
  }

  void serving() {
    run_.program = has("input_throughput") || has("dataset_name") ? "sglang bench_serving"
                                                                  : "vllm bench serve";
    if (const double accepted = number("accept_length"); accepted > 1) {
      mistake_ = fmt::format(
          "/accept_length: got {}, expected 1: speculative decoding writes several tokens per step",
          accepted);
      return;
    }
    take_seconds("mean_tpot_ms", 1e-3);
    run_.requests = number("completed");
    run_.in_flight = number("max_concurrency");
    run_.per_second = number("request_rate");
    if (run_.requests > 0) {
      run_.input = number("total_input_tokens") / run_.requests;
      run_.output = number("total_output_tokens") / run_.requests;
    }
    lengths();
  }

  /// Of a run in which all requests were answered.
  void lengths() {
    const ConfigValue* const in = document_.find("input_lens");
    const ConfigValue* const out = document_.find("output_lens");
    if (in == nullptr || out == nullptr || in->items.size() != out->items.size()) return;
    if (static_cast<double>(in->items.size()) != run_.requests) return;
    for (std::size_t i = 0; i < in->items.size(); ++i) {
      const auto input = benchmark_number(&in->items[i]);
      const auto output = benchmark_number(&out->items[i]);
      if (!input || !output || *input < 1 || *output < 1) {
        run_.lengths.clear();
        return;
      }
      run_.lengths.emplace_back(*input, *output);
    }
  }

  const ConfigValue& document_;
  BenchmarkRun run_;
  std::string mistake_;
};

/// Python writes numbers that JSON does not have.
std::string without_infinities(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text && text[i] == '\\' && i + 1 < text.size()) {
      out += text[i++];
    } else if (text[i] == '"') {
      in_text = !in_text;
    } else if (!in_text) {
      bool is_none = false;
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (!text.substr(i).starts_with(word)) continue;
        out += "null";
        i += word.size() - 1;
        is_none = true;
        break;
      }
      if (is_none) continue;
    }
    out += text[i];
  }
  return out;
}

/// The objects of a text, one after the other, on a line each, or in a list.
std::vector<std::string_view> documents_of(std::string_view text) {
  std::vector<std::string_view> documents;
  std::size_t depth = 0;
  std::size_t begin = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        in_text = false;
    } else if (text[i] == '"') {
      in_text = true;
    } else if (text[i] == '{') {
      if (depth++ == 0) begin = i;
    } else if (text[i] == '}' && depth > 0 && --depth == 0) {
      documents.push_back(text.substr(begin, i + 1 - begin));
    }
  }
  if (depth > 0) documents.push_back(text.substr(begin));
  return documents;
}

Result<BenchmarkLog> read_results(std::string_view text, const std::string& where) {
  BenchmarkLog log;
  const auto documents = documents_of(text);
  if (documents.size() > most_runs) {
    return Error{ErrorCode::bad_format, fmt::format("{}: got {} results, expected at most {}",
                                                    where, documents.size(), most_runs)};
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string at =
        documents.size() > 1 ? fmt::format("{}: result {}", where, i + 1) : where;
    FORETRACE_TRY(const auto value,
                  parse_config(without_infinities(documents[i])).with_context(at));
    FORETRACE_TRY(auto run, benchmark_result(value).with_context(at));
    log.runs.push_back(std::move(run));
  }
  return log;
}

}  // namespace

Result<BenchmarkRun> benchmark_result(const ConfigValue& document) {
  return ResultReader(document).read();
}

bool is_benchmark_log(std::string_view text) {
  constexpr std::array<std::string_view, 11> marks = {
      "Serving Benchmark Result", "Decode.  median latency:", "Avg latency: ",
      " total tokens/s,",         "GPU KV cache size: ",      "# GPU blocks: ",
      "max_total_num_tokens=",    "\"mean_tpot_ms\"",         "\"median_decode_latency\"",
      "\"avg_latency\"",          "\"elapsed_time\""};
  const bool has_mark = std::any_of(marks.begin(), marks.end(), [text](std::string_view mark) {
    return text.find(mark) != std::string_view::npos;
  });
  const bool is_batch = text.find("\"batch_size\"") != std::string_view::npos &&
                        text.find("\"latency\"") != std::string_view::npos;
  // What others write of operators and of a run names its schema.
  return (has_mark || is_batch) && schema_in(text).empty();
}

Result<BenchmarkLog> parse_benchmark_log(std::string_view text, const std::string& where) {
  constexpr std::string_view blanks = " \t\r\n";
  std::string_view first = text.substr(std::min(text.find_first_not_of(blanks), text.size()));
  if (first.starts_with('[')) {  // a list, not "[2026-01-31 ..."
    first = first.substr(std::min(first.find_first_not_of(blanks, 1), first.size()));
  }
  BenchmarkLog log;
  if (first.starts_with('{')) {
    FORETRACE_TRY(log, read_results(text, where));
  } else {
    FORETRACE_TRY(log, read_benchmark_text(text).with_context(where));
  }
  if (!log.runs.empty() || log.cache_tokens > 0) return log;
  return Error{ErrorCode::bad_format,
               where +
                   ": no run of a benchmark of vLLM or SGLang, expected their results or what "
                   "they print"};
}

}  // namespace foretrace
