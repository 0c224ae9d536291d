// The layouts of operator tables, told by their columns.
#include "models/hardware/costs/calibration/operator_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "models/hardware/costs/calibration/gemm_sweep.h"
#include "sim/core/config.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

constexpr std::size_t most_rows = 100000;

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

// A table while it is read: columns by name, facts that hold for every row, the first mistake.
class Reading {
 public:
  Reading(const ConfigValue& root, std::string path) : root_(root), path_(std::move(path)) {}

  Result<OperatorTable> run();

 private:
  using Layout = void (Reading::*)();

  [[nodiscard]] Error mistake(const std::string& what) const {
    return Error{ErrorCode::bad_format, fmt::format("{}: {}", path_, what)};
  }
  void fail(const std::string& what) {
    if (mistake_.empty()) {
      mistake_ = line_ < 0 ? what : fmt::format("/rows/{}: {}", line_, what);
    }
  }
  static std::string text_at(const ConfigValue* object, std::string_view key) {
    const ConfigValue* found = object == nullptr ? nullptr : object->find(key);
    return found != nullptr && found->kind == ConfigValue::Kind::text ? found->text : "";
  }
  [[nodiscard]] bool has(std::string_view column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
  }

  // The cell of this row in a column; 1 and a mistake if it is no positive number.
  double cell(std::string_view column) {
    const auto at = static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), column) -
                                             columns_.begin());
    const ConfigValue& value = row_->items[at];
    const auto number =
        value.kind == ConfigValue::Kind::number ? number_in(value.text) : std::nullopt;
    if (number && *number > 0 && *number < 1e15) return *number;
    fail(fmt::format("column {}: {}, expected a positive number", in_quotes(column),
                     value.described()));
    return 1;
  }
  std::string word(std::string_view column) {
    const auto at = static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), column) -
                                             columns_.begin());
    const ConfigValue& value = row_->items[at];
    if (value.kind == ConfigValue::Kind::text) return value.text;
    fail(fmt::format("column {}: {}, expected a text", in_quotes(column), value.described()));
    return "";
  }

  void add(OperatorKind kind, const OperatorShape& shape, double ns, std::string device = "") {
    table_.rows.push_back({kind, precision_, std::move(device), shape, ns});
  }
  OperatorKind kind_of(std::string_view name);

  void read_head();
  [[nodiscard]] Layout layout() const;
  void product_row();
  void device_row();
  void throughput_row();
  void transformer_row();

  const ConfigValue& root_;
  std::string path_;
  const ConfigValue* fixed_ = nullptr;
  const ConfigValue* row_ = nullptr;
  std::vector<std::string> columns_;
  Precision precision_ = Precision::fp32;
  OperatorKind table_kind_ = OperatorKind::gemm;
  int line_ = -1;
  std::string mistake_;
  OperatorTable table_;
};

// Other spellings of operators in public tables.
OperatorKind Reading::kind_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, OperatorKind>, 6> spellings = {
      {{"layernorm", OperatorKind::layer_norm},
       {"ln", OperatorKind::layer_norm},
       {"linear", OperatorKind::gemm},
       {"matmul", OperatorKind::gemm},
       {"bmm", OperatorKind::batched_gemm},
       {"rmsnorm", OperatorKind::rms_norm}}};
  for (const auto& [spelling, kind] : spellings) {
    if (spelling == name) return kind;
  }
  if (const auto kind = operator_kind(name)) return *kind;
  std::vector<std::string_view> valid;
  for (std::size_t i = 0; i < operator_kind_count; ++i) {
    valid.push_back(to_string(static_cast<OperatorKind>(i)));
  }
  fail(fmt::format("unknown operator {}{}, expected one of {}", in_quotes(name),
                   did_you_mean(name, valid), fmt::join(valid, ", ")));
  return OperatorKind::gemm;
}

void Reading::read_head() {
  const ConfigValue* source = root_.find("source");
  table_.name = text_at(&root_, "id");
  if (table_.name.empty()) table_.name = std::filesystem::path(path_).stem().string();
  const std::string commit = text_at(source, "commit");
  table_.origin = text_at(source, "repo");
  table_.source = table_.origin.empty() ? table_.name : table_.origin;
  if (const std::string path = text_at(source, "path"); !path.empty()) {
    table_.origin += (table_.origin.empty() ? "" : " ") + path;
  }
  if (!commit.empty()) table_.origin += " @" + commit.substr(0, 10);
  table_.licence = text_at(source, "licence");
  table_.paper = text_at(source, "paper");

  fixed_ = root_.find("fixed");
  std::string dtype = text_at(fixed_, "dtype");
  if (dtype.empty()) dtype = text_at(fixed_, "precision");
  for (std::size_t i = 1; i < precision_count; ++i) {
    if (dtype == to_string(static_cast<Precision>(i))) precision_ = static_cast<Precision>(i);
  }
  // "op_softmax_neusight" and "gemm_mine" name the operator of all rows.
  std::string kind = text_at(fixed_, "operator");
  if (kind.empty() && has("Device")) {
    const std::string rest = table_.name.starts_with("op_") ? table_.name.substr(3) : table_.name;
    kind = rest.substr(0, rest.find('_'));
  }
  if (!kind.empty()) table_kind_ = kind_of(kind);
}

// m, n, k in numbers and a time in ms or us.
void Reading::product_row() {
  const double batch = has("batch") ? cell("batch") : 1;
  const double ns = has("us") ? cell("us") * 1e3 : cell("ms") * 1e6;
  add(batch > 1 ? OperatorKind::batched_gemm : table_kind_,
      {batch, cell("m"), cell("n"), cell("k")}, ns);
}

