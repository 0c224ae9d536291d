// What Python asks for, as the documents that the program prints with --json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/plans/plan_request.h"
#include "apps/session/session.h"
#include "apps/sweep/run.h"
#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/costs/kernel_kinds.h"
#include "sim/core/result.h"

namespace foretrace::python {

/// The configs of this folder, read once per process and folder.
[[nodiscard]] Result<CataloguePtr> catalogue_of(const std::string& directory);

/// How a recording is replayed.
struct ReplayOptions {
  std::string step = "median";
  std::string engine = "pull";
};

/// See BestSetQuestion.
struct SearchOptions {
  std::string by = "time";
  std::string fit{};  ///< a size, or an accelerator; empty: the run's own
  std::size_t members = 6;
  std::size_t trials = 1000;
  std::vector<std::string> without{};
};

/// What somebody's function says that kernels take.
struct Prices {
  std::string table;  ///< a document of schema foretrace.kernel_table/1
  std::string where;  ///< which kernels: a selection
  std::string label;  ///< what stands for the table in the answer
};
struct PricedAnswer {
  std::string document;
  double path_share = 0;  ///< of the predicted critical path, in kernels that took a price
};

/// A recording that is read once and asked often. It is replayed once per step and engine.
class RecordedRun {
 public:
  [[nodiscard]] static Result<RecordedRun> read(const std::vector<std::string>& paths,
                                                const CataloguePtr& catalogue, bool strict,
                                                const std::string& unprofiled_step);
  [[nodiscard]] Result<std::string> simulate(const ReplayOptions& options) const;
  [[nodiscard]] Result<std::string> what_if(const std::vector<std::string>& what_ifs,
                                            const std::string& accelerator,
                                            const ReplayOptions& options) const;
  /// The kinds of the kernels that a selection means; their texts live as long as the run.
  [[nodiscard]] Result<std::vector<costing::KernelKind>> kernels(const std::string& where) const;
  /// As what_if(), with prices for kernels as they were recorded.
  [[nodiscard]] Result<PricedAnswer> price(const Prices& prices,
                                           const std::vector<std::string>& what_ifs,
                                           const std::string& accelerator,
                                           const ReplayOptions& options) const;
  /// The what-ifs that together give most, on top of these.
  [[nodiscard]] Result<std::string> search(const std::vector<std::string>& what_ifs,
                                           const std::string& accelerator,
                                           const SearchOptions& search,
                                           const ReplayOptions& options) const;
  [[nodiscard]] std::size_t tasks() const { return recording_->graph().size(); }

 private:
  struct Sessions;
  [[nodiscard]] Result<Session> session(const ReplayOptions& options) const;
  std::shared_ptr<const Recording> recording_;
  std::shared_ptr<Sessions> sessions_;
};

[[nodiscard]] bool is_scenario(const std::string& path);
[[nodiscard]] Result<std::string> simulate_scenario(const std::string& path,
                                                    const CataloguePtr& catalogue);
/// The same of a scenario's text; files that it names are relative to the working folder.
[[nodiscard]] Result<std::string> simulate_scenario_text(const std::string& text,
                                                         const CataloguePtr& catalogue);
[[nodiscard]] Result<std::string> inspect(const std::vector<std::string>& paths,
                                          const CataloguePtr& catalogue);
/// The best plans; `gpus` 0: the largest power of two of the cluster, `batch` 0: the usual one.
[[nodiscard]] Result<std::string> plan(const PlanRequest& request, std::uint32_t gpus, double batch,
                                       std::size_t top, const CataloguePtr& catalogue);
/// What a file holds that `simulate` takes as it is; empty: a trace, a scenario, or jobs.
[[nodiscard]] std::string simulated_kind(const std::string& path);
/// Jobs on a cluster, or a file of such a kind.
[[nodiscard]] Result<std::string> answer_file(const std::string& path,
                                              const CataloguePtr& catalogue);

/// Runs a sweep; an empty `text` means the file. The document has the best `top` points.
struct SweepQuestion {
  std::string path;
  std::string text{};
  std::string folder;  ///< of the store
  std::size_t threads = 0;
  std::size_t top = 20;
  bool fresh = false;
};
[[nodiscard]] Result<std::string> sweep(const SweepQuestion& question,
                                        const CataloguePtr& catalogue);
/// Points of a store as CSV.
[[nodiscard]] Result<std::string> sweep_points(const std::string& folder, const std::string& where,
                                               std::size_t top, bool pareto);

}  // namespace foretrace::python
