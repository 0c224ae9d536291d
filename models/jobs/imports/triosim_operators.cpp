// Operator tables of TrioSim (trace.csv): a line per operator of one training step on one GPU.
//
//   OperatorID,OperatorName,Operator_input,Operator_output,Operator_cudatime,...
//   1,aten::conv2d,[4; 6],[13],1278,1273,[19267584; 9408],[102760448],0,forward,1
//
// Written by tracer/dataprocess.py and read by trace.go (github.com/sarchlab/triosim, ISCA 2025).
// Tensors are ids, sizes are counts of numbers, times are us; as there, the time of an operator is
// the sum of its kernels (Operator_cudatimenooverlap). `tpflag` marks forward operators that tensor
// parallelism divides, and backward ones of the same autograd sequence number.
//
// A layer begins at a forward operator that reads a parameter, or is marked; parameters are what
// the optimizer's operators read, too. A backward operator belongs to the layer whose parameter it
// reads; a marked one without to the last marked layer that has none yet (autograd goes backwards);
// every other one to the layer of the next one that has a layer.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/jobs/workloads/layered.h"
#include "models/jobs/workloads/model_import.h"
#include "sim/core/params.h"

namespace foretrace::model_imports::triosim_operators_parts {
namespace {

constexpr double longest_us = 1e12;
constexpr double most_numbers = 1e15;
constexpr std::size_t most_rows = 20000;
constexpr std::array<std::string_view, 3> stages = {"forward", "backward", "optimizer"};
enum Stage : std::size_t { forward, backward, optimizer };

enum Column : std::size_t {
  name,
  inputs,
  outputs,
  time,
  input_sizes,
  output_sizes,
  gpu,
  stage,
  tp
};
constexpr std::array<std::string_view, 9> columns = {
    "OperatorName", "Operator_input", "Operator_output", "Operator_cudatimenooverlap",
    "InputSize",    "OutputSize",     "gpuid",           "stage",
    "tpflag"};

bool recognizes(const ImportedFile& file) {
  return first_line(file.text).starts_with("OperatorID,OperatorName,");
}

/// Between commas; those in "..." and [...] are part of a field.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ',';
    if (c == '"') quoted = !quoted;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (i < line.size() && (c != ',' || quoted || depth > 0)) continue;
    std::string_view field = line.substr(begin, i - begin);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
      field = field.substr(1, field.size() - 2);
    }
    fields.push_back(field);
    begin = i + 1;
  }
  return fields;
}

struct Row {
  std::string_view name;
  std::vector<double> reads;   ///< ids
  std::vector<double> writes;  ///< ids
  std::vector<double> read_numbers;
  std::vector<double> written_numbers;
  double us = 0;
  double gpu = 0;
  Stage stage = forward;
  bool marked = false;
};

struct Layer {
  std::string name;
  double forward_us = 0;
  double backward_us = 0;
  double weights = 0;
  double kept_numbers = 0;
  double output_numbers = 0;  ///< of its last operator
  bool marked = false;
  bool matched = false;  ///< a backward operator is its own
};

class Reader {
 public:
  explicit Reader(const ImportedFile& file) : lines_(file) {}
  Result<ModelSpec> read();

 private:
  void read_columns(std::string_view line);
  void read_row(std::string_view line);
  std::vector<double> list(std::string_view key, std::string_view text, double most);
  void find_parameters();
  void add_forward(const Row& row);
  void add_backward();
  [[nodiscard]] std::optional<std::size_t> own_layer(const Row& row);
  [[nodiscard]] Result<ModelSpec> model() const;

  ImportedLines lines_;
  double total_us_ = 0;  // of the rows until here
  std::array<std::size_t, columns.size()> places_{};
  std::size_t width_ = 0;
  std::vector<Row> rows_;
  std::set<double> parameters_;
  std::map<double, std::size_t> layer_of_parameter_;
  std::set<double> kept_;
  std::vector<Layer> layers_;
  std::size_t open_ = 0;  // layers behind it have their marked backward operator
  double optimizer_us_ = 0;
};

