// paper     P. Behnam et al., Subgraph Stationary Hardware-Software Inference Co-Design (SUSHI),
//           MLSys 2023
// assumes   layers run one after the other; memory and arithmetic of a layer overlap
// ignores   how long the scheduler takes; energy
#include "apps/extras/frames/supernet.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "apps/extras/frames/load_rules.h"
#include "sim/core/random.h"
#include "sim/core/whole.h"

namespace foretrace::streams {
namespace {

KeptWeights weights_of(const SubNet& subnet) {
  KeptWeights weights;
  for (const SubNetLayer& layer : subnet.layers) weights.push_back(layer.weight_bytes);
  return weights;
}

double distance(const KeptWeights& a, const KeptWeights& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

class Server {
 public:
  explicit Server(const SuperNet& net) : net_(net), random_(net.seed) {
    for (const SubNet& subnet : net.subnets) {
      candidates_.push_back(kept_of(subnet, net.buffer_bytes));
    }
    kept_.assign(layers(), 0);
    used_.assign(layers(), 0);
    figures_.served.assign(net.subnets.size(), 0);
    know_times();
  }

  SuperNetFigures run() {
    std::vector<std::int64_t> services_ns;
    double arrival_ns = 0;
    std::int64_t free_ns = 0;
    for (std::int64_t q = 0; q < net_.queries; ++q) {
      if (net_.per_second > 0) {
        arrival_ns -= std::log1p(-unit_interval(random_())) / net_.per_second * 1e9;
      } else {
        arrival_ns = static_cast<double>(free_ns);
      }
      const QueryWish& wish = next_wish();
      const std::size_t chosen = choose(wish);
      const std::int64_t start_ns = std::max<std::int64_t>(free_ns, to_whole(arrival_ns));
      serve(chosen, wish);
      services_ns.push_back(times_ns_[chosen]);
      free_ns = start_ns + times_ns_[chosen];
      figures_.latency_ns += static_cast<double>(free_ns) - arrival_ns;
      figures_.service_ns += static_cast<double>(times_ns_[chosen]);
      if ((q + 1) % net_.update_every == 0 && q + 1 < net_.queries) free_ns += update();
    }
    const auto count = static_cast<double>(std::max<std::int64_t>(1, net_.queries));
    figures_.queries = net_.queries;
    figures_.accuracy /= count;
    figures_.latency_ns /= count;
    figures_.service_ns /= count;
    figures_.p99_service_ns = nearest_rank(std::move(services_ns), 0.99);
    return std::move(figures_);
  }

 private:
  [[nodiscard]] std::size_t layers() const {
    return net_.subnets.empty() ? 0 : net_.subnets.front().layers.size();
  }
  void know_times() {
    times_ns_.clear();
    for (const SubNet& subnet : net_.subnets) {
      times_ns_.push_back(subnet_time_ns(subnet, kept_, net_.bytes_per_s));
    }
  }

  const QueryWish& next_wish() {
    double all = 0;
    for (const QueryWish& wish : net_.wishes) all += wish.share;
    double drawn = unit_interval(random_()) * all;
    for (const QueryWish& wish : net_.wishes) {
      if (drawn < wish.share) return wish;
      drawn -= wish.share;
    }
    return net_.wishes.back();
  }

  // Within the bound the best of the other figure; without any, the one nearest to the bound.
  [[nodiscard]] std::size_t choose(const QueryWish& wish) const {
    std::size_t best = 0;
    for (std::size_t s = 1; s < net_.subnets.size(); ++s) {
      if (is_better(s, best, wish)) best = s;
    }
    return best;
  }
  [[nodiscard]] bool is_better(std::size_t a, std::size_t b, const QueryWish& wish) const {
    const bool a_fits = fits(a, wish);
    if (a_fits != fits(b, wish)) return a_fits;
    const bool by_accuracy = (wish.latency_ns > 0) == a_fits;
    const double a_accuracy = net_.subnets[a].accuracy;
    const double b_accuracy = net_.subnets[b].accuracy;
    if (by_accuracy && a_accuracy != b_accuracy) return a_accuracy > b_accuracy;
    if (times_ns_[a] != times_ns_[b]) return times_ns_[a] < times_ns_[b];
    return a_accuracy > b_accuracy;
  }
  [[nodiscard]] bool fits(std::size_t subnet, const QueryWish& wish) const {
    return wish.latency_ns > 0 ? times_ns_[subnet] <= wish.latency_ns
                               : net_.subnets[subnet].accuracy >= wish.accuracy;
  }

  void serve(std::size_t chosen, const QueryWish& wish) {
    const SubNet& subnet = net_.subnets[chosen];
    ++figures_.served[chosen];
    figures_.accuracy += subnet.accuracy;
    figures_.kept_wishes += fits(chosen, wish) ? 1 : 0;
    for (std::size_t l = 0; l < layers(); ++l) {
      figures_.weight_bytes += std::max(0.0, subnet.layers[l].weight_bytes - kept_[l]);
      figures_.activation_bytes += subnet.layers[l].activation_bytes;
      used_[l] += subnet.layers[l].weight_bytes;
    }
  }

  // Keeps the candidate nearest to the mean of what was used; the time of reading what is new.
  std::int64_t update() {
    if (net_.buffer_bytes <= 0) return 0;
    for (double& bytes : used_) bytes /= static_cast<double>(net_.update_every);
    std::size_t best = 0;
    for (std::size_t s = 1; s < candidates_.size(); ++s) {
      const SubNet& one = net_.subnets[s];
      if (distance(weights_of(one), used_) < distance(weights_of(net_.subnets[best]), used_)) {
        best = s;
      }
    }
    std::fill(used_.begin(), used_.end(), 0.0);
    double bytes = 0;
    for (std::size_t l = 0; l < layers(); ++l) {
      bytes += std::max(0.0, candidates_[best][l] - kept_[l]);
    }
    if (kept_ == candidates_[best]) return 0;
    kept_ = candidates_[best];
    ++figures_.updates;
    figures_.update_bytes += bytes;
    know_times();
    return to_whole(bytes / net_.bytes_per_s * 1e9);
  }

  const SuperNet& net_;
  std::mt19937_64 random_;
  std::vector<KeptWeights> candidates_;  // by SubNet
  KeptWeights kept_;
  KeptWeights used_;  // sums since the last update
  std::vector<std::int64_t> times_ns_;
  SuperNetFigures figures_;
};

}  // namespace

std::int64_t subnet_time_ns(const SubNet& subnet, const KeptWeights& kept, double bytes_per_s) {
  double sum = 0;
  for (std::size_t l = 0; l < subnet.layers.size(); ++l) {
    const SubNetLayer& layer = subnet.layers[l];
    const double bytes = std::max(0.0, layer.weight_bytes - kept[l]) + layer.activation_bytes;
    sum += std::max(static_cast<double>(layer.compute_ns), bytes / bytes_per_s * 1e9);
  }
  return to_whole(sum);
}

KeptWeights kept_of(const SubNet& subnet, double buffer_bytes) {
  KeptWeights kept = weights_of(subnet);
  for (double& bytes : kept) {
    bytes = std::min(bytes, buffer_bytes);
    buffer_bytes -= bytes;
  }
  return kept;
}

SuperNetFigures run_supernet(const SuperNet& net) { return Server(net).run(); }

}  // namespace foretrace::streams
