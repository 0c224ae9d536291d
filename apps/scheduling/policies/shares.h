// The base of policies that give every job a share of time on every kind of accelerator, and the
// rounds that bring these shares about (Gavel).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/scheduler_info.h"
#include "sim/core/mersenne.h"

namespace foretrace::scheduling {

/// Shares of time of a job, or of two jobs on the same accelerators, on each kind.
struct ShareRow {
  JobId job{};
  JobId partner = none<JobId>;
  std::vector<double> share;
};

struct RoundOptions {
  /// Shares are computed again when jobs came or went, but not more often than this.
  std::int64_t reset_ns = 0;
  /// Accelerators that no share claims go to any job; false: they stay idle.
  bool uses_leftovers = true;
  /// A job without a share yet takes its turn and does not run, as published; false: it runs.
  bool newcomers_wait = true;
  /// Kinds are visited in another order every round; false: in the order of the cluster.
  bool shuffles_kinds = false;
  std::uint64_t seed = 0;
};

/// In every round and on every kind jobs run by priority, share / time received, as far as they
/// fit. Meant for leases.
class SharePolicy : public Policy {
 public:
  explicit SharePolicy(const RoundOptions& options);

  void on_arrival(const View& view, JobId job) override;
  void on_end(const View& view, JobId job) override;
  void on_run(const Grant& grant, std::int64_t time_ns) override;
  Status decide(const View& view, Offer& offer) final;

  /// Shares of the active jobs. A pair stands for both of its jobs at once. Jobs without a row have
  /// none.
  [[nodiscard]] virtual Result<std::vector<ShareRow>> shares(const View& view) = 0;

 private:
  struct Entry {
    ShareRow row;
    std::vector<double> received_s;  ///< since the last reset
    std::vector<double> deficit_s;
    bool has_share = false;
  };
  using Key = std::pair<JobId, JobId>;

  Status reset(const View& view);
  void forget_gone();
  static constexpr std::size_t nowhere = ~std::size_t{0};
  /// Where the entry lies; `nowhere`: there is none, and it may be set.
  std::size_t& place_of(const Key& key);
  Entry& entry(const Key& key, std::size_t kinds);
  void grant_kind(const View& view, KindId kind, Offer& offer);

  RoundOptions options_;
  Random random_;
  std::vector<Entry> entries_;        ///< in the order in which they came
  std::vector<std::size_t> alone_;    ///< entries of jobs without a partner, by job
  std::map<Key, std::size_t> pairs_;  ///< entries of the others
  std::vector<JobId> gone_;           ///< ended, entries not removed yet
  std::vector<KindId> order_;
  bool changed_ = true;
  std::int64_t last_reset_ns_ = 0;
};

// Parameters that all of them have.
inline constexpr ParamInfo reset_param = {
    .name = "reset",
    .type = ParamType::time,
    .unit = "s",
    .default_text = "1920 s",
    .doc = "Shares are recomputed when jobs arrive or end, but not more often than this.",
    .minimum = 0,
    .maximum = 1e18};
inline constexpr ParamInfo newcomers_param = {
    .name = "newcomers",
    .type = ParamType::text,
    .default_text = "wait",
    .doc =
        "A job that arrives after shares were computed waits its turn (wait, as published), or "
        "runs on leftover accelerators (run).",
    .choices = "wait|run"};
inline constexpr ParamInfo seed_param = {.name = "seed",
                                         .type = ParamType::integer,
                                         .default_text = "5",
                                         .doc = "Seed of the order in which kinds are visited.",
                                         .minimum = 0,
                                         .maximum = 1e15};
inline constexpr ParamInfo aware_param = {
    .name = "aware",
    .type = ParamType::boolean,
    .default_text = "true",
    .doc = "The policy knows the rate of a job on each kind; false: all kinds count as equal."};

/// The options of these parameters.
[[nodiscard]] RoundOptions round_options(const ParamValues& params, bool shuffles_kinds = false);

}  // namespace foretrace::scheduling
