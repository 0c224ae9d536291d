// What is printed: a block of labels (benchmark_serving, bench_serving), lines of a batch (bench_one_batch),
//   Prefill. latency: 0.03512 s, throughput:  58314.35 token/s
//   Decode.  median latency: 0.00782 s, median throughput:   1023.02 token/s
//   Total. latency:  1.037 s, throughput:   9873.30 token/s
// "Avg latency: 1.24 seconds", "Throughput: 7.15 requests/s, 4656.00 total tokens/s, 1072.15 output tokens/s", and, of the
// program's arguments, "Namespace(input_len=32, ...)".
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "apps/serving/calibration/benchmark_log.h"

namespace foretrace {
namespace {

constexpr double most_text_figure = 1e12;
constexpr std::size_t most_text_runs = 10'000;

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

/// The number that text begins with, "457,664" and "12.5" alike.
std::optional<double> leading_number(std::string_view text) {
  text = without_blanks(text);
  std::string digits;
  for (const char one : text) {
    const bool is_part = (one >= '0' && one <= '9') || one == '.' || one == 'e';
    if (one != ',' && !is_part) break;
    if (one != ',') digits += one;
  }
  double value = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || !(value <= most_text_figure)) return std::nullopt;
  return value;
}

/// The number behind a text of the line.
std::optional<double> number_behind(std::string_view line, std::string_view label) {
  const auto at = line.find(label);
  return at == std::string_view::npos ? std::nullopt
                                      : leading_number(line.substr(at + label.size()));
}

/// Of "Namespace(input_len=32, ...)".
double argument_of(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    const bool begins = at > 0 && (line[at - 1] == ' ' || line[at - 1] == '(');
    const std::string_view rest = line.substr(at + name.size());
    if (begins && rest.starts_with('=')) return leading_number(rest.substr(1)).value_or(0);
  }
  return 0;
}

struct Arguments {
  double batch = 0;
  double requests = 0;
  double input = 0;
  double output = 0;
  std::uint32_t tensor = 0;
};

class TextReader {
 public:
  Result<BenchmarkLog> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      take(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    end_serving();
    end_throughput();
    if (!mistake_.empty()) return Error{ErrorCode::bad_format, mistake_};
    return std::move(log_);
  }

 private:
  void take(std::string_view line) {
    if (line.find("Namespace(") != std::string_view::npos ||
        line.find("ServerArgs(") != std::string_view::npos) {
      end_throughput();
      take_arguments(line);
    }
    if (line.find(" Serving Benchmark Result ") != std::string_view::npos) {
      end_serving();
      end_throughput();
      serving_ = BenchmarkRun{.program = "bench serve"};
      total_input_ = total_output_ = 0;
      is_serving_ = true;
    } else if (is_serving_ && line.find("======") != std::string_view::npos) {
      end_serving();
    } else if (is_serving_) {
      take_serving(line);
    } else {
      take_batch(line);
      take_offline(line);
    }
    take_cache(line);
  }

  void take_arguments(std::string_view line) {
    const double ranks =
        std::max(argument_of(line, "tensor_parallel_size"), argument_of(line, "tp_size"));
    constexpr double most_ranks = 1e5;
    arguments_ = {argument_of(line, "batch_size"), argument_of(line, "num_prompts"),
                  argument_of(line, "input_len"), argument_of(line, "output_len"),
                  ranks <= most_ranks ? static_cast<std::uint32_t>(ranks) : 0};
  }

  void push(BenchmarkRun run) {
    run.tensor = arguments_.tensor;
    if (run.seconds > 0 && log_.runs.size() < most_text_runs) log_.runs.push_back(std::move(run));
  }

  void take_serving(std::string_view line) {
    const auto set = [line](std::string_view label, double& out) {
      if (const auto value = number_behind(line, label)) out = *value;
    };
    if (line.find("Backend:") != std::string_view::npos) {
      serving_.program =
          line.find("sglang") != std::string_view::npos ? "sglang bench_serving" : "bench_serving";
    }
    set("Successful requests:", serving_.requests);
    set("request concurrency:", serving_.in_flight);
    set("Traffic request rate:", serving_.per_second);
    set("Request rate configured (RPS):", serving_.per_second);
    set("Total input tokens:", total_input_);
    set("Total generated tokens:", total_output_);
    set("Accept length:", accepted_);
    double ms = 0;
    set("Mean TPOT (ms):", ms);
    // SGLang prints gaps between tokens, which are the same where each comes alone.
    if (!(serving_.seconds > 0)) set("Mean ITL (ms):", ms);
    if (ms > 0) serving_.seconds = ms * 1e-3;
  }

