// DTR: what is cheap to compute, large and long unused leaves the device; on access it is computed
// again.
//
//   budget 3 maps, chain f1 -> f2 -> f3 -> f4, then b4 b3 b2 b1, each needing the map of its number
//   before   stream: [f1][f2][f3][f4][b4][b3][b2][b1]         4 maps live before b4
//   after    stream: [f1][f2][f3][f4][b4][b3][b2][f1][b1]     map 1 left when f4 asked
//
// memory    live bytes never exceed the budget; persistent tensors and those in use stay.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/policies/eviction/evictor.h"
#include "models/policies/eviction/policy.h"

namespace foretrace::dtr_parts {
namespace {

constexpr ParamInfo heuristic_param = {
    .name = "heuristic",
    .type = ParamType::text,
    .default_text = "full",
    .doc =
        "full: cost with its evicted neighbourhood / (size x time unused); local: own "
        "cost / (size x time unused); msps: cost with evicted ancestors / size; lru: "
        "longest unused first; largest: largest first.",
    .choices = "full|local|msps|lru|largest"};
constexpr ParamInfo backward_param = {
    .name = "backward",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc =
        "What the backward pass made may leave too, as in the paper. To make it again "
        "takes maps that were freed, and operands are least certain there: it can cost "
        "many times the run. An error if most backward operators record no inputs."};

enum class Heuristic : std::uint8_t { full, local, ancestors, oldest, largest };

Heuristic heuristic_of(const std::string& text) {
  if (text == "full") return Heuristic::full;
  if (text == "local") return Heuristic::local;
  if (text == "msps") return Heuristic::ancestors;
  return text == "lru" ? Heuristic::oldest : Heuristic::largest;
}

class Dtr final : public editing::Evictor {
 public:
  Dtr(const TaskGraph& graph, const editing::EvictorOptions& options, Heuristic heuristic)
      : Evictor(graph, options),
        heuristic_(heuristic),
        children_(graph.context().tensors.size()),
        seen_(children_.size(), 0) {
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const auto tensor = make_id<TensorId>(i);
      for (const TensorId from : uses().making(tensor).from) {
        children_[index(from)].push_back(tensor);
      }
    }
  }

 protected:
  double score(TensorId tensor, const Simulation& simulation) override {
    const auto size = static_cast<double>(bytes_of(tensor));
    const auto idle = static_cast<double>(idle_ns(tensor, simulation));
    const auto own = static_cast<double>(uses().making(tensor).device_ns);
    switch (heuristic_) {
      case Heuristic::full: return neighbourhood_ns(tensor, simulation) / (size * idle);
      case Heuristic::local: return own / (size * idle);
      case Heuristic::ancestors: return static_cast<double>(remake_ns(tensor, simulation)) / size;
      case Heuristic::oldest: return 1 / idle;
      case Heuristic::largest: return 1 / size;
    }
    return 0;
  }

 private:
  // Its own cost, that of what must be made again for it, and of what could not be made again
  // without it.
  double neighbourhood_ns(TensorId tensor, const Simulation& simulation) {
    auto ns = static_cast<double>(remake_ns(tensor, simulation));
    ++round_;
    std::vector<TensorId> found = {tensor};
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const TensorId child : children_[index(found[i])]) {
        if (seen_[index(child)] == round_ || !must_be_remade(child, simulation) ||
            !is_wanted(child, simulation)) {
          continue;
        }
        seen_[index(child)] = round_;
        ns += static_cast<double>(uses().making(child).device_ns);
        found.push_back(child);
      }
    }
    return ns;
  }

  Heuristic heuristic_;
  std::vector<std::vector<TensorId>> children_;
  std::vector<std::uint32_t> seen_;  // per tensor: the round that saw it
  std::uint32_t round_ = 0;
};

Result<std::unique_ptr<MemoryPolicy>> make(const TaskGraph& graph, const ParamValues& params) {
  const editing::EvictorOptions options{.least_bytes = params.integer(editing::least_evicted_param),
                                        .remakes_backward = params.boolean(backward_param)};
  auto policy = std::make_unique<Dtr>(graph, options, heuristic_of(params.text(heuristic_param)));
  FORETRACE_TRY(policy->check("dtr"));
  return std::unique_ptr<MemoryPolicy>(std::move(policy));
}

constexpr std::array<std::string_view, 4> assumptions = {
    editing::reads_youngest_text,
    "A repeated operator takes the device time of its first run; its calls and the host time "
    "before them take at most the median of the trace.",
    "Every computing operator can be repeated: random numbers are replayed and what it read is not "
    "overwritten.",
    "What the forward pass made leaves (backward=true: what backward made too); weights, their "
    "gradients and what was there before the window stay."};
constexpr std::array<std::string_view, 3> ignores = {
    editing::search_time_text, editing::fragmentation_text,
    "other outputs of a repeated operator, which would be there again too"};
constexpr std::array params = {heuristic_param, backward_param, editing::least_evicted_param};

}  // namespace

extern constexpr PolicyInfo info = {
    .name = "dtr",
    .summary = "Evict what is cheap, large and long unused; compute it again on access.",
    .paper = "M. Kirisame et al., Dynamic Tensor Rematerialization, ICLR 2021",
    .recipe =
        "When a request does not fit, the tensor with the least cost / (size x time unused) "
        "leaves, until it fits. Before a launch that uses an evicted tensor, the launches and "
        "kernels that made it are put on that thread and in front of the next kernel of their "
        "stream, what they read first; what the program had freed meanwhile goes again.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "Nothing: times are those of the recording.",
    .params = params,
    .make = make};

}  // namespace foretrace::dtr_parts
