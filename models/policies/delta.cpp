// DELTA: for every tensor that leaves, the cheaper of a copy to the host and computing it again.
//
//   budget 3 maps, chain f1 -> f2 -> f3 -> f4, then b4 b3 b2 b1; map 1 is expensive, map 2 cheap
//   before   stream:    [f1   ][f2][f3][f4][b4][b3][b2][b1]
//   after    stream:    [f1   ][f2][f3][f4][b4][b3][f2][b2][b1]
//            to host:          [map 1]
//            to device:                        [map 1]
//
// memory    live bytes never exceed the budget; a tensor that is copied out counts until it has
//           left.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "models/editing/copies/host_link.h"
#include "models/policies/eviction/evictor.h"
#include "models/policies/eviction/policy.h"

namespace foretrace::delta_parts {
namespace {

constexpr ParamInfo director_param = {
    .name = "director",
    .type = ParamType::text,
    .default_text = "cheaper",
    .doc =
        "cheaper: per tensor; swap: always copy; recompute: whatever can be computed "
        "again.",
    .choices = "cheaper|swap|recompute"};
constexpr ParamInfo ahead_param = {
    .name = "ahead",
    .type = ParamType::number,
    .unit = "x",
    .default_text = "2",
    .doc =
        "A copy back starts when the device work until the use takes this many times "
        "as long; 0: when it is used.",
    .minimum = 0,
    .maximum = 1e6};

enum class Director : std::uint8_t { cheaper, swap, recompute };

class Delta final : public editing::Evictor {
 public:
  Delta(const TaskGraph& graph, const editing::EvictorOptions& options, Director director)
      : Evictor(graph, options), director_(director) {}

 protected:
  // The filter: large, long unused, cheap to bring back.
  double score(TensorId tensor, const Simulation& simulation) override {
    const auto size = static_cast<double>(bytes_of(tensor));
    const auto idle = static_cast<double>(idle_ns(tensor, simulation));
    double cost = swap_ns(tensor, simulation);
    if (can_remake(tensor) && director_ != Director::swap) {
      const auto remake = static_cast<double>(remake_ns(tensor, simulation));
      cost = director_ == Director::recompute ? remake : std::min(cost, remake);
    }
    return cost / (size * idle);
  }
  bool prefers_copy(TensorId tensor, const Simulation& simulation) override {
    if (director_ != Director::cheaper) return director_ == Director::swap;
    return swap_ns(tensor, simulation) < static_cast<double>(remake_ns(tensor, simulation));
  }

 private:
  // What computing does not cover: the way out, behind other copies, and the rest of the way back.
  [[nodiscard]] double swap_ns(TensorId tensor, const Simulation& simulation) const {
    const auto copy = static_cast<double>(copy_ns(tensor));
    const double back = std::max(0.0, copy - static_cast<double>(until_use_ns(tensor)));
    return static_cast<double>(copies_out_ns(simulation)) + copy + back;
  }

  Director director_;
};

Result<std::unique_ptr<MemoryPolicy>> make(const TaskGraph& graph, const ParamValues& params) {
  const std::string& director = params.text(director_param);
  const editing::EvictorOptions options{
      .least_bytes = params.integer(editing::least_evicted_param),
      .bandwidth = editing::host_link_bandwidth(graph, nullptr, params),
      .ahead = params.number(ahead_param)};
  auto policy = std::make_unique<Delta>(graph, options,
                                        director == "swap"        ? Director::swap
                                        : director == "recompute" ? Director::recompute
                                                                  : Director::cheaper);
  FORETRACE_TRY(policy->check("delta"));
  return std::unique_ptr<MemoryPolicy>(std::move(policy));
}

constexpr std::array<std::string_view, 5> assumptions = {
    editing::reads_youngest_text,
    "Host memory is pinned, large enough, and the link to it is not shared; both directions work "
    "at the same time.",
    "The host waits for a copy to the host whose memory it needs; a tensor that has not changed "
    "since it was copied leaves at once.",
    "What the backward pass made is copied, never computed again.",
    "The score is ours: the published talk names the parts (filter, director, prefetch) but no "
    "formula."};
constexpr std::array<std::string_view, 3> ignores = {
    "kernels that get slower while copies use the same memory", editing::search_time_text,
    editing::fragmentation_text};
constexpr std::array params = {editing::host_link_param, director_param, ahead_param,
                               editing::least_evicted_param};

}  // namespace

extern constexpr PolicyInfo info = {
    .name = "delta",
    .summary = "Evict by copying to the host or by computing again, whichever is cheaper.",
    .paper =
        "Y. Tang et al., DELTA: Dynamically Optimizing GPU Memory beyond Tensor Recomputation, "
        "2022",
    .recipe =
        "When a request does not fit, a filter picks the tensor with the least restore cost / "
        "(size x time unused), and a director sends it to the host or drops it. Copies run on "
        "one stream per direction; the request waits until the copy has left. Before a use, a "
        "copy brings it back, ahead of time where there is room, or its kernels run again.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "bandwidth: a pinned copy of some MB in any trace of the machine.",
    .params = params,
    .make = make};

}  // namespace foretrace::delta_parts
