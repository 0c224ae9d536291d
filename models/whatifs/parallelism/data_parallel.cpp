// Every recorded pass is a modelled job's, whose nodes say what its ranks exchange.
//
//   before   s: b3 --- b2 --- b1 --------------------- update
//   after    s: b3 c - b2 c - b1 c ---- wait - c c c - update                         data=64
//            n:         [all-reduce 1]  [all-reduce 2]
//   before   s: f1 ------------- f2 ------------ b2 -------------------- b1 ----------- update
//   after    s: out1 f1 -------- out2 f2 ------- b2 in2 ---------------- out1 b1 in1 -- update / N
//            n: [gather 1][gather 2]   [gather 1]       [scatter 2]                [scatter 1]
//                                                                              data=64,zero=3
#include "models/whatifs/parallelism/data_parallel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/parameters/update_of_pass.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/recordings/pass_job.h"
#include "models/whatifs/parallelism/layer_exchanges.h"

namespace foretrace::editing {
namespace {

/// Fewer are told as 0.0 M: without an update they are parameters of a layer under test.
constexpr double least_gradients = 50'000;

class Spreader {
 public:
  Spreader(KernelEditor& editor, const SpreadOptions& options, bool bucket_view)
      : editor_(editor),
        options_(options),
        bucket_view_(bucket_view),
        network_(editor, *options.cluster),
        updates_(records_update(editor)) {}

  Result<SpreadData> run() {
    const std::vector<RecordedPass> passes = recorded_passes(editor_, options_.layers);
    if (passes.empty()) {
      return Error{ErrorCode::no_match,
                   "no forward kernels with a backward pass after them, expected a training step"};
    }
    for (const RecordedPass& pass : passes) {
      if (!shares_parameters() && !pass.is_updated) {
        ++deferred_;
      } else {
        FORETRACE_TRY(spread(pass));
      }
    }
    return SpreadData{notes(passes.size()), buffers()};
  }

 private:
  [[nodiscard]] bool shares_parameters() const {
    return options_.plan.sharding == Sharding::parameters;
  }

  /// Without layers a pass is one.
  [[nodiscard]] static Result<PassLayers> layers_of(const RecordedPass& pass, bool needed) {
    if (pass.layers.ok() || needed) return pass.layers;
    PassLayers whole;
    whole.list.push_back({pass.kernels.forward, pass.kernels.backward, 0, 0});
    return whole;
  }

  [[nodiscard]] Status check(const Gradients& gradients) const {
    const double numbers = gradients.numbers();
    if (shares_parameters() || updates_ || options_.parameters > 0 || !(numbers > 0) ||
        numbers >= least_gradients) {
      return ok_status();
    }
    return Error{ErrorCode::no_match,
                 fmt::format("no gradients to exchange: no update was recorded, and a backward "
                             "pass has {:.0f} gradients, expected a training step or "
                             "parameters=N",
                             numbers)};
  }

  Status spread(const RecordedPass& pass) {
    const PassParameters parameters = counter_.of(pass.kernels, options_.parameters);
    FORETRACE_TRY(check(parameters.gradients));
    FORETRACE_TRY(const PassLayers layers, layers_of(pass, shares_parameters()));
    FORETRACE_TRY(PassJob of, job_of_pass(editor_, options_, layers, parameters));
    FORETRACE_TRY(check_job(of.bound()));
    FORETRACE_TRY(const RankProgram program, build_program(of.job));
    FORETRACE_TRY(const std::vector<RankNode> nodes,
                  rank_nodes(of.job, program, 0, NodeGrain::operators));
    const PassNodes about{pass, layers, parameters.gradients, nodes};
    LayerExchanges exchanges(editor_, network_, options_, bucket_view_, about);
    FORETRACE_TRY(exchanges.put());
    const auto is_unit = [](const RankProgram::Block& block) {
      return block.collected_weights() > 0;
    };
    units_ = static_cast<std::size_t>(
        std::count_if(program.blocks->begin(), program.blocks->end(), is_unit));
    unit_bytes_ = stage_memory(of.job, program).front().buffers;
    buckets_ = exchanges.buckets();
    evidence_ = layers.evidence;
    counted_ = parameters.gradients.counted;
    places_ = parameters.gradients.places;
    gradients_ = parameters.gradients.numbers() * options_.own_parameters;
    parameters_ = of.parameters;
    return ok_status();
  }

  /// Units of parameters; or buckets beside the gradients: a copy of all of them, or of those that
  /// are on their way.
  [[nodiscard]] double buffers() const {
    if (shares_parameters()) return unit_bytes_;
    if (bucket_view_) return 0;
    const double all = gradients_ * options_.gradient_bytes;
    constexpr double in_flight = 2;
    return options_.plan.sharding == Sharding::none
               ? all
               : std::min(all, in_flight * options_.bucket_bytes);
  }

  [[nodiscard]] std::string notes(std::size_t passes) const {
    const std::size_t exchanged = passes - deferred_;
    const double ms = static_cast<double>(network_.transferred_ns()) * 1e-6 /
                      static_cast<double>(std::max<std::size_t>(exchanged, 1));
    const std::string& machine = options_.cluster->machine;
    const std::uint32_t ranks = options_.plan.data;
    if (shares_parameters()) {
      const std::uint32_t shards = options_.plan.shards();
      return fmt::format(
          "{} data-parallel ranks share {:.1f} M parameters ({}){} in {} units (from {}), {:.2f} "
          "ms of transfers per pass on {}",
          ranks, parameters_ * 1e-6, counted_,
          shards < ranks ? fmt::format(", {} a copy,", shards) : "", units_, to_string(evidence_),
          ms, machine);
    }
    std::string text = fmt::format(
        "{} data-parallel ranks: {:.1f} M gradients ({}, {}) in {} buckets, {:.2f} ms of "
        "transfers per pass on {}",
        ranks, gradients_ * 1e-6, counted_, to_string(places_), buckets_, ms, machine);
    if (deferred_ > 0) {
      text += fmt::format("; {} passes leave their gradients to the exchange of a later one",
                          deferred_);
    }
    return text;
  }

  KernelEditor& editor_;
  const SpreadOptions& options_;
  bool bucket_view_;
  NetworkCalls network_;
  PassCounter counter_{editor_};
  bool updates_ = false;
  // Of the last pass:
  double parameters_ = 0;
  double gradients_ = 0;
  std::string_view counted_;
  GradientPlaces places_ = GradientPlaces::weights;
  LayerEvidence evidence_ = LayerEvidence::modules;
  std::size_t units_ = 0;
  double unit_bytes_ = 0;
  std::size_t buckets_ = 0;
  std::size_t deferred_ = 0;  // passes without an update of their own
};

}  // namespace

Result<SpreadData> spread_data(KernelEditor& editor, const SpreadOptions& spread,
                               bool bucket_view) {
  return Spreader(editor, spread, bucket_view).run();
}

}  // namespace foretrace::editing
