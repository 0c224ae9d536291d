// Predictor: a job is loaded once and asked often, as a scheduler asks: how long would a step take
// there, does it fit, what if another job ran beside it?
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// Where a job would run, and how much slower than usual (1) each kind of its work would be there.
/// Factors are at least 0; 0.5 is twice as fast.
struct JobPlacement {
  std::string accelerator{};       ///< a product; empty: the job's own
  std::uint32_t accelerators = 0;  ///< how many share the job's batches; 0: as many as it has; it
                                   ///< does not run on fewer
  /// What joins several of them; empty: the usual machine of the product.
  std::string cluster{};
  double compute = 1;        ///< kernels
  double copies = 1;         ///< between host and device
  double communication = 1;  ///< collectives and transfers
  double host = 1;           ///< the program between its device calls
};

struct StepPrediction {
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;  ///< the range of the step
  std::int64_t high_ns = 0;
  std::int64_t memory_bytes = -1;  ///< of the fullest device, driver included; -1: not known
  bool fits = true;                ///< false only where memory is known and the device too small
  double samples = 1;  ///< of a step / of a step of the job as it is, all ranks together

  /// Samples per second / those of the job as it is, whose step takes `own_step_ns`.
  [[nodiscard]] double speedup(std::int64_t own_step_ns) const;
  /// Time of a step / that of the job as it is.
  [[nodiscard]] double time_ratio(std::int64_t own_step_ns) const;
};

/// How two jobs share a device.
enum class Sharing : std::uint8_t {
  time_slices,  ///< one after the other: who wants the device while the other has it waits
  mps,          ///< kernels of both run together as far as the device has room for both
  mig           ///< each has half of the device, as MIG divides it
};
struct Corun {
  StepPrediction first;
  StepPrediction second;
  double first_share = 1;  ///< speed beside the other job / alone
  double second_share = 1;
  bool fits = true;           ///< both in the memory of the device, as far as is known
  bool knows_memory = false;  ///< of both jobs and of the device; else `fits` is only not denied
};

/// Where the state of a job lies while it does not run, and what starting it takes.
struct CheckpointStore {
  double write_bytes_per_s = 0;  ///< of all ranks together
  double read_bytes_per_s = 0;
  std::int64_t start_ns = 0;  ///< until its processes are ready to read: of the scheduler
};
/// What a job loses when it is taken off its devices and goes on later.
struct RestartCost {
  std::int64_t state_bytes = 0;  ///< parameters and states of the optimizer, each once
  std::int64_t save_ns = 0;
  std::int64_t load_ns = 0;  ///< with the start
};

struct PredictorOptions {
  CataloguePtr catalogue{};     ///< null: no accelerator and no cluster is known by name
  std::string step = "median";  ///< which recorded step answers
};

/// Copies share everything. A const one may be asked by any number of threads.
class Predictor {
 public:
  /// A trace, the traces of a job's ranks, or a scenario.
  [[nodiscard]] static Result<Predictor> load(const std::string& path,
                                              const PredictorOptions& options = {});
  [[nodiscard]] static Result<Predictor> load(std::span<const std::string> paths,
                                              const PredictorOptions& options = {});

  /// The first question about a product, a number of accelerators or a cluster makes the graph of
  /// the job there; all others only simulate. Errors: a name that is not known, a factor below 0,
  /// a placement that the job does not allow.
  [[nodiscard]] Result<StepPrediction> predict(const JobPlacement& placement = {}) const;

  /// One per pair: speedup over the job as it is, 0 where it does not run or does not fit; rows are
  /// accelerators, columns are counts. What a scheduler such as Gavel's takes as input. Error: no
  /// machine is known that joins several of a product.
  [[nodiscard]] Result<std::vector<double>> throughputs(
      std::span<const std::string> accelerators, std::span<const std::uint32_t> counts) const;

  /// Two recorded jobs on one device each would have alone at `placement`. Errors of MIG:
  /// unsupported, the device has none; no_match, a job has no room in its half.
  [[nodiscard]] static Result<Corun> corun(const Predictor& first, const Predictor& second,
                                           Sharing sharing, const JobPlacement& placement = {});

  /// Saving and loading the state, at the rates of the store. Errors: a rate that is not above 0;
  /// the job's state is not known: its memory was not recorded, or ranks divide it among them.
  [[nodiscard]] Result<RestartCost> restart_cost(const CheckpointStore& store) const;

  /// The product that the job was recorded on; empty: not known, or a scenario.
  [[nodiscard]] std::string accelerator() const;
  /// Why answers may be wrong, of what was recorded: a sentence each; empty: nothing is known.
  [[nodiscard]] std::vector<std::string> doubts() const;
  [[nodiscard]] std::size_t tasks() const;     ///< of the job as it is; 0 for a scenario
  [[nodiscard]] std::int64_t step_ns() const;  ///< of the job as it is, simulated

  /// What answers; one for traces, one for scenarios.
  class Source;

 private:
  explicit Predictor(std::shared_ptr<const Source> job);
  std::shared_ptr<const Source> source_;
};

}  // namespace foretrace