std::vector<double> Reader::list(std::string_view key, std::string_view text, double most) {
  if (text.size() >= 2 && text.starts_with('[') && text.ends_with(']')) {
    return lines_.numbers(key, text.substr(1, text.size() - 2), most);
  }
  lines_.mistake(fmt::format("{}: got {}, expected a list such as [4; 6]", key, in_quotes(text)));
  return {};
}

void Reader::read_columns(std::string_view line) {
  const std::vector<std::string_view> names = fields_of(line);
  width_ = names.size();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto at = std::find(names.begin(), names.end(), columns[i]);
    if (at == names.end()) return lines_.mistake(fmt::format("missing column {}", columns[i]));
    places_[i] = static_cast<std::size_t>(at - names.begin());
  }
}

void Reader::read_row(std::string_view line) {
  const std::vector<std::string_view> fields = fields_of(line);
  if (fields.size() != width_) {
    return lines_.mistake(fmt::format("got {} fields, expected {}", fields.size(), width_));
  }
  const auto at = [&](Column column) { return fields[places_[column]]; };
  Row row;
  row.name = at(name);
  row.reads = list(columns[inputs], at(inputs), most_numbers);
  row.writes = list(columns[outputs], at(outputs), most_numbers);
  row.read_numbers = list(columns[input_sizes], at(input_sizes), most_numbers);
  row.written_numbers = list(columns[output_sizes], at(output_sizes), most_numbers);
  row.us = lines_.number(columns[time], at(time), longest_us);
  total_us_ += row.us;
  if (total_us_ > longest_us) {
    return lines_.mistake(
        fmt::format("got {:g} us in all until here, expected at most {:g}", total_us_, longest_us));
  }
  row.gpu = lines_.number(columns[gpu], at(gpu), 1e6);
  row.marked = lines_.number(columns[tp], at(tp), 1) > 0;
  const auto* const word = std::find(stages.begin(), stages.end(), at(stage));
  if (word == stages.end()) {
    return lines_.mistake(fmt::format("stage: got {}{}, expected forward, backward or optimizer",
                                      in_quotes(at(stage)), did_you_mean(at(stage), stages)));
  }
  row.stage = static_cast<Stage>(word - stages.begin());
  if (row.reads.size() != row.read_numbers.size() ||
      row.writes.size() != row.written_numbers.size()) {
    return lines_.mistake(
        "got unequal counts of tensors and sizes, expected a size for every tensor");
  }
  if (!rows_.empty() && rows_.front().gpu != row.gpu) {
    return lines_.mistake(fmt::format("gpuid: got {:g} behind {:g}, expected the rows of one GPU",
                                      row.gpu, rows_.front().gpu));
  }
  if (rows_.size() >= most_rows) {
    return lines_.mistake(fmt::format("got more rows, expected at most {}", most_rows));
  }
  rows_.push_back(std::move(row));
}

void Reader::find_parameters() {
  std::set<double> updated;
  for (const Row& row : rows_) {
    if (row.stage == optimizer) updated.insert(row.reads.begin(), row.reads.end());
  }
  for (const Row& row : rows_) {
    if (row.stage != forward) continue;
    std::copy_if(row.reads.begin(), row.reads.end(), std::inserter(parameters_, parameters_.end()),
                 [&](double tensor) { return updated.contains(tensor); });
  }
}

void Reader::add_forward(const Row& row) {
  const bool reads_parameter = std::any_of(row.reads.begin(), row.reads.end(), [&](double tensor) {
    return parameters_.contains(tensor);
  });
  if (layers_.empty() || reads_parameter || row.marked) {
    layers_.push_back({std::string(row.name)});
  }
  Layer& layer = layers_.back();
  layer.forward_us += row.us;
  layer.marked = layer.marked || row.marked;
  for (std::size_t i = 0; i < row.reads.size(); ++i) {
    const double tensor = row.reads[i];
    if (!parameters_.contains(tensor)) continue;
    // A parameter that several layers share is counted where it is read first.
    if (layer_of_parameter_.emplace(tensor, layers_.size() - 1).second) {
      layer.weights += row.read_numbers[i];
    }
  }
  for (std::size_t i = 0; i < row.writes.size(); ++i) {
    if (kept_.insert(row.writes[i]).second) layer.kept_numbers += row.written_numbers[i];
    layer.output_numbers = row.written_numbers[i];
  }
}

