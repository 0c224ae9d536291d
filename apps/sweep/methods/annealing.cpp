// Simulated annealing on a grid, in several chains: Kirkpatrick, Gelatt and Vecchi (1983).
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "apps/sweep/methods/moves.h"
#include "apps/sweep/methods/search.h"

namespace foretrace::sweeping {
namespace {

// As shares of the cost where a chain stands: at first it goes up by a fifth every third time it
// could, at the end by a thousandth.
constexpr double first_temperature = 0.2;
constexpr double last_temperature = 0.001;
constexpr int most_moves_of_a_step = 50;
// A chain that finds only points that were asked for walks on among them; so many rounds in which
// nothing is new end the search.
constexpr int most_known_rounds = 50;

struct Chain {
  Places at{};
  std::optional<SeenPoint> here{};
  Places tried{};
};

class Annealing final : public Searcher {
 public:
  Annealing(SearchField field, const SearchSettings& settings)
      : grid_(field.space, std::move(field.is_wanted)),
        settings_(settings),
        draws_(settings.seed),
        chains_(static_cast<std::size_t>(
            std::min<std::uint64_t>(settings.population, settings.points))) {}

  std::vector<std::uint64_t> ask() override {
    const std::uint64_t left =
        settings_.points - std::min<std::uint64_t>(settings_.points, known_.size());
    if (left == 0 || known_rounds_ >= most_known_rounds) return {};
    std::vector<std::uint64_t> next;
    bool has_new = false;
    for (Chain& chain : chains_) {
      if (!chain.here) {
        auto drawn = grid_.drawn(draws_);
        if (!drawn) return {};
        chain.tried = std::move(*drawn);
      } else {
        step(chain);
      }
      const std::uint64_t point = grid_.point_of(chain.tried);
      if (known_.size() >= settings_.points && !known_.contains(point)) break;
      next.push_back(point);
      has_new = known_.insert(point).second || has_new;
    }
    known_rounds_ = has_new ? 0 : known_rounds_ + 1;
    return next;
  }

  void tell(std::span<const SeenPoint> seen) override {
    const double share =
        std::min(1.0, static_cast<double>(known_.size()) / static_cast<double>(settings_.points));
    const double temperature =
        first_temperature * std::pow(last_temperature / first_temperature, share);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      Chain& chain = chains_[i];
      // One draw per chain and round, whatever it decides.
      const double chance = draws_.share();
      if (chain.here && !is_taken(*chain.here, seen[i], temperature, chance)) continue;
      chain.here = seen[i];
      chain.at = chain.tried;
    }
  }

 private:
  void step(Chain& chain) {
    chain.tried = chain.at;
    for (int i = 0; i < most_moves_of_a_step; ++i) {
      Places moved = chain.at;
      grid_.move_some(moved, draws_);
      if (!grid_.is_wanted(moved)) continue;
      chain.tried = std::move(moved);
      return;
    }
  }

  static bool is_taken(const SeenPoint& here, const SeenPoint& there, double temperature,
                       double chance) {
    if (there.is_feasible != here.is_feasible) return there.is_feasible;
    if (there.is_computed != here.is_computed) return there.is_computed;
    if (!there.is_computed) return true;  // any way out
    const double before = here.costs.front();
    const double after = there.costs.front();
    if (!(after > before)) return true;
    if (!std::isfinite(after)) return false;
    const double scale = std::max(std::abs(before), 1e-300) * temperature;
    return chance < std::exp((before - after) / scale);
  }

  Grid grid_;
  SearchSettings settings_;
  Draws draws_;
  std::set<std::uint64_t> known_;
  std::vector<Chain> chains_;
  int known_rounds_ = 0;
};

}  // namespace

std::unique_ptr<Searcher> annealing(SearchField field, const SearchSettings& settings) {
  return std::make_unique<Annealing>(std::move(field), settings);
}

}  // namespace foretrace::sweeping