// NeuSight: Device, B, (M, N, K | H), Latency in ms.
void Reading::device_row() {
  const double ns = cell("Latency") * 1e6;
  const OperatorShape shape = has("H") ? OperatorShape{1, cell("B"), cell("H"), 0}
                                       : OperatorShape{cell("B"), cell("M"), cell("N"), cell("K")};
  add(table_kind_, shape, ns, word("Device"));
}

// LLMCompass: op, m, n, and how many 10^9 elements per second.
void Reading::throughput_row() {
  const OperatorKind kind = kind_of(word("op"));
  const OperatorShape shape{1, cell("m"), cell("n"), 0};
  add(kind, shape, shape.m * shape.n / cell("value"));
}

// Vidur: microseconds per operator of a transformer layer, by tensor parallel degree and tokens.
void Reading::transformer_row() {
  const ConfigValue* dims = fixed_ == nullptr ? nullptr : fixed_->find("dims");
  const auto dim = [&](std::string_view key) {
    const auto number = number_in(text_at(dims, key));
    if (number && *number > 0 && *number < 1e9) return *number;
    fail(fmt::format("/fixed/dims/{}: missing or not a positive number", key));
    return 1.0;
  };
  const double tokens = cell("tokens");
  const double tp = cell("tp");
  const double hidden = dim("n_embd");
  const double heads = dim("n_head");
  const double head_dim = hidden / heads;
  const double rotated = head_dim * (heads + dim("n_kv_head")) / tp;  // query and key heads
  const double projected = head_dim * (heads + 2 * dim("n_kv_head")) / tp;
  const double inner = dim("n_expanded_embd") / tp;
  const auto product = [&](std::string_view column, double n, double k) {
    add(OperatorKind::gemm, {1, tokens, n, k}, cell(column) * 1e3);
  };
  const auto rows = [&](std::string_view column, OperatorKind kind, double n) {
    add(kind, {1, tokens, n, 0}, cell(column) * 1e3);
  };
  product("attn_pre_proj", projected, hidden);
  product("attn_post_proj", hidden, hidden / tp);
  product("mlp_up_proj", 2 * inner, hidden);  // gated: two projections in one
  product("mlp_down_proj", hidden, inner);
  rows("add", OperatorKind::add, hidden);
  rows("attn_rope", OperatorKind::rope, rotated);
  rows("emb", OperatorKind::embedding, hidden);
  rows("input_layernorm", OperatorKind::rms_norm, hidden);
  rows("post_attention_layernorm", OperatorKind::rms_norm, hidden);
  rows("mlp_act", OperatorKind::gated_activation, inner);
}

Reading::Layout Reading::layout() const {
  const auto all = [&](std::initializer_list<std::string_view> names) {
    return std::all_of(names.begin(), names.end(), [&](auto name) { return has(name); });
  };
  if (all({"Device", "B", "Latency"}) && (has("H") || all({"M", "N", "K"}))) {
    return &Reading::device_row;
  }
  if (all({"op", "m", "n", "value"})) return &Reading::throughput_row;
  if (all({"m", "n", "k"}) && (has("ms") || has("us"))) return &Reading::product_row;
  if (all({"tp", "tokens", "add", "attn_post_proj", "attn_pre_proj", "attn_rope", "emb",
           "input_layernorm", "mlp_act", "mlp_down_proj", "mlp_up_proj",
           "post_attention_layernorm"})) {
    return &Reading::transformer_row;
  }
  return nullptr;
}

Result<OperatorTable> Reading::run() {
  const ConfigValue* columns = root_.find("columns");
  const ConfigValue* rows = root_.find("rows");
  const auto is_list = [](const ConfigValue* value) {
    return value != nullptr && value->kind == ConfigValue::Kind::list;
  };
  if (!is_list(columns) || !is_list(rows)) {
    return mistake("no table, expected lists 'columns' and 'rows'");
  }
  if (rows->items.size() > most_rows) {
    return mistake(
        fmt::format("/rows: got {} rows, expected at most {}", rows->items.size(), most_rows));
  }
  for (const ConfigValue& column : columns->items) columns_.push_back(column.text);
  read_head();
  const Layout take = layout();
  if (take == nullptr) {
    return mistake(fmt::format(
        "/columns: got {}, expected m, n, k and ms or us; op, m, n and value (10^9 elements/s); "
        "Device, B, H or M, N, K, and Latency (ms); or the operators of a transformer by tp and "
        "tokens",
        fmt::join(columns_, ", ")));
  }
  for (const ConfigValue& row : rows->items) {
    ++line_;
    row_ = &row;
    if (row.kind != ConfigValue::Kind::list || row.items.size() != columns_.size()) {
      fail(fmt::format("{}, expected a list of {} cells", row.described(), columns_.size()));
      break;
    }
    (this->*take)();
    if (!mistake_.empty()) break;
  }
  if (!mistake_.empty()) return mistake(mistake_);
  return std::move(table_);
}

}  // namespace

Result<OperatorTable> read_operator_table(const std::string& path) {
  FORETRACE_TRY(const std::string text, read_config_text(path));
  return parse_operator_table(text, path);
}

Result<OperatorTable> parse_operator_table(std::string_view text, const std::string& where) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const bool is_json =
      first != std::string_view::npos && (text[first] == '{' || text[first] == '/');
  if (!is_json) return parse_gemm_sweep(text, where);
  FORETRACE_TRY(auto root, parse_config_document(text, where, "foretrace-truth/1"));
  return Reading(root, where).run();
}

}  // namespace foretrace