std::optional<std::size_t> Reader::own_layer(const Row& row) {
  for (const double tensor : row.reads) {
    const auto found = layer_of_parameter_.find(tensor);
    if (found != layer_of_parameter_.end()) return found->second;
  }
  if (!row.marked) return std::nullopt;
  for (; open_ > 0; --open_) {
    const Layer& layer = layers_[open_ - 1];
    if (layer.marked && !layer.matched) return open_ - 1;
  }
  return std::nullopt;
}

void Reader::add_backward() {
  double waiting_us = 0;  // of operators whose layer a later one tells
  std::size_t last = 0;
  open_ = layers_.size();
  for (const Row& row : rows_) {
    if (row.stage != backward) continue;
    waiting_us += row.us;
    const std::optional<std::size_t> own = own_layer(row);
    if (!own) continue;
    layers_[*own].matched = true;
    layers_[*own].backward_us += std::exchange(waiting_us, 0);
    last = *own;
  }
  layers_[last].backward_us += waiting_us;
}

Result<ModelSpec> Reader::model() const {
  LayeredSpec spec;
  spec.recorded = RecordedGroups{.tensor = 1, .expert = 1};  // of one GPU, undivided
  double widest = 0;
  for (const Layer& layer : layers_) {
    LayerOperator operation;
    operation.kind = LayerKind::recorded;
    operation.name = layer.name;
    operation.recorded = {layer.forward_us * 1e3, layer.backward_us * 1e3, 0};
    operation.weights = layer.weights;
    operation.kept_numbers = layer.kept_numbers;
    widest = std::max(widest, layer.output_numbers);
    spec.order.push_back({static_cast<std::uint32_t>(spec.groups.size()), 1});
    spec.groups.push_back({layer.name, 1, {operation}});
  }
  ModelSpec model;
  model.source = "operators of TrioSim";
  model.notes = {
      "a sample is the batch that was recorded; all of backward is one time, and between stages "
      "the largest output of a layer goes; times stay those of the recorded GPU and precision"};
  double weights = 0;
  for (const Layer& layer : layers_) weights += layer.weights;
  if (weights > 0) {
    spec.recorded->update_ns = optimizer_us_ * 1e3 / weights;
    model.notes.emplace_back("the optimizer takes its recorded time per parameter");
  } else if (optimizer_us_ > 0) {
    model.notes.push_back(
        fmt::format("{:g} ms of the optimizer are left out: none of its operators reads what a "
                    "forward one does, so there are no weights",
                    optimizer_us_ * 1e-3));
  } else {
    model.notes.emplace_back(
        "no operator of an optimizer is recorded, so the parameters are unknown: no weights, and "
        "no gradients to exchange");
  }
  model.transformer = layered_model(std::move(spec), widest);
  return model;
}

Result<ModelSpec> Reader::read() {
  if (const auto header = lines_.next()) read_columns(*header);
  while (const auto line = lines_.next()) {
    if (!line->empty()) read_row(*line);
  }
  if (!lines_.ok()) return lines_.error();
  find_parameters();
  for (const Row& row : rows_) {
    if (row.stage == forward) add_forward(row);
    if (row.stage == optimizer) optimizer_us_ += row.us;
  }
  if (layers_.empty()) {
    lines_.mistake_of_all("got no forward operator, expected at least one");
    return lines_.error();
  }
  add_backward();
  return model();
}

Result<ModelSpec> read(const ImportedFile& file) { return Reader(file).read(); }

}  // namespace

extern constexpr ModelImport info = {"triosim_operators", "operator tables of TrioSim (trace.csv)",
                                     "github.com/sarchlab/triosim: trace.go, tracer/dataprocess.py",
                                     recognizes, read};

}  // namespace foretrace::model_imports::triosim_operators_parts
