// transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,rocblas-Gflops,us
// N,N,4096,4096,4096,1,4096,0,4096,4096,512345,268.2
#include "models/hardware/costs/calibration/gemm_sweep.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace foretrace {
namespace {

constexpr std::size_t most_products = 100000;
constexpr std::size_t no_column = SIZE_MAX;

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& one : low) one = static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
  return low;
}

/// Without blanks and quotes around it.
std::string_view bare(std::string_view cell) {
  constexpr std::string_view around = " \t\r\"'";
  const auto first = cell.find_first_not_of(around);
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(around) - first + 1);
}

std::vector<std::string_view> cells_of(std::string_view line) {
  const std::string_view apart = line.find(',') != std::string_view::npos ? "," : " \t";
  std::vector<std::string_view> cells;
  while (true) {
    const auto end = std::min(line.find_first_of(apart), line.size());
    const std::string_view cell = bare(line.substr(0, end));
    if (!cell.empty() || apart == ",") cells.push_back(cell);
    if (end == line.size()) return cells;
    line.remove_prefix(end + 1);
  }
}

std::optional<double> positive(std::string_view cell) {
  constexpr double most = 1e15;
  double value = 0;
  const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool is_one = error == std::errc() && rest == cell.data() + cell.size();
  return is_one && value > 0 && value < most ? std::optional(value) : std::nullopt;
}

std::optional<Precision> precision_called(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, Precision>, 12> names = {
      {{"f16_r", Precision::fp16},
       {"half", Precision::fp16},
       {"float16", Precision::fp16},
       {"bf16_r", Precision::bf16},
       {"bfloat16", Precision::bf16},
       {"f32_r", Precision::fp32},
       {"float", Precision::fp32},
       {"float32", Precision::fp32},
       {"single", Precision::fp32},
       {"f8_r", Precision::fp8},
       {"f64_r", Precision::fp64},
       {"double", Precision::fp64}}};
  for (const auto& [spelling, precision] : names) {
    if (spelling == name) return precision;
  }
  for (std::size_t i = 1; i < precision_count; ++i) {
    if (to_string(static_cast<Precision>(i)) == name) return static_cast<Precision>(i);
  }
  return std::nullopt;
}

/// Where the figures of a row stand.
struct SweepColumns {
  std::size_t count = 0;
  std::size_t m = no_column;
  std::size_t n = no_column;
  std::size_t k = no_column;
  std::size_t batch = no_column;
  std::size_t type = no_column;
  std::size_t time = no_column;
  std::size_t rate = no_column;
  double time_unit = 1;  ///< ns
  double rate_unit = 1;  ///< operations per ns

  [[nodiscard]] bool are_of_products() const {
    return m != no_column && n != no_column && k != no_column &&
           (time != no_column || rate != no_column);
  }
};

SweepColumns columns_in(const std::vector<std::string_view>& cells) {
  SweepColumns columns{.count = cells.size()};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string name = lower(cells[i]);
    if (name == "m") columns.m = i;
    if (name == "n") columns.n = i;
    if (name == "k") columns.k = i;
    if (name == "batch" || name == "batch_count") columns.batch = i;
    if (name == "dtype" || name == "a_type" || name == "precision") columns.type = i;
    if (name == "us" || name == "time_us" || name == "ms" || name == "time_ms") {
      columns.time = i;
      columns.time_unit = name.ends_with("us") ? 1e3 : 1e6;
    }
    if (name.ends_with("gflops") || name.ends_with("tflops")) {
      columns.rate = i;
      columns.rate_unit = name.ends_with("gflops") ? 1 : 1e3;
    }
  }
  return columns;
}

class SweepReader {
 public:
  SweepReader(std::string_view text, const std::string& where) : text_(text), where_(where) {
    table_.name = std::filesystem::path(where).stem().string();
    table_.source = table_.origin = std::filesystem::path(where).filename().string();
  }

  Result<OperatorTable> read() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      ++line_;
      FORETRACE_TRY(take(text_.substr(0, end)));
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
    if (!table_.rows.empty()) return std::move(table_);
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: no product, expected a line of column names with m, n, k and us, "
                             "ms, Gflops or tflops, and rows below it",
                             where_)};
  }

 private:
  Status take(std::string_view line) {
    take_argument(line);
    const auto cells = cells_of(line);
    if (const SweepColumns columns = columns_in(cells); columns.are_of_products()) {
      columns_ = columns;
      return ok_status();
    }
    if (!columns_.are_of_products() || cells.size() != columns_.count) return ok_status();
    return positive(cells[columns_.m]) ? take_row(cells) : ok_status();
  }

  /// "-r f16_r", "--a_type bf16_r": of the products that follow.
  void take_argument(std::string_view line) {
    for (const std::string_view name : {"a_type ", "precision ", "-r "}) {
      const auto at = line.find(name);
      if (at == std::string_view::npos) continue;
      const auto words = cells_of(line.substr(at + name.size()));
      if (words.empty()) continue;
      if (const auto type = precision_called(lower(words.front()))) type_ = type;
    }
  }

  Status take_row(const std::vector<std::string_view>& cells) {
    const auto wrong = [this](const std::string& what) {
      return Error{ErrorCode::bad_format, fmt::format("{}:{}: {}", where_, line_, what)};
    };
    const bool has_time = columns_.time != no_column;
    const auto m = positive(cells[columns_.m]);
    const auto n = positive(cells[columns_.n]);
    const auto k = positive(cells[columns_.k]);
    const auto batch = columns_.batch == no_column ? 1.0 : positive(cells[columns_.batch]);
    const auto figure = positive(cells[has_time ? columns_.time : columns_.rate]);
    if (!n || !k || !batch || !figure) {
      return wrong("got a cell that is no positive number, expected m, n, k, batch and time");
    }
    const auto type =
        columns_.type == no_column ? type_ : precision_called(lower(cells[columns_.type]));
    if (!type) {
      return wrong("no data type, expected a column dtype, or an argument such as -r f16_r above");
    }
    if (table_.rows.size() >= most_products) {
      return wrong(fmt::format("expected at most {} products", most_products));
    }
    const double operations = 2 * *m * *n * *k * *batch;
    const double ns =
        has_time ? *figure * columns_.time_unit : operations / (*figure * columns_.rate_unit);
    if (!std::isfinite(ns) || !(ns > 0)) return wrong("got no time that a product can take");
    table_.rows.push_back({*batch > 1 ? OperatorKind::batched_gemm : OperatorKind::gemm,
                           *type,
                           "",
                           {*batch, *m, *n, *k},
                           ns});
    return ok_status();
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t line_ = 0;
  SweepColumns columns_;
  std::optional<Precision> type_;
  OperatorTable table_;
};

}  // namespace

Result<OperatorTable> parse_gemm_sweep(std::string_view text, const std::string& where) {
  return SweepReader(text, where).read();
}

}  // namespace foretrace