  void end_serving() {
    if (!std::exchange(is_serving_, false)) return;
    if (serving_.requests > 0) {
      serving_.input = total_input_ / serving_.requests;
      serving_.output = total_output_ / serving_.requests;
    }
    if (std::exchange(accepted_, 0) > 1) {
      mistake_ =
          "got an accept length above 1, expected none: speculative decoding writes several tokens "
          "per step";
    }
    push(std::move(serving_));
  }

  void take_batch(std::string_view line) {
    const auto has = [line](std::string_view words) {
      return line.find(words) != std::string_view::npos;
    };
    if (has("Benchmark ...")) {
      // What came before warmed up.
      std::erase_if(log_.runs,
                    [](const BenchmarkRun& run) { return run.figure == BenchmarkFigure::step; });
      return;
    }
    const auto rate = number_behind(line, "throughput:");
    const auto seconds = number_behind(line, "latency:");
    if (!rate || !seconds) return;
    if (has("Prefill. latency:")) {
      batch_ = BenchmarkRun{.program = "sglang bench_one_batch", .figure = BenchmarkFigure::step};
      prompt_tokens_ = *seconds * *rate;
    } else if (has("Decode.  median latency:")) {
      batch_.seconds = *seconds;
      if (!(batch_.requests > 0)) batch_.requests = std::round(*seconds * *rate);
    } else if (has("Batch size:")) {
      batch_.requests = number_behind(line, "Batch size:").value_or(0);
    } else if (has("Total. latency:") && batch_.requests > 0) {
      batch_.input = std::round(prompt_tokens_ / batch_.requests);
      batch_.output = std::round(*seconds * *rate / batch_.requests) - batch_.input;
      push(std::exchange(batch_, {}));
    }
  }

  void take_offline(std::string_view line) {
    if (const auto seconds = number_behind(line, "Avg latency: ")) {
      push({.program = "vllm bench latency",
            .figure = BenchmarkFigure::total,
            .seconds = *seconds,
            .requests = arguments_.batch,
            .input = arguments_.input,
            .output = arguments_.output});
    }
    if (const auto rate = number_behind(line, "Throughput: "); rate && *rate > 0) {
      end_throughput();
      const double all = number_behind(line, "requests/s, ").value_or(0);
      const double written = number_behind(line, "total tokens/s, ").value_or(0);
      throughput_ = BenchmarkRun{.program = "vllm bench throughput",
                                 .figure = BenchmarkFigure::total,
                                 .requests = arguments_.requests,
                                 .input = arguments_.input,
                                 .output = arguments_.output};
      if (written > 0) {
        throughput_.input = (all - written) / *rate;
        throughput_.output = written / *rate;
      }
      requests_per_s_ = *rate;
    }
    const auto prompts = number_behind(line, "Total num prompt tokens:");
    if (prompts && requests_per_s_ > 0 && throughput_.input > 0 && !(throughput_.requests > 0)) {
      throughput_.requests = std::round(*prompts / throughput_.input);
    }
  }

  void end_throughput() {
    if (const double rate = std::exchange(requests_per_s_, 0); rate > 0) {
      if (!(throughput_.requests > 0)) {
        mistake_ =
            "got a throughput without its requests, expected \"Total num prompt tokens\", or "
            "num_prompts among the arguments";
      }
      throughput_.seconds = throughput_.requests / rate;
      push(std::move(throughput_));
    }
  }

  void take_cache(std::string_view line) {
    constexpr double usual_block = 16;
    if (const auto tokens = number_behind(line, "GPU KV cache size: ")) log_.cache_tokens = *tokens;
    if (const auto tokens = number_behind(line, "max_total_num_tokens=")) {
      log_.cache_tokens = *tokens;
    }
    if (const auto blocks = number_behind(line, "# GPU blocks: ")) {
      log_.cache_tokens = *blocks * usual_block;
    }
  }

  BenchmarkLog log_;
  Arguments arguments_;
  BenchmarkRun serving_;
  BenchmarkRun batch_;
  BenchmarkRun throughput_;
  bool is_serving_ = false;
  double total_input_ = 0;
  double total_output_ = 0;
  double accepted_ = 0;
  double prompt_tokens_ = 0;
  double requests_per_s_ = 0;
  std::string mistake_;
};

}  // namespace

Result<BenchmarkLog> read_benchmark_text(std::string_view text) { return TextReader().read(text); }

}  // namespace foretrace
