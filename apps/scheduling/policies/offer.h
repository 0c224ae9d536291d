// What a policy fills in when it decides: which jobs run next, on how many of which accelerators.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/scheduling/model/ids.h"
#include "apps/scheduling/model/job.h"
#include "apps/scheduling/policies/view.h"
#include "sim/core/ids.h"

namespace foretrace::scheduling {

/// Grants in order of preference. At first nothing is promised: a running job that gets nothing
/// stops. A grant that equals what a job holds leaves it where it is.
class Offer {
 public:
  /// Places a job at once; false: there is no room of the right shape.
  using Place = std::function<bool(const Grant&)>;

  explicit Offer(const View& view, Place place = {});

  /// Accelerators of a kind that are not promised yet.
  [[nodiscard]] std::int32_t free(KindId kind) const { return free_[kind]; }
  /// Promises accelerators; false if so many are not free. After keep_running() the job is placed
  /// at once, and false also says that there is no room of the right shape.
  bool grant(JobId job, KindId kind, std::int32_t gpus);
  /// The same for two jobs on the same accelerators.
  bool grant_pair(JobId first, JobId second, KindId kind, std::int32_t gpus);
  /// Keeps accelerators idle in the name of a job that does not run.
  void waste(JobId job, KindId kind, std::int32_t gpus);
  /// What the job asks for: where it runs now, else on its fastest kind with room. If it moves, a
  /// running job leaves for a kind with room where it is faster.
  bool grant_request(JobId job, bool moves = false);
  /// Everything that runs goes on; call it first.
  void keep_running();
  /// True if the job already has a grant.
  [[nodiscard]] bool has(JobId job) const;

  [[nodiscard]] std::span<const Grant> grants() const { return grants_; }

 private:
  bool promise(const Grant& grant);

  const View* view_;
  Place place_;
  bool places_at_once_ = false;
  Column<KindId, std::int32_t> free_;
  std::vector<Grant> grants_;
  std::vector<bool> granted_;
};

}  // namespace foretrace::scheduling
