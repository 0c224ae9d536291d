// What a file in apps/scheduling/policies/ exports: a policy with its paper and parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "apps/scheduling/policies/offer.h"
#include "apps/scheduling/policies/view.h"
#include "sim/core/few_texts.h"
#include "sim/core/params.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

/// Decides who runs next. One object belongs to one run.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  virtual void on_arrival(const View& /*view*/, JobId /*job*/) {}
  virtual void on_end(const View& /*view*/, JobId /*job*/) {}
  /// A job, with its partner if it has one, was on accelerators for this time.
  virtual void on_run(const Grant& /*grant*/, std::int64_t /*time_ns*/) {}
  /// Errors: the policy cannot deal with these jobs or this cluster.
  virtual Status decide(const View& view, Offer& offer) = 0;
  /// When it wants to decide again even if nothing ends or arrives.
  [[nodiscard]] virtual std::int64_t next_decision_ns(const View& /*view*/) const {
    return never_ns;
  }
  /// Whether it goes on deciding as it did, once a decision was carried out and moved nobody, until
  /// a job comes or ends, a node fails or comes back, or next_decision_ns(). It heeds no on_run().
  [[nodiscard]] virtual bool settles() const { return false; }
};

struct SchedulerInfo {
  std::string_view name;
  std::string_view summary;    ///< one line
  std::string_view paper;      ///< authors, title, venue, year
  std::string_view recipe;     ///< what it decides, in a few sentences
  FewTexts assumptions;        ///< each a thing that could be false
  FewTexts ignores;            ///< what is left out
  std::string_view calibrate;  ///< where its parameters come from
  std::span<const ParamInfo> params;
  Result<std::unique_ptr<Policy>> (*make)(const ParamValues& params);
};

/// Makes a policy of its parameters, or of nothing.
template <typename P>
[[nodiscard]] Result<std::unique_ptr<Policy>> make_as(const ParamValues& params) {
  if constexpr (std::is_constructible_v<P, const ParamValues&>) {
    return std::unique_ptr<Policy>(std::make_unique<P>(params));
  } else {
    return std::unique_ptr<Policy>(std::make_unique<P>());
  }
}

}  // namespace foretrace::scheduling

namespace foretrace::schedulers {
using scheduling::SchedulerInfo;
/// Every policy, sorted by name (generated from the files of apps/scheduling/policies).
[[nodiscard]] std::span<const SchedulerInfo* const> all();
}  // namespace foretrace::schedulers
