// Execution models: how a device that is no GPU spends time on an operator. A file of this folder
// is a machine (systolic array, microcontroller, ...) or an option that goes with one (sparse
// lanes, ...).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/config.h"
#include "sim/core/params.h"
#include "sim/core/result.h"
#include "sim/graph/task.h"

namespace foretrace {

enum class WorkKind : std::uint8_t {
  product,    ///< multiplications and additions of an m x k with a k x n matrix
  attention,  ///< the same, without weights: two products per head
  vector,     ///< number by number: norms, maps, gathers, updates
};

/// Which of the three products of training; inference has forward only.
enum class WorkPass : std::uint8_t { forward, input_gradient, weight_gradient };

/// What an operator asks of any machine: arithmetic, and bytes that move at least once.
struct OperatorWork {
  WorkKind kind = WorkKind::vector;
  WorkPass pass = WorkPass::forward;
  double batch = 1;  ///< equal products
  double m = 0;
  double n = 0;
  double k = 0;
  double input_reuse = 1;  ///< how often an implicit product uses each number of its input
  double input_bytes = 0;
  double weight_bytes = 0;  ///< 0: both operands are activations
  double output_bytes = 0;
  double numbers = 0;       ///< vector: that are computed
  double number_bytes = 2;  ///< of one number of the input
  double kernels = 1;       ///< launches, dispatches, supersteps
  [[nodiscard]] double multiplications() const { return batch * m * n * k; }
  [[nodiscard]] double bytes() const { return input_bytes + weight_bytes + output_bytes; }
};

/// What the accelerator's file says besides the execution model. Rates per ns.
struct ExecDevice {
  double bytes_per_ns = 1;            ///< of its memory
  double vector_per_ns = 1;           ///< operations number by number
  double multiplications_per_ns = 0;  ///< peak of the precision; 0: it has no such units
  double memory_bytes = 0;
};

/// Where the time of an operator goes, in ns. Arithmetic runs beside what is loaded.
struct ExecTime {
  double fixed = 0;     ///< start, dispatch, synchronization
  double exchange = 0;  ///< between parts of the device, before they compute
  double compute = 0;
  double weights = 0;  ///< loading them
  double traffic = 0;  ///< inputs and outputs
  [[nodiscard]] double loaded() const { return weights + traffic; }
  [[nodiscard]] double total() const {
    return fixed + exchange + (compute > loaded() ? compute : loaded());
  }
};

/// The model whose operators run: what stays on a device is shared by all of them.
struct ExecWorkload {
  double weight_bytes = 0;  ///< 0: not known
};

/// One file of this folder.
struct ExecModelInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view paper;
  std::string_view recipe;  ///< the formula, a few lines
  std::span<const std::string_view> assumptions;
  std::span<const std::string_view> ignores;
  std::string_view calibrate;
  std::span<const ParamInfo> params;
  /// A machine: the time of an operator. Null: an option.
  ExecTime (*time)(const ParamValues& params, const ExecDevice& device,
                   const OperatorWork& work) = nullptr;
  /// An option: what it makes of the work before, and of the time after a machine has it.
  void (*change_work)(const ParamValues& params, OperatorWork& work) = nullptr;
  void (*change_time)(const ParamValues& params, const ExecWorkload& workload,
                      const OperatorWork& work, ExecTime& time) = nullptr;
  /// What its times rest on: a formula of the machine, or constants fitted to measurements.
  Provenance provenance = Provenance::roofline;
  /// Parameters that do not go together. Errors: one line.
  Status (*check)(const ParamValues& params) = nullptr;
  const ParamInfo* start = nullptr;         ///< time, once per pass through the model
  const ParamInfo* weight_store = nullptr;  ///< bytes of a memory of its own for weights (flash)
  const ParamInfo* store_taken = nullptr;   ///< bytes of it that the program takes
  const ParamInfo* memory_taken = nullptr;  ///< bytes of the other memory that the program takes
};

namespace exec_models {
/// Every machine and option, sorted by name (generated from the files of
/// models/hardware/execution).
[[nodiscard]] std::span<const ExecModelInfo* const> all();
}  // namespace exec_models

/// A machine with its options and their parameters: "exec_model" of an accelerator's file.
class ExecModel {
 public:
  /// Reads {"systolic": {"rows": 128, ...}, "sparse_lanes": {...}}: one machine, any options.
  /// Errors name the member and the nearest one.
  [[nodiscard]] static Result<ExecModel> read(const ConfigValue& object);
  /// The same with what `object` states in place of what was there, and its options added.
  [[nodiscard]] Result<ExecModel> changed_by(const ConfigValue& object) const;

  [[nodiscard]] ExecTime time(const ExecDevice& device, ExecWorkload workload,
                              OperatorWork work) const;
  [[nodiscard]] const ExecModelInfo& machine() const { return *parts_[machine_].info; }
  /// Once per pass through the model, in ns.
  [[nodiscard]] double start_ns() const;
  /// Bytes of a memory of its own for weights; 0: they lie with everything else.
  [[nodiscard]] double weight_store() const;
  [[nodiscard]] double store_taken() const;
  [[nodiscard]] double memory_taken() const;
  /// "systolic: rows 128, cols 128, ...; sparse_lanes: ...".
  [[nodiscard]] std::string text() const;
  /// Name, and names and values of the parameters, of every part; the machine first.
  struct PartTexts {
    std::string_view name;
    std::vector<std::pair<std::string, std::string>> params;
  };
  [[nodiscard]] std::vector<PartTexts> parts() const;

 private:
  using Given = std::vector<std::pair<std::string, std::string>>;
  struct Part {
    const ExecModelInfo* info = nullptr;
    Given given;
    ParamValues values;
  };
  [[nodiscard]] Status add(std::string_view name, const ConfigValue& params);
  [[nodiscard]] Status finish();
  [[nodiscard]] double of_machine(const ParamInfo* row) const;

  std::vector<Part> parts_;
  std::size_t machine_ = 0;
};

}  // namespace foretrace
