// Rounds of leases: every job runs whole steps until the end of its lease, then all begin anew.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/scheduling/simulation/machine.h"

namespace foretrace::scheduling {

class Leases {
 public:
  Leases(Machine& machine, const RunSetup& setup, const RunOptions& options);

  /// Runs what holds accelerators now for one round; time moves to its end, the last stop of a job.
  void run_round();
  /// As many rounds at once as are like the one that follows: no job ends in them, and the next one
  /// begins before this moment.
  void run_rounds_until(std::int64_t until_ns);

 private:
  struct Lease {
    Grant grant;
    std::int64_t end_ns = 0;
    std::vector<double> steps;  ///< of the job, and of its partner
  };
  [[nodiscard]] std::vector<Lease> leases() const;
  [[nodiscard]] std::int64_t rounds_alike(const std::vector<Lease>& all,
                                          std::int64_t until_ns) const;
  void close(const Lease& lease, std::int64_t begin_ns);
  void close_one(JobId id, double steps, std::int64_t end_ns);
  void adapt_batch(JobId id);
  void plan_batches();

  Machine* machine_;
  const RunSetup* setup_;
  const RunOptions* options_;
  std::int64_t round_ = 0;
  std::vector<std::int64_t> last_round_;     ///< in which a job ran; -1: none
  std::vector<std::int64_t> planned_batch_;  ///< to change to when the job next ran; 0: none
};

}  // namespace foretrace::scheduling
