// Every job gets the same time on every kind, however many accelerators it takes.
//
// paper     S. Chaudhary et al., Balancing Efficiency and Fairness in Heterogeneous GPU Clusters
// for Deep Learning, EuroSys 2020 assumes   a job deserves the same time however many accelerators
// it takes ignores   trading of fast kinds between users calibrate nothing
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "apps/scheduling/policies/share_classes.h"
#include "apps/scheduling/policies/shares.h"

namespace foretrace::scheduling::gandiva_fair_parts {
namespace {

class GandivaFair final : public SharePolicy {
 public:
  using SharePolicy::SharePolicy;

  Result<std::vector<ShareRow>> shares(const View& view) override {
    std::vector<ShareRow> rows;
    for (const JobId job : view.active) {
      // A job on eight accelerators gets as much time as one on a single one.
      rows.push_back({.job = job, .share = equal_division(view, 1)});
    }
    return rows;
  }
};

Result<std::unique_ptr<Policy>> make(const ParamValues& params) {
  RoundOptions options = round_options(params);
  options.shuffles_kinds = true;
  return std::unique_ptr<Policy>(std::make_unique<GandivaFair>(options));
}

constexpr std::array<std::string_view, 1> assumptions = {
    "A job deserves the same time however many accelerators it takes."};
constexpr std::array<std::string_view, 1> ignores = {"trading of fast kinds between users"};
constexpr std::array params = {reset_param, newcomers_param, seed_param};

constexpr SchedulerInfo info = {
    .name = "gandiva_fair",
    .summary = "Every job gets the same share of time on every kind.",
    .paper =
        "S. Chaudhary et al., Balancing Efficiency and Fairness in Heterogeneous GPU Clusters for "
        "Deep Learning, EuroSys 2020",
    .recipe = "The cluster is divided equally among jobs, not among accelerators asked for.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = params,
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::gandiva_fair_parts

namespace foretrace::schedulers {
extern const SchedulerInfo gandiva_fair;
constinit const SchedulerInfo gandiva_fair = scheduling::gandiva_fair_parts::info;
}  // namespace foretrace::schedulers
